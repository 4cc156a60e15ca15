package gateway

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/harness"
)

const (
	killYAML = providersYAML + "defaults:\n  kill_switch: {enabled: true}\n"
	chatPath = "/agents/bot/v1/chat/completions"
)

func inSession(id string) map[string]string { return map[string]string{"X-Session-Id": id} }

// counting is an upstream that counts what reaches it.
func counting(n *atomic.Int64, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n.Add(1)
		next.ServeHTTP(w, r)
	})
}

// changes is a store that keeps what is committed, and can fail.
type changes struct {
	haltd.ControlStore
	mu   sync.Mutex
	all  []haltd.Change
	fail func(haltd.Change) error
}

func (c *changes) Commit(ctx context.Context, change haltd.Change) error {
	c.mu.Lock()
	fail := c.fail
	c.mu.Unlock()
	if fail != nil {
		if err := fail(change); err != nil {
			return err
		}
	}
	err := c.ControlStore.Commit(ctx, change)
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.all = append(c.all, change)
	}
	return err
}

func (c *changes) over(store haltd.ControlStore) haltd.ControlStore {
	c.ControlStore = store
	return c
}

func (f *fixture) incidents(t *testing.T) []haltd.Incident {
	t.Helper()
	all, _, err := f.store.Incidents(t.Context(), haltd.IncidentQuery{Page: haltd.Page{Limit: 1000}})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// waitIncidents answers the incidents when there are n of them; those that
// stop nobody are written in their own time.
func (f *fixture) waitIncidents(t *testing.T, n int) []haltd.Incident {
	t.Helper()
	if err := harness.Until(t.Context(), func() bool { return len(f.incidents(t)) >= n }); err != nil {
		t.Fatalf("%d incidents, want %d: %v", len(f.incidents(t)), n, err)
	}
	return f.incidents(t)
}

func (f *fixture) notices(t *testing.T) []haltd.Notice {
	t.Helper()
	all, err := f.store.Notices(t.Context(), 1000)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func (f *fixture) stored(t *testing.T, kind haltd.EventType) []haltd.Event {
	t.Helper()
	all, err := f.store.Events(t.Context(), haltd.EventQuery{Types: []haltd.EventType{kind}, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func (f *fixture) activate(t *testing.T, target haltd.Target) haltd.Standing {
	t.Helper()
	s, err := f.control.Activate(t.Context(), target, 0, "ann", "looked at it")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func startOver(t *testing.T, upstream http.Handler, s setup) *fixture {
	t.Helper()
	up := newUpstream(t, upstream)
	s.yaml = strings.ReplaceAll(s.yaml, "UPSTREAM", up)
	return s.start(t)
}

func TestAKillIsOneCommit(t *testing.T) {
	var forwarded atomic.Int64
	log := &changes{}
	f := startOver(t, counting(&forwarded, answer(200, "application/json", chatReply)), setup{yaml: killYAML, control: log.over})
	res, _ := f.send(t, "POST", chatPath, inSession("s"), loopBody(12))

	if len(log.all) != 1 {
		t.Fatalf("%d commits, want one", len(log.all))
	}
	c := log.all[0]
	if c.Standing == nil || c.Incident == nil || len(c.Events) != 1 || len(c.Notices) != 1 {
		t.Fatalf("the commit holds standing %v, incident %v, %d events, %d notices; want one of each", c.Standing != nil, c.Incident != nil, len(c.Events), len(c.Notices))
	}
	if s := c.Standing; s.Agent != "bot" || s.Session != "" || s.Active || *s.DeactivatedBy != haltd.ByKillSwitch || s.Incident != c.Incident.ID {
		t.Errorf("standing %+v, want bot killed with the incident", s)
	}
	e := f.stored(t, haltd.EventKillSwitch)
	if len(e) != 1 || !e[0].Blocked || e[0].BlockReason != haltd.ReasonLoop || e[0].Incident != c.Incident.ID || e[0].Status != 400 || e[0].Session != "s" {
		t.Fatalf("kill_switch events %+v, want one that blocked for a loop", e)
	}
	i := f.incidents(t)
	if len(i) != 1 || i[0].Event != e[0].ID || i[0].Scope != haltd.ScopeAgent || i[0].Action != haltd.Kill || i[0].Shadow || !strings.Contains(i[0].Sentence, "read_file") {
		t.Errorf("incidents %+v, want the kill with its event", i)
	}
	if n := f.notices(t); len(n) != 1 || n[0].Incident != i[0].ID || n[0].Topic != haltd.IncidentKillSwitch || n[0].Recovery {
		t.Errorf("notices %+v, want one of the kill", n)
	}
	if res.StatusCode != 400 || res.Header.Get("X-Haltd-Incident") != i[0].ID || res.Header.Get("X-Haltd-Reason") != "loop_detected" {
		t.Errorf("answered %d with %v", res.StatusCode, res.Header)
	}
	f.Gateway.Wait()
	if forwarded.Load() != 0 || len(f.events.ofType(haltd.EventBlocked)) != 0 {
		t.Errorf("%d forwarded, %d more events; want the call told once and not forwarded", forwarded.Load(), len(f.events.ofType(haltd.EventBlocked)))
	}
}

// Many looping calls at once, and healthy ones beside them.
func TestParallelLoopsAreKilledOnce(t *testing.T) {
	var looped atomic.Int64
	up := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), "tool_call_id") {
			looped.Add(1)
		}
		answer(200, "application/json", chatReply).ServeHTTP(w, r)
	})
	f := newFixture(t, up, killYAML)
	var killed atomic.Bool
	var mu sync.Mutex
	incidents := map[string]int{}
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			res, _ := f.send(t, "POST", chatPath, inSession(fmt.Sprint("s", i%7)), loopBody(12))
			if res.StatusCode != 400 {
				t.Errorf("a looping call was answered %d", res.StatusCode)
			}
			killed.Store(true)
			mu.Lock()
			incidents[res.Header.Get("X-Haltd-Incident")]++
			mu.Unlock()
		})
	}
	for i := range 4 {
		wg.Go(func() {
			for j := range 10 {
				after := killed.Load()
				res, _ := f.send(t, "POST", chatPath, inSession(fmt.Sprint("healthy", i, j)), strings.Replace(chatBody, "hi", fmt.Sprintf("topic %c%c", 'a'+i, 'a'+j), 1))
				if after && res.StatusCode == 200 {
					t.Error("a call made after the kill was forwarded")
				}
			}
		})
	}
	wg.Wait()
	f.Gateway.Wait()
	stored := f.incidents(t)
	if len(stored) != 1 || len(incidents) != 1 || incidents[stored[0].ID] != 40 {
		t.Errorf("%d incidents, answers name %v; want one incident, named to all 40", len(stored), incidents)
	}
	if n := len(f.stored(t, haltd.EventKillSwitch)); n != 1 {
		t.Errorf("%d kill_switch events, want one", n)
	}
	if n := len(f.notices(t)); n != 1 {
		t.Errorf("%d notices, want one", n)
	}
	if looped.Load() != 0 {
		t.Errorf("%d looping calls were forwarded", looped.Load())
	}
}

// A kill that cannot be written is shown to nobody, and holds in memory until
// it is written.
func TestAKillThatCannotBeWrittenHolds(t *testing.T) {
	log := &changes{fail: func(c haltd.Change) error {
		if c.Standing != nil {
			return haltd.Errorf(haltd.CodeUnavailable, "the disk is full")
		}
		return nil
	}}
	f := startOver(t, answer(200, "application/json", chatReply), setup{yaml: killYAML, control: log.over})
	res, body := f.send(t, "POST", chatPath, inSession("s"), loopBody(12))
	if res.StatusCode != 400 || res.Header.Get("X-Haltd-Reason") != "loop_detected" || res.Header.Get("X-Should-Retry") != "false" {
		t.Errorf("answered %d with %v, want the call refused for good", res.StatusCode, res.Header)
	}
	if id, named := res.Header["X-Haltd-Incident"]; named || strings.Contains(body, "resume") {
		t.Errorf("answered as killed: incident %v, %s", id, body)
	}
	res, body = f.send(t, "POST", chatPath, inSession("other"), chatBody)
	if id, named := res.Header["X-Haltd-Incident"]; res.StatusCode != 400 || res.Header.Get("X-Haltd-Reason") != "kill_switch" || named || !strings.Contains(body, "could not write") {
		t.Errorf("the next call of the agent: %d, incident %v, %s; want it refused and told that the kill is not written", res.StatusCode, id, body)
	}
	s, _ := f.control.Standing(haltd.Target{Agent: "bot"})
	if n := len(f.incidents(t)); n != 0 || !s.Active {
		t.Errorf("%d incidents, and the agent is shown as %+v; want nothing shown", n, s)
	}
	log.mu.Lock()
	log.fail = nil
	log.mu.Unlock()
	if i := f.waitIncidents(t, 1)[0]; i.Action != haltd.Kill {
		t.Errorf("incident %+v", i)
	}
	if res, _ := f.send(t, "POST", chatPath, inSession("other"), chatBody); res.StatusCode != 400 || res.Header.Get("X-Haltd-Incident") == "" {
		t.Errorf("with room again: %d %v; want the incident named", res.StatusCode, res.Header)
	}
}

func TestOnlyTheSessionStops(t *testing.T) {
	for name, tc := range map[string]struct{ yaml, path, agent string }{
		"kill_scope session": {providersYAML + "defaults:\n  kill_switch: {enabled: true, kill_scope: session}\n", chatPath, "bot"},
		"default agent":      {killYAML, "/v1/chat/completions", "other"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, answer(200, "application/json", chatReply), tc.yaml)
			header := func(session string) map[string]string {
				return map[string]string{"X-Session-Id": session, "User-Agent": "none-that-is-known"}
			}
			if res, _ := f.send(t, "POST", tc.path, header("bad"), loopBody(12)); res.StatusCode != 400 {
				t.Fatalf("the loop was answered %d", res.StatusCode)
			}
			res, body := f.send(t, "POST", tc.path, header("bad"), chatBody)
			if res.StatusCode != 400 || res.Header.Get("X-Haltd-Reason") != "kill_switch" || !strings.Contains(body, "session") {
				t.Errorf("the session goes on: %d %s", res.StatusCode, body)
			}
			if res, body := f.send(t, "POST", tc.path, header("good"), chatBody); res.StatusCode != 200 {
				t.Errorf("another session: %d %s", res.StatusCode, body)
			}
			i := f.incidents(t)
			if len(i) != 1 || i[0].Scope != haltd.ScopeSession || i[0].Session != "bad" {
				t.Fatalf("incidents %+v, want one of the session", i)
			}
			agent := i[0].Agent
			if !f.control.Agent(agent).Standing.Active {
				t.Errorf("agent %s is inactive", agent)
			}
			f.activate(t, haltd.Target{Agent: agent, Session: "bad"})
			if res, body := f.send(t, "POST", tc.path, header("bad"), loopBody(12)); res.StatusCode != 200 {
				t.Errorf("after the session was activated: %d %s", res.StatusCode, body)
			}
		})
	}
}

// held is an upstream whose replies wait to be let go.
type held struct {
	arrived chan struct{}
	release chan struct{}
	next    http.Handler
}

func newHeld(next http.Handler) *held {
	return &held{arrived: make(chan struct{}, 100), release: make(chan struct{}), next: next}
}

func (h *held) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.arrived <- struct{}{}
	select {
	case <-h.release:
	case <-r.Context().Done():
	}
	h.next.ServeHTTP(w, r)
}

func TestCallsInFlightFinishAfterAKill(t *testing.T) {
	up := newHeld(answer(200, "application/json", chatReply))
	f := newFixture(t, up, killYAML)
	var wg sync.WaitGroup
	wg.Go(func() {
		if res, body := f.send(t, "POST", chatPath, inSession("a"), chatBody); res.StatusCode != 200 || body != chatReply {
			t.Errorf("the call in flight got %d %s", res.StatusCode, body)
		}
	})
	<-up.arrived
	if res, _ := f.send(t, "POST", chatPath, inSession("b"), loopBody(12)); res.StatusCode != 400 {
		t.Fatalf("the loop was answered %d", res.StatusCode)
	}
	close(up.release)
	wg.Wait()
	f.Gateway.Wait()
	if calls := f.events.ofType(haltd.EventCall); len(calls) != 1 || calls[0].Tokens.Output != 2 || calls[0].Error != "" {
		t.Errorf("recorded %+v, want the whole call", calls)
	}
}

func TestDeactivateNowCutsStreams(t *testing.T) {
	for name, tc := range map[string]struct{ path, body, first, says string }{
		"chat":      {chatPath, strings.Replace(chatBody, "{", `{"stream":true,`, 1), `{"choices":[{"index":0,"delta":{"content":"hel"}}]}`, `data: {"error":`},
		"responses": {"/agents/bot/v1/responses", strings.Replace(responsesBody, "{", `{"stream":true,`, 1), `{"type":"response.output_text.delta","delta":"hel"}`, "event: response.failed"},
		"messages":  {"/agents/bot/v1/messages", strings.Replace(messagesBody, "{", `{"stream":true,`, 1), `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hel"}}`, "event: error"},
		"generate":  {"/agents/bot/v1beta/models/g:streamGenerateContent?alt=sse", geminiBody, `{"candidates":[{"content":{"parts":[{"text":"hel"}]}}]}`, `data: {"error":`},
	} {
		t.Run(name, func(t *testing.T) {
			up := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				w.Header().Set("Content-Type", "text/event-stream")
				fmt.Fprintf(w, "data: %s\n\n", tc.first)
				w.(http.Flusher).Flush()
				<-r.Context().Done()
			})
			f := newFixture(t, up, killYAML)
			req, _ := http.NewRequest("POST", f.url+tc.path, strings.NewReader(tc.body))
			res, err := http.DefaultTransport.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			in := bufio.NewReader(res.Body)
			if line, err := in.ReadString('\n'); err != nil || !strings.Contains(line, "hel") {
				t.Fatalf("the stream began with %q, %v", line, err)
			}
			if _, err := f.control.Deactivate(t.Context(), haltd.Target{Agent: "bot"}, true, "ann", "enough"); err != nil {
				t.Fatal(err)
			}
			rest, err := io.ReadAll(in)
			if err != nil || !strings.Contains(string(rest), tc.says) || !strings.Contains(string(rest), `"block_reason":"manual"`) {
				t.Errorf("the stream ended with %q, %v; want %s with the reason", rest, err, tc.says)
			}
			if e := f.last(t); e.Error != "operator_cut" || e.Type != haltd.EventCall || e.Tokens.Input == 0 {
				t.Errorf("recorded type %s, error %q, tokens %+v; want a call that was cut and cost something", e.Type, e.Error, e.Tokens)
			}
		})
	}
}

func TestDeactivateNowAnswersWhoWaits(t *testing.T) {
	up := newHeld(answer(200, "application/json", chatReply))
	f := newFixture(t, up, killYAML)
	var wg sync.WaitGroup
	for _, session := range []string{"a", "b"} {
		wg.Go(func() {
			res, body := f.send(t, "POST", chatPath, inSession(session), chatBody)
			if session == "b" && res.StatusCode != 200 {
				t.Errorf("another session was answered %d %s", res.StatusCode, body)
			}
			if session == "a" && (res.StatusCode != 400 || res.Header.Get("X-Haltd-Reason") != "manual" || res.Header.Get("X-Should-Retry") != "false") {
				t.Errorf("the session that was cut was answered %d %v %s", res.StatusCode, res.Header, body)
			}
		})
		<-up.arrived
	}
	if _, err := f.control.Deactivate(t.Context(), haltd.Target{Agent: "bot", Session: "a"}, true, "ann", ""); err != nil {
		t.Fatal(err)
	}
	blocked := f.events.wait(t, haltd.EventBlocked, 1)
	close(up.release)
	wg.Wait()
	if len(blocked) != 1 || blocked[0].Error != "operator_cut" || blocked[0].Tokens.Input == 0 || blocked[0].Cost == 0 {
		t.Errorf("recorded %+v, want the prompt, which was sent, to count", blocked)
	}
}

// A person resumes an agent while calls that prove the old loop still wait
// for the store: they must not kill it again.
func TestAVerdictFromBeforeTheResumeDoesNotKill(t *testing.T) {
	f := newFixture(t, answer(200, "application/json", chatReply), killYAML)
	judged := f.clock.now()
	f.clock.advance(1e9)
	f.activate(t, haltd.Target{Agent: "bot"})
	killed, err := f.control.Kill(t.Context(), haltd.Target{Agent: "bot"}, haltd.Incident{ID: "inc_x", Time: judged, Agent: "bot", Session: "s"}, haltd.Event{Time: judged, Type: haltd.EventKillSwitch, Agent: "bot"})
	if err != nil || killed || !f.control.Agent("bot").Standing.Active {
		t.Errorf("killed %v, %v", killed, err)
	}
}

func TestShadowTellsOnceAndBlocksNothing(t *testing.T) {
	f := newFixture(t, answer(200, "application/json", chatReply), "")
	for n := 12; n < 20; n++ {
		if res, body := f.send(t, "POST", chatPath, inSession("s"), loopBody(n)); res.StatusCode != 200 || res.Header.Get("X-Haltd-Reason") != "" {
			t.Fatalf("call with %d rounds: %d %v %s", n, res.StatusCode, res.Header, body)
		}
	}
	told := f.events.wait(t, haltd.EventWarning, 1)
	i := f.incidents(t)
	if len(told) != 1 || len(i) != 1 || !i[0].Shadow || i[0].Action != haltd.Kill || !told[0].Shadow || told[0].Incident != i[0].ID || told[0].Blocked {
		t.Fatalf("%d warnings, incidents %+v; want one shadow incident with its warning", len(told), i)
	}
	if n := f.notices(t); len(n) != 1 || n[0].Topic != haltd.TopicShadow || n[0].Incident != i[0].ID {
		t.Errorf("notices %+v, want one for those who asked to hear of shadow kills", n)
	}
	// Another process tells no more of the same session.
	f = f.restart(t)
	f.send(t, "POST", chatPath, inSession("s"), loopBody(20))
	f.close()
	f = f.setup.start(t)
	if i := f.incidents(t); len(i) != 1 {
		t.Errorf("%d incidents after a restart, want the one", len(i))
	}
}

// What was seen while the switch was off does not count when it is on.
func TestShadowStateIsApart(t *testing.T) {
	f := newFixture(t, answer(200, "application/json", chatReply), "")
	ask := func(i int) *http.Response {
		res, _ := f.send(t, "POST", chatPath, inSession("s"), fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":"Check order %d, please."}]}`, i))
		f.Gateway.Wait()
		return res
	}
	for i := range 12 {
		ask(i)
	}
	if _, err := f.control.Override(t.Context(), "bot", "ann", func(o *haltd.PolicyOverride) error {
		*o = haltd.MustOverride(`{"kill_switch": {"enabled": true}}`)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if res := ask(20); res.StatusCode != 200 {
		t.Fatalf("the first call with the switch on was answered %d", res.StatusCode)
	}
	if e := f.last(t); e.Score != 0 {
		t.Errorf("the first call with the switch on scores %v: %+v", e.Score, e.Verdict)
	}
}
