package ledger

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/haltd/haltd"
	"pgregory.net/rapid"
)

var noon = time.Date(2026, 3, 11, 12, 0, 0, 0, time.UTC)

func midnight(day int) time.Time { return time.Date(2026, 3, day, 0, 0, 0, 0, time.UTC) }

func open(t testing.TB, d *disk) *Ledgers {
	t.Helper()
	node := d.join()
	_ = d.ChargeHeld(t.Context())
	l := Open(d, node, func(context.Context) error { return nil }, func() time.Time { return noon }, slog.New(slog.DiscardHandler))
	t.Cleanup(func() { l.stop(); l.worker.Wait() }) // as a crash would: nothing is written
	return l
}

func tokens(n int64) haltd.Spending { return haltd.Spending{Cost: haltd.Money(n), Tokens: n} }

func booking(n int64) Booking {
	return Booking{
		Agent: "bot", Zone: time.UTC, Amount: tokens(n), Now: noon,
		Budgets: haltd.Budgets{Day: haltd.Budget{HardTokens: 10_000}, Month: haltd.Budget{HardTokens: 100_000, HardUSD: 1_000_000}},
	}
}

func reserve(t testing.TB, l *Ledgers, b Booking) *Reservation {
	t.Helper()
	r, over, err := l.Reserve(context.Background(), b)
	if err != nil || len(over) > 0 {
		t.Fatalf("not reserved: %+v, %v", over, err)
	}
	return r
}

func day(t testing.TB, l *Ledgers, b Booking) haltd.PeriodSpending {
	t.Helper()
	s, err := l.Spending(context.Background(), b.Agent, b.Budgets, b.Zone)
	if err != nil {
		t.Fatal(err)
	}
	return s[0]
}

func TestACrashChargesWhatWasHeld(t *testing.T) {
	d := newDisk()
	l := open(t, d)
	reserve(t, l, booking(3000)).Settle(tokens(1000))
	reserve(t, l, booking(2000)) // on its way when the process ends
	again := open(t, d)
	if got := day(t, again, booking(0)); got.Spent.Tokens < 3000 || got.Held.Tokens != 0 {
		t.Errorf("after a crash %+v spent, %+v held; want 1000 and the 2000 that were held", got.Spent, got.Held)
	}
	if err := again.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func TestAnEndChargesWhatWasUsed(t *testing.T) {
	d := newDisk()
	l := open(t, d)
	reserve(t, l, booking(3000)).Settle(tokens(1000))
	reserve(t, l, booking(500)).Release()
	if err := l.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := day(t, open(t, d), booking(0)); got.Spent.Tokens != 1000 {
		t.Errorf("%d spent, want 1000", got.Spent.Tokens)
	}
}

// What the record knows counts where it is more than the ledger.
func TestOpensFromTheRecord(t *testing.T) {
	d := newDisk()
	d.record = tokens(700)
	l := open(t, d)
	if got := day(t, l, booking(0)); got.Spent.Tokens != 700 {
		t.Errorf("%d spent, want the 700 of the record", got.Spent.Tokens)
	}
	reserve(t, l, booking(100))
	if got := d.charged(haltd.Daily, midnight(11)); got.Tokens < 800 {
		t.Errorf("%d on disk, want the 700 and what is held", got.Tokens)
	}
}

func TestACallThatCostsMoreThanItHeldIsOnDisk(t *testing.T) {
	d := newDisk()
	l := open(t, d)
	r := reserve(t, l, booking(10))
	r.Settle(tokens(5000))
	r.Flush()
	if got := d.charged(haltd.Daily, midnight(11)); got.Tokens < 5000 {
		t.Errorf("%d on disk after 5000 were spent", got.Tokens)
	}
}

func TestALongerReservationIsWrittenSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDisk()
		l := open(t, d)
		r := reserve(t, l, booking(10))
		r.Extend(tokens(4000))
		if r.Amount().Tokens != 4010 {
			t.Errorf("holds %d", r.Amount().Tokens)
		}
		synctest.Wait()
		if got := d.charged(haltd.Daily, midnight(11)); got.Tokens < 4010 {
			t.Errorf("%d on disk", got.Tokens)
		}
	})
}

func TestWhatCannotBeWrittenIsNotHeld(t *testing.T) {
	d := newDisk()
	l := open(t, d)
	d.setFail(errors.New("full"))
	if _, _, err := l.Reserve(context.Background(), booking(3000)); err == nil {
		t.Fatal("no error")
	}
	d.setFail(nil)
	if got := day(t, l, booking(0)); got.Held.Tokens != 0 {
		t.Errorf("%d held", got.Held.Tokens)
	}
}

// A record that cannot be written does not keep a call waiting for ever.
func TestARecordThatIsNotWrittenEndsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := Open(newDisk(), "node", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, func() time.Time { return noon }, slog.New(slog.DiscardHandler))
		t.Cleanup(func() { l.stop(); l.worker.Wait() })
		if _, _, err := l.Reserve(context.Background(), booking(1)); err == nil {
			t.Error("no error")
		}
	})
}

func TestParallelReservationsStayWithinTheBudget(t *testing.T) {
	l := open(t, newDisk())
	reserve(t, l, booking(8000)).Settle(tokens(8000))
	var passed, busy atomic.Int64
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			_, over, err := l.Reserve(context.Background(), booking(700))
			switch {
			case err != nil:
				t.Error(err)
			case len(over) == 0:
				passed.Add(1)
			case over[0].Busy && over[0].Asked == tokens(700) && !over[0].IsSpent():
				busy.Add(1)
			}
		})
	}
	wg.Wait()
	if passed.Load() != 2 || busy.Load() != 62 { // 8000, 8700, 9400
		t.Errorf("%d passed, %d are to come again; want 2, and 62 that may fit later", passed.Load(), busy.Load())
	}
}

// What does not fit is refused, but for one call at a time that may go alone.
func TestOneCallGoesAlone(t *testing.T) {
	l := open(t, newDisk())
	reserve(t, l, booking(9000)).Settle(tokens(9000))
	refused := func(b Booking) Over {
		t.Helper()
		_, over, err := l.Reserve(context.Background(), b)
		if err != nil || len(over) != 1 || over[0].Period != haltd.Daily {
			t.Fatalf("over %+v, %v; want the day", over, err)
		}
		return over[0]
	}
	if o := refused(booking(1001)); o.Busy || o.IsSpent() || o.Left.Tokens != 1000 || o.Asked.Tokens != 1001 {
		t.Errorf("%+v, want 1000 left of the 1001 asked for, and no later time", o)
	}
	reserve(t, l, booking(1000)).Release() // fits to the last
	stream := booking(60_000)
	stream.Alone, stream.Cuttable = true, true
	r := reserve(t, l, stream)
	if r.Amount().Tokens != 1000 {
		t.Errorf("a stream that is alone holds %d, want what is left", r.Amount().Tokens)
	}
	for _, b := range []Booking{stream, booking(1)} {
		if o := refused(b); !o.Busy {
			t.Errorf("%+v beside a call that is alone, want it to come again", o)
		}
	}
	if r.Extend(tokens(1)) {
		t.Error("a stream got more than was left")
	}
	r.Settle(tokens(400))
	unbounded := booking(5000)
	unbounded.Alone = true
	r = reserve(t, l, unbounded)
	if r.Amount().Tokens != 5000 {
		t.Errorf("a call that cannot be cut holds %d, want all it may cost", r.Amount().Tokens)
	}
	if o := refused(stream); !o.Busy {
		t.Errorf("%+v beside a call that is alone, want it to come again", o)
	}
	r.Settle(tokens(3000))
	if o := refused(stream); o.Busy || !o.IsSpent() {
		t.Errorf("%+v, want a budget that is spent", o)
	}
}

func TestForceHoldsWhatTheBudgetHasNot(t *testing.T) {
	l := open(t, newDisk())
	reserve(t, l, booking(10_000)).Settle(tokens(10_000))
	b := booking(50)
	if _, over, _ := l.Reserve(context.Background(), b); len(over) != 1 || over[0].Period != haltd.Daily {
		t.Fatalf("over %+v, want the day", over)
	}
	b.Force = true
	reserve(t, l, b).Settle(tokens(40))
	if got := day(t, l, b); got.Spent.Tokens != 10_040 || got.Held.Tokens != 0 {
		t.Errorf("spent %+v, held %+v", got.Spent, got.Held)
	}
}

// A call that is on its way at midnight is charged to the day it began on.
func TestACallOverMidnight(t *testing.T) {
	d := newDisk()
	l := open(t, d)
	b := booking(3000)
	r := reserve(t, l, b)
	next := b
	next.Now = midnight(12).Add(time.Second)
	reserve(t, l, next).Settle(tokens(5))
	r.Settle(tokens(2000))
	if err := l.flushAll(context.Background(), flushFinal); err != nil {
		t.Fatal(err)
	}
	if got := d.charged(haltd.Daily, midnight(11)); got.Tokens != 2000 {
		t.Errorf("%d on the old day, want 2000", got.Tokens)
	}
	if got := d.charged(haltd.Daily, midnight(12)); got.Tokens != 5 {
		t.Errorf("%d on the new day, want 5", got.Tokens)
	}
	month := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	if got := d.charged(haltd.Monthly, month); got.Tokens != 2005 {
		t.Errorf("%d in the month, want both", got.Tokens)
	}
}

// Around midnight requests overtake each other. The late one must not bring
// the old day back, or both days would be kept twice.
func TestARequestThatComesLate(t *testing.T) {
	l := open(t, newDisk())
	late, early := booking(100), booking(100)
	late.Now, early.Now = midnight(12).Add(-time.Millisecond), midnight(12).Add(time.Millisecond)
	first := reserve(t, l, early)
	second := reserve(t, l, late)
	third := reserve(t, l, early)
	a := l.accounts["bot"]
	a.mu.Lock()
	if got := a.periods[0]; !got.start.Equal(midnight(12)) || got.reserved.Tokens != 300 || len(a.past) != 0 {
		t.Errorf("the day that began at %v holds %d, %d others; want all three in the new day", got.start, got.reserved.Tokens, len(a.past))
	}
	a.mu.Unlock()
	for _, r := range []*Reservation{first, second, third} {
		r.Settle(tokens(10))
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if got := a.periods[0]; got.spent.Tokens != 30 || got.reserved.Tokens != 0 {
		t.Errorf("spent %+v, reserved %+v", got.spent, got.reserved)
	}
}

func TestPeriodsTurnUnderLoad(t *testing.T) {
	l := open(t, newDisk())
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			b := booking(1)
			b.Now = midnight(12).Add(time.Duration(i-100) * time.Millisecond)
			reserve(t, l, b).Settle(tokens(1))
		})
	}
	wg.Wait()
	a := l.accounts["bot"]
	a.mu.Lock()
	defer a.mu.Unlock()
	sum := a.periods[0].spent.Tokens
	for _, s := range a.past {
		sum += s.spent.Tokens
	}
	if sum != 200 || a.periods[1].spent.Tokens != 200 {
		t.Errorf("%d on both days, %d in the month; want 200", sum, a.periods[1].spent.Tokens)
	}
	for _, s := range append(a.past, a.periods[:]...) {
		if s.reserved != (haltd.Spending{}) {
			t.Errorf("%v from %v still holds %+v", s.kind, s.start, s.reserved)
		}
	}
}

// A time zone that is changed and changed back finds the day as it was.
func TestTimeZones(t *testing.T) {
	tokyo, err := time.LoadLocation("Asia/Tokyo")
	if err != nil {
		t.Fatal(err)
	}
	d := newDisk()
	l := open(t, d)
	utc, east := booking(100), booking(100)
	east.Zone = tokyo
	r := reserve(t, l, utc)
	held := reserve(t, l, east)
	if got := day(t, l, east); !got.Start.Equal(time.Date(2026, 3, 10, 15, 0, 0, 0, time.UTC)) || !got.Resets.Equal(got.Start.Add(24*time.Hour)) || got.Held.Tokens != 100 {
		t.Errorf("the day of Tokyo %+v", got)
	}
	r.Settle(tokens(70))
	if err := l.flushAll(context.Background(), flushFinal); err != nil {
		t.Fatal(err)
	}
	if got := day(t, l, utc); got.Spent.Tokens != 70 || got.Held.Tokens != 0 {
		t.Errorf("back in UTC %+v spent, %+v held; want 70", got.Spent, got.Held)
	}
	held.Release()
}

func TestNewsAreToldOnce(t *testing.T) {
	l := open(t, newDisk())
	b := booking(0)
	b.Budgets = haltd.Budgets{Day: haltd.Budget{SoftTokens: 100, HardTokens: 200}}
	var reported []string
	for range 5 {
		b.Force = true
		for _, o := range reserve(t, l, b).Settle(tokens(60)) {
			reported = append(reported, fmt.Sprint(o.Hard, o.Spent.Tokens))
		}
	}
	if fmt.Sprint(reported) != "[false 120 true 240]" {
		t.Errorf("reported %v, want soft at 120 and hard at 240", reported)
	}
	crossed, err := l.Charge(context.Background(), Booking{Agent: "other", Budgets: b.Budgets, Zone: time.UTC, Amount: tokens(150), Now: noon})
	if err != nil || len(crossed) != 1 || crossed[0].Hard {
		t.Errorf("a reported call crossed %+v, %v; want the soft budget", crossed, err)
	}
}

func TestWithoutBudgetsNothingIsKept(t *testing.T) {
	d := newDisk()
	d.record = tokens(5)
	l := open(t, d)
	b := Booking{Agent: "bot", Zone: time.UTC, Amount: tokens(10), Now: noon}
	r := reserve(t, l, b)
	r.Extend(tokens(1))
	if r.Settle(tokens(5)); r.Amount() != (haltd.Spending{}) {
		t.Error("something is held")
	}
	if s, err := l.Spending(context.Background(), "bot", haltd.Budgets{}, time.UTC); err != nil || s[0].Spent.Tokens != 5 {
		t.Errorf("spending %+v, %v; want that of the record", s, err)
	}
	if len(l.accounts) != 0 || d.writes() != 0 {
		t.Errorf("%d accounts, %d writes", len(l.accounts), d.writes())
	}
}

// Few calls wait for the disk: it holds a little more than is needed.
func TestTheDiskIsAskedSeldom(t *testing.T) {
	d := newDisk()
	l := open(t, d)
	for range 100 {
		reserve(t, l, booking(50)).Settle(tokens(10))
	}
	if n := d.writes(); n > 40 {
		t.Errorf("100 calls of 50 tokens under a budget of 10000 wrote %d times", n)
	}
}

// Whatever happens in whatever order, what a crash would charge is never less
// than what was spent and is held, and not much more when nothing is on its
// way.
func TestTheDiskNeverForgets(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := newDisk()
		alone := func() *Ledgers { // without its worker: what it does is drawn, too
			l := open(t, d)
			l.stop()
			l.worker.Wait()
			return l
		}
		l := alone()
		var spent haltd.Spending // the truth
		calls := []*Reservation{}
		held := map[*Reservation]int64{}
		start := midnight(11)
		b := booking(0)
		b.Budgets.Day.HardTokens = rapid.Int64Range(1, 20_000).Draw(rt, "budget")
		pick := func() *Reservation { return calls[rapid.IntRange(0, len(calls)-1).Draw(rt, "call")] }
		drop := func(r *Reservation) {
			delete(held, r)
			for i := range calls {
				if calls[i] == r {
					calls = append(calls[:i], calls[i+1:]...)
					return
				}
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"reserve": func(rt *rapid.T) {
				b := b
				b.Amount = tokens(rapid.Int64Range(0, 5000).Draw(rt, "amount"))
				r, over, err := l.Reserve(context.Background(), b)
				if err != nil || len(over) > 0 {
					rt.Skip()
				}
				calls = append(calls, r)
				held[r] = b.Amount.Tokens
			},
			"settle": func(rt *rapid.T) {
				if len(calls) == 0 {
					rt.Skip()
				}
				r := pick()
				actual := tokens(rapid.Int64Range(0, 8000).Draw(rt, "actual"))
				r.Settle(actual)
				r.Flush()
				spent = spent.Add(actual)
				drop(r)
			},
			"release": func(rt *rapid.T) {
				if len(calls) == 0 {
					rt.Skip()
				}
				r := pick()
				r.Release()
				drop(r)
			},
			"extend": func(rt *rapid.T) {
				if len(calls) == 0 {
					rt.Skip()
				}
				r := pick()
				more := rapid.Int64Range(1, 3000).Draw(rt, "more")
				if r.Extend(tokens(more)) {
					held[r] += more
				}
				if err := r.account.flush(context.Background(), flushNeeded); err != nil { // as the worker does soon
					rt.Fatal(err)
				}
			},
			"flush": func(rt *rapid.T) {
				if err := l.flushAll(context.Background(), flushPeriodic); err != nil {
					rt.Fatal(err)
				}
			},
			"close": func(rt *rapid.T) {
				l.clock = func() time.Time { return noon.Add(evictAfter) }
				l.evictIdle()
				l.clock = func() time.Time { return noon }
				if len(calls) > 0 && len(l.accounts) == 0 {
					rt.Fatal("closed while a call is on its way")
				}
			},
			"give back": func(rt *rapid.T) {
				if err := l.flushAll(context.Background(), flushFinal); err != nil {
					rt.Fatal(err)
				}
				if got := d.charged(haltd.Daily, start); len(calls) == 0 && got.Tokens > spent.Tokens {
					rt.Fatalf("%d on disk when %d are spent and nothing is on its way", got.Tokens, spent.Tokens)
				}
			},
			"crash": func(rt *rapid.T) {
				spent = d.charged(haltd.Daily, start) // what was held is charged in full
				calls, held = nil, map[*Reservation]int64{}
				l = alone()
				if got := day(t, l, b).Spent; got != spent {
					rt.Fatalf("%+v is charged after the crash, the disk has %+v", got, spent)
				}
			},
			"": func(rt *rapid.T) {
				need := spent.Tokens
				for _, n := range held {
					need += n
				}
				if got := d.charged(haltd.Daily, start); got.Tokens < need {
					rt.Fatalf("a crash now would charge %d, but %d are spent or held", got.Tokens, need)
				}
			},
		})
	})
}

// Agents that nobody uses are written together; one that is being written is not
// waited for by the others.
func TestSilentAgentsAreWrittenTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // in which the time passes only while all wait
		d := newDisk()
		l := open(t, d)
		const agents = 3*flushTogether/2 + 1
		name := func(i int) string { return fmt.Sprint("agent-", i) }
		for i := range agents {
			b := booking(100)
			b.Agent = name(i)
			reserve(t, l, b).Settle(tokens(int64(i)))
		}
		held := func() (n int) {
			d.mu.Lock()
			defer d.mu.Unlock()
			for _, s := range d.rows {
				if (s.Held != haltd.Spending{}) {
					n++
				}
			}
			return n
		}
		busy := &l.accounts[name(0)].flushing
		if !busy.TryAcquire() {
			t.Fatal("an account is being written that nobody uses")
		}
		before := d.writes()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		if err := l.flushAll(ctx, flushFinal); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("flushed with %v; want it to have waited for the one that is being written", err)
		}
		if n := d.writes() - before; n != 2 || held() != 2 {
			t.Errorf("%d writes, %d shares still hold something; want 2 writes of all but the day and the month of one", n, held())
		}
		busy.Release()
		if err := l.flushAll(t.Context(), flushFinal); err != nil || held() != 0 {
			t.Errorf("%d shares hold something at the end, %v", held(), err)
		}
		again := open(t, d)
		for i := range agents {
			b := booking(0)
			b.Agent = name(i)
			if got := day(t, again, b); got.Spent.Tokens != int64(i) || got.Held.Tokens != 0 {
				t.Errorf("%s has spent %+v and holds %+v; want %d and nothing", b.Agent, got.Spent, got.Held, i)
			}
		}
	})
}
