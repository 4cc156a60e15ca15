// Package ledger keeps what agents with budgets have spent, and holds back
// money for calls that are on their way. What is held is on disk before a call
// is forwarded, so that a crash never makes a hard budget forget; it asks the
// store seldom, because it holds a little more than it needs.
package ledger

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/policy"
)

// Ledgers keeps the accounts of all agents.
type Ledgers struct {
	store haltd.LedgerStore
	// flush writes the record's queue, which an account starts from.
	flush func(context.Context) error
	clock haltd.Clock
	log   *slog.Logger

	mu       sync.Mutex
	accounts map[string]*account // those in use, and those that were lately

	soon   chan struct{} // holds one wish to be written at once
	stop   context.CancelFunc
	worker sync.WaitGroup
}

const (
	// tending is how often ledgers are looked at.
	tending = time.Second
	// closing is how long an account that nobody uses stays in memory. Who
	// calls under ever new names must not fill it.
	closing = 10 * time.Minute
	// patience is how long a call waits for the disk.
	patience = 5 * time.Second
)

// Open starts with no account: each is loaded at its first use, and what the
// last process held when it ended is charged then. Close ends it.
func Open(store haltd.LedgerStore, flush func(context.Context) error, clock haltd.Clock, log *slog.Logger) *Ledgers {
	l := &Ledgers{store: store, flush: flush, clock: clock, log: log, accounts: map[string]*account{}, soon: make(chan struct{}, 1)}
	background, stop := context.WithCancel(context.Background())
	l.stop = stop
	l.worker.Go(func() { l.tend(background) })
	return l
}

// Close gives back what is held and not needed.
func (l *Ledgers) Close(ctx context.Context) error {
	l.stop()
	l.worker.Wait()
	return l.saveAll(ctx, giveBack)
}

func (l *Ledgers) tend(ctx context.Context) {
	tick := time.NewTicker(tending)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-l.soon:
		}
		if err := l.saveAll(ctx, tend); err != nil && ctx.Err() == nil {
			l.log.Warn("budgets not written; what is held stays held", "error", err)
		}
		l.closeIdle()
	}
}

// saveSoon has the worker write, without waiting for it.
func (l *Ledgers) saveSoon() {
	select {
	case l.soon <- struct{}{}:
	default: // somebody asked already
	}
}

// saveAll writes every account whose ledger on disk is not what it need be.
func (l *Ledgers) saveAll(ctx context.Context, why purpose) error {
	l.mu.Lock()
	accounts := make([]*account, 0, len(l.accounts))
	for _, a := range l.accounts {
		accounts = append(accounts, a)
	}
	l.mu.Unlock()
	for _, a := range accounts {
		if err := a.save(ctx, why); err != nil {
			return err
		}
	}
	return nil
}

// use is the account of an agent. Whoever uses it lets go of it again.
func (l *Ledgers) use(agent string) *account {
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

func (a *account) letGo() {
	l := a.ledgers
	l.mu.Lock()
	defer l.mu.Unlock()
	a.users--
	a.used = l.clock()
}

// closeIdle forgets the accounts that nobody uses. What it forgets is on disk
// or, without a hard budget, in the record, and is loaded from there again.
func (l *Ledgers) closeIdle() {
	now := l.clock()
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.accounts, func(_ string, a *account) bool {
		return a.users == 0 && now.Sub(a.used) >= closing && a.isDone()
	})
}

// current are the spans of now, loaded where they are new. A request that was
// on its way when a period ended is charged to the new one.
func (l *Ledgers) current(ctx context.Context, a *account, zone *time.Location, now time.Time) ([]*span, error) {
	a.opening.Lock()
	defer a.opening.Unlock()
	for i, p := range [...]haltd.Period{haltd.Daily, haltd.Monthly} {
		start := policy.PeriodStart(p, zone, now)
		if s := a.spans[i]; s != nil && (s.start.Equal(start) || now.Before(s.start)) {
			continue
		}
		s := a.reopen(p, start)
		if s == nil {
			var err error
			if s, err = l.open(ctx, a.agent, p, start, policy.PeriodEnd(p, zone, now)); err != nil {
				return nil, err
			}
		}
		a.mu.Lock()
		if old := a.spans[i]; old != nil {
			a.past = append(a.past, old) // calls of then settle there
		}
		a.spans[i] = s
		a.mu.Unlock()
	}
	return slices.Clone(a.spans[:]), nil
}

// reopen takes a span back that was left for that of another time zone; nil
// when there is none.
func (a *account) reopen(p haltd.Period, start time.Time) *span {
	a.mu.Lock()
	defer a.mu.Unlock()
	i := slices.IndexFunc(a.past, func(s *span) bool { return s.period == p && s.start.Equal(start) })
	if i < 0 {
		return nil
	}
	s := a.past[i]
	a.past = slices.Delete(a.past, i, i+1)
	return s
}

// open starts a span from what the record and the ledger on disk know of it,
// whichever is more: the ledger holds what the record may have lost.
func (l *Ledgers) open(ctx context.Context, agent string, p haltd.Period, start, end time.Time) (*span, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := l.flush(ctx); err != nil {
		return nil, fmt.Errorf("open the budget of %s: %w", agent, err)
	}
	spent, err := l.store.Spent(ctx, agent, start)
	if err != nil {
		return nil, fmt.Errorf("open the budget of %s: %w", agent, err)
	}
	saved, err := l.store.Ledgers(ctx, agent, start)
	if err != nil {
		return nil, fmt.Errorf("open the budget of %s: %w", agent, err)
	}
	s := &span{period: p, start: start, end: end, spent: spent}
	for _, before := range saved {
		if before.Period == p && before.Start.Equal(start) {
			held := before.Spent.Add(before.Held)
			s.spent = haltd.Spending{Cost: max(spent.Cost, held.Cost), Tokens: max(spent.Tokens, held.Tokens)}
			s.onDisk, s.written = held, before
		}
	}
	return s, nil
}

// Spending is what an agent has spent in the current periods.
func (l *Ledgers) Spending(ctx context.Context, agent string, budgets haltd.Budgets, zone *time.Location) ([]haltd.PeriodSpending, error) {
	now := l.clock()
	if !limited(budgets) {
		return l.unlimited(ctx, agent, zone, now)
	}
	a := l.use(agent)
	defer a.letGo()
	spans, err := l.current(ctx, a, zone, now)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	out := make([]haltd.PeriodSpending, len(spans))
	for i, s := range spans {
		out[i] = haltd.PeriodSpending{Period: s.period, Start: s.start, Resets: s.end, Spent: s.spent, Held: s.reserved, Budget: budgetOf(budgets, s.period)}
	}
	return out, nil
}

// unlimited agents have no account: the record tells what they spent.
func (l *Ledgers) unlimited(ctx context.Context, agent string, zone *time.Location, now time.Time) ([]haltd.PeriodSpending, error) {
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

func limited(b haltd.Budgets) bool { return b.Day != haltd.Budget{} || b.Month != haltd.Budget{} }
