package e2e

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
	"github.com/haltd/haltd/test/harness"
)

// allLimits are all limits of a session, each out of reach but for the calls of
// a turn.
const allLimits = "{calls: 900, usd: 9.5, tokens: 70000, minutes: 60, turn: {calls: 1, usd: 2.25}}"

// TestSessionsAreBounded is what a session, and a turn of it, may use.
func TestSessionsAreBounded(t *testing.T) {
	t.Parallel()
	s := newStage(t, "agents: {from-file: {session: "+allLimits+"}}\n"+
		"pricing: {models: {gpt-4.1-mini: {input: 1, output: 1}, claude-sonnet-4-5: {input: 1, output: 1}, gemini-2.5-pro: {input: 1, output: 1}}}\n")
	s.hold(t, requirement{"A session", []scenario{
		{"Is blocked after its calls", sessionCalls},
		{"Is told of no number that is a status", sessionTokens},
		{"Has its limits in the file and on the command line", sessionInFile},
	}})
	t.Run("Each limit, whole and streamed", func(t *testing.T) { inEveryDialect(t, s, eachLimit) })
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

// A number that a client could take for the status of a passing failure is
// spelt out.
func sessionTokens(t *testing.T, s *stage) {
	a := s.agent(t).policy(`{"session":{"tokens":500}}`)
	a.passes(a.says("one", "first"))
	a.exceeded(a.says("one", "second"), "allows five-zero-zero tokens")
}

func sessionInFile(t *testing.T, s *stage) {
	a := s.agent(t)
	a.id = "from-file"
	a.passes(a.says("one", "first"))
	a.exceeded(a.says("one", "second"), "session.turn.calls allows 1 call.", "Send a message")
	b := s.agent(t)
	s.run(t, "agents", "set", b.id, "session.calls=900", "session.usd=9.5", "session.tokens=70000", "session.minutes=60", "session.turn.calls=1")
	s.run(t, "agents", "set", b.id, "session.turn.usd=2.25") // the others stay
	if file, set := a.view().Policy.Sessions, b.view().Policy.Sessions; file != set || set.Turn.USD != 9*haltd.Dollar/4 {
		t.Errorf("the file sets %+v, the command line %+v; want the same", file, set)
	}
	out := s.run(t, "agents", "show", b.id)
	for _, line := range []string{"session.calls", "session.usd", "session.tokens", "session.minutes", "session.turn.calls", "session.turn.usd"} {
		if !strings.Contains(out, line) {
			t.Errorf("agents show does not tell %s:\n%s", line, out)
		}
	}
	s.fails(t, 1, "session.turn.usd", "agents", "set", b.id, "session.turn.usd=-1")
	a.passes(b.says("one", "first"))
	b.exceeded(b.says("one", "second"), "session.turn.calls allows 1 call.")
}

// eachLimit has a conversation reach each limit with its second call, which
// costs $0.0005 as the first does.
func eachLimit(t *testing.T, a *agent, d *dialect) {
	for _, l := range []struct{ name, value, allows string }{
		{"calls", "2", "2 calls"}, {"usd", "0.001", "$0.001"}, {"tokens", "1000", "1,000 tokens"},
		{"turn.calls", "2", "2 calls"}, {"turn.usd", "0.001", "$0.001"},
	} {
		for _, stream := range []bool{false, true} {
			d, a := a.named(d, fmt.Sprint("bound-", l.name, "-", stream))
			inner, turn := strings.CutPrefix(l.name, "turn.")
			set := fmt.Sprintf(`{%q:%s}`, inner, l.value)
			if turn {
				set = `{"turn":` + set + `}`
			}
			a.policy(`{"session":` + set + `}`)
			used := func(talk []step) []step {
				a.t.Helper()
				for range 2 {
					a.passes(a.works(d, "one", stream, talk))
					n := len(talk)
					talk = append(talk, step{tool: "tidy", args: fmt.Sprintf(`{"shelf":%d}`, n), given: fmt.Sprintf("shelf %d is tidy: %d books", n, 7*n)})
				}
				a.exceeded(a.works(d, "one", stream, talk), "session."+l.name+" allows "+l.allows+".", "raise session."+l.name+" of "+a.id)
				return talk
			}
			talk := used([]step{{user: "Tidy the house."}})
			a.exceeded(a.works(d, "one", stream, append(talk[:len(talk):len(talk)], step{user: "<system-reminder>The task is not done. Go on.</system-reminder>"})), "session."+l.name)
			talk = append(talk, step{text: "The house is tidy."}, step{user: "Thank you. Now the garden, and mind the cat."})
			if turn {
				talk = used(talk)
			} else {
				a.exceeded(a.works(d, "one", stream, talk), "session."+l.name, "new session")
			}
			a.passes(a.works(d, "two", stream, talk))
		}
	}
}

// works sends a conversation whose reply is counted as 500 tokens.
func (a *agent) works(d *dialect, session string, stream bool, talk []step) answer {
	a.t.Helper()
	text, err := json.Marshal(d.body(talk, stream))
	if err != nil {
		a.t.Fatal(err)
	}
	script, err := json.Marshal(fakellm.Script{ToolCalls: []fakellm.ToolCall{{Name: "tidy", Arguments: "{}"}}, Usage: &haltd.Usage{Input: 400, Output: 100}})
	if err != nil {
		a.t.Fatal(err)
	}
	header := a.headerOf(d, session)
	header[harness.ScriptHeader] = string(script)
	return a.do(http.MethodPost, d.path(stream), string(text), header)
}

func sessionAfterRestart(t *testing.T, s *stage) {
	a := s.agent(t).policy(`{"session":{"calls":2}}`)
	a.passes(a.says("one", "first"))
	a.passes(a.says("one", "second"))
	a.has(haltd.EventCall, 2)
	old := s.agent(t, "old").policy(`{"session":{"minutes":30}}`)
	for _, session := range []string{"one", "two"} {
		old.passes(old.says(session, "first"))
	}
	old.has(haltd.EventCall, 2)
	s.Kill(t)
	s.beginEarlier(t, "one", 31*time.Minute)
	s.Run(t)
	for _, a := range []*agent{a, old} {
		a.client.CloseIdleConnections()
	}
	a.exceeded(a.says("one", "third"), "session.calls allows 2 calls")
	old.exceeded(old.says("one", "second"), "This session of "+old.id+" has lasted 31 minutes, and session.minutes allows 30 minutes.", "new session")
	old.passes(old.says("two", "second"))
}

// beginEarlier changes the record of a haltd that is down: sessions with this
// name began earlier.
func (s *stage) beginEarlier(t *testing.T, session string, by time.Duration) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(s.Config.DataDir, "haltd.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("UPDATE sessions SET first_seen = first_seen - ? WHERE id = ?", by.Microseconds(), session); err != nil {
		t.Fatal(err)
	}
}
