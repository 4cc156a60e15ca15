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
	if lease := int64(100); got.Spent.Tokens < 2000+1000+1500 || got.Spent.Tokens > 2000+1000+1500+lease || got.Held != (haltd.Spending{}) {
		t.Errorf("after the first node crashed %+v; want 4500 and at most a lease of %d more to be spent", got, lease)
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
