package postgres

import (
	"context"
	"slices"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/table"
	"github.com/jackc/pgx/v5"
)

const sharesSQL = `SELECT agent, period, start, sum(spent_cost)::bigint, sum(spent_tokens)::bigint, sum(held_cost)::bigint, sum(held_tokens)::bigint FROM shares`

func scanLedger(row scanner) (l haltd.Ledger, err error) {
	var start int64
	err = row.Scan(&l.Agent, &l.Period, &start, (*int64)(&l.Spent.Cost), &l.Spent.Tokens, (*int64)(&l.Held.Cost), &l.Held.Tokens)
	l.Start = table.FromMicros(start)
	return l, err
}

// Ledgers implements haltd.LedgerStore.
func (s *Store) Ledgers(ctx context.Context, agent string, since time.Time) (list []haltd.Ledger, err error) {
	err = s.do(ctx, "read ledgers", func(ctx context.Context) error {
		list, err = read(ctx, s.pool, scanLedger, sharesSQL+" WHERE agent = $1 AND start >= $2 GROUP BY agent, period, start ORDER BY period, start",
			agent, table.Micros(since))
		return err
	})
	return list, err
}

// ledger is the one of an agent, period and start, with nothing in it where
// there is none.
func ledger(ctx context.Context, db querier, agent string, period haltd.Period, start time.Time) (haltd.Ledger, error) {
	list, err := read(ctx, db, scanLedger, sharesSQL+" WHERE agent = $1 AND period = $2 AND start = $3 GROUP BY agent, period, start",
		agent, string(period), table.Micros(start))
	if err != nil || len(list) == 0 {
		return haltd.Ledger{Agent: agent, Period: period, Start: start}, err
	}
	return list[0], nil
}

// lockLedgers makes this transaction the only one that writes shares of these
// agents. Locks are taken in the order of names, so that nobody waits for
// somebody who waits for him.
func lockLedgers(ctx context.Context, tx pgx.Tx, agents ...string) error {
	slices.Sort(agents)
	_, err := exec(ctx, tx, `SELECT pg_advisory_xact_lock(key) FROM (
		SELECT DISTINCT hashtextextended(agent, 2) AS key FROM unnest($1::text[]) AS agent ORDER BY key) keys`, agents)
	return err
}

// OpenLedger implements haltd.LedgerStore.
func (s *Store) OpenLedger(ctx context.Context, node string, l haltd.Ledger) (all haltd.Ledger, mine haltd.Share, err error) {
	mine = haltd.Share{Agent: l.Agent, Period: l.Period, Start: l.Start}
	err = s.write(ctx, "open ledger", func(ctx context.Context, tx pgx.Tx) error {
		if err := lockLedgers(ctx, tx, l.Agent); err != nil {
			return err
		}
		if all, err = ledger(ctx, tx, l.Agent, l.Period, l.Start); err != nil {
			return err
		}
		if more := table.Missing(l.Spent, all); more != (haltd.Spending{}) {
			all.Spent = all.Spent.Add(more)
			if err := addToUnownedShare(ctx, tx, l, more); err != nil {
				return err
			}
		}
		before, _, err := sharesOf(ctx, tx, node, &mine)
		mine.Spent, mine.Held = before.Spent, before.Held
		return err
	})
	if err != nil {
		return haltd.Ledger{}, mine, err
	}
	return all, mine, nil
}

// addUnownedSQL adds to the share of no node: what is known to be spent, and by
// nobody that is there.
const addUnownedSQL = ` ON CONFLICT (agent, period, start, node) DO UPDATE SET
	spent_cost = shares.spent_cost + excluded.spent_cost, spent_tokens = shares.spent_tokens + excluded.spent_tokens`

func addToUnownedShare(ctx context.Context, tx pgx.Tx, l haltd.Ledger, more haltd.Spending) error {
	_, err := exec(ctx, tx, `INSERT INTO shares (agent, period, start, node, spent_cost, spent_tokens, held_cost, held_tokens, alone)
		VALUES ($1, $2, $3, '', $4, $5, 0, 0, false)`+addUnownedSQL,
		l.Agent, string(l.Period), table.Micros(l.Start), int64(more.Cost), more.Tokens)
	return err
}

// SaveShares implements haltd.LedgerStore.
func (s *Store) SaveShares(ctx context.Context, node string, shares []haltd.Share) (after []haltd.Ledger, fits bool, err error) {
	if len(shares) == 0 {
		return nil, true, nil
	}
	err = s.write(ctx, "save shares", func(ctx context.Context, tx pgx.Tx) error {
		if err := requireAlive(ctx, tx, node); err != nil {
			return err
		}
		agents := make([]string, len(shares))
		for i := range shares {
			agents[i] = shares[i].Agent
		}
		if err := lockLedgers(ctx, tx, agents...); err != nil {
			return err
		}
		after, fits, err = saveShares(ctx, tx, node, shares)
		return err
	})
	if err != nil {
		return nil, false, err
	}
	return after, fits, nil
}

func saveShares(ctx context.Context, tx pgx.Tx, node string, shares []haltd.Share) (after []haltd.Ledger, fits bool, err error) {
	var kept []haltd.Ledger
	fits = true
	for i := range shares {
		sh := &shares[i]
		l, err := ledger(ctx, tx, sh.Agent, sh.Period, sh.Start)
		if err != nil {
			return nil, false, err
		}
		before, others, err := sharesOf(ctx, tx, node, sh)
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
	var batch pgx.Batch
	for i := range shares {
		sh := &shares[i]
		batch.Queue(`INSERT INTO shares (agent, period, start, node, spent_cost, spent_tokens, held_cost, held_tokens, alone)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (agent, period, start, node) DO UPDATE SET
			spent_cost = excluded.spent_cost, spent_tokens = excluded.spent_tokens,
			held_cost = excluded.held_cost, held_tokens = excluded.held_tokens, alone = excluded.alone`,
			sh.Agent, string(sh.Period), table.Micros(sh.Start), node,
			int64(sh.Spent.Cost), sh.Spent.Tokens, int64(sh.Held.Cost), sh.Held.Tokens, sh.Alone)
	}
	return after, true, tx.SendBatch(ctx, &batch).Close()
}

// sharesOf is what the node said last, and whether another one is alone.
func sharesOf(ctx context.Context, db querier, node string, sh *haltd.Share) (before haltd.Share, othersAlone bool, err error) {
	scan := func(row scanner) (b haltd.Share, err error) {
		return b, row.Scan((*int64)(&b.Spent.Cost), &b.Spent.Tokens, (*int64)(&b.Held.Cost), &b.Held.Tokens, &othersAlone)
	}
	before, err = readOne(ctx, db, scan, `SELECT
		coalesce(sum(spent_cost) FILTER (WHERE node = $1), 0)::bigint, coalesce(sum(spent_tokens) FILTER (WHERE node = $1), 0)::bigint,
		coalesce(sum(held_cost) FILTER (WHERE node = $1), 0)::bigint, coalesce(sum(held_tokens) FILTER (WHERE node = $1), 0)::bigint,
		coalesce(bool_or(alone AND node <> $1), false) FROM shares WHERE agent = $2 AND period = $3 AND start = $4`,
		node, sh.Agent, string(sh.Period), table.Micros(sh.Start))
	return before, othersAlone, err
}

// ChargeHeld implements haltd.LedgerStore: what nodes had that are gone becomes
// the share of nobody.
func (s *Store) ChargeHeld(ctx context.Context) error {
	return s.write(ctx, "charge what was held", func(ctx context.Context, tx pgx.Tx) error {
		// A node that writes while its lease ends has its row: it is waited for.
		if _, err := exec(ctx, tx, "SELECT 1 FROM nodes WHERE until <= "+now+" AND id IN (SELECT node FROM shares) ORDER BY id FOR UPDATE"); err != nil {
			return err
		}
		const gone = "node <> '' AND node NOT IN (SELECT id FROM nodes WHERE until > " + now + ")"
		agents, err := read(ctx, tx, value[string], "SELECT DISTINCT agent FROM shares WHERE "+gone)
		if err != nil || len(agents) == 0 {
			return err
		}
		if err := lockLedgers(ctx, tx, agents...); err != nil {
			return err
		}
		_, err = exec(ctx, tx, `WITH theirs AS (DELETE FROM shares WHERE `+gone+` AND agent = ANY($1) RETURNING *)
			INSERT INTO shares (agent, period, start, node, spent_cost, spent_tokens, held_cost, held_tokens, alone)
			SELECT agent, period, start, '', sum(spent_cost + held_cost), sum(spent_tokens + held_tokens), 0, 0, false FROM theirs
			GROUP BY agent, period, start`+addUnownedSQL, agents)
		return err
	})
}

// Spent implements haltd.LedgerStore. The hour that since is in counts as a
// whole.
func (s *Store) Spent(ctx context.Context, agent string, since time.Time) (sum haltd.Spending, err error) {
	err = s.do(ctx, "read spending", func(ctx context.Context) error {
		return s.pool.QueryRow(ctx, `SELECT coalesce(sum(cost), 0)::bigint, coalesce(sum(input + output), 0)::bigint FROM usage
			WHERE hour >= $1 AND agent = $2`, table.HourOf(since), agent).Scan((*int64)(&sum.Cost), &sum.Tokens)
	})
	return sum, err
}
