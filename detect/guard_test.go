package detect

import (
	"bytes"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/haltd/haltd"
)

// searching is the nth call of an agent that searches for the same thing and
// finds nothing, again and again.
func searching(n int) *haltd.Call {
	c := &haltd.Call{Model: "gpt-5", Opening: []haltd.Message{{Role: haltd.RoleUser, Text: "Find the invoice of March."}}}
	for i := range n {
		id := fmt.Sprint("call_", i)
		c.Rounds = append(c.Rounds, haltd.Round{
			Calls:   []haltd.ToolCall{{ID: id, Name: "search", Arguments: `{"query":"invoice march"}`}},
			Results: []haltd.ToolResult{{CallID: id, Name: "search", Text: "No results."}},
		})
	}
	return c
}

func searches(n int) *haltd.Reply {
	return &haltd.Reply{Calls: []haltd.ToolCall{{ID: fmt.Sprint("call_", n), Name: "search", Arguments: `{"query":"invoice march"}`}}, Complete: true}
}

// ticking is a clock that goes on by a second at each look.
func ticking() haltd.Clock {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	return func() time.Time {
		now = now.Add(time.Second)
		return now
	}
}

// killedAt plays the loop until it is killed, and says at which call.
func killedAt(t *testing.T, s *GuardSession, from int) int {
	t.Helper()
	for n := from; n < from+30; n++ {
		if d := s.Check(searching(n)); d.Level == Kill {
			if d.Sentence("finder") == "" {
				t.Error("a kill says nothing")
			}
			return n
		}
		s.Observe(searches(n))
	}
	t.Fatal("the loop was not killed within 30 calls")
	return 0
}

func TestGuardKillsALoopAndResumes(t *testing.T) {
	g := New(Options{Clock: ticking()})
	s := g.Session("one")
	at := killedAt(t, s, 0)
	if at < 3 || at > 12 {
		t.Errorf("killed at call %d", at)
	}
	if d := s.Check(searching(at)); d.Level != Kill {
		t.Errorf("the same call again is %s, want kill", d.Level)
	}
	if d := g.Session("two").Check(searching(1)); d.Level != Pass {
		t.Errorf("another session is told %s", d.Level)
	}
	s.Resume()
	if d := s.Check(searching(at)); d.Level != Pass {
		t.Errorf("after Resume: %s", d.Level)
	}
	s.Observe(searches(at))
	if again := killedAt(t, s, at+1); again < at+3 {
		t.Errorf("killed again at call %d, after %d", again, at)
	}
}

// A session that is written and read back between all calls is judged as one
// that is not.
func TestGuardSessionGoesOnElsewhere(t *testing.T) {
	want := killedAt(t, New(Options{Clock: ticking()}).Session("one"), 0)
	clock := ticking()
	var kept []byte
	for n := range 30 {
		s := New(Options{Clock: clock}).Session("one")
		if kept != nil {
			if err := s.UnmarshalBinary(kept); err != nil {
				t.Fatal(err)
			}
		}
		if d := s.Check(searching(n)); d.Level == Kill {
			if n != want {
				t.Errorf("killed at call %d, want %d", n, want)
			}
			return
		}
		s = moved(t, s, clock)
		s.Observe(searches(n))
		var err error
		if kept, err = s.MarshalBinary(); err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(kept, []byte("invoice")) {
			t.Fatal("the session holds a text")
		}
	}
	t.Error("not killed")
}

// moved is the session in another guard.
func moved(t *testing.T, s *GuardSession, clock haltd.Clock) *GuardSession {
	t.Helper()
	b, err := s.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	other := New(Options{Clock: clock}).Session("one")
	if err := other.UnmarshalBinary(b); err != nil {
		t.Fatal(err)
	}
	return other
}

// A call without a history that is answered elsewhere: what the reply does is kept
// there, because no later request shows it.
func TestAReplyElsewhereIsReadAsOneWithoutAHistory(t *testing.T) {
	var kept [2][]byte
	for i := range kept {
		clock := ticking()
		s := New(Options{Clock: clock}).Session("one")
		s.Check(&haltd.Call{Opening: []haltd.Message{{Role: haltd.RoleUser, Text: "Find the invoice."}}})
		if i == 1 {
			s = moved(t, s, clock)
		}
		s.Observe(searches(0))
		var err error
		if kept[i], err = s.MarshalBinary(); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Contains(kept[0], []byte("search")) || !bytes.Equal(kept[0], kept[1]) {
		t.Error("what the reply does is not kept, or not elsewhere as it is here")
	}
}

func TestGuardSessionOfAnotherVersionIsRefused(t *testing.T) {
	s := New(Options{Clock: ticking()}).Session("one")
	at := killedAt(t, s, 0)
	b, err := s.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	b[0]++
	if err := s.UnmarshalBinary(b); err == nil {
		t.Error("a session of another version was read")
	}
	if again := killedAt(t, s, at); again > at+3 {
		t.Errorf("an emptied session is killed at call %d, after %d: the history of a call shows most", again, at)
	}
}

// A call that failed and is sent again is no loop.
func TestGuardWithdrawsARetry(t *testing.T) {
	s := New(Options{Clock: ticking(), Literal: true}).Session("one")
	for range 40 {
		if d := s.Check(searching(0)); d.Level != Pass {
			t.Fatalf("a retry is told %s: %s", d.Level, d.Sentence("finder"))
		}
		s.Withdraw()
	}
}

// Equal calls are counted over all sessions: who opens a new one for each call
// is stopped, too.
func TestGuardCountsEqualCallsOfAllSessions(t *testing.T) {
	g := New(Options{Clock: ticking()})
	for n := range 60 {
		s := g.Session(fmt.Sprint("job ", n))
		if d := s.Check(searching(0)); d.Level == Kill {
			if s := d.Signals[0]; s.Family != Streak || n+1 != int(s.Threshold) {
				t.Errorf("stopped at call %d by %s, whose line is %v", n+1, s.Family, s.Threshold)
			}
			return
		}
		s.Observe(&haltd.Reply{Text: "Nothing found.", Complete: true})
	}
	t.Error("not stopped")
}

func TestGuardIsBounded(t *testing.T) {
	g := New(Options{Sessions: 3})
	first := g.Session("0")
	for i := range 10 {
		g.Session(fmt.Sprint(i))
	}
	if n := len(g.sessions); n != 3 || g.used.Len() != 3 {
		t.Errorf("%d sessions are kept, want 3", n)
	}
	if g.Session("9") != g.Session("9") {
		t.Error("a session that is kept is made anew")
	}
	if g.Session("0") == first {
		t.Error("the session that was not asked for the longest is still there")
	}
	g.Forget("0")
	if len(g.sessions) != 2 {
		t.Error("a session that is over is kept")
	}
}

func TestGuardReportsGrowth(t *testing.T) {
	s := New(Options{Clock: ticking()}).Session("one")
	var told []Signal
	for i, tokens := range []int64{1000, 1400, 1960, 2744} {
		s.Check(&haltd.Call{Model: "gpt-5", Opening: []haltd.Message{{Role: haltd.RoleUser, Text: fmt.Sprint("chapter ", i)}}})
		told = s.Observe(&haltd.Reply{Text: "done", Usage: haltd.Usage{Input: tokens}, Counted: true})
	}
	if len(told) != 1 || told[0].Detector != Growth || told[0].Session != "one" {
		t.Errorf("told %+v", told)
	}
}

func TestGuardByManyAtOnce(t *testing.T) {
	g := New(Options{Sessions: 8})
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			s := g.Session(fmt.Sprint(i % 12))
			for n := range 20 {
				s.Check(searching(n))
				s.Observe(searches(n))
				if _, err := s.MarshalBinary(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}
