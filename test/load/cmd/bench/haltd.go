package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/harness"
)

// everythingOn is a configuration in which every check looks at every
// request and finds nothing, except that some answers are alike: what haltd
// costs an agent that behaves.
const everythingOn = `providers:
  openai: {base_url: %q}
defaults:
  kill_switch: {enabled: true}
  budgets: %s
  allowed_hours:
    - {days: [mon, tue, wed, thu, fri, sat, sun], from: "00:00", to: "12:00"}
    - {days: [mon, tue, wed, thu, fri, sat, sun], from: "12:00", to: "00:00"}
  rate_limits: {requests_per_minute: 100000000, tokens_per_minute: 150000000}
  time_zone: Europe/Berlin
  loop_detection: {enabled: true, window_seconds: 60, threshold_identical_requests: 1000000, action: warn}
policies:
  - id: chat
    spec:
      selector: {pathPrefix: /v1/}
      rules:
        - name: by-agent
          limit_keys: ["header:x-agent-id"]
          algorithm: token_bucket
          algorithm_config: {rps: 1000000, burst: 100000000}
`

// budgets are those of every agent.
const budgets = `{day: {hard_usd: 100000, hard_tokens: 100000000000}, month: {hard_usd: 1000000, hard_tokens: 1000000000000}}`

// withoutBudgets is a haltd whose agents have none: a million of them can be seen in
// minutes.
const withoutBudgets = "haltd-without-budgets"

// rules are three that no request of the benchmark meets. The hour of the
// last is on the other side of the day, also where summer time applies.
func rules(now time.Time) []haltd.Rule {
	many, hour := int64(10_000_000), now.UTC().Add(12*time.Hour).Hour()
	return []haltd.Rule{
		{Name: "other models", Condition: haltd.RuleCondition{ModelPattern: "claude-*"}, Action: haltd.RuleBlock},
		{Name: "huge prompts", Condition: haltd.RuleCondition{PromptTokensMin: &many}, Action: haltd.RuleReject},
		{Name: "at night", Condition: haltd.RuleCondition{Provider: "openai", HourMin: &hour, HourMax: &hour}, Action: haltd.RuleBlock},
	}
}

// gateway is the haltd under measurement.
type gateway struct{ harness.Listeners }

// startHaltd runs haltd as an operator would who uses all of it, with its
// record in dir, or where yaml says.
func startHaltd(ctx context.Context, name, binary, dir, upstream, yaml string) (*target, error) {
	program, err := filepath.Abs(binary)
	if err == nil {
		_, err = os.Stat(program)
	}
	if err != nil {
		return nil, fmt.Errorf("find haltd: %w; make build makes it", err)
	}
	admin, release, err := harness.Reserve()
	if err != nil {
		return nil, err
	}
	p, err := start(ctx, dir, name, func(address string) (*exec.Cmd, error) {
		config := harness.NewConfig(dir, address, admin)
		budgets := budgets
		if name == withoutBudgets {
			budgets = "{}"
		}
		text := config.Base() + fmt.Sprintf(everythingOn, "http://"+upstream, budgets) + yaml
		if err := os.WriteFile(config.Path, []byte(text), 0o600); err != nil {
			return nil, fmt.Errorf("write the configuration of haltd: %w", err)
		}
		return exec.Command(program, "serve", "--config", config.Path), nil
	})
	if err != nil {
		return nil, errors.Join(err, release())
	}
	ofGateway := p.release
	p.release = func() error { return errors.Join(ofGateway(), release()) }
	t := &target{name: name, address: p.address, process: p, gateway: &gateway{harness.Listeners{Gateway: "http://" + p.address, Admin: "http://" + admin}}}
	if err := t.gateway.addRules(ctx, time.Now()); err != nil {
		p.stop()
		return nil, err
	}
	return t, nil
}

func (g *gateway) addRules(ctx context.Context, now time.Time) error {
	for _, r := range rules(now) {
		body := map[string]any{"name": r.Name, "condition": r.Condition, "action": r.Action}
		if err := g.Read(ctx, http.MethodPost, "/v1/rules", body, nil); err != nil {
			return fmt.Errorf("add a rule to haltd: %w", err)
		}
	}
	return nil
}

// metrics are what haltd counts, in Prometheus' text format.
func (g *gateway) metrics(ctx context.Context) (string, error) {
	status, b, err := g.Ask(ctx, http.MethodGet, "/metrics", nil)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("status %d: %.300s", status, b)
	}
	if err != nil {
		return "", fmt.Errorf("read haltd's metrics: %w", err)
	}
	return string(b), nil
}

// awaitEvents waits until as many calls are on record as were sent, 15
// seconds at most, and says how many there are. An event that haltd writes
// besides that of a call, such as a warning, is no call.
func (g *gateway) awaitEvents(ctx context.Context, sent int64) (recorded int64, err error) {
	for range 30 {
		var stats haltd.Stats
		if err := g.Read(ctx, http.MethodGet, "/v1/stats", nil, &stats); err != nil {
			return 0, fmt.Errorf("read haltd's stats: %w", err)
		}
		if recorded = stats.Totals.Calls; recorded >= sent {
			break
		}
		select {
		case <-ctx.Done():
			return recorded, ctx.Err()
		case <-time.After(500 * time.Millisecond):
		}
	}
	return recorded, nil
}

// decisions counts what became of the requests.
func (g *gateway) decisions(ctx context.Context) (map[string]int64, error) {
	text, err := g.metrics(ctx)
	if err != nil {
		return nil, err
	}
	return parseDecisions(text)
}

// awaitDecisions counts what became of the requests as soon as it is known of all
// that were sent: haltd may count one after its reply.
func (g *gateway) awaitDecisions(ctx context.Context, sent int64) (map[string]int64, error) {
	if sent == 0 {
		return nil, nil
	}
	var known int64
	for range 30 {
		decisions, err := g.decisions(ctx)
		if err != nil {
			return nil, err
		}
		if known = sum(decisions); known == sent {
			return decisions, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
	return nil, fmt.Errorf("haltd knows what became of %d requests and was sent %d", known, sent)
}

func sum(decisions map[string]int64) (n int64) {
	for _, of := range decisions {
		n += of
	}
	return n
}

// parseDecisions leaves out what became of none.
func parseDecisions(metrics string) (map[string]int64, error) {
	all := map[string]int64{}
	for line := range strings.Lines(metrics) {
		rest, ok := strings.CutPrefix(line, `haltd_requests_total{decision="`)
		if !ok {
			continue
		}
		decision, rest, _ := strings.Cut(rest, `"`)
		_, count, _ := strings.Cut(rest, "} ")
		n, err := strconv.ParseFloat(strings.TrimSpace(count), 64)
		if err != nil {
			return nil, fmt.Errorf("read haltd_requests_total: %w", err)
		}
		if n > 0 {
			all[decision] += int64(n)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("haltd's metrics have no haltd_requests_total")
	}
	return all, nil
}

// allocations are all that the process has made so far.
func (g *gateway) allocations(ctx context.Context) (float64, error) {
	text, err := g.metrics(ctx)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, "go_memstats_mallocs_total "); ok {
			return strconv.ParseFloat(strings.TrimSpace(value), 64)
		}
	}
	return 0, errors.New("haltd does not say how much it allocates")
}
