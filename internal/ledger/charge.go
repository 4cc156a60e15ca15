package ledger

import (
	"context"
	"slices"
	"time"

	"github.com/haltd/haltd"
)

// Charge books what a call has cost that was made without asking, and reports
// the budgets that it took across their line.
func (l *Ledgers) Charge(ctx context.Context, agent string, b haltd.Budgets, zone *time.Location, amount haltd.Spending, now time.Time) ([]Over, error) {
	if !limited(b) {
		return nil, nil
	}
	a := l.account(agent)
	spans, err := l.current(ctx, a, zone, now)
	if err != nil {
		return nil, err
	}
	r := &Reservation{ledgers: l, account: a, budgets: b, spans: slices.Clone(spans)}
	a.mu.Lock()
	for _, s := range spans {
		s.hard = budgetOf(b, s.period).IsHard()
	}
	a.mu.Unlock()
	crossed := r.Settle(amount)
	return crossed, a.save(ctx, l.store, false)
}
