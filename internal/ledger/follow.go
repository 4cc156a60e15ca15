package ledger

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/haltd/haltd"
)

const (
	// followEvery is how often the record is looked at, and followFor for how
	// long after the last call of an agent: others may have written later.
	followEvery = time.Second
	followFor   = 5 * time.Second
)

// Follow looks each second at what all nodes have recorded of the agents that
// call here and have a soft budget, until ctx ends, and reports the budgets
// that are spent with what other nodes spent. Nothing waits for it: agents are
// looked at one after the other.
func (l *Ledgers) Follow(ctx context.Context, report func(agent string, over Over)) {
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for _, a := range l.calling() {
			overs, err := a.look(ctx)
			if err != nil {
				break // the store does not answer: there is a next time
			}
			for _, o := range overs {
				report(a.agent, o)
			}
		}
	}
}

// calling lists the accounts that are used. Looking at one is no use of it: it
// may be evicted meanwhile.
func (l *Ledgers) calling() (list []*account) {
	now := l.clock()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range l.accounts {
		if a.users > 0 || now.Sub(a.used) < followFor {
			list = append(list, a)
		}
	}
	return list
}

// look reads what the record says, and lists the budgets that are spent by that
// and were not reported before.
func (a *account) look(ctx context.Context) ([]Over, error) {
	a.mu.Lock()
	periods := slices.DeleteFunc(slices.Clone(a.periods[:]), func(s *period) bool {
		return s == nil || s.budget.SoftUSD <= 0 && s.budget.SoftTokens <= 0
	})
	a.mu.Unlock()
	if len(periods) == 0 {
		return nil, nil
	}
	if err := a.read(ctx, periods); err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	var b haltd.Budgets
	for _, s := range periods {
		if s.kind == haltd.Daily {
			b.Day = s.budget
		} else {
			b.Month = s.budget
		}
	}
	return newlyOver(periods, b), nil
}

// read takes over what the record says of periods.
func (a *account) read(ctx context.Context, periods []*period) error {
	for _, s := range periods {
		recorded, err := a.ledgers.store.Spent(ctx, a.agent, s.start)
		if err != nil {
			return fmt.Errorf("read what %s spent: %w", a.agent, err)
		}
		a.mu.Lock()
		s.recorded = recorded
		a.mu.Unlock()
	}
	return nil
}
