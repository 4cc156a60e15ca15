package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
	"github.com/haltd/haltd/test/harness"
)

// TestStopped is what being stopped means, how one gets out of it and how one
// does not.
func TestStopped(t *testing.T) {
	t.Parallel()
	s := newStage(t, "", "OPENAI_API_KEY=sk-of-the-provider")
	s.hold(t,
		requirement{"A killed agent", []scenario{
			{"Cannot rename itself under a key", noRenaming},
			{"Is not revived by being deleted", noRevival},
		}},
		requirement{"A killed session", []scenario{
			{"Leaves the others alone", killedSession},
			{"Is the scope of a default agent", killedDefaultSession},
		}},
		requirement{"Resume", []scenario{
			{"The old history does not count", oldHistory},
			{"With grace a kill only warns", grace},
			{"By command line", resumeByCommandLine},
		}},
		requirement{"Deactivate", []scenario{
			{"Calls in flight finish", inFlightFinish},
			{"Now cuts the calls in flight", cutNow},
		}},
		requirement{"Corroboration", []scenario{
			{"Equal answers to different questions only warn", classifier},
			{"Without it the score alone decides", literalClassifier},
			{"A poll that brings news is not killed", poll},
			{"Tool results are what the client newly said", newestIsToolResult},
		}},
		requirement{"Break glass", []scenario{
			{"Only manual deactivation is enforced", breakGlass},
		}},
	)
}

func noRenaming(t *testing.T, s *stage) {
	a := s.agent(t).with("")
	var key struct{ Secret string }
	s.API(t, "POST", "/v1/keys", map[string]string{"agent": a.id}, &key)
	call := func(path string) answer {
		const body = `{"model":"say-no","messages":[{"role":"user","content":"Is the order there?"}]}`
		return a.do("POST", path, body, map[string]string{"Authorization": "Bearer " + key.Secret, "X-Agent-Id": "somebody-else"})
	}
	for i := 0; i < 12 && a.view().Active; i++ {
		call("/v1/chat/completions")
	}
	for _, path := range []string{"/v1/chat/completions", "/agents/another-name/openai/v1/chat/completions", "/openai/v1/chat/completions"} {
		a.stopped(call(path), "kill_switch")
	}
}

func noRevival(t *testing.T, s *stage) {
	a := s.agent(t).with("")
	a.loop(12)
	a.has(haltd.EventCall, 1)
	if status := s.API(t, "DELETE", "/v1/agents/"+a.id, nil, nil); status != http.StatusNoContent {
		t.Fatalf("DELETE: %d", status)
	}
	a.stopped(a.ask("hello", "hi"), "kill_switch")
	if v := a.view(); v.Active || v.DeactivatedBy == nil || *v.DeactivatedBy != haltd.ByKillSwitch {
		t.Errorf("agent %+v, want it inactive by kill_switch", v.Agent)
	}
}

func TestKilledStaysKilledAfterACrash(t *testing.T) {
	t.Parallel()
	s := newStage(t, "")
	a := s.agent(t).with("")
	killed, _ := a.loop(12)
	s.Kill(t)
	s.Run(t)
	got := a.ask("hello", "hi")
	a.stopped(got, "kill_switch")
	if got.denied.Incident != killed.denied.Incident {
		t.Errorf("incident %q, want %q as before", got.denied.Incident, killed.denied.Incident)
	}
}

// repeat calls in a session until it is stopped.
func (a *agent) repeat(session string) answer {
	a.t.Helper()
	for range 12 {
		got := a.send(request{messages: []message{user("What is the state of the order?")}, session: session, reply: fakellm.Script{Text: "On its way."}})
		if got.status != http.StatusOK {
			return got
		}
	}
	a.t.Fatalf("session %s was not stopped", session)
	return answer{}
}

func killedSession(t *testing.T, s *stage) {
	a := s.agent(t).with(`"kill_scope":"session","window_scope":"session"`)
	got := a.repeat("one")
	if got.status != http.StatusBadRequest || !a.view().Active {
		t.Fatalf("%d, agent %+v; want the session stopped and the agent active", got.status, a.view().Agent)
	}
	say := func(session string) answer {
		return a.send(request{messages: []message{user("Write a poem.")}, session: session, reply: fakellm.Script{Text: "Waves."}})
	}
	a.stopped(say("one"), "kill_switch")
	a.passes(say("two"))
	if status := s.API(t, "POST", "/v1/sessions/one/activate?agent="+a.id, nil, nil); status != http.StatusOK {
		t.Errorf("activate the session: %d", status)
	}
	a.passes(say("one"))
}

// killedDefaultSession calls without a name: everybody who does shares the
// agent, and one loop must not stop them all.
func killedDefaultSession(t *testing.T, s *stage) {
	a := s.agent(t)
	a.id = "openai-python" // as its client calls itself
	a.with("")
	call := func(session string) answer {
		return a.do("POST", "/v1/chat/completions", `{"model":"say-no","messages":[{"role":"user","content":"Is the order there?"}]}`,
			map[string]string{"User-Agent": "OpenAI/Python 1.99.0", "X-Session-Id": session})
	}
	for i := 0; call("somebody").status == http.StatusOK; i++ {
		if i == 12 {
			t.Fatal("the loop was not stopped")
		}
	}
	a.passes(call("somebody-else"))
	if !a.view().Active {
		t.Error("the default agent was stopped for all")
	}
}

// history is a conversation in which one call is made again and again and
// fails.
func history(rounds int) []message {
	ms := []message{user("Which name servers does this host use?")}
	for i := range rounds {
		id := fmt.Sprint("call_", i)
		ms = append(ms, calls(id, "read_file", `{"path":"/etc/resolver/main.conf"}`), result(id, "ENOENT: no such file or directory"))
	}
	return ms
}

func oldHistory(t *testing.T, s *stage) {
	a := s.agent(t).with("")
	again := fakellm.Script{ToolCalls: []fakellm.ToolCall{{Name: "read_file", Arguments: `{"path":"/etc/resolver/main.conf"}`}}}
	rounds := 0
	goOn := func() answer {
		got := a.send(request{messages: history(rounds), session: "run", reply: again})
		if got.status == http.StatusOK {
			rounds++
		}
		return got
	}
	until := func() int {
		for i := range 15 {
			if got := goOn(); got.status != http.StatusOK {
				if got.status != http.StatusBadRequest || a.view().Active {
					t.Errorf("%d %s; want the agent killed", got.status, got.body)
				}
				return i
			}
		}
		t.Fatal("the loop was not killed")
		return 0
	}
	first := until()
	a.activate()
	a.passes(goOn())
	if second := until() + 1; second < first-1 {
		t.Errorf("killed after %d calls at first, after %d when it went on; want the old rounds forgotten", first, second)
	}
}

func grace(t *testing.T, s *stage) {
	a := s.agent(t).with("")
	a.loop(12)
	var got view
	if status := s.API(t, "POST", "/v1/agents/"+a.id+"/activate", map[string]any{"grace_minutes": 30, "reason": "watching it"}, &got); status != http.StatusOK {
		t.Fatalf("activate: %d", status)
	}
	if left := time.Until(got.Standing.GraceUntil); left < 25*time.Minute || left > 31*time.Minute || got.Standing.Why != "watching it" {
		t.Errorf("standing %+v, want half an hour of grace and the reason", got.Standing)
	}
	if got, at := a.loop(14); at != 0 {
		t.Errorf("in the time of grace: %d at call %d", got.status, at)
	}
	a.has(haltd.EventWarning, 1)
	a.activate()
	if _, at := a.loop(12); at == 0 {
		t.Error("after the grace was ended the loop is not killed")
	}
}

func resumeByCommandLine(t *testing.T, s *stage) {
	a := s.agent(t).with("")
	a.loop(12)
	if out, errs, code := s.CLI(t, "agents", "show", a.id); code != 0 || !strings.Contains(strings.ToLower(out), "kill") {
		t.Errorf("agents show: exit %d %s%s; want it to say who stopped the agent", code, out, errs)
	}
	if _, errs, code := s.CLI(t, "agents", "resume", a.id); code != 0 {
		t.Fatalf("agents resume: exit %d %s", code, errs)
	}
	a.passes(a.ask("hello", "hi"))
	if _, errs, code := s.CLI(t, "agents", "kill", a.id); code != 0 {
		t.Fatalf("agents kill: exit %d %s", code, errs)
	}
	a.stopped(a.ask("hello", "hi"), "manual")
}

// streaming opens a stream, waits for its first line and answers the others.
func (a *agent) streaming(script fakellm.Script) (lines <-chan string) {
	a.t.Helper()
	b, err := json.Marshal(script)
	if err != nil {
		a.t.Fatal(err)
	}
	req, err := http.NewRequest("POST", a.Gateway+"/agents/"+a.id+"/openai/v1/chat/completions", strings.NewReader(`{"model":"gpt-4.1-mini","stream":true,"messages":[{"role":"user","content":"hello"}]}`))
	if err != nil {
		a.t.Fatal(err)
	}
	req.Header.Set(harness.ScriptHeader, string(b))
	res, err := a.client.Do(req)
	if err != nil {
		a.t.Fatal(err)
	}
	out := make(chan string, 1000)
	go func() {
		defer res.Body.Close()
		defer close(out)
		for s := bufio.NewScanner(res.Body); s.Scan(); {
			out <- s.Text()
		}
	}()
	if first := <-out; !strings.HasPrefix(first, "data: ") {
		a.t.Fatalf("the stream begins with %q", first)
	}
	return out
}

func inFlightFinish(t *testing.T, s *stage) {
	a := s.agent(t)
	lines := a.streaming(fakellm.Script{Text: strings.Repeat("word ", 20), Chunks: 10, ChunkDelay: fakellm.Delay(20 * time.Millisecond)})
	s.API(t, "POST", "/v1/agents/"+a.id+"/deactivate", nil, nil)
	last := ""
	for line := range lines {
		if line != "" {
			last = line
		}
	}
	if last != "data: [DONE]" {
		t.Errorf("the stream ended with %q", last)
	}
	a.stopped(a.ask("hello", "hi"), "manual")
	if e := a.has(haltd.EventCall, 1)[0]; e.Failed() || e.Finish != "stop" {
		t.Errorf("event %+v, want the whole reply", e)
	}
}

func cutNow(t *testing.T, s *stage) {
	a := s.agent(t)
	lines := a.streaming(fakellm.Script{Text: strings.Repeat("word ", 20), Chunks: 10, ChunkDelay: fakellm.Delay(time.Hour)})
	if status := s.API(t, "POST", "/v1/agents/"+a.id+"/deactivate", map[string]any{"now": true}, nil); status != http.StatusOK {
		t.Fatalf("deactivate: %d", status)
	}
	said := ""
	for line := range lines {
		said += line + "\n"
	}
	if !strings.Contains(said, `data: {"error":`) || strings.Contains(said, "[DONE]") {
		t.Errorf("the stream ended with %q, want an error in it and no end of a whole reply", said)
	}
	if e := s.Events(t, "agent="+a.id, 2)[0]; e.Error != "operator_cut" {
		t.Errorf("event %+v, want operator_cut", e)
	}
}

// tickets are different questions that a healthy classifier answers alike.
func (a *agent) tickets() (answer, int) {
	a.t.Helper()
	for i, subject := range []string{
		"The invoice of March is missing.", "Why was my card charged twice?", "Please change the address on the bill.",
		"Is there a discount for schools?", "The refund has not arrived yet.", "Our VAT number has changed.",
		"Can we pay by bank transfer?", "The receipt shows the wrong name.", "How do I cancel the subscription?",
	} {
		got := a.send(request{messages: []message{user(subject)}, session: fmt.Sprint("ticket-", i), reply: fakellm.Script{Text: "billing"}})
		if got.status != http.StatusOK {
			return got, i + 1
		}
	}
	return answer{}, 0
}

func classifier(t *testing.T, s *stage) {
	a := s.agent(t).with("")
	if got, at := a.tickets(); at != 0 {
		t.Errorf("ticket %d: %d %s", at, got.status, got.body)
	}
	if e := a.has(haltd.EventWarning, 1)[0]; e.Score <= 10 {
		t.Errorf("event %+v, want a warning with a score above the threshold", e)
	}
}

func literalClassifier(t *testing.T, s *stage) {
	a := s.agent(t).with(killing)
	// Answers alone: 2 × (n-2) exceeds 10 at the eighth.
	if got, at := a.tickets(); at != 8 || got.status != http.StatusBadRequest {
		t.Errorf("stopped at ticket %d with %d, want the eighth with 400", at, got.status)
	}
}

func poll(t *testing.T, s *stage) {
	a := s.agent(t).with("")
	ms := []message{user("Tell me when the export is ready.")}
	for i := range 25 {
		got := a.send(request{
			messages: ms, session: "export",
			reply: fakellm.Script{Text: "Let me look again.", ToolCalls: []fakellm.ToolCall{{Name: "export_status", Arguments: `{"id":"exp-a"}`}}},
		})
		if got.status != http.StatusOK {
			t.Fatalf("poll %d: %d %s", i+1, got.status, got.body)
		}
		id := fmt.Sprint("call_", i)
		ms = append(ms, calls(id, "export_status", `{"id":"exp-a"}`), result(id, fmt.Sprintf(`{"state":"running","progress":%d}`, 4*i)))
	}
}

// newestIsToolResult: the steps of a healthy agent all follow the same user
// message.
func newestIsToolResult(t *testing.T, s *stage) {
	a := s.agent(t)
	ms := []message{user("Find the bug.")}
	for i, output := range []string{"main.go\nparser.go", "func parse(s string) error { return nil }", "ok  all tests pass"} {
		id := fmt.Sprint("call_", i)
		ms = append(ms, calls(id, "bash", fmt.Sprintf(`{"command":"step %d"}`, i)), result(id, output))
		a.send(request{messages: ms, session: "run", reply: fakellm.Script{Text: "hm"}})
	}
	seen := map[uint64]bool{}
	for _, h := range a.prompts() {
		seen[h] = true
	}
	if len(seen) != 3 {
		t.Errorf("%d different prompts in three steps with different results, want 3", len(seen))
	}
}

// breakGlass comes last: the bypass is for all agents.
func breakGlass(t *testing.T, s *stage) {
	killed, off, spent := s.agent(t, "killed").with(""), s.agent(t, "off"), s.agent(t, "spent").policy(`{"budgets":{"day":{"hard_tokens":100}}}`)
	killed.loop(12)
	s.API(t, "POST", "/v1/agents/"+off.id+"/deactivate", nil, nil)
	spent.use(100, 100, 10)
	if _, errs, code := s.CLI(t, "bypass", "on"); code != 0 {
		t.Fatalf("bypass on: exit %d %s", code, errs)
	}
	killed.passes(killed.ask("hello", "hi"))
	spent.passes(spent.use(1000, 100, 10))
	off.stopped(off.ask("hello", "hi"), "manual")
	if _, errs, code := s.CLI(t, "bypass", "off"); code != 0 {
		t.Fatalf("bypass off: exit %d %s", code, errs)
	}
	killed.stopped(killed.ask("hello", "hi"), "kill_switch")
	spent.stopped(spent.use(1, 1, 10), "budget_exceeded")
	if got := spent.spent().Spent.Tokens; got != 1300 {
		t.Errorf("%d tokens spent, want 1300: what the bypass let through was spent, too", got)
	}
	var changes []string
	for _, e := range s.Events(t, "type=policy_change&limit=1000", 2) {
		if e.Audit != nil && strings.HasPrefix(e.Audit.Change, "bypass") {
			changes = append(changes, e.Audit.Change)
		}
	}
	if fmt.Sprint(changes) != "[bypass_off bypass_on]" {
		t.Errorf("events tell of %v", changes)
	}
}
