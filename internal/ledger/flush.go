package ledger

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/haltd/haltd"
)

// run is the worker: it flushes and evicts.
func (l *Ledgers) run(ctx context.Context) {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			err = l.flushAll(ctx, flushPeriodic)
			l.evictIdle()
		case <-l.wake:
			err = l.flushWanted(ctx)
		}
		if err != nil && ctx.Err() == nil {
			l.log.Warn("budgets not written; what is reserved stays reserved", "error", err)
		}
	}
}

// flushSoon has the worker flush the account and does not wait for it. Only this
// one: to look at all accounts takes long where there are many.
func (a *account) flushSoon() {
	l := a.ledgers
	l.mu.Lock()
	l.soon[a] = struct{}{}
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default: // it is awake already
	}
}

// flushWanted flushes the accounts that flushSoon was called for.
func (l *Ledgers) flushWanted(ctx context.Context) error {
	l.mu.Lock()
	accounts := slices.Collect(maps.Keys(l.soon))
	clear(l.soon)
	l.mu.Unlock()
	for _, a := range accounts {
		if err := a.flush(ctx, flushPeriodic); err != nil {
			return err // the others are tried with all, within a second
		}
	}
	return nil
}

// flushTogether is how many accounts are written in one transaction.
const flushTogether = 100

// flushAll flushes every account. Those that nobody uses are written together,
// because nobody waits for them: many agents that fall silent cost few transactions.
// The others are written one by one, so that none waits for another.
func (l *Ledgers) flushAll(ctx context.Context, mode flushMode) error {
	var unused, others []*account
	l.mu.Lock()
	for _, a := range l.accounts {
		if a.users == 0 {
			unused = append(unused, a)
		} else {
			others = append(others, a)
		}
	}
	l.mu.Unlock()
	node := *l.node.Load()
	var parts []part
	for i, a := range unused {
		if !a.flushing.TryAcquire() {
			others = append(others, a) // it is being written
		} else if p := a.outdated(mode, node); len(p.shares) > 0 {
			parts = append(parts, p)
		} else {
			a.flushing.Release()
		}
		if len(parts) < flushTogether && (i < len(unused)-1 || len(parts) == 0) {
			continue
		}
		if _, err := l.write(ctx, node, parts); err != nil {
			return fmt.Errorf("write the budgets of %d agents: %w", len(parts), err)
		}
		parts = nil
	}
	for _, a := range others {
		if err := a.flush(ctx, mode); err != nil {
			return err
		}
	}
	return nil
}

// evictIdle evicts the accounts that nobody has used for evictAfter. Their
// spending is on disk or, without a hard budget, in the record, and is loaded
// again at the next use.
func (l *Ledgers) evictIdle() {
	now := l.clock()
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.accounts, func(_ string, a *account) bool {
		return a.users == 0 && now.Sub(a.used) >= evictAfter && a.isFlushed()
	})
}

// flushMode says what a flush writes.
type flushMode uint8

const (
	flushNeeded   flushMode = iota // periods that exceed what is durable
	flushAsked                     // the same, with what calls ask for, as far as all nodes have that left
	flushPeriodic                  // also allotments that are low or large, and those to give up because nobody calls
	flushFinal                     // also all allotments, which are given up
)

const (
	// allotmentIdle is how long an allotment is kept when no call comes.
	allotmentIdle = 30 * time.Second
	// reduceEvery is how often what calls have not used is given up while others
	// come, which may need as much: each time one of them waits for the store.
	reduceEvery = 5 * time.Second
)

// flush writes the periods of an account whose ledger is out of date.
func (a *account) flush(ctx context.Context, mode flushMode) error {
	_, err := a.ask(ctx, mode)
	return err
}

// ask is flush that says whether the store grants what is asked for. It always
// does but for what calls ask for, and then nothing is written.
func (a *account) ask(ctx context.Context, mode flushMode) (granted bool, err error) {
	if err := acquire(ctx, &a.flushing); err != nil {
		return false, fmt.Errorf("write the budget of %s: %w", a.agent, err)
	}
	node := *a.ledgers.node.Load()
	p := a.outdated(mode, node)
	if len(p.shares) == 0 {
		a.flushing.Release()
		return true, nil
	}
	if granted, err = a.ledgers.write(ctx, node, []part{p}); err != nil {
		return false, fmt.Errorf("write the budget of %s: %w", a.agent, err)
	}
	return granted, nil
}

// detached runs f to its end, and waits for that as long as ctx lasts: a client
// that leaves does not cancel what others wait for, nor does it wait itself.
func detached[T any](ctx context.Context, f func(context.Context) (T, error)) (result T, err error) {
	type answer struct {
		result T
		err    error
	}
	done := make(chan answer, 1)
	go func() {
		result, err := f(context.WithoutCancel(ctx))
		done <- answer{result, err}
	}()
	select {
	case a := <-done:
		return a.result, a.err
	case <-ctx.Done():
		return result, ctx.Err()
	}
}

// part is what is written of one account.
type part struct {
	account *account
	shares  []haltd.Share
	periods []*period // of which they are
	// asks are the reservations of each that are granted with it: from the write on, though
	// they do not know it yet, nothing that is written may leave them out.
	asks [][]*Reservation
}

// write writes parts of accounts whose locks to flush the caller has acquired, and
// releases these.
func (l *Ledgers) write(ctx context.Context, node string, parts []part) (granted bool, err error) {
	return detached(ctx, func(ctx context.Context) (bool, error) {
		defer func() {
			for _, p := range parts {
				p.account.flushing.Release()
			}
		}()
		return l.save(ctx, node, parts)
	})
}

// save writes parts of accounts, and takes over what the store then knows of all
// nodes.
func (l *Ledgers) save(ctx context.Context, node string, parts []part) (granted bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	shares := parts[0].shares
	for _, p := range parts[1:] {
		shares = append(shares, p.shares...)
	}
	after, granted, err := l.store.SaveShares(ctx, node, shares)
	if err != nil {
		return false, err
	}
	for _, p := range parts {
		p.saved(after[:len(p.shares)], granted)
		after = after[len(p.shares):]
	}
	return granted, nil
}

// saved takes over the ledgers as the store has them, with the shares where it
// granted them.
func (p part) saved(after []haltd.Ledger, granted bool) {
	p.account.mu.Lock()
	defer p.account.mu.Unlock()
	for i, s := range p.periods {
		if granted {
			s.durable, s.written = p.shares[i].Spent.Add(p.shares[i].Held), p.shares[i]
			for _, r := range p.asks[i] {
				delete(s.asking, r)
			}
		}
		s.sync(after[i], s.written)
	}
}

// outdated is what is to be written of the share of a node. An allotment that is given up is not durable
// from now on: no call may rely on it while it is being written.
func (a *account) outdated(mode flushMode, node string) part {
	p := part{account: a}
	now := a.ledgers.clock()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.past = slices.DeleteFunc(a.past, func(s *period) bool { return !s.end.After(now) && s.isFlushed() })
	for _, s := range append(slices.Clone(a.past), a.periods[:]...) {
		if s == nil || s.node != node || !s.budget.IsHard() {
			continue
		}
		busy := now.Sub(s.used) < allotmentIdle
		more := s.exceedsDurable() || mode == flushPeriodic && busy && s.isAllotmentLow()
		alone := s.written.Alone && s.alone == nil && mode != flushNeeded && mode != flushAsked // no longer: another node may go
		less := alone || s.reserved == haltd.Spending{} && s.written.Held != haltd.Spending{} && (mode == flushFinal || mode == flushPeriodic && !busy)
		large := mode == flushPeriodic && busy && !more && now.Sub(s.reduced) >= reduceEvery && s.isAllotmentLarge()
		if !more && !less && !large {
			continue
		}
		if large {
			s.reduced = now
		}
		var asks []*Reservation
		l := haltd.Share{Agent: a.agent, Period: s.kind, Start: s.start, Spent: s.mine, Held: s.reserved, Alone: s.alone != nil}
		if mode == flushAsked {
			l.Limit = haltd.Spending{Cost: s.budget.HardUSD, Tokens: s.budget.HardTokens}
			asks = slices.Collect(maps.Keys(s.asking))
		} else {
			l.Held = l.Held.Sub(s.asked())
		}
		if more || large {
			l.Held = l.Held.Add(s.allotment())
		}
		after := l.Spent.Add(l.Held)
		s.durable = haltd.Spending{Cost: min(s.durable.Cost, after.Cost), Tokens: min(s.durable.Tokens, after.Tokens)}
		p.shares, p.periods, p.asks = append(p.shares, l), append(p.periods, s), append(p.asks, asks)
	}
	return p
}

// isFlushed reports that no period has anything to settle or to write.
func (a *account) isFlushed() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return !slices.ContainsFunc(append(slices.Clone(a.past), a.periods[:]...), func(s *period) bool { return s != nil && !s.isFlushed() })
}

// isFlushed reports that no call is to settle here and that the ledger on disk
// is up to date.
func (s *period) isFlushed() bool {
	return s.reserved == haltd.Spending{} && (!s.budget.IsHard() || s.written.Held == haltd.Spending{} && !s.exceedsDurable())
}
