package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/table"
)

// now is the clock of the store, in microseconds.
const now = "CAST(unixepoch('subsec') * 1000000 AS INTEGER)"

// endLeases ends what an earlier process held: one process at a time has the
// file, and none is cut off from it.
func (s *Store) endLeases(ctx context.Context) error {
	return s.writer.write(ctx, func(ctx context.Context) error {
		if err := s.exec(ctx, "UPDATE nodes SET seen_at = "+now+", until = "+now+" WHERE until > "+now); err != nil {
			return err
		}
		if err := s.exec(ctx, "UPDATE deliveries SET claimed = 0 WHERE claimed > 0"); err != nil {
			return err
		}
		return s.exec(ctx, "DELETE FROM leaders")
	})
}

// Join implements haltd.NodeStore.
func (s *Store) Join(ctx context.Context, n haltd.Node, lease time.Duration) (haltd.Node, error) {
	err := s.writer.write(ctx, func(ctx context.Context) error {
		if n.ID == "" {
			return haltd.Errorf(haltd.CodeInvalid, "the node has none").In("id")
		}
		// What ended a day ago nobody asks for any more. Of the others those that
		// have left were last seen when their lease ended.
		if err := s.exec(ctx, "DELETE FROM nodes WHERE until < "+now+" - 86400000000"); err != nil {
			return err
		}
		var seen int64
		row := s.writer.conn.QueryRowContext(ctx, `WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ?)
			SELECT n, `+now+` FROM numbers WHERE n NOT IN (SELECT number FROM nodes WHERE until > `+now+`)
			ORDER BY n <> ?, coalesce((SELECT max(until) FROM nodes WHERE number = n AND until > seen_at), 0), n LIMIT 1`, haltd.MostNodes, n.Number)
		if err := row.Scan(&n.Number, &seen); isNoRows(err) {
			return haltd.Errorf(haltd.CodeUnavailable, "%d nodes use the store already", haltd.MostNodes)
		} else if err != nil {
			return err
		}
		n.SeenAt, n.Alive = table.FromMicros(seen), true
		return s.exec(ctx, "INSERT INTO nodes (id, number, host, version, started_at, seen_at, until) VALUES (?, ?, ?, ?, ?, ?, ?)",
			n.ID, n.Number, n.Host, n.Version, table.Micros(n.StartedAt), seen, seen+lease.Microseconds())
	})
	if isConstraint(err) {
		err = haltd.Errorf(haltd.CodeExists, "there is a node %q already", n.ID)
	}
	if err != nil {
		return haltd.Node{}, fmt.Errorf("join: %w", explain(s.path, err))
	}
	return n, nil
}

// Renew implements haltd.NodeStore.
func (s *Store) Renew(ctx context.Context, node string, lease time.Duration) error {
	err := s.writer.write(ctx, func(ctx context.Context) error {
		renewed, err := s.affect(ctx, "UPDATE nodes SET seen_at = "+now+", until = "+now+" + ? WHERE id = ? AND until > "+now,
			lease.Microseconds(), node)
		if err == nil && renewed == 0 {
			err = table.LeaseEnded(node)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("renew the lease of this node: %w", explain(s.path, err))
	}
	return nil
}

// Leave implements haltd.NodeStore.
func (s *Store) Leave(ctx context.Context, node string) error {
	err := s.writer.write(ctx, func(ctx context.Context) error {
		if err := s.exec(ctx, "UPDATE nodes SET seen_at = "+now+", until = "+now+" WHERE id = ? AND until > "+now, node); err != nil {
			return err
		}
		return s.exec(ctx, "DELETE FROM leaders WHERE node = ?", node)
	})
	if err != nil {
		return fmt.Errorf("leave: %w", explain(s.path, err))
	}
	return nil
}

// Now implements haltd.StoreClock.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	var us int64
	if err := s.readers.QueryRowContext(ctx, "SELECT "+now).Scan(&us); err != nil {
		return time.Time{}, fmt.Errorf("ask for the time: %w", explain(s.path, err))
	}
	return table.FromMicros(us), nil
}

// Nodes implements haltd.NodeStore.
func (s *Store) Nodes(ctx context.Context) ([]haltd.Node, error) {
	scan := func(row scanner) (n haltd.Node, err error) {
		var started, seen int64
		err = row.Scan(&n.ID, &n.Number, &n.Host, &n.Version, &started, &seen, &n.Alive)
		n.StartedAt, n.SeenAt = table.FromMicros(started), table.FromMicros(seen)
		return n, err
	}
	list, err := read(ctx, s.readers, scan, "SELECT id, number, host, version, started_at, seen_at, until > "+now+` FROM nodes
		WHERE until > `+now+` - 86400000000 ORDER BY number, started_at, id`)
	if err != nil {
		return nil, fmt.Errorf("list nodes: %w", explain(s.path, err))
	}
	return list, nil
}

// Lead implements haltd.NodeStore.
func (s *Store) Lead(ctx context.Context, node, task string, span time.Duration) (leads bool, err error) {
	err = s.writer.write(ctx, func(ctx context.Context) error {
		if err := s.requireAlive(ctx, node); err != nil {
			return err
		}
		taken, err := s.affect(ctx, `INSERT INTO leaders (task, node, until) VALUES (?1, ?2, `+now+` + ?3)
			ON CONFLICT (task) DO UPDATE SET node = excluded.node, until = excluded.until
			WHERE node = excluded.node OR until <= `+now+`
				OR NOT EXISTS (SELECT 1 FROM nodes n WHERE n.id = leaders.node AND n.until > `+now+`)`,
			task, node, span.Microseconds())
		leads = taken > 0
		return err
	})
	if err != nil {
		return false, fmt.Errorf("lead %s: %w", task, explain(s.path, err))
	}
	return leads, nil
}

const aliveSQL = "SELECT EXISTS (SELECT 1 FROM nodes WHERE id = ? AND until > " + now + ")"

// requireAlive refuses what a node wants to do whose lease has ended.
func (s *Store) requireAlive(ctx context.Context, node string) error {
	var alive bool
	row := s.writer.conn.QueryRowContext(ctx, aliveSQL, node)
	if err := row.Scan(&alive); err != nil || alive {
		return err
	}
	return table.LeaseEnded(node)
}
