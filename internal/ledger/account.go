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
	agent   string
	opening sync.Mutex // held while a span is loaded
	saving  sync.Mutex // held while the ledger is written; those who wait are served by one write

	mu    sync.Mutex
	spans [2]*span // of today and of this month
	past  []*span  // with calls that have not been settled
}

// span is one period of an account.
type span struct {
	period     haltd.Period
	start, end time.Time
	hard       bool // some hard budget applies: what is on disk matters
	slack      haltd.Spending

	spent    haltd.Spending
	reserved haltd.Spending // of calls on their way

	// onDisk is what a crash now would charge. It is never less than spent
	// and reserved together while a hard budget applies.
	onDisk  haltd.Spending
	written haltd.Ledger
}

func (s *span) total() haltd.Spending { return s.spent.Add(s.reserved) }

func covers(a, b haltd.Spending) bool { return a.Cost >= b.Cost && a.Tokens >= b.Tokens }

// Over is a budget that is spent.
type Over struct {
	Period haltd.Period
	Start  time.Time
	Resets time.Time
	Hard   bool
	Spent  haltd.Spending
	Budget haltd.Budget
}

// Check reports the hard budgets that are spent.
func (l *Ledgers) Check(ctx context.Context, agent string, b haltd.Budgets, zone *time.Location, now time.Time) ([]Over, error) {
	if !limited(b) {
		return nil, nil
	}
	a := l.account(agent)
	spans, err := l.current(ctx, a, zone, now)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return overs(spans, b, true), nil
}

func overs(spans []*span, b haltd.Budgets, hard bool) []Over {
	var out []Over
	for _, s := range spans {
		limit := budgetOf(b, s.period)
		used := s.spent
		cost, tokens := limit.SoftUSD, limit.SoftTokens
		if hard {
			used, cost, tokens = s.total(), limit.HardUSD, limit.HardTokens
		}
		if cost > 0 && used.Cost >= cost || tokens > 0 && used.Tokens >= tokens {
			out = append(out, Over{Period: s.period, Start: s.start, Resets: s.end, Hard: hard, Spent: used, Budget: limit})
		}
	}
	return out
}

// Reservation is what one call holds back until it is settled. A nil one is
// that of an agent without budgets, and does nothing.
type Reservation struct {
	ledgers *Ledgers
	account *account
	budgets haltd.Budgets
	spans   []*span
	amount  haltd.Spending
}

// Reserve holds an amount back for a call, on disk where a hard budget
// applies. A budget that has been spent meanwhile refuses: then over is not
// empty and nothing is held. An error means that the reservation could not be
// written, and nothing is held either.
func (l *Ledgers) Reserve(ctx context.Context, agent string, b haltd.Budgets, zone *time.Location, amount haltd.Spending, now time.Time) (_ *Reservation, over []Over, err error) {
	if !limited(b) {
		return nil, nil, nil
	}
	a := l.account(agent)
	spans, err := l.current(ctx, a, zone, now)
	if err != nil {
		return nil, nil, err
	}
	r := &Reservation{ledgers: l, account: a, budgets: b, spans: slices.Clone(spans), amount: amount}
	a.mu.Lock()
	if over := overs(spans, b, true); len(over) > 0 {
		a.mu.Unlock()
		return nil, over, nil
	}
	covered := true
	for _, s := range spans {
		limit := budgetOf(b, s.period)
		s.hard = limit.IsHard()
		s.slack = haltd.Spending{Cost: limit.HardUSD / 100, Tokens: limit.HardTokens / 100}
		s.reserved = s.reserved.Add(amount)
		covered = covered && (!s.hard || covers(s.onDisk, s.total()))
	}
	a.mu.Unlock()
	if !covered {
		if err := a.save(ctx, l.store, false); err != nil {
			r.release()
			return nil, nil, err
		}
	}
	return r, nil, nil
}

// Extend holds back more for a call that turns out longer than it said. It
// does not wait for the disk.
func (r *Reservation) Extend(more haltd.Spending) {
	if r == nil {
		return
	}
	r.account.mu.Lock()
	r.amount = r.amount.Add(more)
	for _, s := range r.spans {
		s.reserved = s.reserved.Add(more)
	}
	r.account.mu.Unlock()
	go func() {
		if err := r.account.save(context.Background(), r.ledgers.store, false); err != nil {
			r.ledgers.log.Warn("a longer reservation is not written yet", "agent", r.account.agent, "error", err)
		}
	}()
}

// Held is what the reservation holds.
func (r *Reservation) Held() haltd.Spending {
	if r == nil {
		return haltd.Spending{}
	}
	r.account.mu.Lock()
	defer r.account.mu.Unlock()
	return r.amount
}

// Settle charges what the call really cost and reports the budgets that it
// took across their line, soft and hard.
func (r *Reservation) Settle(actual haltd.Spending) (crossed []Over) {
	if r == nil {
		return nil
	}
	a := r.account
	a.mu.Lock()
	defer a.mu.Unlock()
	before := append(overs(r.spans, r.budgets, false), spentHard(r.spans, r.budgets)...)
	for _, s := range r.spans {
		s.reserved = s.reserved.Sub(r.amount)
		s.spent = s.spent.Add(actual)
	}
	r.amount = haltd.Spending{}
	for _, o := range append(overs(r.spans, r.budgets, false), spentHard(r.spans, r.budgets)...) {
		if !slices.ContainsFunc(before, func(b Over) bool { return b.Period == o.Period && b.Hard == o.Hard }) {
			crossed = append(crossed, o)
		}
	}
	return crossed
}

// spentHard are the hard budgets that what is settled has used up.
func spentHard(spans []*span, b haltd.Budgets) []Over {
	settled := make([]*span, len(spans))
	for i, s := range spans {
		c := *s
		c.reserved = haltd.Spending{}
		settled[i] = &c
	}
	return overs(settled, b, true)
}

func (r *Reservation) release() {
	r.account.mu.Lock()
	defer r.account.mu.Unlock()
	for _, s := range r.spans {
		s.reserved = s.reserved.Sub(r.amount)
	}
	r.amount = haltd.Spending{}
}

// Release gives back what a call that was not made holds.
func (r *Reservation) Release() {
	if r != nil {
		r.release()
	}
}

// save writes the spans whose hold on disk does not cover what is needed and,
// to tidy up, those that hold far more.
func (a *account) save(ctx context.Context, store haltd.LedgerStore, tidyUp bool) error {
	a.saving.Lock()
	defer a.saving.Unlock()
	ls, spans := a.stale(tidyUp)
	if len(ls) == 0 {
		return nil
	}
	// A client that leaves must not leave others without their hold.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := store.SaveLedgers(ctx, ls); err != nil {
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
func (a *account) stale(tidyUp bool) (ls []haltd.Ledger, spans []*span) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.past = slices.DeleteFunc(a.past, func(s *span) bool {
		return s.reserved == haltd.Spending{} && (!s.hard || s.written.Held == haltd.Spending{})
	})
	for _, s := range append(slices.Clone(a.past), a.spans[:]...) {
		if s == nil || !s.hard {
			continue
		}
		short := !covers(s.onDisk, s.total())
		idle := s.reserved == haltd.Spending{}
		if !short && !(tidyUp && idle && s.written.Held != haltd.Spending{}) {
			continue
		}
		l := haltd.Ledger{Agent: a.agent, Period: s.period, Start: s.start, Spent: s.spent, Held: s.reserved}
		if short {
			l.Held = l.Held.Add(s.slack)
		}
		after := l.Spent.Add(l.Held)
		s.onDisk = haltd.Spending{Cost: min(s.onDisk.Cost, after.Cost), Tokens: min(s.onDisk.Tokens, after.Tokens)}
		ls, spans = append(ls, l), append(spans, s)
	}
	return ls, spans
}
