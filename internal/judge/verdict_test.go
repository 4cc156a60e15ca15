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
