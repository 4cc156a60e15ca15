package judge_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/detection"
	"github.com/haltd/haltd/internal/judge"
	"github.com/haltd/haltd/internal/policy"
	"github.com/haltd/haltd/internal/state"
)

func TestEachLevelIsNewsOnce(t *testing.T) {
	b := newBench(t, haltd.DefaultPolicy())
	var news []haltd.Level
	for n := 1; n <= 12; n++ {
		b.move(start.Add(time.Duration(n) * time.Second))
		if v := b.ask("a", stuck(n)); v.NewLevel {
			news = append(news, v.Detected.Level)
		}
	}
	if len(news) != 2 || news[0] != haltd.LevelWarn || news[1] != haltd.LevelKill {
		t.Errorf("news of levels %v, want warn and kill once each", news)
	}
}

func TestVerdictSaysWhatHappened(t *testing.T) {
	b := newBench(t, haltd.DefaultPolicy())
	v := b.ask("a", stuck(12))
	full, brief := v.Full(), v.Brief()
	if full.Level != haltd.LevelKill || !strings.Contains(full.Sentence, "bot") || !strings.Contains(full.Sentence, "read_file") {
		t.Errorf("level %v, sentence %q; want a kill that names agent and tool", full.Level, full.Sentence)
	}
	if len(full.Signals) == 0 || len(full.Signals[0].Rounds) == 0 {
		t.Fatalf("signals %+v, want rounds as evidence", full.Signals)
	}
	points := 0
	for _, r := range full.Signals[0].Reasons {
		points += r.Points
	}
	if s := full.Signals[0]; full.Certainty < 95 || s.Certainty != full.Certainty || s.WarnAt != 75 || s.KillAt != 95 || math.Abs(float64(points)-s.Certainty) > .6 {
		t.Errorf("a certainty of %v, in the signal %v of %v and %v, reasons of %d points; want them to agree", full.Certainty, s.Certainty, s.WarnAt, s.KillAt, points)
	}
	if brief.Sentence != full.Sentence || brief.Certainty != full.Certainty || brief.Signals != nil || brief.Basis != nil {
		t.Errorf("brief %+v, want the sentence and the certainty without the evidence", brief)
	}
	if brief.Version != haltd.VerdictVersion || full.Version != haltd.VerdictVersion {
		t.Errorf("versions %d and %d, want %d", brief.Version, full.Version, haltd.VerdictVersion)
	}
	// The switch is off: the decision is to allow, and no check has it.
	if full.Action != haltd.Allow || full.Check != "" || full.Reason != "" || len(full.Findings) == 0 || full.Findings[0].Action != haltd.Kill {
		t.Errorf("decided %s by %q (%s), findings %+v; want to allow, and a finding that would kill", full.Action, full.Check, full.Reason, full.Findings)
	}
	m := detection.CurrentModel()
	if want := (haltd.Basis{Calls: 1, Rounds: 12, Features: m.Version, Weights: m.Date}); full.Basis == nil || *full.Basis != want {
		t.Errorf("basis %+v, want %+v", full.Basis, want)
	}
	if quiet := b.ask("b", saying("Something else altogether.")); quiet.Brief() != nil {
		t.Errorf("a call that says nothing is recorded as %+v", quiet.Brief())
	}
}

var things = strings.Fields("invoice refund card charge receipt plan was is seems looks gets stays wrong double late missing unpaid unclear")

// Replies come back in any order; each belongs to its own request.
func TestRepliesFindTheirOwnRequest(t *testing.T) {
	b := newBench(t, killing())
	ticket := func(i int) string {
		return fmt.Sprintf("%s %s %s", things[i%6], things[(i/6)%6+6], things[(i*5)%6+12])
	}
	var wg sync.WaitGroup
	for i := range 30 {
		wg.Go(func() {
			b.ask(ticket(i), saying(ticket(i))).Observe(context.Background(), &haltd.Reply{Text: "billing"}, start)
		})
	}
	wg.Wait()
	v := b.ask(ticket(31), saying(ticket(31)))
	if v.Detected.Parts.Responses != 18 {
		t.Errorf("%d similar responses in a window of 20, want 18: this call has none yet, and the newest is not counted against itself", v.Detected.Parts.Responses)
	}
	if v.Action.Stops() {
		t.Errorf("a classifier at work was stopped: %+v", v.Full())
	}
}

// Visitors who greet alike in sessions of their own, or who ask about orders
// of their own, are no loop; the same words to the letter from one session, or
// from sessions that nobody named, are.
func TestAlikeCallsOfDifferentSessions(t *testing.T) {
	for _, tc := range []struct {
		name    string
		session func(i int) string
		named   bool
		numbers bool // each asks about another order
		user    bool // each names another user
		want    haltd.Action
	}{
		{name: "named sessions", session: func(i int) string { return fmt.Sprint("visitor", i) }, named: true, want: haltd.Warn},
		{name: "one session", session: func(int) string { return "a" }, named: true, want: haltd.Kill},
		{name: "one session, different orders", session: func(int) string { return "a" }, named: true, numbers: true, want: haltd.Warn},
		{name: "one session, different users", session: func(int) string { return "a" }, named: true, user: true, want: haltd.Warn},
		{name: "guessed sessions", session: func(i int) string { return fmt.Sprint("ses_", i) }, want: haltd.Kill},
		{name: "guessed sessions, different orders", session: func(i int) string { return fmt.Sprint("ses_", i) }, numbers: true, want: haltd.Warn},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t, killing())
			highest := haltd.Allow
			for i := 0; i < 12 && highest < haltd.Kill; i++ {
				b.move(start.Add(time.Duration(i) * time.Second))
				text := "Check my order, please."
				if tc.numbers {
					text = fmt.Sprintf("Check order #%d, please.", 1000+i)
				}
				r := b.request(tc.session(i), saying(text))
				r.Named = tc.named
				if tc.user {
					r.Call.Hints.User = fmt.Sprint("user", i)
				}
				v := b.judge(r)
				highest = max(highest, v.Action)
				v.Observe(t.Context(), &haltd.Reply{Text: "I cannot find that order."}, b.now)
			}
			if highest != tc.want {
				t.Errorf("the strictest was %v, want %v", highest, tc.want)
			}
		})
	}
}

// A classifier whose answers are alike asks in a session of its own each time, as far
// as haltd can guess: what its window shows is told once within an hour, not by each
// call.
func TestOneShotCallsThatAreAlikeWarnOnce(t *testing.T) {
	for _, tc := range []struct {
		name  string
		named bool
		call  func(words string) *haltd.Call
		want  [3]int // warnings of ten calls, of ten within the hour, of ten after it
	}{
		{name: "guessed sessions", call: saying, want: [3]int{1, 0, 1}},
		{name: "named sessions", named: true, call: saying, want: [3]int{10, 10, 10}},
		{name: "with a history", call: func(words string) *haltd.Call {
			c := saying(words)
			c.Rounds = []haltd.Round{{Text: words + " it is", Inputs: []haltd.Message{{Text: "Now " + words}}}}
			return c
		}, want: [3]int{10, 10, 10}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var told warnings
			b := newBench(t, killing(), func(o *judge.Options) { o.Meter = &told })
			calls := 0
			ask := func() judged {
				calls++
				r := b.request(fmt.Sprint("s", calls), tc.call(fmt.Sprintf("%c%c %s", 'a'+calls%26, 'a'+calls/26, things[calls%len(things)])))
				r.Named = tc.named
				v := b.judge(r)
				v.Observe(t.Context(), &haltd.Reply{Text: "billing"}, b.now)
				return v
			}
			ten := func() int {
				before, counted := len(b.recorded(haltd.EventWarning)), told.n
				for range 10 {
					if v := ask(); v.Action != haltd.Warn || v.Brief() == nil || v.Reason != haltd.ReasonLoop {
						t.Fatalf("call %d: %+v; want each to say that it repeats itself", calls, v.Finding)
					}
				}
				n := len(b.recorded(haltd.EventWarning)) - before
				if told.n-counted != n {
					t.Errorf("%d warnings were counted, %d told", told.n-counted, n)
				}
				return n
			}
			for range 7 {
				if v := ask(); v.Action != haltd.Allow {
					t.Fatalf("call %d: %+v", calls, v.Finding)
				}
			}
			got := [3]int{ten()}
			b.move(start.Add(59 * time.Minute))
			got[1] = ten()
			b.move(start.Add(61 * time.Minute))
			got[2] = ten()
			if got != tc.want {
				t.Errorf("%v warnings, want %v", got, tc.want)
			}
		})
	}
}

// Whoever resumes an agent is told again of what it does then.
func TestAnEmptiedWindowWarnsAgain(t *testing.T) {
	b := newBench(t, killing())
	calls := 0
	warn := func() {
		for range 20 {
			calls++
			r := b.request(fmt.Sprint("s", calls), saying(fmt.Sprintf("%c%c %s", 'a'+calls%26, 'a'+calls/26, things[calls%len(things)])))
			r.Named = false
			b.judge(r).Observe(t.Context(), &haltd.Reply{Text: "billing"}, b.now)
		}
	}
	warn()
	if _, err := b.control.Deactivate(t.Context(), haltd.Target{Agent: "bot"}, false, "ann", ""); err != nil {
		t.Fatal(err)
	}
	b.move(start.Add(time.Minute))
	if _, err := b.control.Activate(t.Context(), haltd.Target{Agent: "bot"}, 0, "ann", ""); err != nil {
		t.Fatal(err)
	}
	warn()
	if n := len(b.recorded(haltd.EventWarning)); n != 2 {
		t.Errorf("%d warnings, want one before and one after the agent was resumed", n)
	}
}

// warnings counts the warnings that are told.
type warnings struct {
	bench
	n int
}

func (w *warnings) Rung(a haltd.Action, c haltd.Check) {
	if a == haltd.Warn && c == haltd.CheckSimilarity {
		w.n++
	}
}

// recorded are the events of a kind.
func (b *bench) recorded(kind haltd.EventType) (found []haltd.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.events {
		if e.Type == kind {
			found = append(found, e)
		}
	}
	return found
}

type broken struct{}

var errBroken = errors.New("out of reach")

func (broken) Acquire(context.Context, state.Place, time.Time) (state.Lease, error) {
	return nil, errBroken
}
func (broken) Await(context.Context, state.Place, uint64) error { return errBroken }
func (broken) Open(context.Context, state.Question, time.Time) (state.Answer, error) {
	return state.Answer{}, errBroken
}
func (broken) Charge(context.Context, []policy.Draw, time.Time) error { return errBroken }

// State that cannot be had lets calls pass; money does not depend on it.
func TestStateThatCannotBeHad(t *testing.T) {
	p := killing()
	p.Rates.Requests, p.Rates.Tokens = 1, 1
	p.Budgets.Day.HardTokens = 220
	b := newBench(t, p, func(o *judge.Options) { o.States = broken{} })
	for range 2 {
		r := b.request("s", stuck(12))
		r.Policies = loopPolicy(t, policy.LoopReject, false)
		v := b.judge(r)
		if v.Action != haltd.Allow {
			t.Fatalf("decision %+v", v.Finding)
		}
		v.Observe(t.Context(), &haltd.Reply{Text: "x"}, b.now)
		v.Settle(t.Context(), haltd.Usage{Input: 100, Output: 10}, 0, b.now)
	}
	if v := b.ask("s", stuck(1)); v.Reason != haltd.ReasonBudget {
		t.Errorf("decision %+v, want the budget", v.Finding)
	}
}

// Ids may hold colons: what is told of one session must not keep another
// from being told of.
func TestSessionsAreToldApart(t *testing.T) {
	b := newBench(t, haltd.DefaultPolicy())
	for _, who := range []struct{ agent, session string }{{"a", "b:c"}, {"a:b", "c"}} {
		r := b.request(who.session, stuck(12))
		r.Agent, r.Event.Agent = who.agent, who.agent
		b.judge(r)
	}
	b.flush()
	found, _, err := b.store.Incidents(t.Context(), haltd.IncidentQuery{Page: haltd.Page{Limit: 10}})
	if err != nil || len(found) != 2 {
		t.Errorf("%d incidents, %v; want one of each", len(found), err)
	}
}
