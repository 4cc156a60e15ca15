package ledger

import (
	"context"
	"sync"
	"time"

	"github.com/haltd/haltd"
)

// account is what one agent spends.
type account struct {
	ledgers *Ledgers
	agent   string
	users   int       // calls in flight and readers; the mu of ledgers guards it
	used    time.Time // when one of them last released it; likewise
	loading turn      // held while a span is loaded
	// flushing is held while the ledger is written: one write serves all who
	// wait for it.
	flushing turn

	mu    sync.Mutex
	spans [2]*span // of today and of this month
	past  []*span  // older ones that are not over, or have calls to settle
}

// turn is for one at a time. Unlike a mutex it is waited for only as long as a
// context lasts, because the store may take its time.
type turn chan struct{}

func newTurn() turn { return make(turn, 1) }

// acquire waits for the turn, for storeTimeout at most.
func (t turn) acquire(ctx context.Context) error {
	select {
	case t <- struct{}{}:
		return nil
	default:
	}
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t turn) release() { <-t }

// span is one period of an account.
type span struct {
	period     haltd.Period
	start, end time.Time
	budget     haltd.Budget // in force; a hard one makes the span durable

	spent    haltd.Spending
	reserved haltd.Spending // for calls in flight
	reported struct{ soft, hard bool }
	used     time.Time // when something was last reserved

	// durable is what a crash now would charge, the lease included. Under a
	// hard budget it is never less than spent and reserved together.
	durable haltd.Spending
	written haltd.Ledger
}

func (s *span) total() haltd.Spending { return s.spent.Add(s.reserved) }

// exceedsDurable reports whether a crash now would lose spending.
func (s *span) exceedsDurable() bool {
	t := s.total()
	return s.budget.HardUSD > 0 && s.durable.Cost < t.Cost || s.budget.HardTokens > 0 && s.durable.Tokens < t.Tokens
}

// lease is what is written ahead for calls to come: one percent of the budget.
// A call that fits into it need not wait for the disk.
func (s *span) lease() haltd.Spending {
	return haltd.Spending{Cost: s.budget.HardUSD / 100, Tokens: s.budget.HardTokens / 100}
}

// isLeaseLow reports that less than a quarter of the lease is left. It is
// renewed then, before a call has to wait for it.
func (s *span) isLeaseLow() bool {
	free, lease := s.durable.Sub(s.total()), s.lease()
	return s.budget.HardUSD > 0 && free.Cost < lease.Cost/4 || s.budget.HardTokens > 0 && free.Tokens < lease.Tokens/4
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

// over compares what is used with the soft or the hard limit of a budget.
func (s *span) over(b haltd.Budgets, used haltd.Spending, hard bool) (Over, bool) {
	limit := budgetOf(b, s.period)
	cost, tokens := limit.SoftUSD, limit.SoftTokens
	if hard {
		cost, tokens = limit.HardUSD, limit.HardTokens
	}
	o := Over{Period: s.period, Start: s.start, Resets: s.end, Hard: hard, Spent: used, Budget: limit}
	return o, cost > 0 && used.Cost >= cost || tokens > 0 && used.Tokens >= tokens
}

// exhausted lists the hard budgets that are spent or reserved to the last.
func exhausted(spans []*span, b haltd.Budgets) (overs []Over) {
	for _, s := range spans {
		if o, is := s.over(b, s.total(), true); is {
			overs = append(overs, o)
		}
	}
	return overs
}

// newlyOver lists the budgets, soft and hard, that are spent and were not
// reported before.
func newlyOver(spans []*span, b haltd.Budgets) (overs []Over) {
	for _, s := range spans {
		for _, line := range []struct {
			hard     bool
			reported *bool
		}{{false, &s.reported.soft}, {true, &s.reported.hard}} {
			o, is := s.over(b, s.spent, line.hard)
			if is && !*line.reported {
				overs = append(overs, o)
			}
			*line.reported = is
		}
	}
	return overs
}

// Check lists the hard budgets that are spent.
func (l *Ledgers) Check(ctx context.Context, agent string, b haltd.Budgets, zone *time.Location, now time.Time) ([]Over, error) {
	if !hasBudget(b) {
		return nil, nil
	}
	a := l.acquire(agent)
	defer a.release()
	spans, err := l.spansOf(ctx, a, zone, now)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return exhausted(spans, b), nil
}
