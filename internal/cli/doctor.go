package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/config"
	"go.yaml.in/yaml/v3"
)

// DoctorCmd looks for what keeps haltd from doing its work.
type DoctorCmd struct {
	Network bool `help:"Also try to reach the providers that are configured."`
}

// Run prints one line for each check and what to do where it failed. A failed
// check is an error.
func (c *DoctorCmd) Run(env *Env) error {
	d := &doctor{env: env}
	cfg := d.configuration()
	api, status := d.admin()
	if cfg != nil && env.AdminURL == "" {
		d.dataDir(cfg.DataDir)
	}
	if cfg != nil && env.Inspect != nil {
		for _, c := range env.Inspect(env.Context, cfg) {
			d.add(c.Outcome, c.Fix, "%s", c.Message)
		}
	}
	if status != nil {
		d.ready(api)
		d.node(status)
		d.upstreams(status.Upstreams)
	}
	if cfg != nil {
		d.providers(cfg, c.Network)
	}
	if gateway := gatewayOf(cfg, status); gateway != "" {
		d.gateway(cfg, gateway)
		d.shell(cfg, gateway)
	}
	if status != nil {
		d.agents(api)
		d.keys(api)
		d.alerts(api)
	}
	return d.end()
}

// doctor is one run of the command.
type doctor struct {
	env    *Env
	checks []haltd.Diagnosis
}

func (d *doctor) ok(format string, args ...any) { d.add(haltd.DiagnosisOK, "", format, args...) }

func (d *doctor) notice(fix, format string, args ...any) {
	d.add(haltd.DiagnosisNotice, fix, format, args...)
}

func (d *doctor) problem(fix, format string, args ...any) {
	d.add(haltd.DiagnosisProblem, fix, format, args...)
}

// failed is a problem that an error describes, with its fix where it has one.
func (d *doctor) failed(err error) {
	var e *haltd.Error
	if errors.As(err, &e) {
		d.problem(e.Fix, "%s", e.Sentence())
		return
	}
	d.problem("", "%v", err)
}

// add shows a check as soon as it is done.
func (d *doctor) add(outcome, fix, format string, args ...any) {
	d.show(haltd.Diagnosis{Outcome: outcome, Message: clean(fmt.Sprintf(format, args...)), Fix: clean(fix)})
}

func (d *doctor) show(c haltd.Diagnosis) {
	d.checks = append(d.checks, c)
	if d.env.JSON {
		return
	}
	mark := map[string]string{
		haltd.DiagnosisOK: d.env.paint("✓", green), haltd.DiagnosisNotice: d.env.paint("!", yellow), haltd.DiagnosisProblem: d.env.paint("✗", red),
	}[c.Outcome]
	fmt.Fprintf(d.env.Stdout, "%s %s\n", mark, c.Message)
	if c.Fix != "" {
		fmt.Fprintf(d.env.Stdout, "  → %s\n", c.Fix)
	}
}

func (d *doctor) end() error {
	problems := 0
	for _, c := range d.checks {
		if c.Outcome == haltd.DiagnosisProblem {
			problems++
		}
	}
	if d.env.JSON {
		if err := d.env.printJSON(map[string]any{"healthy": problems == 0, "checks": d.checks}); err != nil {
			return err
		}
	}
	if problems == 0 {
		return nil
	}
	return haltd.Errorf("unhealthy", "%d of %d checks failed", problems, len(d.checks)).
		WithFix("Fix the first ✗ and run `haltd doctor` again.")
}

func (d *doctor) configuration() *config.Config {
	cfg, err := config.Load(d.env.ConfigPath, d.env.Getenv)
	if err != nil {
		d.problem("Fix what it names; `haltd config check` says when it is right.", "The configuration does not load: %s", strings.ReplaceAll(err.Error(), "\n", "; "))
		return nil
	}
	name := d.env.ConfigPath
	if name == "" {
		name = "defaults and environment"
	}
	d.ok("The configuration loads (%s)", name)
	for _, w := range cfg.Warnings() {
		d.notice("", "%s", w)
	}
	return cfg
}

// nodeStatus is what doctor needs of GET /v1/status.
type nodeStatus struct {
	Version   string           `json:"version"`
	Gateway   string           `json:"gateway"`
	Degraded  []string         `json:"degraded"`
	Bypass    haltd.Bypass     `json:"bypass"`
	Upstreams []haltd.Upstream `json:"upstreams"`
}

func (d *doctor) admin() (*client, *nodeStatus) {
	env := *d.env
	env.StartTime = 0 // says what is so now
	api, err := env.connect()
	if err != nil {
		d.failed(err)
		return nil, nil
	}
	var status nodeStatus
	if err := api.call(d.env.Context, http.MethodGet, "/v1/status", nil, nil, &status); err != nil {
		d.failed(err)
		return nil, nil
	}
	d.ok("haltd %s answers at %s and accepts the admin token", status.Version, api.base)
	return api, &status
}

func (d *doctor) dataDir(dir string) {
	f, err := os.CreateTemp(dir, ".doctor-*")
	switch {
	case errors.Is(err, os.ErrNotExist):
		d.ok("The data directory %s does not exist yet; haltd makes it when it starts", dir)
	case err != nil:
		d.problem("Let the user that haltd runs as write there, or set data_dir.", "The data directory %s cannot be written: %v", dir, errors.Unwrap(err))
	default:
		_ = f.Close()
		_ = os.Remove(f.Name())
		d.ok("The data directory %s can be written", dir)
	}
}

func (d *doctor) ready(api *client) {
	var ready struct{}
	if err := api.call(d.env.Context, http.MethodGet, "/readyz", nil, nil, &ready); err != nil {
		d.failed(err)
		return
	}
	d.ok("haltd is ready for calls")
}

func (d *doctor) node(status *nodeStatus) {
	if len(status.Degraded) > 0 {
		d.problem("Look at haltd's log and, for the store, at the disk or PostgreSQL, for the state at Redis; haltd goes on by itself when it is back.", "Not working: %s", strings.Join(status.Degraded, ", "))
	} else {
		d.ok("Storage: OK")
	}
	if status.Bypass.On {
		d.problem("End it with `haltd bypass off`.", "Bypass is on: nothing is enforced except stops by hand")
	} else {
		d.ok("Bypass is off")
	}
}

// patience is how long doctor waits for one address.
const patience = 3 * time.Second

// gateway asks for the greeting, which the gateway gives without recording
// it.
func (d *doctor) gateway(cfg *config.Config, address string) {
	transport := http.RoundTripper(&http.Transport{DisableKeepAlives: true})
	if cfg != nil && d.env.AdminURL == "" && cfg.Gateway.TLS.On() {
		own, err := transportTo("gateway", cfg.Gateway.TLS)
		if err != nil {
			d.failed(err)
			return
		}
		transport = own
	}
	ctx, cancel := context.WithTimeout(d.env.Context, patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/", nil)
	if err != nil {
		d.failed(err)
		return
	}
	req.Close = true
	resp, err := transport.RoundTrip(req)
	if err != nil {
		d.problem("Start it with `haltd serve`, or look at gateway.listen.", "The gateway does not answer at %s", address)
		return
	}
	defer resp.Body.Close()
	greeting, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10)) // a greeting that breaks off is none
	if !strings.HasPrefix(string(greeting), "haltd gateway") {
		d.problem("Another program has the port; choose another with gateway.listen.", "What answers at %s is not haltd", address)
		return
	}
	d.ok("The gateway answers at %s", address)
}

func (d *doctor) agents(api *client) {
	raw, err := api.list(d.env.Context, "/v1/agents", "agents", nil)
	if err != nil {
		d.failed(err)
		return
	}
	agents, err := decoded[listedAgent](raw)
	if err != nil {
		d.failed(err)
		return
	}
	if len(agents) == 0 {
		d.notice("Point a client at the gateway; its first call makes an agent.", "No agent has called yet")
		return
	}
	var inactive []string
	switched := 0
	for i := range agents {
		if !agents[i].Active {
			inactive = append(inactive, agents[i].ID)
		}
		if agents[i].Policy.KillSwitch.Enabled {
			switched++
		}
	}
	if len(inactive) > 0 {
		d.notice("`haltd agents show` says why, `haltd agents resume` lets it call again.", "May not call: %s", strings.Join(inactive, ", "))
	} else {
		d.ok("Every agent may call")
	}
	if switched == 0 {
		d.notice("Turn it on in the dashboard or with defaults.kill_switch.enabled when you have seen what it would do.",
			"The kill switch is off for every agent: haltd observes and stops nothing")
	} else {
		d.ok("The kill switch is on for %d of %d agents", switched, len(agents))
	}
}

// keys says whether haltd has what it puts in the place of its gateway keys. The haltd
// that runs knows: its environment may be another than that of this shell.
func (d *doctor) keys(api *client) {
	var list struct {
		Keys []haltd.Key `json:"keys"`
	}
	if err := api.call(d.env.Context, http.MethodGet, "/v1/keys", nil, nil, &list); err != nil {
		d.failed(err)
		return
	}
	inUse := 0
	for i := range list.Keys {
		if k := &list.Keys[i]; k.RevokedAt == nil && !k.Expired(d.env.Clock()) {
			inUse++
		}
	}
	if inUse == 0 {
		return
	}
	good, err := providersWithKeys(d.env.Context, api)
	switch {
	case err != nil:
		d.failed(err)
	case len(good) == 0:
		d.notice("Set providers.openai.api_key, or OPENAI_API_KEY where haltd runs; those of other providers likewise.",
			"Gateway keys in use: %d, and haltd has no key of a provider to put in their place", inUse)
	default:
		d.ok("Gateway keys in use: %d; haltd has a key of %s to put in their place", inUse, strings.Join(good, ", "))
	}
}

// providersWithKeys are the providers that the running haltd has a key of.
func providersWithKeys(ctx context.Context, api *client) ([]string, error) {
	resp, err := api.open(ctx, http.MethodGet, "/v1/config", nil, nil, nil)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var running struct {
		Providers map[string]struct {
			APIKey string `yaml:"api_key"` // without the secret
		} `yaml:"providers"`
	}
	if err := yaml.NewDecoder(resp.Body).Decode(&running); err != nil {
		return nil, api.notHaltd(resp)
	}
	var good []string
	for _, name := range slices.Sorted(maps.Keys(running.Providers)) {
		if running.Providers[name].APIKey != "" {
			good = append(good, name)
		}
	}
	return good, nil
}

// alerts says whether somebody would hear of a kill.
func (d *doctor) alerts(api *client) {
	var s haltd.AlertStatus
	if err := api.call(d.env.Context, http.MethodGet, "/v1/alerts/status", nil, nil, &s); err != nil {
		d.failed(err)
		return
	}
	switch {
	case s.Configured:
		d.ok("Alerts reach somebody (channels that are on: %d)", s.Channels)
	case s.Channels > 0:
		d.notice("`haltd alert-rules ls` shows what the rules select.", "No alert rule selects a channel: nobody would hear of a kill")
	default:
		d.notice("Make a channel with `haltd channels add`, or start haltd with SLACK_WEBHOOK_URL.", "There is no alert channel: nobody would hear of a kill")
	}
	if s.Dead > 0 {
		d.notice("`haltd deliveries ls --status dead` says why, `haltd deliveries retry --all` sends them again.", "Alerts that did not arrive and were given up: %d", s.Dead)
	}
}
