package sqlite

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/table"
)

const sharesSQL = `SELECT agent, period, start, sum(spent_cost), sum(spent_tokens), sum(held_cost), sum(held_tokens) FROM shares`

func scanLedger(row scanner) (l haltd.Ledger, err error) {
	var start int64
	err = row.Scan(&l.Agent, &l.Period, &start, &l.Spent.Cost, &l.Spent.Tokens, &l.Held.Cost, &l.Held.Tokens)
	l.Start = table.FromMicros(start)
	return l, err
}

// Ledgers implements haltd.LedgerStore.
func (s *Store) Ledgers(ctx context.Context, agent string, since time.Time) ([]haltd.Ledger, error) {
	list, err := read(ctx, s.readers, scanLedger, sharesSQL+" WHERE agent = ? AND start >= ? GROUP BY agent, period, start ORDER BY period, start",
		agent, table.Micros(since))
	if err != nil {
		return nil, fmt.Errorf("read ledgers: %w", explain(s.path, err))
	}
	return list, nil
}

// sumsSQL is what all nodes have of a ledger, what one node said last, and
// whether another one is alone. One statement sees all shares at one moment: one
// that is saved in between would make the others' negative.
const sumsSQL = `SELECT
	coalesce(sum(spent_cost), 0), coalesce(sum(spent_tokens), 0), coalesce(sum(held_cost), 0), coalesce(sum(held_tokens), 0),
	coalesce(sum(iif(node = ?1, spent_cost, 0)), 0), coalesce(sum(iif(node = ?1, spent_tokens, 0)), 0),
	coalesce(sum(iif(node = ?1, held_cost, 0)), 0), coalesce(sum(iif(node = ?1, held_tokens, 0)), 0),
	coalesce(max(alone AND node <> ?1), 0) FROM shares WHERE agent = ?2 AND period = ?3 AND start = ?4`

// sums is a row of sumsSQL.
type sums [9]int64

func (n *sums) all(agent string, period haltd.Period, start time.Time) haltd.Ledger {
	return haltd.Ledger{Agent: agent, Period: period, Start: start, Spent: spending(n[0:]), Held: spending(n[2:])}
}

func (n *sums) mine(agent string, period haltd.Period, start time.Time) haltd.Share {
	return haltd.Share{Agent: agent, Period: period, Start: start, Spent: spending(n[4:]), Held: spending(n[6:])}
}

func (n *sums) othersAlone() bool { return n[8] != 0 }

func spending(n []int64) haltd.Spending { return haltd.Spending{Cost: haltd.Money(n[0]), Tokens: n[1]} }

// OpenLedger implements haltd.LedgerStore.
func (s *Store) OpenLedger(ctx context.Context, node string, l haltd.Ledger) (all haltd.Ledger, mine haltd.Share, err error) {
	var n sums
	err = s.sums.QueryRowContext(ctx, node, l.Agent, string(l.Period), table.Micros(l.Start)).
		Scan(&n[0], &n[1], &n[2], &n[3], &n[4], &n[5], &n[6], &n[7], &n[8])
	all = n.all(l.Agent, l.Period, l.Start)
	if err == nil && table.Missing(l.Spent, all) != (haltd.Spending{}) {
		err = s.writeLedgers(ctx, func(w *ledgerWriter) error {
			if n, err = w.read(node, l.Agent, l.Period, l.Start); err != nil {
				return err
			}
			all = n.all(l.Agent, l.Period, l.Start)
			more := table.Missing(l.Spent, all)
			all.Spent = all.Spent.Add(more)
			return w.raise.exec(l.Agent, string(l.Period), table.Micros(l.Start), int64(more.Cost), more.Tokens)
		})
	}
	if err != nil {
		return haltd.Ledger{}, haltd.Share{}, fmt.Errorf("open ledger: %w", explain(s.path, err))
	}
	return all, n.mine(l.Agent, l.Period, l.Start), nil
}

// SaveShares implements haltd.LedgerStore.
func (s *Store) SaveShares(ctx context.Context, node string, shares []haltd.Share) (after []haltd.Ledger, fits bool, err error) {
	if len(shares) == 0 {
		return nil, true, nil
	}
	err = s.writeLedgers(ctx, func(w *ledgerWriter) error {
		alive, err := w.alive.number(node)
		if err != nil {
			return err
		}
		if alive == 0 {
			return table.LeaseEnded(node)
		}
		after, fits, err = w.save(node, shares)
		return err
	})
	if err != nil {
		return nil, false, fmt.Errorf("save shares: %w", explain(s.path, err))
	}
	return after, fits, nil
}

// ledgerWriter has the statements that write ledgers: calls wait for them.
type ledgerWriter struct{ alive, sums, raise, share *statement }

const (
	raiseSQL = `INSERT INTO shares (agent, period, start, node, spent_cost, spent_tokens, held_cost, held_tokens, alone)
		VALUES (?, ?, ?, '', ?, ?, 0, 0, 0) ON CONFLICT (agent, period, start, node) DO UPDATE SET
		spent_cost = spent_cost + excluded.spent_cost, spent_tokens = spent_tokens + excluded.spent_tokens`

	shareSQL = `INSERT OR REPLACE INTO shares (agent, period, start, node, spent_cost, spent_tokens, held_cost, held_tokens, alone)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`
)

func newLedgerWriter(c preparer) (*ledgerWriter, error) {
	w := &ledgerWriter{}
	for query, to := range map[string]**statement{aliveSQL: &w.alive, sumsSQL: &w.sums, raiseSQL: &w.raise, shareSQL: &w.share} {
		var err error
		if *to, err = prepare(c, query); err != nil {
			return nil, errors.Join(err, w.close())
		}
	}
	return w, nil
}

func (w *ledgerWriter) close() error { return closeAll(w.alive, w.sums, w.raise, w.share) }

// writeLedgers runs fn in a transaction.
func (s *Store) writeLedgers(ctx context.Context, fn func(*ledgerWriter) error) error {
	return s.writer.write(ctx, func(context.Context) error {
		return s.writer.conn.Raw(func(any) error { return fn(s.writer.ledgers) })
	})
}

func (w *ledgerWriter) read(node, agent string, period haltd.Period, start time.Time) (n sums, err error) {
	return n, w.sums.numbers(n[:], node, agent, string(period), table.Micros(start))
}

func (w *ledgerWriter) save(node string, shares []haltd.Share) (after []haltd.Ledger, fits bool, err error) {
	var kept []haltd.Ledger
	fits = true
	for i := range shares {
		sh := &shares[i]
		n, err := w.read(node, sh.Agent, sh.Period, sh.Start)
		if err != nil {
			return nil, false, err
		}
		l, before := n.all(sh.Agent, sh.Period, sh.Start), n.mine(sh.Agent, sh.Period, sh.Start)
		next := l
		next.Spent = l.Spent.Sub(before.Spent).Add(sh.Spent)
		next.Held = l.Held.Sub(before.Held).Add(sh.Held)
		fits = fits && table.Fits(sh, before, l, next, n.othersAlone())
		after, kept = append(after, next), append(kept, l)
	}
	if !fits {
		return kept, false, nil
	}
	for i := range shares {
		sh := &shares[i]
		err := w.share.exec(sh.Agent, string(sh.Period), table.Micros(sh.Start), node,
			int64(sh.Spent.Cost), sh.Spent.Tokens, int64(sh.Held.Cost), sh.Held.Tokens, sh.Alone)
		if err != nil {
			return nil, false, err
		}
	}
	return after, true, nil
}

// ChargeHeld implements haltd.LedgerStore: what nodes had that are gone becomes
// the share of nobody.
func (s *Store) ChargeHeld(ctx context.Context) error {
	const gone = " WHERE node <> '' AND node NOT IN (SELECT id FROM nodes WHERE until > " + now + ")"
	err := s.writer.write(ctx, func(ctx context.Context) error {
		err := s.exec(ctx, `INSERT INTO shares (agent, period, start, node, spent_cost, spent_tokens, held_cost, held_tokens, alone)
			SELECT agent, period, start, '', sum(spent_cost + held_cost), sum(spent_tokens + held_tokens), 0, 0, 0 FROM shares`+gone+`
			GROUP BY agent, period, start ON CONFLICT (agent, period, start, node) DO UPDATE SET
			spent_cost = spent_cost + excluded.spent_cost, spent_tokens = spent_tokens + excluded.spent_tokens`)
		if err != nil {
			return err
		}
		return s.exec(ctx, "DELETE FROM shares"+gone)
	})
	if err != nil {
		return fmt.Errorf("charge what was held: %w", explain(s.path, err))
	}
	return nil
}

const spentSQL = `SELECT coalesce(sum(cost), 0), coalesce(sum(input + output), 0) FROM usage
	WHERE hour >= ? AND agent = (SELECT no FROM agents WHERE id = ?)`

// Spent implements haltd.LedgerStore. The hour that since is in counts as a
// whole.
func (s *Store) Spent(ctx context.Context, agent string, since time.Time) (haltd.Spending, error) {
	var sum haltd.Spending
	err := s.spent.QueryRowContext(ctx, table.HourOf(since), agent).Scan(&sum.Cost, &sum.Tokens)
	if err != nil {
		return haltd.Spending{}, fmt.Errorf("read spending: %w", explain(s.path, err))
	}
	return sum, nil
}
