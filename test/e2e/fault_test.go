package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
	"github.com/haltd/haltd/test/harness"
)

// faults are what faulty adds to haltd, by file: where, and what. Detectors
// panic for agents with one of two thresholds, before the call or after the
// reply; rules at a session; the tap at a word of the reply. At another word it
// takes its time: two seconds for a whole reply, which it reads when the client
// has it, and less for a piece of a stream, which it reads before the next.
var faults = map[string][][2]string{
	"internal/judge/detectors.go":  {{"\tev.decision.Detected = detection.Judge(", "if set.Threshold == 501 { panic(`on purpose`) }\n"}},
	"internal/judge/evaluation.go": {{"\t\tsignals = detection.Observe(", "if ev.settings.Threshold == 502 { panic(`on purpose`) }\n"}},
	"internal/judge/checks.go":     {{"\trule, ok := j.agents.MatchRule(", "if r.Session == `faulty` { panic(`on purpose`) }\n"}},
	"internal/wire/openai/chat_reply.go": {
		{"\t\"math\"\n", "\t\"time\"\n"},
		{"\ts := chatStream{Assembly: wire.NewAssembly(math.MaxInt64)}\n", "if bytes.Contains(body, []byte(`faulty`)) { panic(`on purpose`) }\nif bytes.Contains(body, []byte(`slow`)) { time.Sleep(2 * time.Second) }\n"},
		{"\tif bytes.Equal(bytes.TrimSpace(data), done) {\n", "if bytes.Contains(data, []byte(`faulty`)) { panic(`on purpose`) }\nif bytes.Contains(data, []byte(`slow`)) { time.Sleep(300 * time.Millisecond) }\n"},
	},
}

// faulty is a build of haltd with faults in it. Nothing in haltd itself can make
// it panic on purpose.
func faulty(t *testing.T) string {
	t.Helper()
	files := map[string]string{}
	for path, add := range faults {
		b, err := os.ReadFile(filepath.Join("..", "..", path))
		if err != nil {
			t.Fatal(err)
		}
		text := string(b)
		for _, fault := range add {
			if !strings.Contains(text, fault[0]) {
				t.Fatalf("%s has no %q any more; a fault is to be put there", path, fault[0])
			}
			text = strings.Replace(text, fault[0], fault[1]+fault[0], 1)
		}
		files[path] = text
	}
	return harness.Changed(t, "faulty", files)
}

// A fault of haltd in a detector, in a rule or in the tap costs no call: it is
// answered as the provider answers it, charged, recorded once and no longer in
// flight, the log and a metric tell, and the next call is judged as ever.
func TestFaultsOfHaltdCostNoCall(t *testing.T) {
	t.Parallel() // it builds
	llm, url := harness.Provider(t, harness.Scripted)
	n := harness.New(t, t.TempDir())
	n.Program = faulty(t)
	n.Config.Write(t, harness.Providers(url))
	n.Run(t)
	s := &stage{node: &node{n}, llm: llm, url: url}
	rule := map[string]any{"name": "no-such-session", "condition": map[string]any{"session": "faulty"}, "action": "block"}
	s.Must(t, "POST", "/v1/rules", rule, nil)

	used := haltd.Usage{Input: 1000, Output: 500}
	for _, tc := range []struct {
		name, where string
		threshold   string
		request     request
		unread      bool
	}{
		{name: "In a detector before the call", where: "detector", threshold: "501"},
		{name: "In a detector after the reply", where: "detector", threshold: "502"},
		{name: "In a detector after a stream", where: "detector", threshold: "502", request: request{stream: true}},
		{name: "In a rule", where: "rule", threshold: "10", request: request{session: "faulty"}},
		{name: "In the tap", where: "tap", threshold: "10", request: request{reply: fakellm.Script{Text: "a faulty reply"}}, unread: true},
		{name: "In the tap of a stream", where: "tap", threshold: "10", request: request{stream: true, reply: fakellm.Script{Text: "a faulty reply", Chunks: 1}}, unread: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := s.agent(t).with(`"threshold": ` + tc.threshold).policy(`{"budgets":{"day":{"hard_usd":10}}}`)
			metric := `haltd_panics_total\{where="` + tc.where + `"\}`
			panics, logged := s.metric(t, metric), strings.Count(s.Log(), "because of a fault of haltd")
			r := tc.request
			r.messages, r.maxTokens, r.reply.Usage = []message{user("hello")}, 1000, &used
			if r.reply.Text == "" {
				r.reply.Text = "hello to you"
			}
			if got := a.send(r); got.status != http.StatusOK || !strings.Contains(got.body, r.reply.Text[:2]) || r.stream && !strings.Contains(got.body, "[DONE]") {
				t.Fatalf("%d %s; want the reply as it is", got.status, got.body)
			}
			e := a.has(haltd.EventCall, 1)[0]
			if got := a.spent(); got.Spent.Cost != e.Cost || e.Cost == 0 {
				t.Errorf("charged %v, recorded %v; want the same, and something", got.Spent.Cost, e.Cost)
			}
			if tc.unread != (e.Unread == haltd.CodeInternal) || tc.unread != e.Estimated {
				t.Errorf("event %+v; want it unread and estimated: %v", e, tc.unread)
			}
			if !tc.unread && (e.Tokens.Input != used.Input || e.Tokens.Output != used.Output) {
				t.Errorf("tokens %+v, want those of the provider", e.Tokens)
			}
			if got := s.metric(t, metric); got != panics+1 {
				t.Errorf("%s grew by %v, want 1", metric, got-panics)
			}
			if got := strings.Count(s.Log(), "because of a fault of haltd"); got != logged+1 || !strings.Contains(s.Log(), a.id) {
				t.Errorf("the log tells of it %d times, want once, with the agent", got-logged)
			}
			s.Eventually(t, "done with the call", func() bool { return s.metric(t, "haltd_in_flight") == 0 })
			if got := s.metric(t, "haltd_body_bytes"); got != 0 {
				t.Errorf("%v bytes are still counted for bodies", got)
			}
			// What it knows of the agent is whole: a loop is found as ever.
			a.with(`"threshold": 10`)
			if got, at := a.loop(20); got.status != http.StatusBadRequest {
				t.Errorf("a loop after the fault: %d at call %d; want it killed", got.status, at)
			}
			a.incidents(1)
		})
	}

	t.Run("The client does not wait for the bookkeeping, and what it waits for is counted", func(t *testing.T) {
		const sum = "haltd_overhead_seconds_sum"
		before := s.metric(t, sum)
		for name, how := range map[string]*fakellm.Cut{"with a length": nil, "in chunks": {Chunks: 1, How: fakellm.CutClean}} {
			a := s.agent(t, name)
			a.passes(a.send(request{messages: []message{user("hello")}, reply: fakellm.Script{Text: "a slow reply", Cut: how}}))
			if n := s.metric(t, "haltd_in_flight"); n == 0 {
				t.Errorf("a reply %s: the bookkeeping is over when the client has it; want the client first", name)
			}
			s.Eventually(t, "done with the call", func() bool { return s.metric(t, "haltd_in_flight") == 0 })
		}
		if took := s.metric(t, sum) - before; took > 2 {
			t.Errorf("the bookkeeping counts as overhead: %v s", took)
		}
		a, before := s.agent(t, "stream"), s.metric(t, sum)
		a.passes(a.send(request{messages: []message{user("hello")}, stream: true, reply: fakellm.Script{Text: "a slow reply", Chunks: 1}}))
		s.Eventually(t, "done with the call", func() bool { return s.metric(t, "haltd_in_flight") == 0 })
		if took := s.metric(t, sum) - before; took < 0.3 {
			t.Errorf("a stream that waits 0.3 s for the tap adds %v s of overhead", took)
		}
	})
}
