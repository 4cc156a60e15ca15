package ledger

import "context"

// Charge books what a call has cost that was made without asking, and reports
// the budgets that are spent and were not told of.
func (l *Ledgers) Charge(ctx context.Context, b Booking) ([]Over, error) {
	if !limited(b.Budgets) {
		return nil, nil
	}
	a := l.use(b.Agent)
	defer a.letGo()
	spans, err := l.current(ctx, a, b.Zone, b.Now)
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
	return overs, a.save(ctx, cover)
}
