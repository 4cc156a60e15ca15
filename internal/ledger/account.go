package ledger

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/haltd/haltd"
)

// account is what one agent spends.
type account struct {
	ledgers *Ledgers
	agent   string
	users   int        // calls on their way and questions; the ledgers' mu guards it
	used    time.Time  // when one of them last let go; likewise
	opening sync.Mutex // held while a span is loaded
	saving  sync.Mutex // held while the ledger is written; those who wait are served by one write

	mu    sync.Mutex
	spans [2]*span // of today and of this month
	past  []*span  // that are not over, or have calls that are not settled
}

// span is one period of an account.
type span struct {
	period     haltd.Period
	start, end time.Time
	budget     haltd.Budget // that applies; where it is hard, what is on disk matters

	spent    haltd.Spending
	reserved haltd.Spending // of calls on their way
	told     struct{ soft, hard bool }
	used     time.Time // when something was last reserved

	// onDisk is what a crash now would charge. Where the budget is hard, it
	// is never less than spent and reserved together.
	onDisk  haltd.Spending
	written haltd.Ledger
}

func (s *span) total() haltd.Spending { return s.spent.Add(s.reserved) }

// isShort reports whether a crash now would forget something.
func (s *span) isShort() bool {
	t := s.total()
	return s.budget.HardUSD > 0 && s.onDisk.Cost < t.Cost || s.budget.HardTokens > 0 && s.onDisk.Tokens < t.Tokens
}

// slack is what is held for calls to come, so that few have to wait.
func (s *span) slack() haltd.Spending {
	return haltd.Spending{Cost: s.budget.HardUSD / 100, Tokens: s.budget.HardTokens / 100}
}

// isLow reports that most of the slack is used: time to hold more, before a
// call has to wait for it.
func (s *span) isLow() bool {
	free, slack := s.onDisk.Sub(s.total()), s.slack()
	return s.budget.HardUSD > 0 && free.Cost < slack.Cost/4 || s.budget.HardTokens > 0 && free.Tokens < slack.Tokens/4
}

// Over is a budget that is spent.
type Over struct {
	Period haltd.Period
	Start  time.Time
	Resets time.Time
	Hard   bool
	Spent  haltd.Spending
	Budget haltd.Budget
}

// over compares what is used with the soft or the hard line of a budget.
func (s *span) over(b haltd.Budgets, used haltd.Spending, hard bool) (Over, bool) {
	limit := budgetOf(b, s.period)
	cost, tokens := limit.SoftUSD, limit.SoftTokens
	if hard {
		cost, tokens = limit.HardUSD, limit.HardTokens
	}
	o := Over{Period: s.period, Start: s.start, Resets: s.end, Hard: hard, Spent: used, Budget: limit}
	return o, cost > 0 && used.Cost >= cost || tokens > 0 && used.Tokens >= tokens
}

// full are the hard budgets that are spent or held back to the last.
func full(spans []*span, b haltd.Budgets) (overs []Over) {
	for _, s := range spans {
		if o, is := s.over(b, s.total(), true); is {
			overs = append(overs, o)
		}
	}
	return overs
}

// news are the budgets, soft and hard, that are spent and were not told of.
func news(spans []*span, b haltd.Budgets) (overs []Over) {
	for _, s := range spans {
		for _, line := range []struct {
			hard bool
			told *bool
		}{{false, &s.told.soft}, {true, &s.told.hard}} {
			o, is := s.over(b, s.spent, line.hard)
			if is && !*line.told {
				overs = append(overs, o)
			}
			*line.told = is
		}
	}
	return overs
}

// Check reports the hard budgets that are spent.
func (l *Ledgers) Check(ctx context.Context, agent string, b haltd.Budgets, zone *time.Location, now time.Time) ([]Over, error) {
	if !limited(b) {
		return nil, nil
	}
	a := l.use(agent)
	defer a.letGo()
	spans, err := l.current(ctx, a, zone, now)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return full(spans, b), nil
}

// Booking is what an agent is about to spend, or has spent, under which
// budgets.
type Booking struct {
	Agent   string
	Budgets haltd.Budgets
	Zone    *time.Location
	Amount  haltd.Spending
	Now     time.Time
	Force   bool // also when the budget is spent
}

// Reservation is what one call holds back until it is settled or released;
// what comes after that does nothing. A nil one is that of an agent without
// budgets, and does nothing either.
type Reservation struct {
	account *account
	budgets haltd.Budgets
	spans   []*span
	amount  haltd.Spending
	ended   bool // settled or released; the account's mu guards it
}

// Reserve holds an amount back for a call, on disk where a hard budget
// applies. A budget that has been spent meanwhile refuses: then over is not
// empty and nothing is held. An error means that the reservation could not be
// written, and nothing is held either.
func (l *Ledgers) Reserve(ctx context.Context, b Booking) (_ *Reservation, over []Over, err error) {
	if !limited(b.Budgets) {
		return nil, nil, nil
	}
	a := l.use(b.Agent)
	spans, err := l.current(ctx, a, b.Zone, b.Now)
	if err != nil {
		a.letGo()
		return nil, nil, err
	}
	r := &Reservation{account: a, budgets: b.Budgets, spans: spans, amount: b.Amount}
	a.mu.Lock()
	if over := full(spans, b.Budgets); len(over) > 0 && !b.Force {
		a.mu.Unlock()
		a.letGo()
		return nil, over, nil
	}
	for _, s := range spans {
		s.budget = budgetOf(b.Budgets, s.period)
		s.reserved, s.used = s.reserved.Add(b.Amount), b.Now
	}
	short, low := slices.ContainsFunc(spans, (*span).isShort), slices.ContainsFunc(spans, (*span).isLow)
	a.mu.Unlock()
	switch {
	case short:
		if err := a.save(ctx, cover); err != nil {
			r.Release()
			return nil, nil, err
		}
	case low:
		l.saveSoon()
	}
	return r, nil, nil
}

// Extend reserves more for a call that turns out longer than it said. It does
// not wait for the disk.
func (r *Reservation) Extend(more haltd.Spending) {
	if r == nil {
		return
	}
	a := r.account
	a.mu.Lock()
	if r.ended {
		a.mu.Unlock()
		return
	}
	r.amount = r.amount.Add(more)
	for _, s := range r.spans {
		s.reserved = s.reserved.Add(more)
	}
	short := slices.ContainsFunc(r.spans, (*span).isShort)
	a.mu.Unlock()
	if short {
		a.ledgers.saveSoon()
	}
}

// Amount is what is reserved.
func (r *Reservation) Amount() haltd.Spending {
	if r == nil {
		return haltd.Spending{}
	}
	r.account.mu.Lock()
	defer r.account.mu.Unlock()
	return r.amount
}

// Settle charges what the call really cost and reports the budgets that are
// spent and were not told of, soft and hard. What a call cost beyond what it
// held is on disk when Settle returns.
func (r *Reservation) Settle(actual haltd.Spending) (overs []Over) {
	if r == nil {
		return nil
	}
	a := r.account
	overs, short, ended := r.settle(actual)
	if !ended {
		return nil
	}
	defer a.letGo()
	if short {
		if err := a.save(context.Background(), cover); err != nil {
			a.ledgers.log.Warn("a call that cost more than it held is not written yet", "agent", a.agent, "error", err)
		}
	}
	return overs
}

// settle reports whether it was this call that ended the reservation.
func (r *Reservation) settle(actual haltd.Spending) (overs []Over, short, ended bool) {
	r.account.mu.Lock()
	defer r.account.mu.Unlock()
	if !r.end() {
		return nil, false, false
	}
	for _, s := range r.spans {
		s.spent = s.spent.Add(actual)
	}
	return news(r.spans, r.budgets), slices.ContainsFunc(r.spans, (*span).isShort), true
}

// Release gives back what a call that was not made holds.
func (r *Reservation) Release() {
	if r == nil {
		return
	}
	r.account.mu.Lock()
	ended := r.end()
	r.account.mu.Unlock()
	if ended {
		r.account.letGo()
	}
}

// end takes back what is reserved, once. The caller holds the account's mu.
func (r *Reservation) end() bool {
	if r.ended {
		return false
	}
	r.ended = true
	for _, s := range r.spans {
		s.reserved = s.reserved.Sub(r.amount)
	}
	r.amount = haltd.Spending{}
	return true
}

// purpose is why ledgers are written.
type purpose uint8

const (
	cover    purpose = iota // what is needed now and not on disk
	tend                    // that, what will be needed soon, and what nobody has needed for a while
	giveBack                // that, and all that nobody needs
)

// idle is how long what is held for calls to come is kept when none comes.
const idle = 30 * time.Second

// save writes the spans whose hold on disk is not what it should be.
func (a *account) save(ctx context.Context, why purpose) error {
	a.saving.Lock()
	defer a.saving.Unlock()
	ls, spans := a.stale(why)
	if len(ls) == 0 {
		return nil
	}
	// A client that leaves must not leave others without their hold.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	if err := a.ledgers.store.SaveLedgers(ctx, ls); err != nil {
		return fmt.Errorf("write the budget of %s: %w", a.agent, err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, s := range spans {
		s.onDisk, s.written = ls[i].Spent.Add(ls[i].Held), ls[i]
	}
	return nil
}

// stale are the ledgers to write. What they will no longer hold does not
// count from now on: a call must not rely on it while it is being given back.
func (a *account) stale(why purpose) (ls []haltd.Ledger, spans []*span) {
	now := a.ledgers.clock()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.past = slices.DeleteFunc(a.past, func(s *span) bool { return !s.end.After(now) && s.isDone() })
	for _, s := range append(slices.Clone(a.past), a.spans[:]...) {
		if s == nil || !s.budget.IsHard() {
			continue
		}
		busy := now.Sub(s.used) < idle
		more := s.isShort() || why == tend && busy && s.isLow()
		less := s.reserved == haltd.Spending{} && s.written.Held != haltd.Spending{} && (why == giveBack || why == tend && !busy)
		if !more && !less {
			continue
		}
		l := haltd.Ledger{Agent: a.agent, Period: s.period, Start: s.start, Spent: s.spent, Held: s.reserved}
		if more {
			l.Held = l.Held.Add(s.slack())
		}
		after := l.Spent.Add(l.Held)
		s.onDisk = haltd.Spending{Cost: min(s.onDisk.Cost, after.Cost), Tokens: min(s.onDisk.Tokens, after.Tokens)}
		ls, spans = append(ls, l), append(spans, s)
	}
	return ls, spans
}

// isDone reports that the disk knows all spans.
func (a *account) isDone() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return !slices.ContainsFunc(append(slices.Clone(a.past), a.spans[:]...), func(s *span) bool { return s != nil && !s.isDone() })
}

// isDone reports that nobody will settle anything here and that the disk says
// what there is to say.
func (s *span) isDone() bool {
	return s.reserved == haltd.Spending{} && (!s.budget.IsHard() || s.written.Held == haltd.Spending{} && !s.isShort())
}
