package ledger

import (
	"context"
	"sync"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/lock"
)

// account is what one agent spends.
type account struct {
	ledgers *Ledgers
	agent   string
	users   int       // calls in flight and readers; the mu of ledgers guards it
	used    time.Time // when one of them last released it; likewise
	loading lock.Lock // held while a period is loaded
	// flushing is held while the ledger is written: one write serves all who
	// wait for it.
	flushing lock.Lock

	mu      sync.Mutex
	periods [2]*period // of today and of this month
	past    []*period  // older ones that are not over, or have calls to settle
}

// acquire waits for a lock of the account, for storeTimeout at most: the store
// may take its time.
func acquire(ctx context.Context, l *lock.Lock) error {
	if l.TryAcquire() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	return l.Acquire(ctx)
}

// period is one day or month of an account.
type period struct {
	node       string       // of whose share it is
	kind       haltd.Period // day or month
	start, end time.Time
	budget     haltd.Budget // in force; a hard one makes the period durable

	spent    haltd.Spending // by all nodes, as far as this one knows
	reserved haltd.Spending // for calls in flight
	// mine is what this node has spent, and elsewhere what others hold: what
	// the store knows of them was told with the last write.
	mine, elsewhere haltd.Spending
	// recorded is what the record says of all nodes: what others spend it
	// knows sooner than their shares say.
	recorded haltd.Spending
	// asking are the parts of reserved that the store has not granted yet.
	asking   map[*Reservation]haltd.Spending
	reported struct{ soft, hard bool }
	alone    *Reservation // of the call that did not fit and is in flight by itself
	used     time.Time    // when something was last reserved
	reduced  time.Time    // when what calls had not used was last given up

	// durable is what a crash of this node now would charge, the allotment
	// included. Under a hard budget it is never less than what the node has
	// spent and reserved together.
	durable haltd.Spending
	written haltd.Share
}

// asked is what the store has not granted yet.
func (s *period) asked() (sum haltd.Spending) {
	for _, amount := range s.asking {
		sum = sum.Add(amount)
	}
	return sum
}

// isStale reports that the lease of the node whose share a period is has ended:
// what it held was charged, and nothing more is written for it.
func (a *account) isStale(s *period) bool { return s.node != *a.ledgers.node.Load() }

// total is what all nodes have spent and hold, and own what this one has.
func (s *period) total() haltd.Spending { return s.spent.Add(s.reserved).Add(s.elsewhere) }
func (s *period) own() haltd.Spending   { return s.mine.Add(s.reserved) }

// known is what all nodes have spent, by the ledger or the record, whichever
// knows more.
func (s *period) known() haltd.Spending {
	return haltd.Spending{Cost: max(s.spent.Cost, s.recorded.Cost), Tokens: max(s.spent.Tokens, s.recorded.Tokens)}
}

// charge books what this node has spent.
func (s *period) charge(amount haltd.Spending) {
	s.spent, s.mine = s.spent.Add(amount), s.mine.Add(amount)
}

// sync takes over what the store knows of all nodes, when it had this share
// of this one.
func (s *period) sync(l haltd.Ledger, share haltd.Share) {
	s.spent = l.Spent.Sub(share.Spent).Add(s.mine)
	s.elsewhere = l.Held.Sub(share.Held)
}

// exceedsDurable reports whether a crash now would lose spending.
func (s *period) exceedsDurable() bool {
	t := s.own()
	return s.budget.HardUSD > 0 && s.durable.Cost < t.Cost || s.budget.HardTokens > 0 && s.durable.Tokens < t.Tokens
}

// allotment is what is written ahead for calls to come: one percent of the budget,
// or a quarter of what is left, because no other node can have it meanwhile. A
// call that fits into it need not wait for the disk.
func (s *period) allotment() haltd.Spending {
	free := left(s.budget, s.total())
	return haltd.Spending{Cost: min(s.budget.HardUSD/100, free.Cost/4), Tokens: min(s.budget.HardTokens/100, free.Tokens/4)}
}

// isAllotmentLow reports that less than a quarter of the allotment is left. It is
// renewed then, before a call has to wait for it.
func (s *period) isAllotmentLow() bool {
	free, allotment := s.durable.Sub(s.own()), s.allotment()
	return s.budget.HardUSD > 0 && free.Cost < allotment.Cost/4 || s.budget.HardTokens > 0 && free.Tokens < allotment.Tokens/4
}

// isAllotmentLarge reports that more than two allotments are left: a call has not used
// what it reserved. No other node can have that, and a crash would charge it.
func (s *period) isAllotmentLarge() bool {
	free, allotment := s.durable.Sub(s.own()), s.allotment()
	return s.budget.HardUSD > 0 && free.Cost > 2*allotment.Cost || s.budget.HardTokens > 0 && free.Tokens > 2*allotment.Tokens
}

// Over is a budget that is spent, or that has too little left for a call.
type Over struct {
	Period haltd.Period
	Start  time.Time
	Resets time.Time
	Hard   bool
	Spent  haltd.Spending
	Budget haltd.Budget
	// Left is what is neither spent nor reserved, and Asked what the call
	// would reserve. Both are zero where the budget is spent.
	Left, Asked haltd.Spending
	// Busy says that calls in flight hold what the call needs: it may fit
	// when they have ended.
	Busy bool
}

// IsSpent reports a budget that is spent, rather than too small for one call.
func (o *Over) IsSpent() bool { return o.Asked == haltd.Spending{} }

// over compares what is used with the soft or the hard limit of a budget.
func (s *period) over(b haltd.Budgets, used haltd.Spending, hard bool) (Over, bool) {
	limit := budgetOf(b, s.kind)
	cost, tokens := limit.SoftUSD, limit.SoftTokens
	if hard {
		cost, tokens = limit.HardUSD, limit.HardTokens
	}
	o := Over{Period: s.kind, Start: s.start, Resets: s.end, Hard: hard, Spent: used, Budget: limit}
	return o, cost > 0 && used.Cost >= cost || tokens > 0 && used.Tokens >= tokens
}

// fits reports whether a hard budget has room for what is used and more.
func fits(limit haltd.Budget, used, more haltd.Spending) bool {
	return (limit.HardUSD <= 0 || more.Cost <= limit.HardUSD-used.Cost) &&
		(limit.HardTokens <= 0 || more.Tokens <= limit.HardTokens-used.Tokens)
}

// left is what a hard budget has left of what it limits.
func left(limit haltd.Budget, used haltd.Spending) (free haltd.Spending) {
	if limit.HardUSD > 0 {
		free.Cost = max(limit.HardUSD-used.Cost, 0)
	}
	if limit.HardTokens > 0 {
		free.Tokens = max(limit.HardTokens-used.Tokens, 0)
	}
	return free
}

// refuses reports whether the hard budget of a period has no room for a call.
// Where the call may go alone it has, as long as something is left and no
// other is alone there.
func (s *period) refuses(b *Booking) (Over, bool) {
	o, spent := s.over(b.Budgets, s.spent, true)
	limit, total := o.Budget, s.total()
	switch {
	case spent:
		return o, true
	case b.Amount == haltd.Spending{} || fits(limit, total, b.Amount):
		return o, false
	}
	_, reserved := s.over(b.Budgets, total, true)
	if b.Alone && s.alone == nil && !reserved {
		return o, false
	}
	o.Left, o.Asked = left(limit, total), b.Amount
	o.Busy = b.Alone || fits(limit, s.spent, b.Amount)
	return o, true
}

// refusals lists the hard budgets that refuse a call.
func refusals(periods []*period, b *Booking) (overs []Over) {
	for _, s := range periods {
		if o, is := s.refuses(b); is {
			overs = append(overs, o)
		}
	}
	return overs
}

// newlyOver lists the budgets, soft and hard, that are spent and were not
// reported before.
func newlyOver(periods []*period, b haltd.Budgets) (overs []Over) {
	for _, s := range periods {
		for _, line := range []struct {
			hard     bool
			spent    haltd.Spending
			reported *bool
		}{{false, s.known(), &s.reported.soft}, {true, s.spent, &s.reported.hard}} {
			o, is := s.over(b, line.spent, line.hard)
			if is && !*line.reported {
				overs = append(overs, o)
			}
			*line.reported = is
		}
	}
	return overs
}

// Check lists the hard budgets that would refuse a call now.
func (l *Ledgers) Check(ctx context.Context, b Booking) ([]Over, error) {
	if !hasBudget(b.Budgets) {
		return nil, nil
	}
	a := l.acquire(b.Agent)
	defer a.release()
	periods, err := l.periodsOf(ctx, a, b.Zone, b.Now)
	if err != nil {
		return nil, err
	}
	over := a.refusals(periods, &b)
	if len(over) > 0 && a.refresh(ctx, periods) {
		over = a.refusals(periods, &b)
	}
	return over, nil
}

func (a *account) refusals(periods []*period, b *Booking) []Over {
	a.mu.Lock()
	defer a.mu.Unlock()
	return refusals(periods, b)
}
