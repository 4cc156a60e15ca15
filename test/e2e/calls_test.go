package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/harness"
)

// One call in each format, and what the API then knows.
func TestCallsAreRecordedAndShown(t *testing.T) {
	t.Parallel()
	_, url := provider(t)
	n := start(t, harness.Providers(url))
	gw := n.Gateway
	for _, c := range []struct{ path, body string }{
		{"/agents/bot/openai/v1/chat/completions", chat},
		{"/agents/bot/openai/v1/responses", `{"model":"echo","input":"hello"}`},
		{"/agents/bot/anthropic/v1/messages", `{"model":"echo","max_tokens":50,"messages":[{"role":"user","content":"hello"}]}`},
		{"/agents/bot/gemini/v1beta/models/echo:generateContent", `{"contents":[{"role":"user","parts":[{"text":"hello"}]}]}`},
	} {
		if status, b := post(t, gw+c.path, c.body, "X-Session-Id", "s1"); status != 200 {
			t.Fatalf("%s: %d %s", c.path, status, b)
		}
	}
	seen := map[string]bool{}
	for _, e := range n.Events(t, "agent=bot&type=llm_call", 4) {
		seen[e.Format] = true
		if e.Session != "s1" || e.Status != 200 || e.Tokens.Input == 0 || e.Tokens.Output == 0 || e.Estimated {
			t.Errorf("event %+v; want session s1, 200 and the provider's token counts", e)
		}
		if e.Cost == 0 || !e.Unpriced {
			t.Errorf("%s: cost %s, default price %v; an unknown model is never free and is marked", e.Format, e.Cost, e.Unpriced)
		}
	}
	if len(seen) != 4 {
		t.Errorf("formats %v, want four", seen)
	}
	var agent haltd.Agent
	if n.API(t, "GET", "/v1/agents/bot", nil, &agent); !agent.Active || agent.DeactivatedBy != nil || agent.Totals.Calls != 4 {
		t.Errorf("agent %+v; want active with 4 calls", agent)
	}
	var sessions struct{ Sessions []haltd.Session }
	if n.API(t, "GET", "/v1/sessions?agent=bot", nil, &sessions); len(sessions.Sessions) != 1 || sessions.Sessions[0].Totals.Calls != 4 {
		t.Errorf("sessions %+v; want s1 with 4 calls", sessions)
	}
	var stats haltd.Stats
	if n.API(t, "GET", "/v1/stats?since=2h&by=model", nil, &stats); stats.Totals.Calls != 4 || len(stats.Groups) != 1 || stats.Groups[0].Name != "echo" {
		t.Errorf("stats %+v; want 4 calls of echo", stats)
	}
	var refused struct {
		Error struct{ Code, Message, Fix string }
	}
	if status := n.API(t, "GET", "/v1/events?agnet=bot", nil, &refused); status < 400 || !strings.Contains(refused.Error.Message+refused.Error.Fix, "agent") {
		t.Errorf("a misspelt filter: %d %+v; want it refused with a suggestion", status, refused)
	}
}

func TestEventsTailAndExport(t *testing.T) {
	t.Parallel()
	_, url := provider(t)
	n := start(t, harness.Providers(url))
	tail, err := harness.Launch(harness.Command(t, nil, "--config", n.Config.Path, "--json", "events", "tail", "--agent", "bot"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := tail.Kill(); err != nil {
			t.Error(err)
		}
	}()
	// The tail may connect after the first calls; it shows the rest.
	var line string
	err = tail.Await(t.Context(), "showing an event", func() (ok bool) {
		post(t, n.Gateway+"/agents/other/v1/chat/completions", chat)
		post(t, n.Gateway+"/agents/bot/v1/chat/completions", chat)
		line, _, ok = strings.Cut(tail.Log(), "\n")
		return ok
	})
	if err != nil {
		t.Fatal(err)
	}
	var e haltd.Event
	if err := json.Unmarshal([]byte(line), &e); err != nil || e.Agent != "bot" {
		t.Fatalf("the tail shows %q (%v), want an event of bot", line, err)
	}
	for format, want := range map[string]string{"jsonl": `{"id":"evt_`, "csv": "id,time,event_type"} {
		if b := n.get(t, "/v1/events/export?agent=bot&format="+format); !strings.HasPrefix(b, want) {
			t.Errorf("%s export: %.80s", format, b)
		}
	}
}

func TestKeysByCommandLine(t *testing.T) {
	t.Parallel()
	llm, url := provider(t)
	n := start(t, fmt.Sprintf("providers: {openai: {base_url: %q, api_key: sk-of-the-provider}}\n", url))
	out, errs, code := n.CLI(t, "--json", "keys", "create", "--agent", "billing-bot", "--name", "ci")
	if code != 0 {
		t.Fatalf("keys create: exit %d %s", code, errs)
	}
	var made struct {
		ID     string `json:"id"`
		Secret string `json:"secret"`
	}
	if err := json.Unmarshal([]byte(out), &made); err != nil || !strings.HasPrefix(made.Secret, "haltd_") {
		t.Fatalf("keys create printed %s", out)
	}
	call := n.Gateway + "/agents/somebody-else/v1/chat/completions"
	if status, b := post(t, call, chat, "Authorization", "Bearer "+made.Secret); status != 200 {
		t.Fatalf("with the key: %d %s", status, b)
	}
	if got := llm.Requests()[0].Header.Get("Authorization"); got != "Bearer sk-of-the-provider" {
		t.Errorf("the provider got %q", got)
	}
	if e := n.Events(t, "type=llm_call", 1)[0]; e.Agent != "billing-bot" || e.Label != "somebody-else" {
		t.Errorf("agent %q label %q; want billing-bot, somebody-else", e.Agent, e.Label)
	}
	if out, _, _ := n.CLI(t, "keys", "ls"); !strings.Contains(out, "billing-bot") || strings.Contains(out, made.Secret) {
		t.Errorf("keys ls: %s", out)
	}
	if _, errs, code := n.CLI(t, "keys", "revoke", made.ID); code != 0 {
		t.Fatalf("keys revoke: exit %d %s", code, errs)
	}
	if status, b := post(t, call, chat, "Authorization", "Bearer "+made.Secret); status != 401 || len(llm.Requests()) != 1 {
		t.Errorf("with the revoked key: %d %s, the provider got %d requests", status, b, len(llm.Requests()))
	}
}

func TestCommandsWithoutAServer(t *testing.T) {
	t.Parallel()
	config := filepath.Join(t.TempDir(), "haltd.yaml")
	if err := os.WriteFile(config, []byte(fmt.Sprintf("admin: {listen: %q, token: %s}\n", harness.Address(t), harness.Token)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := harness.CLI(t, nil, "--config", config, "keys", "ls"); code != 3 || !strings.Contains(errs, "haltd serve") {
		t.Errorf("exit %d, %s; want 3 and how to start it", code, errs)
	}
	if _, errs, code := harness.CLI(t, nil, "keys", "lss"); code != 2 || !strings.Contains(errs, "--help") {
		t.Errorf("exit %d, %s; want 2 and the way to the help", code, errs)
	}
	if out, errs, code := harness.CLI(t, nil, "--config", config, "config", "print"); code != 0 || strings.Contains(out, harness.Token) {
		t.Errorf("config print: exit %d %s%s; want it without the token", code, out, errs)
	}
}

// Keys reach neither disk nor log, whichever way a request ends.
func TestNoKeyReachesDiskOrLog(t *testing.T) {
	t.Parallel()
	_, url := provider(t)
	n := start(t, harness.Providers(url)+"log: {level: debug}\n")
	gw := n.Gateway
	const secret = "sk-radioactive-0123456789abcdef"
	post(t, gw+"/v1/chat/completions", chat, "Authorization", "Bearer "+secret)
	post(t, gw+"/v1/chat/completions", strings.Replace(chat, "echo", "error-401", 1), "Authorization", "Bearer "+secret)
	post(t, gw+"/v1/chat/completions", "{broken", "Authorization", "Bearer "+secret)
	post(t, gw+"/v1/messages", `{"model":"echo","max_tokens":5,"messages":[{"role":"user","content":"x"}]}`, "X-Api-Key", secret)
	post(t, gw+"/v1beta/models/echo:generateContent?key="+secret, `{"contents":[]}`)
	post(t, gw+"/v1/models?key="+secret, "")
	post(t, gw+"/nowhere?key="+secret, "", "X-Api-Key", secret)
	post(t, gw+"/v1/chat/completions", chat, "Authorization", "Bearer haltd_"+secret)
	n.Events(t, "", 8)
	n.Stop(t)
	if strings.Contains(n.Log(), secret) {
		t.Errorf("the log holds the key:\n%s", n.Log())
	}
	err := filepath.WalkDir(n.Config.DataDir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte(secret)) {
			t.Errorf("%s holds the key", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// What a provider says out of turn is nobody's reply and not for the log.
func TestNoReplyReachesTheLog(t *testing.T) {
	t.Parallel()
	const text = "the patient's name is"
	said := make(chan struct{})
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		defer close(said)
		// Nothing may follow the headers of a HEAD.
		_, _ = fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(text), text)
		_, _ = conn.Read(make([]byte, 1)) // until haltd has had enough
	}))
	defer up.Close()
	n := start(t, harness.Providers(up.URL)+"log: {level: debug}\n")
	res, err := http.Head(n.Gateway + "/v1/models")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	<-said
	n.Stop(t)
	if strings.Contains(n.Log(), text) {
		t.Errorf("the log holds the reply:\n%s", n.Log())
	}
}

func TestWhatTheAPIShowedSurvivesAKill(t *testing.T) {
	t.Parallel()
	_, url := provider(t)
	n := start(t, harness.Providers(url))
	for range 20 {
		post(t, n.Gateway+"/agents/bot/v1/chat/completions", chat)
	}
	shown := n.Events(t, "agent=bot", 1)
	n.Kill(t)
	n.Run(t)
	after := map[haltd.EventID]bool{}
	for _, e := range n.Events(t, "agent=bot&limit=1000", len(shown)) {
		after[e.ID] = true
	}
	for _, e := range shown {
		if !after[e.ID] {
			t.Errorf("event %s was shown and is gone", e.ID)
		}
	}
}

// curl is a client that adds nothing of its own: through haltd it gets byte
// for byte what it gets directly.
func TestCurlSeesTheSameBytes(t *testing.T) {
	t.Parallel()
	curl := harness.Need(t, "curl")
	llm, url := provider(t)
	n := start(t, harness.Providers(url))
	get := func(base, body string, args ...string) string {
		llm.Clear() // its replies are the same from here on
		args = append([]string{"-sS", "--max-time", "20", "-H", "Content-Type: application/json", "-d", body}, append(args, base+"/v1/chat/completions")...)
		out, err := exec.Command(curl, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("curl: %v %s", err, out)
		}
		return string(out)
	}
	for _, body := range []string{
		chat,
		`{"model":"echo","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hello there"}]}`,
		`{"model":"error-429","messages":[]}`,
	} {
		direct, through := get(url, body), get(n.Gateway, body)
		if direct != through {
			t.Errorf("%s\ndirect:  %s\nthrough: %s", body, direct, through)
		}
	}
	// A body that is compressed stays so.
	args := []string{"-H", "Accept-Encoding: gzip"}
	gz := `{"model":"gzip","messages":[{"role":"user","content":"hello"}]}`
	if direct, through := get(url, gz, args...), get(n.Gateway, gz, args...); direct != through || !strings.HasPrefix(through, "\x1f\x8b") {
		t.Errorf("gzip: direct %.4x, through %.4x", direct, through)
	}
}
