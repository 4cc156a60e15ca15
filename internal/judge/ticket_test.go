package judge_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/judge"
	"github.com/haltd/haltd/internal/policy"
)

// A ticket ends once, whoever ends it, how often and in which order.
func TestATicketEndsOnce(t *testing.T) {
	used := haltd.Usage{Input: 10, Output: 20}
	settle := func(t *testing.T, b *bench, v judged) { v.Settle(t.Context(), used, 0, b.now) }
	release := func(t *testing.T, _ *bench, v judged) { v.Release(t.Context()) }
	inFull := func(_ *testing.T, _ *bench, v judged) { v.SettleInFull() }
	extend := func(_ *testing.T, _ *bench, v judged) { v.Extend(100_000) }
	observe := func(t *testing.T, b *bench, v judged) {
		v.Observe(t.Context(), &haltd.Reply{Text: "an answer"}, b.now)
	}
	type step = func(*testing.T, *bench, judged)
	for _, tc := range []struct {
		name   string
		steps  []step
		spent  int64
		window int // calls in it
	}{
		{"settled", []step{observe, settle}, 30, 1},
		{"settled twice", []step{settle, settle}, 30, 1},
		{"settled, then released", []step{settle, release}, 30, 1},
		{"released, then settled", []step{release, settle}, 0, 0},
		{"released twice", []step{release, release}, 0, 0},
		{"in full, then settled", []step{inFull, settle, release}, 110, 1},
		{"extended after its end", []step{settle, extend}, 30, 1},
		{"extended, then released", []step{extend, release}, 0, 0},
		{"extended, then settled", []step{extend, settle}, 30, 1},
		{"observed after its end", []step{release, observe}, 0, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := killing()
			p.Rates.Tokens = 1000
			p.Budgets.Day.HardTokens = 1_000_000
			b := newBench(t, p)
			v := b.ask("s", saying("hello"))
			for _, do := range tc.steps {
				do(t, b, v)
			}
			s, err := b.Spending(t.Context(), "bot")
			if err != nil || s[0].Spent.Tokens != tc.spent || s[0].Held != (haltd.Spending{}) {
				t.Errorf("%d tokens spent and %+v reserved, %v; want %d and nothing", s[0].Spent.Tokens, s[0].Held, err, tc.spent)
			}
			w, err := b.Window(t.Context(), "bot", "")
			if err != nil || len(w.Entries) != tc.window {
				t.Errorf("%d calls in the window, %v; want %d", len(w.Entries), err, tc.window)
			}
		})
	}
}

func TestATicketIsSettledOnceByMany(t *testing.T) {
	p := killing()
	p.Budgets.Day.HardTokens = 1_000_000
	b := newBench(t, p)
	v := b.ask("s", saying("hello"))
	var wg sync.WaitGroup
	wg.Go(func() { // as the one that reads the reply does
		for i := range int64(20) {
			v.Extend(50_000 * (i + 1))
		}
	})
	for range 20 {
		wg.Go(func() { v.Settle(t.Context(), haltd.Usage{Output: 7}, 0, start) })
	}
	wg.Wait()
	if s, err := b.Spending(t.Context(), "bot"); err != nil || s[0].Spent.Tokens != 7 || s[0].Held != (haltd.Spending{}) {
		t.Errorf("%d tokens spent and %+v reserved, %v; want 7 and nothing", s[0].Spent.Tokens, s[0].Held, err)
	}
}

// brokenLimits panic when a call is settled.
type brokenLimits struct{ judge.States }

func (brokenLimits) Charge(context.Context, []policy.Draw, time.Time) error { panic("on purpose") }

// A ticket that panics over its end has ended all the same: nobody could end it
// again, and its money would stay reserved.
func TestAPanicWhileSettlingLeavesNothingReserved(t *testing.T) {
	p := killing()
	p.Rates.Tokens = 1000
	p.Budgets.Day.HardTokens = 1_000_000
	b := newBench(t, p, func(o *judge.Options) { o.States = brokenLimits{o.States} })
	v := b.ask("s", saying("hello"))
	func() {
		defer func() {
			if recover() == nil {
				t.Error("settling did not panic, so that nothing is tested")
			}
		}()
		v.Settle(t.Context(), haltd.Usage{Output: 7}, 0, b.now)
	}()
	if s, err := b.Spending(t.Context(), "bot"); err != nil || s[0].Spent.Tokens != 7 || s[0].Held != (haltd.Spending{}) {
		t.Errorf("%d tokens spent and %+v reserved, %v; want 7 and nothing", s[0].Spent.Tokens, s[0].Held, err)
	}
}

// A decision is data: what happens to the request later does not change the
// copy that somebody kept.
func TestADecisionKeepsItsWord(t *testing.T) {
	b := newBench(t, killing())
	b.rule(t, haltd.RuleWarn)
	v := b.ask("s", saying("hello"))
	if _, err := b.control.Deactivate(t.Context(), haltd.Target{Agent: "bot"}, true, "ann", ""); err != nil {
		t.Fatal(err)
	}
	cut := v.Cut()
	if len(v.Findings) != 1 || v.Action != haltd.Warn || len(cut.Findings) != 2 || cut.Action != haltd.Block {
		t.Errorf("first %v of %d findings, cut %v of %d; want warn of 1 and block of 2", v.Action, len(v.Findings), cut.Action, len(cut.Findings))
	}
	v.Release(t.Context())
}
