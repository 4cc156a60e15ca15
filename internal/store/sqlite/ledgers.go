package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/haltd/haltd"
)

const ledgerColumns = "agent, period, start, spent_cost, spent_tokens, held_cost, held_tokens"

// Ledgers implements haltd.LedgerStore.
func (s *Store) Ledgers(ctx context.Context, agent string, since time.Time) ([]haltd.Ledger, error) {
	scan := func(row scanner) (l haltd.Ledger, err error) {
		var start int64
		err = row.Scan(&l.Agent, &l.Period, &start, &l.Spent.Cost, &l.Spent.Tokens, &l.Held.Cost, &l.Held.Tokens)
		l.Start = fromMicros(start)
		return l, err
	}
	list, err := read(ctx, s.readers, scan, "SELECT "+ledgerColumns+" FROM ledgers WHERE agent = ? AND start >= ? ORDER BY period, start",
		agent, micros(since))
	if err != nil {
		return nil, fmt.Errorf("read ledgers: %w", explain(s.path, err))
	}
	return list, nil
}

// SaveLedgers implements haltd.LedgerStore. All are written, or none.
func (s *Store) SaveLedgers(ctx context.Context, ls []haltd.Ledger) error {
	if len(ls) == 0 {
		return nil
	}
	err := s.writer.write(ctx, func(ctx context.Context) error { return s.writeLedgers(ctx, ls) })
	if err != nil {
		return fmt.Errorf("save ledgers: %w", explain(s.path, err))
	}
	return nil
}

func (s *Store) writeLedgers(ctx context.Context, ls []haltd.Ledger) error {
	insert, err := s.writer.conn.PrepareContext(ctx, "INSERT OR REPLACE INTO ledgers ("+ledgerColumns+") VALUES (?, ?, ?, ?, ?, ?, ?)")
	if err != nil {
		return err
	}
	defer insert.Close()
	for i := range ls {
		l := &ls[i]
		_, err := insert.ExecContext(ctx, l.Agent, string(l.Period), micros(l.Start),
			int64(l.Spent.Cost), l.Spent.Tokens, int64(l.Held.Cost), l.Held.Tokens)
		if err != nil {
			return err
		}
	}
	return nil
}

const spentSQL = `SELECT coalesce(sum(cost), 0), coalesce(sum(input + output), 0) FROM usage
	WHERE hour >= ? AND agent = (SELECT no FROM agents WHERE id = ?)`

// Spent implements haltd.LedgerStore. The hour that since is in counts as a
// whole.
func (s *Store) Spent(ctx context.Context, agent string, since time.Time) (haltd.Spending, error) {
	var sum haltd.Spending
	err := s.readers.QueryRowContext(ctx, spentSQL, hourOf(since), agent).Scan(&sum.Cost, &sum.Tokens)
	if err != nil {
		return haltd.Spending{}, fmt.Errorf("read spending: %w", explain(s.path, err))
	}
	return sum, nil
}
