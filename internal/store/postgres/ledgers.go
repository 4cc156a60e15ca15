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

// sums is what all nodes have of a ledger, what one of them said last, and whether
// another one is alone.
type sums struct {
	all         haltd.Ledger
	mine        haltd.Share
	othersAlone bool
}

// sumsOf reads the sums of the ledgers that shares are of, with nothing in those
// that there are none of.
func sumsOf(ctx context.Context, db querier, node string, shares []haltd.Share) ([]sums, error) {
	agents, periods, starts := make([]string, len(shares)), make([]string, len(shares)), make([]int64, len(shares))
	for i := range shares {
		agents[i], periods[i], starts[i] = mend(shares[i].Agent), string(shares[i].Period), table.Micros(shares[i].Start)
	}
	scan := func(row scanner) (n sums, err error) {
		err = row.Scan((*int64)(&n.all.Spent.Cost), &n.all.Spent.Tokens, (*int64)(&n.all.Held.Cost), &n.all.Held.Tokens,
			(*int64)(&n.mine.Spent.Cost), &n.mine.Spent.Tokens, (*int64)(&n.mine.Held.Cost), &n.mine.Held.Tokens, &n.othersAlone)
		return n, err
	}
	list, err := read(ctx, db, scan, `SELECT
		coalesce(sum(s.spent_cost), 0)::bigint, coalesce(sum(s.spent_tokens), 0)::bigint,
		coalesce(sum(s.held_cost), 0)::bigint, coalesce(sum(s.held_tokens), 0)::bigint,
		coalesce(sum(s.spent_cost) FILTER (WHERE s.node = $1), 0)::bigint, coalesce(sum(s.spent_tokens) FILTER (WHERE s.node = $1), 0)::bigint,
		coalesce(sum(s.held_cost) FILTER (WHERE s.node = $1), 0)::bigint, coalesce(sum(s.held_tokens) FILTER (WHERE s.node = $1), 0)::bigint,
		coalesce(bool_or(s.alone AND s.node <> $1), false)
		FROM unnest($2::text[], $3::text[], $4::bigint[]) WITH ORDINALITY AS wanted (agent, period, start, no)
		LEFT JOIN shares s ON s.agent = wanted.agent AND s.period = wanted.period AND s.start = wanted.start
		GROUP BY wanted.no ORDER BY wanted.no`, node, agents, periods, starts)
	if err != nil {
		return nil, err
	}
	for i := range list {
		sh := &shares[i]
		list[i].all.Agent, list[i].all.Period, list[i].all.Start = sh.Agent, sh.Period, sh.Start
		list[i].mine.Agent, list[i].mine.Period, list[i].mine.Start = sh.Agent, sh.Period, sh.Start
	}
	return list, nil
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
	err = s.write(ctx, "open ledger", func(ctx context.Context, tx pgx.Tx) error {
		if err := lockLedgers(ctx, tx, l.Agent); err != nil {
			return err
		}
		list, err := sumsOf(ctx, tx, node, []haltd.Share{{Agent: l.Agent, Period: l.Period, Start: l.Start}})
		if err != nil {
			return err
		}
		all, mine = list[0].all, list[0].mine
		more := table.Missing(l.Spent, all)
		if more == (haltd.Spending{}) {
			return nil
		}
		all.Spent = all.Spent.Add(more)
		return addToUnownedShare(ctx, tx, l, more)
	})
	if err != nil {
		return haltd.Ledger{}, haltd.Share{}, err
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
	list, err := sumsOf(ctx, tx, node, shares)
	if err != nil {
		return nil, false, err
	}
	var kept []haltd.Ledger
	fits = true
	for i := range shares {
		sh, l, before := &shares[i], list[i].all, list[i].mine
		next := l
		next.Spent = l.Spent.Sub(before.Spent).Add(sh.Spent)
		next.Held = l.Held.Sub(before.Held).Add(sh.Held)
		fits = fits && table.Fits(sh, before, l, next, list[i].othersAlone)
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
