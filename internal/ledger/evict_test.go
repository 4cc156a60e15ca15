package ledger

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/haltd/haltd"
)

// later is open with a clock that can be moved.
func later(t *testing.T, d *disk) (l *Ledgers, pass func(time.Duration)) {
	t.Helper()
	l = open(t, d)
	l.stop() // what the worker does is done by hand
	l.worker.Wait()
	now := noon
	l.clock = func() time.Time { return now }
	return l, func(passed time.Duration) {
		now = now.Add(passed)
		_ = l.flushAll(context.Background(), flushPeriodic) // the disk may fail
		l.evictIdle()
	}
}

func TestIdleAccountsAreEvicted(t *testing.T) {
	soft := booking(100)
	soft.Budgets = haltd.Budgets{Day: haltd.Budget{SoftTokens: 10_000}}
	nothing := booking(0)
	for _, tc := range []struct {
		name    string
		do      func(*testing.T, *Ledgers, *disk)
		passed  time.Duration
		evicted bool
	}{
		{"settled", func(t *testing.T, l *Ledgers, _ *disk) { reserve(t, l, booking(100)).Settle(tokens(60)) }, evictAfter, true},
		{"released", func(t *testing.T, l *Ledgers, _ *disk) { reserve(t, l, booking(100)).Release() }, evictAfter, true},
		{"ended twice while another is on its way", func(t *testing.T, l *Ledgers, _ *disk) {
			r := reserve(t, l, booking(100))
			reserve(t, l, nothing)
			r.Settle(tokens(1))
			r.Release()
		}, evictAfter, false},
		{"only asked", func(t *testing.T, l *Ledgers, _ *disk) { day(t, l, booking(0)) }, evictAfter, true},
		{"with a soft budget", func(t *testing.T, l *Ledgers, _ *disk) { reserve(t, l, soft).Settle(tokens(60)) }, evictAfter, true},
		{"refused", func(t *testing.T, l *Ledgers, _ *disk) {
			reserve(t, l, booking(10_000)).Settle(tokens(10_000))
			if _, over, err := l.Reserve(context.Background(), booking(1)); err != nil || len(over) == 0 {
				t.Errorf("over %v, %v; want it refused", over, err)
			}
		}, evictAfter, true},
		{"used a moment ago", func(t *testing.T, l *Ledgers, _ *disk) { reserve(t, l, booking(100)).Settle(tokens(60)) }, evictAfter - 1, false},
		{"a call is on its way", func(t *testing.T, l *Ledgers, _ *disk) { reserve(t, l, booking(100)) }, 100 * evictAfter, false},
		{"a call that holds nothing is on its way", func(t *testing.T, l *Ledgers, _ *disk) { reserve(t, l, nothing) }, 100 * evictAfter, false},
		{"not on disk yet", func(t *testing.T, l *Ledgers, d *disk) {
			r := reserve(t, l, booking(100))
			d.setFail(errors.New("full"))
			r.Settle(tokens(5000))
		}, evictAfter, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := newDisk()
			l, pass := later(t, d)
			tc.do(t, l, d)
			pass(tc.passed)
			if got := len(l.accounts) == 0; got != tc.evicted {
				t.Errorf("evicted: %v, want %v", got, tc.evicted)
			}
		})
	}
}

// What the record lost is on disk: a hard budget is not forgotten with its
// account.
func TestAClosedAccountForgetsNothing(t *testing.T) {
	d := newDisk()
	l, pass := later(t, d)
	reserve(t, l, booking(3000)).Settle(tokens(2500))
	pass(evictAfter)
	if len(l.accounts) != 0 {
		t.Fatal("the account is not evicted")
	}
	if got := day(t, l, booking(0)); got.Spent.Tokens != 2500 || got.Held.Tokens != 0 {
		t.Errorf("opened again with %d spent and %d held, want 2500", got.Spent.Tokens, got.Held.Tokens)
	}
	reserve(t, l, booking(7500)).Settle(tokens(7500))
	pass(evictAfter)
	if over, err := l.Check(context.Background(), booking(0)); err != nil || len(over) != 1 {
		t.Errorf("over %+v, %v; want the day, which is spent", over, err)
	}
}

func TestManyNamesFillNoMemory(t *testing.T) {
	l, pass := later(t, newDisk())
	for i := range 300 {
		b := booking(10)
		b.Agent = fmt.Sprint("bot-", i)
		reserve(t, l, b).Settle(tokens(1))
		pass(time.Minute)
	}
	if n := len(l.accounts); n > 11 {
		t.Errorf("%d accounts are open, want those of the last ten minutes", n)
	}
}
