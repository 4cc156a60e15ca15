package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/haltd/haltd"
)

const adminToken = "bench-admin-token-0123456789abcdef"

// everythingOn is a configuration in which every check looks at every
// request and finds nothing: what haltd costs an agent that behaves.
const everythingOn = `gateway: {listen: %q}
admin: {listen: %q, token: %q}
data_dir: %q
providers:
  openai: {base_url: %q}
defaults:
  kill_switch: {enabled: true}
  budgets:
    day: {hard_usd: 100000, hard_tokens: 100000000000}
    month: {hard_usd: 1000000, hard_tokens: 1000000000000}
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
          algorithm_config: {rps: 1000000, burst: 1000000}
`

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
type gateway struct {
	admin string // address of its admin API
}

// startHaltd runs haltd as an operator would who uses all of it, with its
// record in dir.
func startHaltd(ctx context.Context, binary, dir, upstream string) (*target, error) {
	program, err := filepath.Abs(binary)
	if err == nil {
		_, err = os.Stat(program)
	}
	if err != nil {
		return nil, fmt.Errorf("find haltd: %w; make build makes it", err)
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	admin, err := freeAddress()
	if err != nil {
		return nil, err
	}
	config := fmt.Sprintf(everythingOn, address, admin, adminToken, filepath.Join(dir, "data"), "http://"+upstream)
	path := filepath.Join(dir, "haltd.yaml")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		return nil, fmt.Errorf("write the configuration of haltd: %w", err)
	}
	p, err := start(ctx, dir, "haltd", address, program, "serve", "--config", path)
	if err != nil {
		return nil, err
	}
	t := &target{name: "haltd", address: address, process: p, gateway: &gateway{admin}}
	if err := t.gateway.addRules(ctx, time.Now()); err != nil {
		p.stop()
		return nil, err
	}
	return t, nil
}

func (g *gateway) addRules(ctx context.Context, now time.Time) error {
	for _, r := range rules(now) {
		body, err := json.Marshal(map[string]any{"name": r.Name, "condition": r.Condition, "action": r.Action})
		if err != nil {
			return fmt.Errorf("encode a rule: %w", err)
		}
		if _, err := g.ask(ctx, http.MethodPost, "/v1/rules", body, http.StatusCreated); err != nil {
			return err
		}
	}
	return nil
}

func (g *gateway) get(ctx context.Context, path string) ([]byte, error) {
	return g.ask(ctx, http.MethodGet, path, nil, http.StatusOK)
}

// ask asks the admin API and wants the given status.
func (g *gateway) ask(ctx context.Context, method, path string, body []byte, status int) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, "http://"+g.admin+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("ask haltd for %s: %w", path, err)
	}
	r.Header.Set("Authorization", "Bearer "+adminToken)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, fmt.Errorf("ask haltd for %s: %w", path, err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != status {
		err = fmt.Errorf("status %d: %.300s", res.StatusCode, b)
	}
	if err != nil {
		return nil, fmt.Errorf("ask haltd for %s: %w", path, err)
	}
	return b, nil
}

// awaitEvents waits until as many calls are on record as were sent, 15
// seconds at most, and says how many there are.
func (g *gateway) awaitEvents(ctx context.Context, sent int64) (recorded int64, err error) {
	for range 30 {
		b, err := g.get(ctx, "/v1/stats")
		if err != nil {
			return 0, err
		}
		var stats haltd.Stats
		if err := json.Unmarshal(b, &stats); err != nil {
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
	b, err := g.get(ctx, "/metrics")
	if err != nil {
		return nil, err
	}
	return parseDecisions(string(b))
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
