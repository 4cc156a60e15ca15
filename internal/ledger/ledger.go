// Package ledger keeps what agents with budgets have spent, and reserves money
// for calls in flight. Under a hard budget a reservation is durable before its
// call is forwarded, so that a crash loses no spending. It writes to the store
// seldom, because each write allots a little more than is needed.
package ledger

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/policy"
)

// Ledgers keeps the accounts of all agents.
type Ledgers struct {
	store haltd.LedgerStore
	// flushRecord writes the record's queue, which accounts are loaded from.
	flushRecord func(context.Context) error
	clock       haltd.Clock
	log         *slog.Logger

	node atomic.Pointer[string] // whose shares of the ledgers these are

	mu       sync.Mutex
	accounts map[string]*account   // in use, or used in the last evictAfter
	soon     map[*account]struct{} // which the worker is asked to flush at once; likewise

	wake   chan struct{} // tells the worker of soon
	stop   context.CancelFunc
	worker sync.WaitGroup
}

const (
	// flushEvery is how often the worker flushes and evicts.
	flushEvery = time.Second
	// evictAfter is how long an account that nobody uses stays in memory.
	// Clients choose their names: new ones without end must not fill it.
	evictAfter = 10 * time.Minute
	// storeTimeout is how long a call waits for the store.
	storeTimeout = 5 * time.Second
)

// Open starts with no account: each is loaded at its first use. What nodes had
// reserved that are gone is charged, once it is known that they are; until then
// it stays held. Close ends it.
func Open(store haltd.LedgerStore, node string, flushRecord func(context.Context) error, clock haltd.Clock, log *slog.Logger) *Ledgers {
	l := &Ledgers{store: store, flushRecord: flushRecord, clock: clock, log: log, accounts: map[string]*account{}, soon: map[*account]struct{}{}, wake: make(chan struct{}, 1)}
	l.node.Store(&node)
	background, stop := context.WithCancel(context.Background())
	l.stop = stop
	l.worker.Go(func() { l.run(background) })
	return l
}

// SetNode makes the shares to come those of another node, because the lease of
// this one had ended: what it held, also for calls in flight, is charged, and
// every account is loaded again.
func (l *Ledgers) SetNode(id string) {
	l.node.Store(&id)
	l.mu.Lock()
	accounts := slices.Collect(maps.Values(l.accounts))
	l.mu.Unlock()
	for _, a := range accounts {
		a.mu.Lock()
		a.periods, a.past = [2]*period{}, nil
		a.mu.Unlock()
	}
}

// Close gives up all allotments.
func (l *Ledgers) Close(ctx context.Context) error {
	l.stop()
	l.worker.Wait()
	return l.flushAll(ctx, flushFinal)
}

// acquire is the account of an agent, loaded or not. The caller releases it.
func (l *Ledgers) acquire(agent string) *account {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.accounts[agent]
	if a == nil {
		a = &account{ledgers: l, agent: agent}
		l.accounts[agent] = a
	}
	a.users++
	return a
}

// release undoes acquire.
func (a *account) release() {
	l := a.ledgers
	l.mu.Lock()
	defer l.mu.Unlock()
	a.users--
	a.used = l.clock()
}

// periodsOf lists the periods of now, loaded where they are new. A call that was
// in flight when a period ended is charged to the new one.
func (l *Ledgers) periodsOf(ctx context.Context, a *account, zone *time.Location, now time.Time) ([]*period, error) {
	if periods := a.current(zone, now); periods != nil {
		return periods, nil
	}
	if err := acquire(ctx, &a.loading); err != nil {
		return nil, fmt.Errorf("open the budget of %s: %w", a.agent, err)
	}
	return detached(ctx, func(ctx context.Context) ([]*period, error) {
		defer a.loading.Release()
		return l.openPeriods(ctx, a, zone, now)
	})
}

// current lists the periods of now; nil where one is to be loaded.
func (a *account) current(zone *time.Location, now time.Time) []*period {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, p := range [...]haltd.Period{haltd.Daily, haltd.Monthly} {
		if s := a.periods[i]; s == nil || a.isStale(s) || !s.isCurrent(policy.PeriodStart(p, zone, now), now) {
			return nil
		}
	}
	return slices.Clone(a.periods[:])
}

// isCurrent reports whether the period is the one of now, which began at start.
func (s *period) isCurrent(start, now time.Time) bool {
	return s.start.Equal(start) || now.Before(s.start)
}

// openPeriods is periodsOf for who holds the lock to load.
func (l *Ledgers) openPeriods(ctx context.Context, a *account, zone *time.Location, now time.Time) ([]*period, error) {
	flushed := false
	for i, p := range [...]haltd.Period{haltd.Daily, haltd.Monthly} {
		start := policy.PeriodStart(p, zone, now)
		if s := a.periods[i]; s != nil && !a.isStale(s) && s.isCurrent(start, now) {
			continue
		}
		s := a.reopen(p, start)
		if s == nil {
			var err error
			if !flushed { // both periods are read from the record after it
				if err = l.flush(ctx, a.agent); err != nil {
					return nil, err
				}
				flushed = true
			}
			if s, err = l.load(ctx, a.agent, p, start, policy.PeriodEnd(p, zone, now)); err != nil {
				return nil, err
			}
		}
		a.mu.Lock()
		if old := a.periods[i]; old != nil && !a.isStale(old) {
			a.past = append(a.past, old) // calls of then settle there
		}
		a.periods[i] = s
		a.mu.Unlock()
	}
	return slices.Clone(a.periods[:]), nil
}

// reopen returns to a period that was left when the time zone changed; nil when
// there is none.
func (a *account) reopen(p haltd.Period, start time.Time) *period {
	a.mu.Lock()
	defer a.mu.Unlock()
	i := slices.IndexFunc(a.past, func(s *period) bool { return s.kind == p && s.start.Equal(start) && !a.isStale(s) })
	if i < 0 {
		return nil
	}
	s := a.past[i]
	a.past = slices.Delete(a.past, i, i+1)
	return s
}

// flush has the record written as far as it goes, which accounts are loaded from.
func (l *Ledgers) flush(ctx context.Context, agent string) error {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	if err := l.flushRecord(ctx); err != nil {
		return fmt.Errorf("open the budget of %s: %w", agent, err)
	}
	return nil
}

// load starts a period from what the record and the ledger on disk say,
// whichever is more: the ledger has what a crash kept from the record.
func (l *Ledgers) load(ctx context.Context, agent string, p haltd.Period, start, end time.Time) (*period, error) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	spent, err := l.store.Spent(ctx, agent, start)
	if err != nil {
		return nil, fmt.Errorf("open the budget of %s: %w", agent, err)
	}
	node := *l.node.Load()
	all, mine, err := l.store.OpenLedger(ctx, node, haltd.Ledger{Agent: agent, Period: p, Start: start, Spent: spent})
	if err != nil {
		return nil, fmt.Errorf("open the budget of %s: %w", agent, err)
	}
	return &period{
		node: node, kind: p, start: start, end: end, spent: all.Spent, mine: mine.Spent, elsewhere: all.Held.Sub(mine.Held),
		durable: mine.Spent.Add(mine.Held), written: mine,
	}, nil
}

// Spending is what an agent has spent in the current periods.
func (l *Ledgers) Spending(ctx context.Context, agent string, budgets haltd.Budgets, zone *time.Location) ([]haltd.PeriodSpending, error) {
	now := l.clock()
	if !hasBudget(budgets) {
		return l.recorded(ctx, agent, zone, now)
	}
	a := l.acquire(agent)
	defer a.release()
	periods, err := l.periodsOf(ctx, a, zone, now)
	if err != nil {
		return nil, err
	}
	if err := a.sync(ctx, periods); err != nil {
		return nil, fmt.Errorf("read what %s spent: %w", agent, err)
	}
	if err := a.read(ctx, periods); err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	out := make([]haltd.PeriodSpending, len(periods))
	for i, s := range periods {
		spent, total := s.known(), s.total()
		held := haltd.Spending{Cost: max(total.Cost-spent.Cost, 0), Tokens: max(total.Tokens-spent.Tokens, 0)}
		out[i] = haltd.PeriodSpending{Period: s.kind, Start: s.start, Resets: s.end, Spent: spent, Held: held, Budget: budgetOf(budgets, s.kind)}
	}
	return out, nil
}

// recorded is the spending of an agent without budgets, which has no account:
// the record says it.
func (l *Ledgers) recorded(ctx context.Context, agent string, zone *time.Location, now time.Time) ([]haltd.PeriodSpending, error) {
	var out []haltd.PeriodSpending
	for _, p := range [...]haltd.Period{haltd.Daily, haltd.Monthly} {
		start := policy.PeriodStart(p, zone, now)
		spent, err := l.store.Spent(ctx, agent, start)
		if err != nil {
			return nil, fmt.Errorf("read what %s spent: %w", agent, err)
		}
		out = append(out, haltd.PeriodSpending{Period: p, Start: start, Resets: policy.PeriodEnd(p, zone, now), Spent: spent})
	}
	return out, nil
}

func budgetOf(b haltd.Budgets, p haltd.Period) haltd.Budget {
	if p == haltd.Daily {
		return b.Day
	}
	return b.Month
}

func hasBudget(b haltd.Budgets) bool { return b.Day != haltd.Budget{} || b.Month != haltd.Budget{} }
