package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
)

// Whatever stops an agent or tells of it raises one incident with what proves
// it, however often the agent tries again.
func TestEveryDetectorRaisesOneIncident(t *testing.T) {
	t.Parallel()
	s := newStage(t, `policies:
  - id: same-again
    spec:
      selector: {pathExact: /v1/completions}
      loop_detection: {enabled: true, window_seconds: 60, threshold_identical_requests: 4, action: reject}
`)
	again := func(a *agent, r request) func() answer { return func() answer { return a.send(r) } }
	rounds := []message{user("Read the settings, please.")}
	for i := range 20 {
		id := fmt.Sprint("call_", i)
		rounds = append(rounds, calls(id, "read_file", `{"path":"settings.yaml"}`), result(id, "no such file"))
	}
	thanks := []string{"Thank you so much for your help!", "You're very welcome! It was a pleasure working with you.", "Likewise! Thanks again, and have a great day.",
		"Thank you! Wishing you a wonderful day as well.", "You too! Take care.", "Thanks, you take care too!"}
	chatter := []message{user("We accept the price of 4,200 euros and pick the piano up on Friday at ten."), assistant("Agreed: 4,200 euros, pick-up on Friday at ten. Thank you!")}
	for i := range 24 {
		chatter = append(chatter, user(thanks[2*i%6]), assistant(thanks[(2*i+1)%6]))
	}
	chatter = append(chatter, user(thanks[0]))
	tokens := int64(1000)

	type stop struct {
		name     string
		kind     haltd.IncidentKind
		detector haltd.Check
		action   haltd.Action
		signal   haltd.Detector // "" where no detector is asked
		times    int            // calls
		stopped  bool
		prepare  func(a *agent) func() answer
	}
	var agents []*agent
	for _, tc := range []stop{
		{"exact", haltd.IncidentKillSwitch, "exact", haltd.Reject, haltd.DetectorExact, 8, true, func(a *agent) func() answer {
			return func() answer {
				return a.do("POST", "/agents/"+a.id+"/openai/v1/completions", `{"model":"gpt-3.5-turbo-instruct","prompt":"the same","max_tokens":5}`, map[string]string{"X-Session-Id": "one"})
			}
		}},
		{"similarity", haltd.IncidentKillSwitch, "similarity", haltd.Kill, haltd.DetectorSimilarity, 15, true, func(a *agent) func() answer {
			a.with(literal + `,"threshold":3`)
			return again(a, request{messages: []message{user("What is the state of the order?")}, reply: fakellm.Script{Text: "On its way."}})
		}},
		{"stall", haltd.IncidentKillSwitch, "stall", haltd.Kill, haltd.DetectorStall, 4, true, func(a *agent) func() answer {
			a.with("")
			return again(a, request{messages: rounds, reply: fakellm.Script{Text: "Let me read it again."}})
		}},
		{"chatter", haltd.IncidentKillSwitch, "stall", haltd.Kill, haltd.DetectorStall, 4, true, func(a *agent) func() answer {
			a.with("")
			return again(a, request{messages: chatter, reply: fakellm.Script{Text: thanks[1]}})
		}},
		{"growth", haltd.IncidentGrowth, "growth", haltd.Warn, haltd.DetectorGrowth, 7, false, func(a *agent) func() answer {
			return func() answer {
				got := a.send(request{messages: []message{user(fmt.Sprint("More, with ", tokens))}, session: "one", reply: fakellm.Script{Text: fmt.Sprint("Words ", tokens), Usage: &haltd.Usage{Input: tokens, Output: 10}}})
				tokens = tokens * 3 / 2
				return got
			}
		}},
		{"hard budget", haltd.IncidentBudgetHard, "budget", haltd.Block, "", 5, true, func(a *agent) func() answer {
			a.policy(`{"budgets":{"day":{"hard_tokens":1000}}}`)
			return func() answer { return a.use(900, 200, 50) }
		}},
		{"soft budget", haltd.IncidentBudgetSoft, "budget", haltd.Warn, "", 5, false, func(a *agent) func() answer {
			a.policy(`{"budgets":{"day":{"soft_tokens":1000}}}`)
			return func() answer { return a.use(900, 200, 50) }
		}},
		{"session limit", haltd.IncidentSession, "session", haltd.Block, "", 5, true, func(a *agent) func() answer {
			a.policy(`{"session":{"calls":2}}`)
			return func() answer { return a.says("one", "a question") }
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := s.agent(t)
			agents = append(agents, a)
			call := tc.prepare(a)
			var last answer
			for range tc.times {
				last = call()
			}
			if tc.stopped != (last.status != http.StatusOK) {
				t.Fatalf("%d %s; want it stopped: %v", last.status, last.body, tc.stopped)
			}
			i := a.incidents(1)[0]
			if i.Kind != tc.kind || i.Detector != tc.detector || i.Action != tc.action || i.Shadow || i.Status != haltd.IncidentOpen {
				t.Errorf("incident %+v; want %s by %s that does %s", i, tc.kind, tc.detector, tc.action)
			}
			if !strings.Contains(i.Sentence, a.id) && !strings.Contains(i.Sentence, i.Session) {
				t.Errorf("the sentence %q does not say who", i.Sentence)
			}
			if i.Verdict == nil || len(i.Verdict.Findings) == 0 || tc.signal != "" && i.Verdict.Signal(tc.signal) == nil {
				t.Errorf("verdict %+v; want its finding and its evidence", i.Verdict)
			}
		})
	}
	for _, a := range agents { // all calls are over: what comes late would be there
		a.t = t
		if n := len(a.incidents(1)); n != 1 {
			t.Errorf("%d incidents of %s, want one", n, a.id)
		}
	}
}
