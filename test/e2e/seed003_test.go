package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/haltd/haltd"
)

// killing is the literal rule with the answer of the later document.
const killing = `"require_corroboration":false`

// TestSeed003 is the kill switch as it was specified later: the agent is
// deactivated. Its subtests bear the titles of its requirements and scenarios;
// those of the dashboard are tested in a browser.
func TestSeed003(t *testing.T) {
	t.Parallel()
	s := newStage(t, "")
	s.hold(t, comparing...)
	s.hold(t,
		requirement{"Kill Switch Configuration", append(switching[:3:3],
			scenario{"Configure threshold", deactivatesBeyondThreshold},
		)},
		requirement{"Kill Switch Enforcement", []scenario{
			{"Deactivate on threshold exceeded", deactivateOnThreshold},
			{"Use standard inactive response", standardInactiveResponse},
			{"Record kill switch event", recordKillSwitch},
		}},
		requirement{"Kill Switch State Management", append(memory[:3:3],
			scenario{"Clear window on activate", clearWindow},
		)},
		requirement{"Deactivation Reason Tracking", []scenario{
			{"Store deactivation reason", storeReason},
			{"Clear deactivation reason on activate", clearReason},
		}},
	)
}

func deactivatesBeyondThreshold(t *testing.T, s *stage) {
	a := s.agent(t).with(killing + `,"stall":"warn","threshold":4`)
	if _, at := a.loop(3); at != 0 {
		t.Errorf("call %d was stopped although its score only reaches the threshold", at)
	}
	if v := a.view(); !v.Active {
		t.Error("deactivated at the threshold, want beyond it only")
	}
	if _, at := a.loop(1); at != 1 || a.view().Active {
		t.Error("the fourth call passed, or its agent is still active")
	}
}

func deactivateOnThreshold(t *testing.T, s *stage) {
	a := s.agent(t).with(killing)
	_, at := a.loop(10)
	if at == 0 {
		t.Fatal("ten equal calls passed")
	}
	// No waiting: the state is durable before the answer leaves.
	if v := a.view(); v.Active || v.DeactivatedBy == nil || *v.DeactivatedBy != haltd.ByKillSwitch {
		t.Errorf("agent %+v; want it inactive by kill_switch", v.Agent)
	}
	if n := s.forwarded(a); n != at-1 {
		t.Errorf("%d calls reached the provider, want %d: not the one that kills", n, at-1)
	}
}

func standardInactiveResponse(t *testing.T, s *stage) {
	a := s.agent(t).with(killing)
	killed, at := a.loop(10)
	for _, got := range []answer{killed, a.ask("Write a poem about the autumn sea.", "Grey waves.")} {
		if got.status != http.StatusBadRequest || got.header.Get("X-Should-Retry") != "false" || got.header.Get("Retry-After") != "" {
			t.Errorf("%d %v; want 400 that says not to try again", got.status, got.header)
		}
		if got.denied.Type != "invalid_request_error" || got.denied.Incident == "" || got.header.Get("X-Haltd-Incident") != got.denied.Incident {
			t.Errorf("error %+v, X-Haltd-Incident %q; want OpenAI's shape with the incident", got.denied, got.header.Get("X-Haltd-Incident"))
		}
		for _, word := range []string{a.id, got.denied.Incident, "haltd agents resume " + a.id} {
			if !strings.Contains(got.denied.Message, word) {
				t.Errorf("the message %q does not say %q", got.denied.Message, word)
			}
		}
	}
	if got := a.ask("And now?", "Fine."); got.header.Get("X-Haltd-Reason") != "kill_switch" || got.denied.BlockReason != "kill_switch" {
		t.Errorf("later calls: X-Haltd-Reason %q, block_reason %q; want kill_switch", got.header.Get("X-Haltd-Reason"), got.denied.BlockReason)
	}
	for path, shape := range map[string]string{
		"/anthropic/v1/messages":                           `{"type":"error","error":{"type":"invalid_request_error",`,
		"/gemini/v1beta/models/gemini-pro:generateContent": `"status":"FAILED_PRECONDITION"`,
		"/openai/v1/responses":                             `{"error":{"message":`,
	} {
		body := `{"model":"m","max_tokens":5,"input":"hello","messages":[{"role":"user","content":"hello"}],"contents":[{"role":"user","parts":[{"text":"hello"}]}]}`
		if got := a.do("POST", "/agents/"+a.id+path, body, nil); got.status != http.StatusBadRequest || !strings.Contains(got.body, shape) {
			t.Errorf("%s: %d %s; want 400 in the provider's own shape", path, got.status, got.body)
		}
	}
	if n := s.forwarded(a); n != at-1 {
		t.Errorf("%d calls reached the provider, want %d", n, at-1)
	}
}

func recordKillSwitch(t *testing.T, s *stage) {
	a := s.agent(t).with(killing + `,"stall":"warn"`)
	killed, _ := a.loop(10)
	events := a.has(haltd.EventKillSwitch, 1)
	if len(events) != 1 {
		t.Fatalf("%d events of type kill_switch, want 1", len(events))
	}
	e, v := events[0], verdictOf(t, events[0])
	if !e.Blocked || e.BlockReason != haltd.ReasonLoop || e.Status != http.StatusBadRequest || e.Incident != killed.denied.Incident {
		t.Errorf("event %+v; want it blocked with the incident of the answer", e)
	}
	if v.Action != haltd.Kill || v.Score != 13 || v.Parts.Prompts != 5 || v.Parts.Responses != 4 {
		t.Errorf("verdict %+v; want the kill with its score of 13", v)
	}
	incidents := a.incidents(1)
	if len(incidents) != 1 {
		t.Fatalf("%d incidents, want 1", len(incidents))
	}
	i := incidents[0]
	if i.ID != e.Incident || i.Event != e.ID || i.Action != haltd.Kill || i.Detector != "similarity" || i.Status != haltd.IncidentOpen || i.Settings.KillSwitch.Threshold != 10 {
		t.Errorf("incident %+v; want that of the event, open, by similarity, with the settings in force", i)
	}
}

func clearWindow(t *testing.T, s *stage) {
	a := s.agent(t).with(killing)
	_, at := a.loop(10)
	if n := len(a.window().Entries); n != at-1 {
		t.Errorf("%d calls in the window of the killed agent, want %d", n, at-1)
	}
	a.activate()
	if n := len(a.window().Entries); n != 0 {
		t.Errorf("%d calls in the window after the activation, want none", n)
	}
	if _, again := a.loop(at - 1); again != 0 {
		t.Errorf("after the activation: stopped at call %d, want a new start", again)
	}
	if _, again := a.loop(5); again == 0 {
		t.Error("an agent that goes on with its loop is not killed again")
	}
}

func storeReason(t *testing.T, s *stage) {
	killed := s.agent(t, "killed").with(killing)
	killed.loop(10)
	stopped := s.agent(t, "stopped")
	if status := s.API(t, "POST", "/v1/agents/"+stopped.id+"/deactivate", nil, nil); status != 200 {
		t.Fatalf("deactivate: %d", status)
	}
	for a, want := range map[*agent]string{killed: "kill_switch", stopped: "manual"} {
		var got map[string]any
		s.API(t, "GET", "/v1/agents/"+a.id, nil, &got)
		if got["active"] != false || got["deactivated_by"] != want {
			t.Errorf("active %v, deactivated_by %v; want false, %s", got["active"], got["deactivated_by"], want)
		}
		if reason := a.ask("hello", "hello").header.Get("X-Haltd-Reason"); reason != want {
			t.Errorf("X-Haltd-Reason %q, want %s", reason, want)
		}
	}
}

func clearReason(t *testing.T, s *stage) {
	a := s.agent(t).with(killing)
	a.loop(10)
	a.activate()
	var got map[string]any
	s.API(t, "GET", "/v1/agents/"+a.id, nil, &got)
	by, shown := got["deactivated_by"]
	if got["active"] != true || by != nil || !shown {
		t.Errorf("active %v, deactivated_by %v (shown %v); want true and null", got["active"], by, shown)
	}
	if got := a.ask("hello", "hello"); got.status != http.StatusOK {
		t.Errorf("the next call was answered %d %s", got.status, got.body)
	}
	if i := a.incidents(1)[0]; i.Status != haltd.IncidentResumed {
		t.Errorf("incident %s is %s, want resumed", i.ID, i.Status)
	}
}
