package ledger

import (
	"context"
	"slices"
	"time"

	"github.com/haltd/haltd"
)

// Booking is an amount that an agent is about to spend, or has spent, and the
// budgets that it falls under.
type Booking struct {
	Agent   string
	Budgets haltd.Budgets
	Zone    *time.Location
	Amount  haltd.Spending
	Now     time.Time
	Force   bool // reserves also when the budget is spent
}

// Reservation is the amount set aside for one call until it is settled or
// released. It ends once: what comes after that does nothing. A nil
// Reservation is that of an agent without budgets, and does nothing either.
type Reservation struct {
	account *account
	budgets haltd.Budgets
	spans   []*span
	amount  haltd.Spending
	ended   bool // settled or released; the account's mu guards it
}

// Reserve holds back the most a call can cost, durably where a hard budget
// applies. A budget that is spent by now refuses: then over lists it and
// nothing is reserved. After an error, which means that the reservation could
// not be written, nothing is reserved either.
func (l *Ledgers) Reserve(ctx context.Context, b Booking) (_ *Reservation, over []Over, err error) {
	if !hasBudget(b.Budgets) {
		return nil, nil, nil
	}
	a := l.acquire(b.Agent)
	spans, err := l.spansOf(ctx, a, b.Zone, b.Now)
	if err != nil {
		a.release()
		return nil, nil, err
	}
	r := &Reservation{account: a, budgets: b.Budgets, spans: spans, amount: b.Amount}
	a.mu.Lock()
	if over := exhausted(spans, b.Budgets); len(over) > 0 && !b.Force {
		a.mu.Unlock()
		a.release()
		return nil, over, nil
	}
	for _, s := range spans {
		s.budget = budgetOf(b.Budgets, s.period)
		s.reserved, s.used = s.reserved.Add(b.Amount), b.Now
	}
	short, low := slices.ContainsFunc(spans, (*span).exceedsDurable), slices.ContainsFunc(spans, (*span).isLeaseLow)
	a.mu.Unlock()
	switch {
	case short:
		if err := a.flush(ctx, flushNeeded); err != nil {
			r.Release()
			return nil, nil, err
		}
	case low:
		l.flushSoon()
	}
	return r, nil, nil
}

// Extend reserves more for a call whose reply outgrows its reservation. It
// does not wait for the disk.
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
	short := slices.ContainsFunc(r.spans, (*span).exceedsDurable)
	a.mu.Unlock()
	if short {
		a.ledgers.flushSoon()
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

// Settle charges what the call really cost and lists the budgets, soft and
// hard, that are spent and were not reported before. What a call cost beyond
// its reservation is durable when Settle returns, unless the store fails.
func (r *Reservation) Settle(actual haltd.Spending) (overs []Over) {
	if r == nil {
		return nil
	}
	a := r.account
	overs, short, ended := r.settle(actual)
	if !ended {
		return nil
	}
	defer a.release()
	if short {
		if err := a.flush(context.Background(), flushNeeded); err != nil {
			a.ledgers.log.Warn("a call that cost more than its reservation is not written yet", "agent", a.agent, "error", err)
		}
	}
	return overs
}

// settle books the amount; ended is false when the reservation had ended
// before.
func (r *Reservation) settle(actual haltd.Spending) (overs []Over, short, ended bool) {
	r.account.mu.Lock()
	defer r.account.mu.Unlock()
	if !r.end() {
		return nil, false, false
	}
	for _, s := range r.spans {
		s.spent = s.spent.Add(actual)
	}
	return newlyOver(r.spans, r.budgets), slices.ContainsFunc(r.spans, (*span).exceedsDurable), true
}

// Release gives back the reservation of a call that was not made.
func (r *Reservation) Release() {
	if r == nil {
		return
	}
	r.account.mu.Lock()
	ended := r.end()
	r.account.mu.Unlock()
	if ended {
		r.account.release()
	}
}

// end takes the reservation out of its spans, once. The caller has locked the
// account.
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

// Charge books what a call has cost that was made without a reservation, and
// lists the budgets that are spent and were not reported before.
func (l *Ledgers) Charge(ctx context.Context, b Booking) ([]Over, error) {
	if !hasBudget(b.Budgets) {
		return nil, nil
	}
	a := l.acquire(b.Agent)
	defer a.release()
	spans, err := l.spansOf(ctx, a, b.Zone, b.Now)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	for _, s := range spans {
		s.budget = budgetOf(b.Budgets, s.period)
	}
	a.mu.Unlock()
	r := &Reservation{account: a, budgets: b.Budgets, spans: spans}
	overs, _, _ := r.settle(b.Amount)
	return overs, a.flush(ctx, flushNeeded)
}
