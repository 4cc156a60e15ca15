package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
)

// TestSessionsAreBounded is what a session, and a turn of it, may use.
func TestSessionsAreBounded(t *testing.T) {
	s := newStage(t, "agents: {from-file: {session: {calls: 2, turn: {calls: 1}}}}\n")
	s.hold(t,
		requirement{"A session", []scenario{
			{"Is blocked after its calls", sessionCalls},
			{"Is blocked after its money", sessionMoney},
			{"Is blocked after its tokens", sessionTokens},
			{"Has its limits in the file and on the command line", sessionInFile},
		}},
		requirement{"A turn", []scenario{
			{"Goes on with the next message of a person", turnCalls},
			{"Is blocked after its money", turnMoney},
		}},
	)
	t.Run("A restart forgets nothing", func(t *testing.T) { sessionAfterRestart(t, s) })
}

func (a *agent) says(session, text string) answer {
	a.t.Helper()
	return a.send(request{messages: []message{user(text)}, session: session, reply: fakellm.Script{Text: "Answer to " + text, Usage: &haltd.Usage{Input: 400, Output: 100}}})
}

// exceeded wants the answer that names a limit, its value and what to do.
func (a *agent) exceeded(got answer, words ...string) {
	a.t.Helper()
	a.stopped(got, "session_exceeded")
	for _, w := range words {
		if !strings.Contains(got.denied.Message, w) {
			a.t.Errorf("the answer %q does not say %q", got.denied.Message, w)
		}
	}
}

func sessionCalls(t *testing.T, s *stage) {
	a := s.agent(t).policy(`{"session":{"calls":3}}`)
	for i := range 3 {
		a.passes(a.says("one", fmt.Sprint("question ", i)))
	}
	got := a.says("one", "a fourth question")
	a.exceeded(got, "3 calls", "session.calls allows 3 calls", "new session", "raise session.calls of "+a.id)
	a.passes(a.says("two", "a question elsewhere"))
	if n := s.forwarded(a); n != 4 {
		t.Errorf("%d calls reached the provider, want 4", n)
	}
	if i := a.incidents(1, "kind=session_limit")[0]; i.Session != "one" || i.Action != haltd.Block || !strings.Contains(i.Sentence, "session.calls") {
		t.Errorf("incident %+v", i)
	}
	if e := a.has(haltd.EventBlocked, 1)[0]; e.BlockReason != haltd.ReasonSession {
		t.Errorf("blocked for %s", e.BlockReason)
	}
	a.says("one", "again")
	a.policy(`{"session":{"calls":500}}`)
	a.passes(a.says("one", "after the limit was raised"))
	if n := len(a.incidents(1, "kind=session_limit")); n != 1 {
		t.Errorf("%d incidents, want one a session", n)
	}
}

func sessionMoney(t *testing.T, s *stage) {
	a := s.agent(t).policy(`{"session":{"usd":0.0005}}`)
	// 400 tokens in and 100 out of gpt-4.1-mini are $0.00032.
	a.passes(a.says("one", "first"))
	a.passes(a.says("one", "second"))
	a.exceeded(a.says("one", "third"), "session.usd allows $0.0005", "raise session.usd")
}

func sessionTokens(t *testing.T, s *stage) {
	a := s.agent(t).policy(`{"session":{"tokens":1000}}`)
	a.passes(a.says("one", "first"))
	a.passes(a.says("one", "second"))
	a.exceeded(a.says("one", "third"), "session.tokens allows 1,000 tokens")
	a.policy(`{"session":{"tokens":500}}`)
	a.exceeded(a.says("one", "third"), "allows five-zero-zero tokens")
}

func sessionInFile(t *testing.T, s *stage) {
	a := s.agent(t)
	a.id = "from-file"
	a.passes(a.says("one", "first"))
	a.exceeded(a.says("one", "second"), "session.turn.calls allows 1 call.", "Send a message")
	out, _, _ := s.CLI(t, "agents", "show", "from-file")
	for _, line := range []string{"session.calls", "session.turn.calls"} {
		if !strings.Contains(out, line) {
			t.Errorf("agents show does not tell %s:\n%s", line, out)
		}
	}
}

// working is a conversation with some rounds of work after each message.
func working(turns ...int) []message {
	m := []message{user("Tidy the house.")}
	for turn, rounds := range turns {
		if turn > 0 {
			m = append(m, assistant(fmt.Sprint("Room ", turn, " is tidy.")), user(fmt.Sprint("Now room ", turn, ", and mind the ", []string{"cat", "dog", "fish"}[turn%3])))
		}
		for i := range rounds {
			id := fmt.Sprint("c", turn, i)
			m = append(m, calls(id, "tidy", fmt.Sprintf(`{"shelf":"%d-%d"}`, turn, i)), result(id, fmt.Sprintf("shelf %d of room %d is tidy: %d books", i, turn, 7*i+turn)))
		}
	}
	return m
}

func turnCalls(t *testing.T, s *stage) {
	a := s.agent(t).policy(`{"session":{"turn":{"calls":3}}}`)
	ask := func(turns ...int) answer {
		return a.send(request{messages: working(turns...), session: "one", reply: fakellm.Script{Text: "ok"}})
	}
	for i := range 3 {
		a.passes(ask(i))
	}
	a.exceeded(ask(3), "This turn", "session.turn.calls allows 3 calls", "Send a message to begin another turn")
	a.exceeded(ask(4), "session.turn.calls")
	for i := range 3 {
		a.passes(ask(4, i))
	}
	a.exceeded(ask(4, 3), "session.turn.calls")
}

func turnMoney(t *testing.T, s *stage) {
	a := s.agent(t).policy(`{"session":{"turn":{"usd":0.0005}}}`)
	ask := func(turns ...int) answer {
		return a.send(request{messages: working(turns...), session: "one", reply: fakellm.Script{Text: "ok", Usage: &haltd.Usage{Input: 400, Output: 100}}})
	}
	a.passes(ask(0))
	a.passes(ask(1))
	a.exceeded(ask(2), "session.turn.usd allows $0.0005")
	a.passes(ask(2, 0))
}

func sessionAfterRestart(t *testing.T, s *stage) {
	a := s.agent(t).policy(`{"session":{"calls":2}}`)
	a.passes(a.says("one", "first"))
	a.passes(a.says("one", "second"))
	a.has(haltd.EventCall, 2)
	s.Kill(t)
	s.Run(t)
	a.client.CloseIdleConnections()
	if got := a.says("one", "third"); got.status != http.StatusBadRequest {
		t.Errorf("%d after a restart, want the session still at its limit", got.status)
	}
}
