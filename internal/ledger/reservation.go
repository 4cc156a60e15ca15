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
	// Alone says that the call may be made though it does not fit, one such
	// call at a time for a budget: a stream, or a call that names no maximum.
	Alone bool
	// Cuttable says that the call can be cut when the money is gone. Alone it
	// reserves no more than is left.
	Cuttable bool
	Force    bool // reserves also when the budget is spent
}

// Reservation is the amount set aside for one call until it is settled or
// released. It ends once: what comes after that does nothing. A nil
// Reservation is that of an agent without budgets, and does nothing either.
type Reservation struct {
	account *account
	budgets haltd.Budgets
	periods []*period
	amount  haltd.Spending
	forced  bool
	ended   bool // settled or released; the account's mu guards it
}

// Reserve holds back the most a call can cost, durably where a hard budget
// applies. A budget that is spent, or has too little left, refuses: then over
// lists it and nothing is reserved. After an error, which means that the
// reservation could not be written, nothing is reserved either.
func (l *Ledgers) Reserve(ctx context.Context, b Booking) (_ *Reservation, over []Over, err error) {
	if !hasBudget(b.Budgets) {
		return nil, nil, nil
	}
	a := l.acquire(b.Agent)
	var periods []*period
	for range mostAsks {
		if periods, err = l.periodsOf(ctx, a, b.Zone, b.Now); err != nil {
			a.release()
			return nil, nil, err
		}
		var granted bool
		r := &Reservation{account: a, budgets: b.Budgets, periods: periods, forced: b.Force}
		if over, granted, err = r.reserve(ctx, &b); granted {
			return r, nil, nil
		}
		// What other nodes hold may have been released meanwhile.
		if err != nil || len(over) > 0 && !a.refresh(ctx, periods) {
			break
		}
	}
	if err == nil && len(over) == 0 { // other nodes were faster each time
		a.mu.Lock()
		o, _ := periods[0].over(b.Budgets, periods[0].spent, true)
		o.Left, o.Asked, o.Busy = left(o.Budget, periods[0].total()), b.Amount, true
		a.mu.Unlock()
		over = []Over{o}
	}
	a.release()
	return nil, over, err
}

// mostAsks is how often a call asks for its reservation, where what this node
// knows of the others turns out to be old.
const mostAsks = 3

// reserve takes the amount into the periods and has it written where it has to
// be. It is not granted where a budget refuses, or where the store does: then
// the periods know what other nodes have.
func (r *Reservation) reserve(ctx context.Context, b *Booking) (over []Over, granted bool, err error) {
	a := r.account
	a.mu.Lock()
	if over := refusals(r.periods, b); len(over) > 0 && !b.Force {
		a.mu.Unlock()
		return over, false, nil
	}
	r.hold(b)
	short, low := slices.ContainsFunc(r.periods, (*period).exceedsDurable), slices.ContainsFunc(r.periods, (*period).isAllotmentLow)
	mode, asked := flushAsked, r.amount
	if b.Force {
		mode, asked = flushNeeded, haltd.Spending{}
	}
	if short {
		for _, s := range r.periods {
			s.ask(r, asked)
		}
	}
	a.mu.Unlock()
	if !short {
		if low {
			a.flushSoon()
		}
		return nil, true, nil
	}
	granted, err = a.ask(ctx, mode)
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, s := range r.periods {
		delete(s.asking, r)
	}
	if slices.ContainsFunc(r.periods, a.isStale) {
		granted = false // nothing was written for them
	}
	if !granted {
		r.end()
	}
	return nil, granted, err
}

// ask adds to what is asked of the store. The caller has locked the account.
func (s *period) ask(r *Reservation, amount haltd.Spending) {
	if s.asking == nil {
		s.asking = map[*Reservation]haltd.Spending{}
	}
	s.asking[r] = amount
}

// refresh asks the store what other nodes hold now. It reports whether that may
// change something: not where they held nothing, nor where nobody answers.
func (a *account) refresh(ctx context.Context, periods []*period) bool {
	a.mu.Lock()
	held := slices.ContainsFunc(periods, func(s *period) bool { return s.elsewhere != haltd.Spending{} })
	a.mu.Unlock()
	if !held {
		return false
	}
	return a.sync(ctx, periods) == nil
}

// sync takes over what the store knows of the shares of other nodes.
func (a *account) sync(ctx context.Context, periods []*period) error {
	for _, s := range periods {
		all, mine, err := a.ledgers.store.OpenLedger(ctx, s.node, haltd.Ledger{Agent: a.agent, Period: s.kind, Start: s.start})
		if err != nil {
			return err
		}
		a.mu.Lock()
		s.sync(all, mine)
		a.mu.Unlock()
	}
	return nil
}

// hold takes the amount into the periods. A call that does not fit is alone from
// now on; one that can be cut holds what is left. The caller has locked the
// account.
func (r *Reservation) hold(b *Booking) {
	r.amount = b.Amount
	for _, s := range r.periods {
		s.budget, s.used = budgetOf(b.Budgets, s.kind), b.Now
		if fits(s.budget, s.total(), b.Amount) || b.Force {
			continue
		}
		s.alone = r
		if free := left(s.budget, s.total()); b.Cuttable {
			if s.budget.HardUSD > 0 {
				r.amount.Cost = min(r.amount.Cost, free.Cost)
			}
			if s.budget.HardTokens > 0 {
				r.amount.Tokens = min(r.amount.Tokens, free.Tokens)
			}
		}
	}
	for _, s := range r.periods {
		s.reserved = s.reserved.Add(r.amount)
	}
}

// Extend reserves more for a call whose reply outgrows its reservation. It
// does not wait for the disk. ok is false, and nothing more is reserved, where
// a hard budget has too little left.
func (r *Reservation) Extend(more haltd.Spending) (ok bool) {
	if r == nil {
		return true
	}
	a := r.account
	a.mu.Lock()
	if r.ended {
		a.mu.Unlock()
		return true
	}
	for _, s := range r.periods {
		if !r.forced && !fits(budgetOf(r.budgets, s.kind), s.total(), more) {
			a.mu.Unlock()
			return false
		}
	}
	r.amount = r.amount.Add(more)
	for _, s := range r.periods {
		s.reserved = s.reserved.Add(more)
	}
	short := slices.ContainsFunc(r.periods, (*period).exceedsDurable)
	a.mu.Unlock()
	if short {
		a.flushSoon()
	}
	return true
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
// hard, that are spent and were not reported before. It does not wait for the
// disk: what a call cost beyond its reservation is for Flush to write.
func (r *Reservation) Settle(actual haltd.Spending) (overs []Over) {
	if r == nil {
		return nil
	}
	overs, ended := r.settle(actual)
	if ended {
		r.account.release()
	}
	return overs
}

// Flush writes what Settle charged beyond what was on disk. It is durable when
// Flush returns, unless the store fails: then the worker tries again.
func (r *Reservation) Flush() {
	if r == nil {
		return
	}
	a := r.account
	a.mu.Lock()
	short := slices.ContainsFunc(r.periods, (*period).exceedsDurable)
	a.mu.Unlock()
	if !short {
		return
	}
	if err := a.flush(context.Background(), flushNeeded); err != nil {
		a.ledgers.log.Warn("a call that cost more than its reservation is not written yet", "agent", a.agent, "error", err)
	}
}

// settle books the amount; ended is false when the reservation had ended
// before.
func (r *Reservation) settle(actual haltd.Spending) (overs []Over, ended bool) {
	r.account.mu.Lock()
	defer r.account.mu.Unlock()
	if !r.end() {
		return nil, false
	}
	for _, s := range r.periods {
		s.charge(actual)
	}
	return newlyOver(r.periods, r.budgets), true
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

// end takes the reservation out of its periods, once. The caller has locked the
// account.
func (r *Reservation) end() bool {
	if r.ended {
		return false
	}
	r.ended = true
	for _, s := range r.periods {
		s.reserved = s.reserved.Sub(r.amount)
		if s.alone == r {
			s.alone = nil
		}
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
	for {
		periods, err := l.periodsOf(ctx, a, b.Zone, b.Now)
		if err != nil {
			return nil, err
		}
		if overs, charged := a.charge(periods, &b); charged {
			return overs, a.flush(ctx, flushNeeded)
		}
	}
}

// charge books an amount, unless the periods have become those of a node that is
// gone.
func (a *account) charge(periods []*period, b *Booking) (overs []Over, charged bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if slices.ContainsFunc(periods, a.isStale) {
		return nil, false
	}
	for _, s := range periods {
		s.budget = budgetOf(b.Budgets, s.kind)
		s.charge(b.Amount)
	}
	return newlyOver(periods, b.Budgets), true
}
