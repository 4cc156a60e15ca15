package ledger

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/haltd/haltd"
)

// leased is a disk on which only the node that is alive may write, as in a store
// that nodes share. Its functions are called once.
type leased struct {
	*disk
	beforeSave, afterOpen func()
}

func once(f *func()) {
	if call := *f; call != nil {
		*f = nil
		call()
	}
}

func (d *leased) SaveShares(ctx context.Context, node string, shares []haltd.Share) ([]haltd.Ledger, bool, error) {
	once(&d.beforeSave)
	d.mu.Lock()
	dead := node != d.alive
	d.mu.Unlock()
	if dead {
		return nil, false, haltd.Errorf(haltd.CodeConflict, "the lease of node %q has ended", node)
	}
	return d.disk.SaveShares(ctx, node, shares)
}

func (d *leased) OpenLedger(ctx context.Context, node string, l haltd.Ledger) (haltd.Ledger, haltd.Share, error) {
	defer once(&d.afterOpen)
	return d.disk.OpenLedger(ctx, node, l)
}

// The lease of a node ends and it joins again, whatever its calls are about to
// do: what it had is charged once, and what it reserves after that is in the
// ledger.
func TestANodeJoinsAgainInTheMiddle(t *testing.T) {
	for _, test := range []struct {
		name string
		at   func(d *leased, l *Ledgers, rejoin func())
	}{
		{"between calls", func(_ *leased, _ *Ledgers, rejoin func()) { rejoin() }},
		{"when a call is about to ask", func(_ *leased, l *Ledgers, rejoin func()) {
			l.clock = func() time.Time { once(&rejoin); return noon } // which is looked at for what is to be written
		}},
		{"while a call asks", func(d *leased, _ *Ledgers, rejoin func()) { d.beforeSave = rejoin }},
		{"while an account is loaded", func(d *leased, l *Ledgers, rejoin func()) {
			l.mu.Lock()
			clear(l.accounts)
			l.mu.Unlock()
			d.afterOpen = rejoin
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := &leased{disk: newDisk()}
			l := Open(d, d.join(), func(context.Context) error { return nil }, func() time.Time { return noon }, slog.New(slog.DiscardHandler))
			l.stop() // what the worker does, this test does
			l.worker.Wait()
			reserve(t, l, booking(3000)).Settle(tokens(1000))
			if err := l.flushAll(t.Context(), flushFinal); err != nil {
				t.Fatal(err)
			}
			inFlight := reserve(t, l, booking(500))
			test.at(d, l, func() {
				node := d.join()
				if err := d.ChargeHeld(t.Context()); err != nil {
					t.Error(err)
				}
				l.SetNode(node)
			})
			before := d.charged(haltd.Daily, midnight(11))
			var r *Reservation
			for range 2 { // whoever asked for a node that was gone is refused, and asks again
				if r, _, _ = l.Reserve(t.Context(), booking(4000)); r != nil {
					break
				}
			}
			if r == nil {
				t.Fatal("a call is refused twice")
			}
			after := d.charged(haltd.Daily, midnight(11))
			if more, allotment := after.Tokens-before.Tokens, int64(100); more < 4000 || more > 4000+allotment {
				t.Errorf("a call reserves 4000 tokens, and the ledger has %d more, of %d", more, after.Tokens)
			}
			r.Settle(tokens(4000))
			inFlight.Settle(tokens(500))
			if _, err := l.Charge(t.Context(), booking(50)); err != nil {
				t.Fatal(err)
			}
			if err := l.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got, want := d.charged(haltd.Daily, midnight(11)).Tokens, before.Tokens+4050; got != want {
				t.Errorf("%d tokens are spent, want %d", got, want)
			}
		})
	}
}
