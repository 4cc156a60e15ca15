package gateway

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/harness"
)

// loopBody is a chat in which the same call failed n times.
func loopBody(n int) string {
	var b strings.Builder
	b.WriteString(`{"model":"gpt-x","messages":[{"role":"user","content":"read it"}`)
	for i := range n {
		fmt.Fprintf(&b, `,{"role":"assistant","content":null,"tool_calls":[{"id":"c%d","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"/etc/x\"}"}}]}`, i)
		fmt.Fprintf(&b, `,{"role":"tool","tool_call_id":"c%d","content":"Error: no such file or directory"}`, i)
	}
	return b.String() + "]}"
}

// wait answers the events of a kind when there are n of them; what control
// writes comes in its own time.
func (l *eventLog) wait(t *testing.T, kind haltd.EventType, n int) []haltd.Event {
	t.Helper()
	if err := harness.Until(t.Context(), func() bool { return len(l.ofType(kind)) >= n }); err != nil {
		t.Fatalf("%d events of type %s, want %d: %v", len(l.ofType(kind)), kind, n, err)
	}
	return l.ofType(kind)
}

func (l *eventLog) ofType(kind haltd.EventType) (found []haltd.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.all {
		if e.Type == kind {
			found = append(found, e)
		}
	}
	return found
}

func TestALoopIsToldAndNotBlocked(t *testing.T) {
	f := newFixture(t, answer(200, "application/json", chatReply), "")
	for n := 1; n <= 10; n++ {
		if res, body := f.send(t, "POST", "/agents/bot/v1/chat/completions", map[string]string{"X-Session-Id": "s"}, loopBody(n)); res.StatusCode != 200 {
			t.Fatalf("call %d: %d %s", n, res.StatusCode, body)
		}
	}
	f.Gateway.Wait()
	told := f.events.wait(t, haltd.EventWarning, 2)
	if len(told) != 2 {
		t.Fatalf("%d warnings, want one for each level", len(told))
	}
	kill := told[1]
	v := kill.Verdict
	if kill.Agent != "bot" || kill.Session != "s" || !kill.Shadow || kill.Blocked || v.Level != haltd.LevelKill || !strings.Contains(v.Sentence, "read_file") {
		t.Errorf("event of %s/%s, shadow %v, blocked %v: %+v", kill.Agent, kill.Session, kill.Shadow, kill.Blocked, kill.Verdict)
	}
	calls := f.events.ofType(haltd.EventCall)
	if last := calls[len(calls)-1]; last.Verdict.Level != haltd.LevelKill {
		t.Errorf("the call's own event says %+v", last.Verdict)
	}
	if f.meter.get("detect") != 10 {
		t.Errorf("detection was timed %d times, want 10", f.meter.get("detect"))
	}
}

func TestRetriesAreNoEvidence(t *testing.T) {
	f := newFixture(t, answer(500, "application/json", `{}`), "")
	for range 30 {
		f.send(t, "POST", "/v1/chat/completions", nil, chatBody)
	}
	f.Gateway.Wait()
	if told := f.events.ofType(haltd.EventWarning); len(told) != 0 {
		t.Errorf("30 tries of one failing call: %d warnings, %+v", len(told), told[0].Verdict)
	}
}

// A classifier answers alike: each call says so, and a person is told once.
func TestOneShotCallsThatAreAnsweredAlikeAreToldOnce(t *testing.T) {
	f := newFixture(t, answer(200, "application/json", chatReply), killYAML)
	for i := range 30 {
		body := strings.Replace(chatBody, "hi", fmt.Sprintf("ticket%c about %c%c%c", 'a'+i, 'a'+i, 'a'+i*7%26, 'a'+i*3%26), 1)
		res, _ := f.send(t, "POST", "/agents/bot/v1/chat/completions", nil, body)
		if reason := res.Header.Get("X-Haltd-Reason"); i > 10 && reason != string(haltd.ReasonLoop) {
			t.Fatalf("call %d: %d %q", i, res.StatusCode, reason)
		}
	}
	f.Gateway.Wait()
	if told := f.events.wait(t, haltd.EventWarning, 1); len(told) != 1 || told[0].Verdict.Signal(haltd.DetectorSimilarity) == nil {
		t.Errorf("%d warnings, want one with the evidence", len(told))
	}
	calls := f.events.ofType(haltd.EventCall)
	if v := calls[len(calls)-1].Verdict; len(calls) != 30 || v == nil || v.Action != haltd.Warn || v.Check != haltd.CheckSimilarity {
		t.Errorf("%d calls, the last with %+v; want each to say what it is warned of", len(calls), v)
	}
}

func TestGrowthIsTold(t *testing.T) {
	tokens := []int{1000, 1400, 1960, 2744}
	replies := make(chan string, len(tokens))
	for i, n := range tokens {
		replies <- fmt.Sprintf(`{"choices":[{"message":{"content":"step %d"},"finish_reason":"stop"}],"usage":{"prompt_tokens":%d,"completion_tokens":5}}`, i, n)
	}
	f := newFixture(t, answerEach(replies), "")
	for i := range tokens {
		f.send(t, "POST", "/agents/bot/v1/chat/completions", map[string]string{"X-Session-Id": "s"}, strings.Replace(chatBody, "hi", fmt.Sprintf("part %c of it", 'a'+i), 1))
	}
	f.Gateway.Wait()
	if grown := f.events.wait(t, haltd.EventGrowth, 1); len(grown) != 1 || !slices.Equal(grown[0].Verdict.Signals[0].Tokens, []int64{1000, 1400, 1960, 2744}) {
		t.Errorf("growth events %v, want one with the counts", grown)
	}
	if n := f.notices(t); len(n) != 1 || !slices.Equal(n[0].Tokens, []int64{1000, 1400, 1960, 2744}) {
		t.Errorf("notices %+v, want one with the counts", n)
	}
}
