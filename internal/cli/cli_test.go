package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"
	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/admin"
	"github.com/haltd/haltd/test/harness"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const token = "the-admin-token-of-this-test"

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// node is a haltd as far as a command can see it: the real admin API over
// a record in memory.
type node struct {
	haltd.EventStore
	mu     sync.Mutex
	events []haltd.Event // newest first
	keys   []haltd.Key
	config string // in force
	subs   map[chan haltd.Event]bool
	joined chan struct{} // one value per subscription
	fakeControl
}

func newNode(events ...haltd.Event) *node {
	return &node{fakeControl: fakeControl{standings: map[haltd.Target]haltd.Standing{}}, events: events, subs: map[chan haltd.Event]bool{}, joined: make(chan struct{}, 10)}
}

func (n *node) Events(_ context.Context, q haltd.EventQuery) ([]haltd.Event, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	var found []haltd.Event
	for _, e := range n.events {
		if len(found) < q.Limit && (q.Before == 0 || e.ID < q.Before) && (q.Agent == "" || q.Agent == e.Agent) {
			found = append(found, e)
		}
	}
	return found, nil
}

// happen records an event and publishes it.
func (n *node) happen(e haltd.Event) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.events = append([]haltd.Event{e}, n.events...)
	for c := range n.subs {
		c <- e
	}
}

func (n *node) CommittedUpTo() haltd.EventID { return math.MaxInt64 }

func (n *node) Subscribe(buffer int) (<-chan haltd.Event, func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	c := make(chan haltd.Event, buffer)
	n.subs[c] = true
	n.joined <- struct{}{}
	return c, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.subs, c)
	}
}

func (n *node) Create(_ context.Context, agent, name string, limits haltd.KeyLimits) (haltd.Key, string, error) {
	k := haltd.Key{ID: "key_one", Agent: agent, Name: name, CreatedAt: noon}
	n.keys = append(n.keys, k)
	return k, "haltd_the-secret", nil
}

func (n *node) List(context.Context) ([]haltd.Key, error) { return n.keys, nil }

func (n *node) Change(_ context.Context, id string, edit func(*haltd.Key)) (haltd.Key, error) {
	for i := range n.keys {
		if n.keys[i].ID == id {
			edit(&n.keys[i])
			return n.keys[i], nil
		}
	}
	return haltd.Key{}, haltd.Errorf(haltd.CodeNotFound, "There is no key %s", id)
}

func (n *node) Revoke(_ context.Context, id string) (haltd.Key, error) {
	for i := range n.keys {
		if n.keys[i].ID == id {
			n.keys[i].RevokedAt = &noon
			return n.keys[i], nil
		}
	}
	return haltd.Key{}, haltd.Errorf(haltd.CodeNotFound, "There is no key %s", id)
}

func (n *node) serve(t *testing.T) *httptest.Server {
	srv := httptest.NewServer(admin.New(admin.Options{
		Events: n, Recorder: n, Keys: n, Agents: n, Incidents: n, Control: n, Policies: n, Standings: n, Spendings: n, BreakGlass: n, Alerts: fakeAlerts{status: &n.alerts},
		Process: n, Calls: n,
		Access: admin.Access{Token: token, Loopback: true}, Clock: func() time.Time { return noon },
	}))
	t.Cleanup(srv.Close)
	return srv
}

func (n *node) Known(string) bool   { return false }
func (n *node) Calling(string) bool { return false }

func (n *node) AgentOf(string) (string, bool)                { return "", false }
func (n *node) Delete(context.Context, string, string) error { return nil }
func (n *node) Record(haltd.Event)                           {}
func (n *node) Flush(context.Context) error                  { return nil }
func (n *node) Ready(context.Context) error                  { return n.notReady }
func (n *node) Config() ([]byte, error)                      { return []byte(n.config), nil }
func (n *node) Status() admin.Status {
	return admin.Status{Gateway: n.gateway, Degraded: n.degraded, Upstreams: n.upstreams}
}

// terminal is where a command writes in a test.
type terminal struct {
	*Env
	out, err lockedBuffer
	vars     map[string]string
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func newTerminal(t *testing.T, adminURL string) *terminal {
	term := &terminal{vars: map[string]string{"HALTD_ADMIN_TOKEN": token, "HALTD_DATA_DIR": t.TempDir()}}
	term.Env = &Env{
		Context: t.Context(), Stdout: &term.out, Stderr: &term.err, AdminURL: adminURL, Version: "1.2.3",
		Clock:  func() time.Time { return noon },
		Getenv: func(name string) (string, bool) { v, ok := term.vars[name]; return v, ok },
	}
	return term
}

func TestExitCodesAreStable(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{errors.New("anything"), 1},
		{haltd.Errorf(haltd.CodeInvalid, "bad field"), 1},
		{&kong.ParseError{}, 2},
		{haltd.Errorf(codeUsage, "bad flag"), 2},
		{fmt.Errorf("call: %w", haltd.Errorf(codeUnreachable, "gone")), 3},
		{fmt.Errorf("call: %w", haltd.Errorf(haltd.CodeUnauthorized, "no")), 4},
	} {
		if got := ExitCode(c.err); got != c.want {
			t.Errorf("ExitCode(%v) = %d, want %d", c.err, got, c.want)
		}
	}
}

func TestUseColor(t *testing.T) {
	for _, c := range []struct {
		terminal bool
		vars     map[string]string
		want     bool
	}{
		{true, nil, true},
		{false, nil, false},
		{true, map[string]string{"NO_COLOR": "1"}, false},
		{true, map[string]string{"NO_COLOR": ""}, true},
		{true, map[string]string{"TERM": "dumb"}, false},
	} {
		got := UseColor(c.terminal, func(name string) (string, bool) { v, ok := c.vars[name]; return v, ok })
		if got != c.want {
			t.Errorf("UseColor(%v, %v) = %v, want %v", c.terminal, c.vars, got, c.want)
		}
	}
}

func TestNobodyAnswers(t *testing.T) {
	nobody := harness.Refusing(t)
	err := (&KeysLsCmd{}).Run(newTerminal(t, nobody).Env)
	want := "No haltd answers at " + nobody + ". Start it with `haltd serve`, or name another address with --admin."
	if err == nil || err.Error() != want || ExitCode(err) != ExitUnreachable {
		t.Errorf("error = %v (exit %d), want %s (exit 3)", err, ExitCode(err), want)
	}
}

func TestAWrongTokenIsSaid(t *testing.T) {
	srv := newNode().serve(t)
	for given, want := range map[string]string{"wrong": "does not accept this admin token", "": "none was found"} {
		term := newTerminal(t, srv.URL)
		term.vars["HALTD_ADMIN_TOKEN"] = given
		err := (&KeysLsCmd{}).Run(term.Env)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "HALTD_ADMIN_TOKEN") || ExitCode(err) != ExitUnauthorized {
			t.Errorf("token %q: error = %v (exit %d), want %q (exit 4)", given, err, ExitCode(err), want)
		}
	}
}

func TestSomethingElseAnswers(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"not found": http.NotFound,
		"a page":    func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html>") },
		"a provider behind the gateway": func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, `{"error":{"code":"not_found","message":"The requested path does not exist."}}`, http.StatusNotFound)
		},
		"the gateway": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Haltd-Reason", "unauthorized")
			http.Error(w, `{"error":{"code":"unauthorized","message":"This is the admin token"}}`, http.StatusUnauthorized)
		},
		"a redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://elsewhere.invalid/", http.StatusFound)
		},
	} {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(handler)
			defer srv.Close()
			err := (&KeysLsCmd{}).Run(newTerminal(t, srv.URL).Env)
			if err == nil || !strings.Contains(err.Error(), "is not a haltd admin API") || ExitCode(err) != ExitUnreachable {
				t.Errorf("error = %v (exit %d)", err, ExitCode(err))
			}
		})
	}
}

func TestFixesNameCommands(t *testing.T) {
	for _, c := range []struct{ fix, see, want string }{
		{"GET /v1/keys lists what there is.", "/v1/keys", "haltd keys ls lists what there is."},
		{"Mend it; GET /v1/openapi.json says what this path takes.", "/v1/openapi.json", "Run haltd keys ls --help."},
		{"Send less.", "", "Send less."},
		{"Ask GET /v1/keys.", "", "Ask GET /v1/keys."},
		{"Look elsewhere.", "https://elsewhere.invalid/", "Look elsewhere."},
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{"code": "invalid", "message": "It is wrong", "fix": c.fix, "see": c.see}})
		}))
		term := newTerminal(t, srv.URL)
		term.Help = "Run haltd keys ls --help."
		err := (&KeysLsCmd{}).Run(term.Env)
		srv.Close()
		if want := "It is wrong. " + c.want; err == nil || err.Error() != want {
			t.Errorf("%q with %q: %v, want %q", c.fix, c.see, err, want)
		}
	}
}

func TestWhereTheAdminAPIIs(t *testing.T) {
	for _, c := range []struct {
		name, flag, file string
		vars             map[string]string
		want             string
	}{
		{"the default", "", "", nil, "http://127.0.0.1:7071"},
		{"the file", "", "admin: {listen: '127.0.0.1:9'}", nil, "http://127.0.0.1:9"},
		{"everywhere is called on loopback", "", "admin: {listen: '0.0.0.0:9', token: aaaaaaaaaaaaaaaaaaaaaaaa}", nil, "http://127.0.0.1:9"},
		{"the environment wins over the file", "", "admin: {listen: '127.0.0.1:9'}", map[string]string{"HALTD_ADMIN_URL": "https://haltd.example"}, "https://haltd.example"},
		{"the flag wins over all", "10.0.0.1:5", "", map[string]string{"HALTD_ADMIN_URL": "https://haltd.example"}, "http://10.0.0.1:5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			term := newTerminal(t, c.flag)
			for k, v := range c.vars {
				term.vars[k] = v
			}
			if c.file != "" {
				term.ConfigPath = writeFile(t, "haltd.yaml", c.file)
			}
			api, err := term.connect()
			if err != nil {
				t.Fatal(err)
			}
			if got := api.base.String(); got != c.want {
				t.Errorf("address = %s, want %s", got, c.want)
			}
		})
	}
}

func TestAddressesThatAreNone(t *testing.T) {
	for _, address := range []string{"ftp://x", "http://", "http://user:pw@host", "http://h/?a=b", "http://h:port"} {
		_, err := newTerminal(t, address).connect()
		if ExitCode(err) != ExitUsage {
			t.Errorf("--admin %s: error %v (exit %d), want exit 2", address, err, ExitCode(err))
		}
	}
}

func TestWhichTokenIsSent(t *testing.T) {
	for _, c := range []struct{ name, env, file, made, want string }{
		{"environment", "from-environment", "admin: {token: from-the-configuration}", "from-data-dir", "from-environment"},
		{"configuration", "", "admin: {token: from-the-configuration}", "from-data-dir", "from-the-configuration"},
		{"data directory", "", "", "from-data-dir\n", "from-data-dir"},
		{"none yet", "", "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			term := newTerminal(t, "")
			term.vars["HALTD_ADMIN_TOKEN"] = c.env
			if c.file != "" {
				term.ConfigPath = writeFile(t, "haltd.yaml", c.file)
			}
			if c.made != "" {
				if err := os.WriteFile(filepath.Join(term.vars["HALTD_DATA_DIR"], "admin.token"), []byte(c.made), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			api, err := term.connect()
			if err != nil {
				t.Fatal(err)
			}
			if api.token != c.want {
				t.Errorf("token = %q, want %q", api.token, c.want)
			}
		})
	}
}

func writeFile(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestKeysFromCreationToRevocation(t *testing.T) {
	srv := newNode().serve(t)
	term := newTerminal(t, srv.URL)
	run := func(c interface{ Run(*Env) error }) string {
		t.Helper()
		term.out.b.Reset()
		if err := c.Run(term.Env); err != nil {
			t.Fatal(err)
		}
		return term.out.String()
	}
	if got := run(&KeysLsCmd{}); !strings.Contains(got, "haltd keys create") {
		t.Errorf("an empty list = %q, want how to make a key", got)
	}
	if got := run(&KeysCreateCmd{Agent: "billing-bot", Name: "ci"}); got != "haltd_the-secret\n" {
		t.Errorf("create printed %q, want the secret alone", got)
	}
	want := "ID       AGENT        NAME  CREATED           LAST USED  LIMITS      STATE\n" +
		"key_one  billing-bot  ci    " + minute(noon) + "  never      all models  active\n"
	if diff := cmp.Diff(want, run(&KeysLsCmd{})); diff != "" {
		t.Errorf("ls (-want +got):\n%s", diff)
	}
	if got := run(&KeysRevokeCmd{ID: "key_one"}); got != "Key key_one of agent billing-bot is revoked.\n" {
		t.Errorf("revoke printed %q", got)
	}
	if got := run(&KeysLsCmd{}); !strings.Contains(got, "revoked 2026-03-01") {
		t.Errorf("ls = %q, want the key revoked", got)
	}
	err := (&KeysRevokeCmd{ID: "key_two"}).Run(term.Env)
	if haltd.ErrorCode(err) != haltd.CodeNotFound || ExitCode(err) != ExitFailure || !strings.Contains(err.Error(), "haltd keys ls lists what there is.") {
		t.Errorf("revoking an unknown key = %v", err)
	}
}

func TestKeysAsJSON(t *testing.T) {
	term := newTerminal(t, newNode().serve(t).URL)
	term.JSON = true
	if err := (&KeysCreateCmd{Agent: "a"}).Run(term.Env); err != nil {
		t.Fatal(err)
	}
	if err := (&KeysLsCmd{}).Run(term.Env); err != nil {
		t.Fatal(err)
	}
	want := `{"id":"key_one","agent":"a","created_at":"2026-03-01T12:00:00Z","revoked_at":null,"last_used_at":null,"secret":"haltd_the-secret"}
{"keys":[{"id":"key_one","agent":"a","created_at":"2026-03-01T12:00:00Z","revoked_at":null,"last_used_at":null}]}
`
	if diff := cmp.Diff(want, term.out.String()); diff != "" || term.err.String() != "" {
		t.Errorf("stderr %q; stdout (-want +got):\n%s", term.err.String(), diff)
	}
}

func TestConfigCheck(t *testing.T) {
	good := writeFile(t, "good.yaml", "gateway: {listen: '127.0.0.1:7070'}\n")
	bad := writeFile(t, "bad.yaml", "gatway: {}\nlog: {format: xml}\n")

	term := newTerminal(t, "")
	if term.ConfigPath = good; (&ConfigCheckCmd{}).Run(term.Env) != nil || term.out.String() != good+" is valid.\n" {
		t.Errorf("a good file printed %q", term.out.String())
	}
	term.ConfigPath = bad
	if err := (&ConfigCheckCmd{}).Run(term.Env); ExitCode(err) != ExitFailure || !strings.Contains(err.Error(), "gatway") {
		t.Errorf("a bad file: error %v", err)
	}
	term.out.b.Reset()
	term.JSON = true
	if err := (&ConfigCheckCmd{}).Run(term.Env); err == nil {
		t.Error("a bad file is no error with --json")
	}
	if got := term.out.String(); !strings.HasPrefix(got, `{"valid":false,"problems":["`) || !strings.HasSuffix(got, `"warnings":[],"notices":[]}`+"\n") {
		t.Errorf("--json printed %s", got)
	}
}

func TestConfigPrintShowsNoSecret(t *testing.T) {
	for _, asJSON := range []bool{false, true} {
		term := newTerminal(t, "")
		term.JSON = asJSON
		if err := (&ConfigPrintCmd{}).Run(term.Env); err != nil {
			t.Fatal(err)
		}
		got := term.out.String()
		if strings.Contains(got, token) || !strings.Contains(got, "127.0.0.1:7070") || strings.HasPrefix(got, "{") != asJSON {
			t.Errorf("json %v: printed %s", asJSON, got)
		}
	}
}

func TestVersion(t *testing.T) {
	term := newTerminal(t, "")
	term.Commit = "0123456789abcdef"
	if err := (&VersionCmd{}).Run(term.Env); err != nil || !strings.HasPrefix(term.out.String(), "haltd 1.2.3 (commit 0123456789ab, ") {
		t.Errorf("printed %q, error %v", term.out.String(), err)
	}
}

// The structs must be valid kong commands.
func TestCommandsParse(t *testing.T) {
	var commands struct {
		Events struct {
			Tail EventsTailCmd `cmd:""`
		} `cmd:""`
		Keys struct {
			Create KeysCreateCmd `cmd:""`
			Ls     KeysLsCmd     `cmd:""`
			Revoke KeysRevokeCmd `cmd:""`
		} `cmd:""`
		Config struct {
			Check ConfigCheckCmd `cmd:""`
			Print ConfigPrintCmd `cmd:""`
		} `cmd:""`
		Agents struct {
			Ls     AgentsLsCmd     `cmd:""`
			Show   AgentsShowCmd   `cmd:""`
			Kill   AgentsKillCmd   `cmd:""`
			Resume AgentsResumeCmd `cmd:""`
		} `cmd:""`
		Incidents struct {
			Ls   IncidentsLsCmd   `cmd:""`
			Show IncidentsShowCmd `cmd:""`
		} `cmd:""`
		Bypass struct {
			On     BypassOnCmd     `cmd:""`
			Off    BypassOffCmd    `cmd:""`
			Status BypassStatusCmd `cmd:""`
		} `cmd:""`
		Doctor  DoctorCmd  `cmd:""`
		Version VersionCmd `cmd:""`
	}
	parser, err := kong.New(&commands)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.Parse([]string{"events", "tail", "-n", "3", "--no-follow", "--agent", "a", "--type", "error,warning", "--session", "s"}); err != nil {
		t.Fatal(err)
	}
	want := EventsTailCmd{Agent: "a", Session: "s", Type: []string{"error", "warning"}, Last: 3, NoFollow: true}
	if diff := cmp.Diff(want, commands.Events.Tail); diff != "" {
		t.Errorf("events tail (-want +got):\n%s", diff)
	}
	for _, args := range [][]string{
		{"agents", "ls", "--inactive"}, {"agents", "kill", "a", "--now", "--session", "s", "--reason", "r"},
		{"incidents", "ls"}, {"incidents", "ls", "--status", "all", "--kind", "growth"}, {"incidents", "show", "inc_a"},
		{"bypass", "on", "--reason", "r"}, {"bypass", "off"}, {"bypass", "status"}, {"doctor", "--network"},
	} {
		if _, err := parser.Parse(args); err != nil {
			t.Errorf("haltd %s: %v", strings.Join(args, " "), err)
		}
	}
	if _, err := parser.Parse([]string{"agents", "resume", "a", "--grace", "30m"}); err != nil || commands.Agents.Resume.Grace != 30*time.Minute {
		t.Errorf("--grace 30m = %v, error %v", commands.Agents.Resume.Grace, err)
	}
	if _, err := parser.Parse([]string{"keys", "create"}); ExitCode(err) != ExitUsage {
		t.Errorf("a missing flag = %v (exit %d), want exit 2", err, ExitCode(err))
	}
}
