package postgres

import (
	"context"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/table"
	"github.com/jackc/pgx/v5"
)

// joinLock is held while a node chooses its number.
const joinLock = 1751215221

// Join implements haltd.NodeStore.
func (s *Store) Join(ctx context.Context, n haltd.Node, lease time.Duration) (haltd.Node, error) {
	err := s.write(ctx, "join", func(ctx context.Context, tx pgx.Tx) error {
		if n.ID == "" {
			return haltd.Errorf(haltd.CodeInvalid, "the node has none").In("id")
		}
		if _, err := exec(ctx, tx, "SELECT pg_advisory_xact_lock($1)", joinLock); err != nil {
			return err
		}
		// What ended a day ago nobody asks for any more. Of the others those that
		// have left were last seen when their lease ended.
		if _, err := exec(ctx, tx, "DELETE FROM nodes WHERE until < "+now+" - 86400000000"); err != nil {
			return err
		}
		var seen int64
		err := tx.QueryRow(ctx, `SELECT n, `+now+` FROM generate_series(0, $1::integer - 1) n
			WHERE n NOT IN (SELECT number FROM nodes WHERE until > `+now+`)
			ORDER BY n <> $2, coalesce((SELECT max(until) FROM nodes WHERE number = n AND until > seen_at), 0), n LIMIT 1`, haltd.MostNodes, n.Number).Scan(&n.Number, &seen)
		if isNoRows(err) {
			return haltd.Errorf(haltd.CodeUnavailable, "%d nodes use the store already", haltd.MostNodes)
		}
		if err != nil {
			return err
		}
		n.SeenAt, n.Alive = table.FromMicros(seen), true
		_, err = exec(ctx, tx, "INSERT INTO nodes (id, number, host, version, started_at, seen_at, until) VALUES ($1, $2, $3, $4, $5, $6, $7)",
			n.ID, n.Number, n.Host, n.Version, table.Micros(n.StartedAt), seen, seen+lease.Microseconds())
		if isConstraint(err) {
			err = haltd.Errorf(haltd.CodeExists, "there is a node %q already", n.ID)
		}
		return err
	})
	if err != nil {
		return haltd.Node{}, err
	}
	return n, nil
}

// Renew implements haltd.NodeStore.
func (s *Store) Renew(ctx context.Context, node string, lease time.Duration) error {
	return s.do(ctx, "renew the lease of this node", func(ctx context.Context) error {
		renewed, err := exec(ctx, s.pool, "UPDATE nodes SET seen_at = "+now+", until = "+now+" + $1 WHERE id = $2 AND until > "+now,
			lease.Microseconds(), node)
		if err == nil && renewed == 0 {
			err = table.LeaseEnded(node)
		}
		return err
	})
}

// Leave implements haltd.NodeStore.
func (s *Store) Leave(ctx context.Context, node string) error {
	return s.write(ctx, "leave", func(ctx context.Context, tx pgx.Tx) error {
		if _, err := exec(ctx, tx, "UPDATE nodes SET (seen_at, until) = (SELECT t, t FROM (SELECT "+now+" AS t) moment) WHERE id = $1 AND until > "+now, node); err != nil {
			return err
		}
		_, err := exec(ctx, tx, "DELETE FROM leaders WHERE node = $1", node)
		return err
	})
}

// Now implements haltd.StoreClock.
func (s *Store) Now(ctx context.Context) (t time.Time, err error) {
	err = s.do(ctx, "ask for the time", func(ctx context.Context) error {
		us, err := readOne(ctx, s.pool, value[int64], "SELECT "+now)
		t = table.FromMicros(us)
		return err
	})
	return t, err
}

// Nodes implements haltd.NodeStore.
func (s *Store) Nodes(ctx context.Context) (list []haltd.Node, err error) {
	scan := func(row scanner) (n haltd.Node, err error) {
		var started, seen int64
		err = row.Scan(&n.ID, &n.Number, &n.Host, &n.Version, &started, &seen, &n.Alive)
		n.StartedAt, n.SeenAt = table.FromMicros(started), table.FromMicros(seen)
		return n, err
	}
	err = s.do(ctx, "list nodes", func(ctx context.Context) error {
		list, err = read(ctx, s.pool, scan, "SELECT id, number, host, version, started_at, seen_at, until > "+now+` FROM nodes
			WHERE until > `+now+` - 86400000000 ORDER BY number, started_at, id`)
		return err
	})
	return list, err
}

// Lead implements haltd.NodeStore.
func (s *Store) Lead(ctx context.Context, node, task string, span time.Duration) (leads bool, err error) {
	err = s.write(ctx, "lead "+task, func(ctx context.Context, tx pgx.Tx) error {
		if err := requireAlive(ctx, tx, node); err != nil {
			return err
		}
		taken, err := exec(ctx, tx, `INSERT INTO leaders AS l (task, node, until) VALUES ($1, $2, `+now+` + $3)
			ON CONFLICT (task) DO UPDATE SET node = excluded.node, until = excluded.until
			WHERE l.node = excluded.node OR l.until <= `+now+`
				OR NOT EXISTS (SELECT 1 FROM nodes n WHERE n.id = l.node AND n.until > `+now+`)`,
			task, node, span.Microseconds())
		leads = taken > 0
		return err
	})
	return leads && err == nil, err
}

// requireAlive refuses what a node wants to do whose lease has ended. Until the
// transaction ends nobody charges what the node holds; see ChargeHeld.
func requireAlive(ctx context.Context, tx pgx.Tx, node string) error {
	alive, err := read(ctx, tx, value[bool], "SELECT true FROM nodes WHERE id = $1 AND until > "+now+" FOR KEY SHARE", node)
	if err == nil && len(alive) == 0 {
		err = table.LeaseEnded(node)
	}
	return err
}
