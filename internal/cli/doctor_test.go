package cli

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/harness"
)

// greeter answers every request with a text, as the gateway does at its root.
func greeter(t *testing.T, text string) string {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, text) }))
	t.Cleanup(srv.Close)
	return srv.URL
}

// lines are those that doctor begins with a mark.
func lines(text, mark string) (found []string) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, mark+" ") {
			found = append(found, strings.TrimSpace(line))
		}
	}
	return found
}

func TestDoctorFindsNothing(t *testing.T) {
	n := staffed()
	n.agents = n.agents[:1]
	n.gateway = greeter(t, "haltd gateway. Hello.")
	n.alerts = haltd.AlertStatus{Configured: true, Channels: 2}
	term := newTerminal(t, n.serve(t).URL)
	_, port, _ := strings.Cut(strings.TrimPrefix(n.gateway, "http://"), ":")
	term.vars["OPENAI_BASE_URL"] = "http://localhost:" + port + "/agents/a/openai/v1"
	term.vars["ANTHROPIC_BASE_URL"] = n.gateway
	got := run(t, term, &DoctorCmd{})
	for _, want := range []string{
		"✓ The configuration loads (defaults and environment)", "✓ haltd ", "✓ haltd is ready for calls", "✓ Storage: OK", "✓ Bypass is off",
		"✓ Providers: all 11 built-in ones", "✓ The gateway answers at " + n.gateway, "✓ OPENAI_BASE_URL points to the gateway",
		"✓ ANTHROPIC_BASE_URL points to the gateway", "✓ Every agent may call", "✓ The kill switch is on for 1 of 1 agents", "✓ Alerts reach somebody (channels that are on: 2)",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("doctor printed\n%swant %q", got, want)
		}
	}
	if others := append(lines(got, "✗"), lines(got, "!")...); len(others) != 0 {
		t.Errorf("doctor complains: %v", others)
	}
}

func TestDoctorFindings(t *testing.T) {
	gateway := greeter(t, "haltd gateway. Hello.")
	nobody := harness.Refusing(t)
	for _, c := range []struct {
		name string
		set  func(t *testing.T, n *node, term *terminal)
		mark string
		want string
	}{
		{"nobody there", func(_ *testing.T, _ *node, term *terminal) { term.AdminURL = nobody }, "✗", "No haltd answers at"},
		{"wrong token", func(_ *testing.T, _ *node, term *terminal) { term.vars["HALTD_ADMIN_TOKEN"] = "wrong" }, "✗", "does not accept this admin token"},
		{"bad configuration", func(t *testing.T, _ *node, term *terminal) {
			term.ConfigPath = writeFile(t, "haltd.yaml", "gatway: {}\n")
		}, "✗", "The configuration does not load: "},
		{"not ready", func(_ *testing.T, n *node, _ *terminal) {
			n.notReady = haltd.Errorf(haltd.CodeUnavailable, "haltd is shutting down")
		}, "✗", "haltd is shutting down"},
		{"degraded", func(_ *testing.T, n *node, _ *terminal) { n.degraded = []string{"store"} }, "✗", "Not working: store"},
		{"an upstream that failed", func(_ *testing.T, n *node, _ *terminal) {
			n.upstreams = []haltd.Upstream{{Name: "openai", State: haltd.UpstreamFailing, LastFailure: noon, Error: "connection refused"}}
		}, "!", "The last call to openai failed (" + minute(noon) + "): connection refused"},
		{"upstreams that answered", func(_ *testing.T, n *node, _ *terminal) {
			n.upstreams = []haltd.Upstream{{Name: "lab", State: haltd.UpstreamOK}, {Name: "ollama", State: haltd.UpstreamUnused}, {Name: "openai", State: haltd.UpstreamOK}}
		}, "✓", "The last call was answered by lab, openai"},
		{"bypass", func(_ *testing.T, n *node, _ *terminal) { n.bypass.On = true }, "✗", "Bypass is on"},
		{"no gateway", func(_ *testing.T, n *node, _ *terminal) { n.gateway = nobody }, "✗", "The gateway does not answer at"},
		{"another program", func(t *testing.T, n *node, _ *terminal) { n.gateway = greeter(t, "It works!") }, "✗", "is not haltd"},
		{"the provider itself", func(_ *testing.T, _ *node, term *terminal) {
			term.vars["OPENAI_BASE_URL"] = "https://api.openai.com/v1"
		}, "✗", "OPENAI_BASE_URL points to the provider"},
		{"another address", func(_ *testing.T, _ *node, term *terminal) {
			term.vars["OPENAI_BASE_URL"] = "https://haltd.example/v1"
		}, "!", "OPENAI_BASE_URL points elsewhere"},
		{"no path", func(_ *testing.T, _ *node, term *terminal) { term.vars["OPENAI_BASE_URL"] = gateway }, "✗", "OPENAI_BASE_URL has the wrong path"},
		{"a path too many", func(_ *testing.T, _ *node, term *terminal) { term.vars["ANTHROPIC_BASE_URL"] = gateway + "/v1/" }, "✗", "ANTHROPIC_BASE_URL has the wrong path"},
		{"no URL", func(_ *testing.T, _ *node, term *terminal) { term.vars["OPENAI_BASE_URL"] = "localhost" }, "✗", "OPENAI_BASE_URL is not a URL"},
		{"not set", func(*testing.T, *node, *terminal) {}, "!", "OPENAI_BASE_URL is not set in this shell"},
		{"an inactive agent", func(*testing.T, *node, *terminal) {}, "!", "May not call: looper"},
		{"kill switch off", func(_ *testing.T, n *node, _ *terminal) { n.policy = haltd.PolicyOverride{} }, "!", "The kill switch is off for every agent"},
		{"no agent", func(_ *testing.T, n *node, _ *terminal) { n.agents = nil }, "!", "No agent has called yet"},
		{"no channel", func(*testing.T, *node, *terminal) {}, "!", "There is no alert channel: nobody would hear of a kill"},
		{"no rule for a channel", func(_ *testing.T, n *node, _ *terminal) { n.alerts.Channels = 1 }, "!", "No alert rule selects a channel"},
		{"dead deliveries", func(_ *testing.T, n *node, _ *terminal) {
			n.alerts = haltd.AlertStatus{Configured: true, Channels: 1, Dead: 3}
		}, "!", "Alerts that did not arrive and were given up: 3"},
		{"no key to put in", func(t *testing.T, _ *node, term *terminal) {
			term.ConfigPath = writeFile(t, "haltd.yaml", "gateway: {require_keys: true}\nproviders: {openai: {base_url: 'http://127.0.0.1:9'}}\n")
		}, "✗", "Provider openai: gateway keys are required"},
		{"gateway keys and none of a provider", func(_ *testing.T, n *node, term *terminal) {
			n.keys, n.config = []haltd.Key{{ID: "key_1", Agent: "bot"}}, "providers: {openai: {format: openai}}\n"
			term.vars["OPENAI_API_KEY"] = "sk-secret" // that of this shell
		}, "!", "Gateway keys in use: 1, and haltd has no key of a provider"},
		{"gateway keys", func(_ *testing.T, n *node, _ *terminal) {
			over := noon.Add(-time.Hour)
			n.keys = []haltd.Key{{ID: "key_1", Agent: "bot"}, {ID: "key_2", Agent: "bot", RevokedAt: &over}, {ID: "key_3", Agent: "bot", KeyLimits: haltd.KeyLimits{ExpiresAt: &over}}}
			n.config = "providers: {openai: {api_key: '[redacted]'}, groq: {}}\n"
		}, "✓", "Gateway keys in use: 1; haltd has a key of openai to put in their place"},
		{"a key", func(_ *testing.T, _ *node, term *terminal) { term.vars["OPENAI_API_KEY"] = "sk-secret" }, "✓", "Provider openai: haltd has its key"},
		{"reachable", func(t *testing.T, _ *node, term *terminal) {
			term.ConfigPath = writeFile(t, "haltd.yaml", "providers: {lab: {base_url: '"+gateway+"'}}\n")
		}, "✓", "Provider lab can be reached"},
		{"not reachable", func(t *testing.T, _ *node, term *terminal) {
			term.ConfigPath = writeFile(t, "haltd.yaml", "providers: {lab: {base_url: '"+nobody+"'}}\n")
		}, "✗", "Provider lab cannot be reached"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := staffed()
			n.gateway = gateway
			term := newTerminal(t, n.serve(t).URL)
			c.set(t, n, term)
			err := (&DoctorCmd{Network: strings.Contains(c.name, "reachable")}).Run(term.Env)
			got := term.out.String()
			if !strings.Contains(strings.Join(lines(got, c.mark), "\n"), c.want) || strings.Contains(got, "sk-secret") {
				t.Errorf("doctor printed\n%swant %s %q", got, c.mark, c.want)
			}
			if problem := len(lines(got, "✗")) > 0; problem != (err != nil) || err != nil && ExitCode(err) != ExitFailure {
				t.Errorf("error = %v (exit %d) after\n%s", err, ExitCode(err), got)
			}
		})
	}
}

func TestDoctorOnTheDataDirectory(t *testing.T) {
	n := staffed()
	n.gateway = greeter(t, "haltd gateway. Hello.")
	srv := n.serve(t)
	for _, c := range []struct {
		name string
		dir  func(t *testing.T) string
		mark string
	}{
		{"writable", func(t *testing.T) string { return t.TempDir() }, "✓"},
		{"not there yet", func(t *testing.T) string { return t.TempDir() + "/data" }, "✓"},
		{"a file", func(t *testing.T) string { return writeFile(t, "data", "") + "/x" }, "✗"},
	} {
		t.Run(c.name, func(t *testing.T) {
			term := newTerminal(t, "")
			dir := c.dir(t)
			term.vars["HALTD_ADMIN_URL"], term.vars["HALTD_DATA_DIR"] = srv.URL, dir
			_ = (&DoctorCmd{}).Run(term.Env)
			if got := strings.Join(lines(term.out.String(), c.mark), "\n"); !strings.Contains(got, "The data directory "+dir) {
				t.Errorf("doctor printed\n%s", term.out.String())
			}
			if left, _ := os.ReadDir(dir); len(left) != 0 {
				t.Errorf("doctor left %v", left)
			}
		})
	}
}

func TestDoctorAsJSON(t *testing.T) {
	n := staffed()
	n.gateway, n.bypass.On = greeter(t, "haltd gateway. Hello."), true
	term := newTerminal(t, n.serve(t).URL)
	term.JSON = true
	if err := (&DoctorCmd{}).Run(term.Env); ExitCode(err) != ExitFailure {
		t.Errorf("error = %v (exit %d)", err, ExitCode(err))
	}
	var got struct {
		Healthy bool
		Checks  []haltd.Diagnosis
	}
	if err := json.Unmarshal([]byte(term.out.String()), &got); err != nil || got.Healthy || len(got.Checks) < 8 {
		t.Errorf("printed %s, error %v", term.out.String(), err)
	}
}
