package sqlite

import (
	"context"
	"database/sql"
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

// ledger is the one of an agent, period and start, with nothing in it where
// there is none.
func ledger(ctx context.Context, db querier, agent string, period haltd.Period, start time.Time) (haltd.Ledger, error) {
	list, err := read(ctx, db, scanLedger, sharesSQL+" WHERE agent = ? AND period = ? AND start = ? GROUP BY agent", agent, string(period), table.Micros(start))
	if err != nil || len(list) == 0 {
		return haltd.Ledger{Agent: agent, Period: period, Start: start}, err
	}
	return list[0], nil
}

// OpenLedger implements haltd.LedgerStore.
func (s *Store) OpenLedger(ctx context.Context, node string, l haltd.Ledger) (all haltd.Ledger, mine haltd.Share, err error) {
	all, mine, err = s.readLedger(ctx, node, l)
	if err == nil && table.Missing(l.Spent, all) != (haltd.Spending{}) {
		err = s.writer.write(ctx, func(ctx context.Context) error {
			if all, err = s.raise(ctx, l); err == nil {
				mine, err = shareOf(ctx, s.writer.conn, node, l)
			}
			return err
		})
	}
	if err != nil {
		return haltd.Ledger{}, mine, fmt.Errorf("open ledger: %w", explain(s.path, err))
	}
	return all, mine, nil
}

// readLedger reads what all nodes have and the share of one at one moment: a
// share that is saved in between would make the others' negative.
func (s *Store) readLedger(ctx context.Context, node string, l haltd.Ledger) (all haltd.Ledger, mine haltd.Share, err error) {
	tx, err := s.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return all, mine, err
	}
	defer func() { err = errors.Join(err, tx.Rollback()) }()
	if all, err = ledger(ctx, tx, l.Agent, l.Period, l.Start); err == nil {
		mine, err = shareOf(ctx, tx, node, l)
	}
	return all, mine, err
}

func shareOf(ctx context.Context, q querier, node string, l haltd.Ledger) (haltd.Share, error) {
	mine := haltd.Share{Agent: l.Agent, Period: l.Period, Start: l.Start}
	before, _, err := sharesOf(ctx, q, node, &mine)
	mine.Spent, mine.Held = before.Spent, before.Held
	return mine, err
}

func (s *Store) raise(ctx context.Context, l haltd.Ledger) (haltd.Ledger, error) {
	known, err := ledger(ctx, s.writer.conn, l.Agent, l.Period, l.Start)
	if err != nil {
		return known, err
	}
	more := table.Missing(l.Spent, known)
	known.Spent = known.Spent.Add(more)
	return known, s.exec(ctx, `INSERT INTO shares (agent, period, start, node, spent_cost, spent_tokens, held_cost, held_tokens, alone)
		VALUES (?, ?, ?, '', ?, ?, 0, 0, 0) ON CONFLICT (agent, period, start, node) DO UPDATE SET
		spent_cost = spent_cost + excluded.spent_cost, spent_tokens = spent_tokens + excluded.spent_tokens`,
		l.Agent, string(l.Period), table.Micros(l.Start), int64(more.Cost), more.Tokens)
}

// SaveShares implements haltd.LedgerStore.
func (s *Store) SaveShares(ctx context.Context, node string, shares []haltd.Share) (after []haltd.Ledger, fits bool, err error) {
	if len(shares) == 0 {
		return nil, true, nil
	}
	err = s.writer.write(ctx, func(ctx context.Context) error {
		if err := s.requireAlive(ctx, node); err != nil {
			return err
		}
		after, fits, err = s.saveShares(ctx, node, shares)
		return err
	})
	if err != nil {
		return nil, false, fmt.Errorf("save shares: %w", explain(s.path, err))
	}
	return after, fits, nil
}

func (s *Store) saveShares(ctx context.Context, node string, shares []haltd.Share) (after []haltd.Ledger, fits bool, err error) {
	var kept []haltd.Ledger
	fits = true
	for i := range shares {
		sh := &shares[i]
		l, err := ledger(ctx, s.writer.conn, sh.Agent, sh.Period, sh.Start)
		if err != nil {
			return nil, false, err
		}
		before, others, err := sharesOf(ctx, s.writer.conn, node, sh)
		if err != nil {
			return nil, false, err
		}
		next := l
		next.Spent = l.Spent.Sub(before.Spent).Add(sh.Spent)
		next.Held = l.Held.Sub(before.Held).Add(sh.Held)
		fits = fits && table.Fits(sh, before, l, next, others)
		after, kept = append(after, next), append(kept, l)
	}
	if !fits {
		return kept, false, nil
	}
	for i := range shares {
		if err := s.writeShare(ctx, node, &shares[i]); err != nil {
			return nil, false, err
		}
	}
	return after, true, nil
}

// sharesOf is what the node said last, and whether another one is alone.
func sharesOf(ctx context.Context, db querier, node string, sh *haltd.Share) (before haltd.Share, othersAlone bool, err error) {
	scan := func(row scanner) (_ struct{}, err error) {
		return struct{}{}, row.Scan(&before.Spent.Cost, &before.Spent.Tokens, &before.Held.Cost, &before.Held.Tokens, &othersAlone)
	}
	_, err = read(ctx, db, scan, `SELECT
		coalesce(sum(iif(node = ?1, spent_cost, 0)), 0), coalesce(sum(iif(node = ?1, spent_tokens, 0)), 0),
		coalesce(sum(iif(node = ?1, held_cost, 0)), 0), coalesce(sum(iif(node = ?1, held_tokens, 0)), 0),
		coalesce(max(alone AND node <> ?1), 0) FROM shares WHERE agent = ?2 AND period = ?3 AND start = ?4`,
		node, sh.Agent, string(sh.Period), table.Micros(sh.Start))
	return before, othersAlone, err
}

func (s *Store) writeShare(ctx context.Context, node string, sh *haltd.Share) error {
	return s.exec(ctx, `INSERT OR REPLACE INTO shares (agent, period, start, node, spent_cost, spent_tokens, held_cost, held_tokens, alone)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`, sh.Agent, string(sh.Period), table.Micros(sh.Start), node,
		int64(sh.Spent.Cost), sh.Spent.Tokens, int64(sh.Held.Cost), sh.Held.Tokens, sh.Alone)
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
	err := s.readers.QueryRowContext(ctx, spentSQL, table.HourOf(since), agent).Scan(&sum.Cost, &sum.Tokens)
	if err != nil {
		return haltd.Spending{}, fmt.Errorf("read spending: %w", explain(s.path, err))
	}
	return sum, nil
}
