package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/table"
	"github.com/jackc/pgx/v5"
)

// keepChanges is how long changes are kept for nodes that follow.
const keepChanges = 2 * time.Hour

// takeVersion gives a change that is told its number. Nobody else gets one
// until this transaction ends.
func takeVersion(ctx context.Context, tx pgx.Tx, c *haltd.Change) (version int64, err error) {
	if _, ok := table.FeedChange(c); !ok {
		return 0, nil
	}
	return readOne(ctx, tx, value[int64], "UPDATE counters SET value = value + 1 WHERE name = 'changes' RETURNING value")
}

// refuseOutdated refuses a change by a node that does not know yet what
// another has changed of the same.
func refuseOutdated(ctx context.Context, tx pgx.Tx, c *haltd.Change) error {
	about := table.SubjectsOf(c)
	if c.Node == "" || about == (table.Subjects{}) {
		return nil
	}
	outdated, err := readOne(ctx, tx, value[bool], `SELECT EXISTS (SELECT 1 FROM changes WHERE version > $1 AND node <> $2
		AND (standing = $3 OR override = $4 OR rule = $5 OR bypass AND $6))`,
		c.Seen, c.Node, table.OptionalText(about.Standing), table.OptionalText(about.Override), table.OptionalText(about.Rule), about.Bypass)
	if err != nil {
		return err
	}
	if !outdated {
		return requireChanges(ctx, tx, c.Seen, haltd.CodeConflict)
	}
	return haltd.Errorf(haltd.CodeConflict, "another node has changed the same")
}

// requireChanges fails where changes after a version have gone, and where the
// database has not had it: it was restored, or a replica that was behind has
// taken over.
func requireChanges(ctx context.Context, db querier, after int64, code string) error {
	// The version that this transaction has taken is none that has gone.
	all, err := readOne(ctx, db, value[bool], `SELECT $1::bigint BETWEEN coalesce((SELECT min(version) - 1 FROM changes), value - $2::bigint) AND value - $2::bigint
		FROM counters WHERE name = 'changes'`, after, map[bool]int64{true: 1}[code == haltd.CodeConflict])
	if err == nil && !all {
		err = haltd.Errorf(code, "what was changed after %d is not known any more", after)
	}
	return err
}

// writeChange logs a change for the nodes that follow, and tells who listens.
func writeChange(ctx context.Context, tx pgx.Tx, c *haltd.Change, version int64) error {
	change, ok := table.FeedChange(c)
	if !ok {
		return nil
	}
	about := table.SubjectsOf(c)
	body, err := json.Marshal(change)
	if err != nil {
		return table.Unfit("change", err)
	}
	_, err = exec(ctx, tx, "INSERT INTO changes (version, node, time, standing, override, rule, bypass, body) VALUES ($1, $2, "+now+", $3, $4, $5, $6, $7)",
		version, c.Node, table.OptionalText(about.Standing), table.OptionalText(about.Override), table.OptionalText(about.Rule), about.Bypass, string(body))
	if err != nil {
		return err
	}
	_, err = exec(ctx, tx, "SELECT pg_notify('"+changesChannel+"', '')")
	return err
}

// logChange takes a version and writes a change that is nothing but told.
func logChange(ctx context.Context, tx pgx.Tx, c haltd.Change) error {
	version, err := takeVersion(ctx, tx, &c)
	if err != nil {
		return err
	}
	return writeChange(ctx, tx, &c, version)
}

// Changes implements haltd.ChangeFeed.
func (s *Store) Changes(ctx context.Context, after int64) (list []haltd.Change, err error) {
	for {
		changed := s.changed.Wait()
		err := s.snapshot(ctx, "follow changes", func(ctx context.Context, tx pgx.Tx) error {
			list, err = changesAfter(ctx, tx, after)
			return err
		})
		if err != nil {
			return nil, err
		}
		if len(list) > 0 {
			return list, nil
		}
		if err := await(ctx, changed); err != nil {
			return nil, err
		}
	}
}

func changesAfter(ctx context.Context, tx pgx.Tx, after int64) ([]haltd.Change, error) {
	if err := requireChanges(ctx, tx, after, haltd.CodeNotFound); err != nil {
		return nil, err
	}
	scan := func(row scanner) (c haltd.Change, err error) {
		var version int64
		var body []byte
		if err := row.Scan(&version, &body); err != nil {
			return c, err
		}
		if err := json.Unmarshal(body, &c); err != nil {
			return c, fmt.Errorf("read change %d: %w", version, err)
		}
		c.Version = version
		return c, nil
	}
	return read(ctx, tx, scan, "SELECT version, body FROM changes WHERE version > $1 ORDER BY version LIMIT 1000", after)
}

// forgetChanges deletes what nobody follows any more.
func forgetChanges(ctx context.Context, tx pgx.Tx, t time.Time, most int64) (int64, error) {
	return exec(ctx, tx, "DELETE FROM changes WHERE version IN (SELECT version FROM changes WHERE time < $1 ORDER BY version LIMIT $2)",
		table.Micros(t), most)
}
