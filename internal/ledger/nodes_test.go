package ledger

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/haltd/haltd"
)

// Two nodes that spend the budget of one agent overwrite nothing of each
// other, and each knows of the other what the store told it last. What one of
// them held that crashes is charged.
func TestNodesShareALedger(t *testing.T) {
	d := newDisk()
	a := open(t, d)
	b := Open(d, d.join(), func(context.Context) error { return nil }, func() time.Time { return noon }, slog.New(slog.DiscardHandler))
	reserve(t, a, booking(3000)).Settle(tokens(1000))
	reserve(t, b, booking(2000)).Settle(tokens(500))
	reserve(t, a, booking(2000)).Settle(tokens(1000))
	reserve(t, a, booking(1500)) // on its way when its node ends
	reserve(t, b, booking(2000)).Settle(tokens(500))
	if got := day(t, b, booking(0)); got.Spent.Tokens < 2000 || got.Held.Tokens < 1500 {
		t.Errorf("the second node knows of %+v spent and %+v held; want 2000 at least, and what the first holds", got.Spent, got.Held)
	}
	if err := b.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := d.ChargeHeld(t.Context()); err != nil { // the first is not alive
		t.Fatal(err)
	}
	got := d.ledger("bot", haltd.Daily, midnight(11))
	if allotment := int64(100); got.Spent.Tokens < 2000+1000+1500 || got.Spent.Tokens > 2000+1000+1500+allotment || got.Held != (haltd.Spending{}) {
		t.Errorf("after the first node crashed %+v; want 4500 and at most an allotment of %d more to be spent", got, allotment)
	}
}

// However many nodes spend a budget at once, they spend no more than it has,
// and nearly all of it.
func TestNodesTogetherStayWithinTheBudget(t *testing.T) {
	d := newDisk()
	const nodes, callers = 3, 8
	var spent atomic.Int64
	var wg sync.WaitGroup
	for range nodes {
		l := Open(d, d.join(), func(context.Context) error { return nil }, func() time.Time { return noon }, slog.New(slog.DiscardHandler))
		defer l.Close(t.Context())
		for range callers {
			wg.Go(func() {
				for {
					r, over, err := l.Reserve(context.Background(), booking(70))
					if err != nil {
						t.Error(err)
						return
					}
					if len(over) > 0 {
						return
					}
					spent.Add(50)
					r.Settle(tokens(50))
				}
			})
		}
	}
	wg.Wait()
	if n := spent.Load(); n > 10_000 || n < 9_000 {
		t.Errorf("%d of 10000 tokens were spent", n)
	}
}

// What the store has granted a call is held from then on, also by what is written before
// the call has heard of it: else another node could take it.
func TestWhatWasGrantedStaysHeld(t *testing.T) {
	d := newDisk()
	l := open(t, d)
	l.stop() // what the worker does, this test does
	l.worker.Wait()
	b := booking(70)
	a := l.acquire(b.Agent)
	defer a.release()
	periods, err := l.periodsOf(t.Context(), a, b.Zone, b.Now)
	if err != nil {
		t.Fatal(err)
	}
	r := &Reservation{account: a, budgets: b.Budgets, periods: periods}
	a.mu.Lock()
	r.hold(&b)
	for _, s := range periods {
		s.ask(r, r.amount)
	}
	a.mu.Unlock()
	if granted, err := a.ask(t.Context(), flushAsked); err != nil || !granted {
		t.Fatalf("granted: %v, %v", granted, err)
	}
	spent := booking(500)
	if _, err := l.Charge(t.Context(), spent); err != nil { // writes what another call cost
		t.Fatal(err)
	}
	const allotment = 100
	if held := d.ledger(b.Agent, haltd.Daily, midnight(11)).Held.Tokens; held < 70+allotment {
		t.Errorf("%d tokens are held; want the 70 that were granted, and an allotment of %d", held, allotment)
	}
}

// What a call reserved and did not use is soon there for other nodes, and a crash
// does not charge it, although its node goes on calling.
func TestWhatACallDidNotUseIsGivenUp(t *testing.T) {
	d := newDisk()
	a, b := open(t, d), open(t, d)
	now := noon
	for _, l := range []*Ledgers{a, b} {
		l.stop() // what the worker does, this test does
		l.worker.Wait()
		l.clock = func() time.Time { return now }
	}
	calls := func() {
		t.Helper()
		reserve(t, a, booking(10)).Settle(tokens(1))
		if err := a.flushAll(t.Context(), flushPeriodic); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		reserve(t, a, booking(8000)).Settle(tokens(1))
		if _, over, err := b.Reserve(t.Context(), booking(5000)); err != nil || len(over) != 1 || !over[0].Busy {
			t.Fatalf("before the first node has given anything up: %+v, %v; want the second to be refused for now", over, err)
		}
		now = now.Add(reduceEvery)
		calls()
		before := d.writes()
		reserve(t, b, booking(5000)).Release()
		if err := b.flushAll(t.Context(), flushFinal); err != nil {
			t.Fatal(err)
		}
		writes := d.writes() - before
		for range 20 { // an allotment that is no larger than it should be stays
			calls()
		}
		if n := d.writes() - before - writes; n > 2 {
			t.Errorf("20 calls that an allotment covers wrote %d times", n)
		}
	}
	if held := d.ledger("bot", haltd.Daily, midnight(11)).Held.Tokens; held > 300 {
		t.Errorf("a crash now would charge %d tokens that nobody uses", held)
	}
}
