package e2e

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/haltd/haltd/test/harness"
)

func TestStartTellsWhereThingsAre(t *testing.T) {
	t.Parallel()
	n := start(t, "")
	n.Eventually(t, "done with its greeting", func() bool { return strings.Contains(n.Log(), "haltd events tail") })
	out := n.Log()
	for _, line := range []string{
		n.Gateway, n.Admin, n.Config.DataDir,
		"export OPENAI_BASE_URL=" + n.Gateway + "/v1",
		"export ANTHROPIC_BASE_URL=" + n.Gateway,
		"export GOOGLE_GEMINI_BASE_URL=" + n.Gateway,
		"Claude Code", "codex -c openai_base_url=", "haltd events tail --config " + n.Config.Path,
	} {
		if !strings.Contains(out, line) {
			t.Errorf("the start prints no %q:\n%s", line, out)
		}
	}
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/v1/agents": 401, "/metrics": 401} {
		res, err := http.Get(n.Admin + path)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("GET %s without a token: %d, want %d", path, res.StatusCode, want)
		}
	}
}

// Without any configuration haltd makes its data directory and a token that
// only its user can read, and the commands find both.
func TestStartWithoutConfiguration(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "fresh", "data")
	n := harness.New(t, t.TempDir())
	n.Config.Replace(t, "")
	env := []string{"HALTD_GATEWAY_LISTEN=" + n.Config.Gateway, "HALTD_ADMIN_LISTEN=" + n.Config.Admin, "HALTD_DATA_DIR=" + dir}
	n.Run(t, env...)
	info, err := os.Stat(filepath.Join(dir, "admin.token"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("admin.token: %v, %v; want mode 0600", info, err)
	}
	env = append(env, "HALTD_CONFIG=") // set to nothing, which counts as unset
	if out, errs, code := harness.CLI(t, env, "keys", "ls"); code != 0 {
		t.Errorf("haltd keys ls: exit %d, %s%s", code, out, errs)
	}
}

// A listener that other machines reach under a name still answers to the
// commands beside it, and to the name of the links in its messages.
func TestCommandsReachAListenerThatIsOpenToTheNetwork(t *testing.T) {
	t.Parallel()
	n := harness.New(t, t.TempDir())
	_, port, err := net.SplitHostPort(n.Config.Admin)
	if err != nil {
		t.Fatal(err)
	}
	n.Config.Replace(t, fmt.Sprintf("gateway: {listen: %q}\nadmin: {listen: \"0.0.0.0:%s\", token: open-sesame-open-sesame, hosts: [haltd.example.com]}\ndata_dir: %q\nalerts: {public_url: \"https://dash.example.com/\"}\n", n.Config.Gateway, port, n.Config.DataDir))
	n.Run(t)
	if out, errs, code := n.CLI(t, "agents", "ls"); code != 0 {
		t.Errorf("haltd agents ls: exit %d, %s%s", code, out, errs)
	}
	if out, errs, code := n.CLI(t, "sign-in"); !strings.HasPrefix(out, "https://dash.example.com/sign-in#code=") {
		t.Errorf("haltd sign-in: exit %d, %s%s", code, out, errs)
	}
	for host, want := range map[string]int{"haltd.example.com": 200, "dash.example.com": 200, "evil.example": 421} {
		req, err := http.NewRequest("GET", "http://127.0.0.1:"+port+"/v1/me", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = host
		req.Header.Set("Authorization", "Bearer open-sesame-open-sesame")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("as %s: %d, want %d", host, res.StatusCode, want)
		}
	}
}

func TestWhatStopsTheStartSaysSoInOneSentence(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	running := start(t, "")
	file := filepath.Join(t.TempDir(), "a-file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	free := func(more string) string {
		return harness.NewConfig(t.TempDir(), harness.Address(t), harness.Address(t)).Base() + more
	}
	for _, tc := range []struct {
		name, config string
		says         []string
	}{
		{"gateway port taken", fmt.Sprintf("gateway: {listen: %q}\ndata_dir: %q\n", taken.Addr(), t.TempDir()), []string{"Another program listens on " + taken.Addr().String(), "gateway.listen", "HALTD_GATEWAY_LISTEN"}},
		{"admin port taken", fmt.Sprintf("gateway: {listen: %q}\nadmin: {listen: %q}\ndata_dir: %q\n", harness.Address(t), taken.Addr(), t.TempDir()), []string{"Another program listens on", "admin.listen"}},
		{"address of another machine", fmt.Sprintf("gateway: {listen: \"192.0.2.1:7070\"}\ndata_dir: %q\n", t.TempDir()), []string{"not an address of this machine", "gateway.listen"}},
		{"data directory under a file", fmt.Sprintf("data_dir: %q\n", filepath.Join(file, "data")), []string{"data directory", "cannot be made", "HALTD_DATA_DIR"}},
		{"data directory in use", fmt.Sprintf("gateway: {listen: %q}\nadmin: {listen: %q}\ndata_dir: %q\n", harness.Address(t), harness.Address(t), running.Config.DataDir), []string{"Another haltd uses the data directory", "Stop it first"}},
		{"key file missing", free("providers: {openai: {api_key_file: /nonexistent/key}}\n"), []string{"providers.openai.api_key_file", "/nonexistent/key"}},
		{"key file empty", free(fmt.Sprintf("providers: {openai: {api_key_file: %q}}\n", file)), []string{"providers.openai.api_key_file", "empty"}},
		{"unknown key", free("providers:\n  openai:\n    bse_url: http://x\n"), []string{"haltd.yaml:6", "providers.openai.bse_url", "did you mean base_url?"}},
		{"variable not set", free("log: {level: \"${HALTD_TEST_NOT_SET}\"}\n"), []string{"HALTD_TEST_NOT_SET", "log.level"}},
		{"admin open to the network without a token", fmt.Sprintf("gateway: {listen: %q}\nadmin: {listen: \"0.0.0.0:0\"}\ndata_dir: %q\n", harness.Address(t), t.TempDir()), []string{"can be reached from other machines and needs a token", "HALTD_ADMIN_TOKEN"}},
		{"store that is no database", func() string {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "haltd.db"), []byte("this is no database, it only has the name of one"), 0o600); err != nil {
				t.Fatal(err)
			}
			return fmt.Sprintf("gateway: {listen: %q}\nadmin: {listen: %q}\ndata_dir: %q\n", harness.Address(t), harness.Address(t), dir)
		}(), []string{"haltd.db", "database"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			config := filepath.Join(t.TempDir(), "haltd.yaml")
			if err := os.WriteFile(config, []byte(tc.config), 0o600); err != nil {
				t.Fatal(err)
			}
			out, errs, code := harness.CLI(t, nil, "serve", "--config", config)
			if code != 1 {
				t.Errorf("exit %d, want 1", code)
			}
			for _, want := range tc.says {
				if !strings.Contains(errs, want) {
					t.Errorf("stderr %q does not say %q", errs, want)
				}
			}
			if lines := strings.Count(strings.TrimSpace(errs), "\n"); lines > 1 {
				t.Errorf("%d lines, want one sentence:\n%s", lines+1, errs)
			}
			if strings.Contains(out+errs, "goroutine") {
				t.Errorf("a stack trace is no message:\n%s", errs)
			}
		})
	}
}

func TestReloadOnHangUp(t *testing.T) {
	t.Parallel()
	_, first := provider(t)
	llm, second := provider(t)
	n := start(t, harness.Providers(first))
	hangUp := func(config, says string) {
		t.Helper()
		n.Config.Write(t, config)
		n.Reload(t, says)
	}
	url := n.Gateway + "/v1/chat/completions"

	hangUp(harness.Providers(second), "configuration reloaded")
	if status, b := post(t, url, chat); status != 200 || len(llm.Requests()) != 1 {
		t.Fatalf("after the reload: %d %s, the new provider got %d requests", status, b, len(llm.Requests()))
	}
	hangUp("providers: {openai: {base_url: 'ftp://nowhere'}}\n", "the old one stays in force")
	if status, b := post(t, url, chat); status != 200 || len(llm.Requests()) != 2 {
		t.Errorf("after a bad reload: %d %s, the provider got %d requests", status, b, len(llm.Requests()))
	}
}

func TestAnOpenGatewayIsWarnedAbout(t *testing.T) {
	t.Parallel()
	n := harness.New(t, t.TempDir())
	_, port, err := net.SplitHostPort(n.Config.Gateway)
	if err != nil {
		t.Fatal(err)
	}
	n.Config.Replace(t, strings.Replace(n.Config.Base(), n.Config.Gateway, "0.0.0.0:"+port, 1))
	n.Run(t)
	n.Eventually(t, "warning of an open gateway", func() bool { return strings.Contains(n.Log(), "gateway.require_keys") })
}
