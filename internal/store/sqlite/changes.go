package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/table"
)

// keepChanges is how long changes are kept for nodes that follow.
const keepChanges = 2 * time.Hour

// refuseOutdated refuses a change by a node that does not know yet what
// another has changed of the same.
func (s *Store) refuseOutdated(ctx context.Context, c *haltd.Change) error {
	about := table.SubjectsOf(c)
	if c.Node == "" || about == (table.Subjects{}) {
		return nil
	}
	var outdated bool
	row := s.writer.conn.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM changes WHERE version > ? AND node <> ?
		AND (standing = ? OR override = ? OR rule = ? OR bypass = 1 AND ?))`,
		c.Seen, c.Node, table.OptionalText(about.Standing), table.OptionalText(about.Override), table.OptionalText(about.Rule), about.Bypass)
	if err := row.Scan(&outdated); err != nil {
		return err
	}
	if !outdated {
		return s.requireChanges(ctx, s.writer.conn, c.Seen, haltd.CodeConflict)
	}
	return haltd.Errorf(haltd.CodeConflict, "another node has changed the same")
}

// requireChanges fails where changes after a version have gone, and where the
// file has not had it.
func (s *Store) requireChanges(ctx context.Context, db querier, after int64, code string) error {
	all, err := read(ctx, db, func(row scanner) (all bool, err error) { return all, row.Scan(&all) },
		`WITH last (version) AS (SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0))
		SELECT ? BETWEEN coalesce((SELECT min(version) - 1 FROM changes), version) AND version FROM last`, after)
	if err == nil && !all[0] {
		err = haltd.Errorf(code, "what was changed after %d is not known any more", after)
	}
	return err
}

// writeChange logs a change for the nodes that follow.
func (s *Store) writeChange(ctx context.Context, c *haltd.Change) error {
	change, ok := table.FeedChange(c)
	if !ok {
		return nil
	}
	about := table.SubjectsOf(c)
	body, err := json.Marshal(change)
	if err != nil {
		return table.Unfit("change", err)
	}
	return s.exec(ctx, "INSERT INTO changes (node, time, standing, override, rule, bypass, body) VALUES (?, "+now+", ?, ?, ?, ?, ?)",
		c.Node, table.OptionalText(about.Standing), table.OptionalText(about.Override), table.OptionalText(about.Rule), about.Bypass, string(body))
}

// Changes implements haltd.ChangeFeed.
func (s *Store) Changes(ctx context.Context, after int64) ([]haltd.Change, error) {
	for {
		changed := s.changed.Wait()
		list, err := s.changesAfter(ctx, after)
		if err != nil {
			return nil, fmt.Errorf("follow changes: %w", explain(s.path, err))
		}
		if len(list) > 0 {
			return list, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (s *Store) changesAfter(ctx context.Context, after int64) ([]haltd.Change, error) {
	tx, err := s.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	if err := s.requireChanges(ctx, tx, after, haltd.CodeNotFound); err != nil {
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
	return read(ctx, tx, scan, "SELECT version, body FROM changes WHERE version > ? ORDER BY version LIMIT 1000", after)
}

func readVersion(ctx context.Context, db querier) (int64, error) {
	list, err := read(ctx, db, func(row scanner) (v int64, err error) { return v, row.Scan(&v) },
		"SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0)")
	if err != nil {
		return 0, err
	}
	return list[0], nil
}

// forgetChanges deletes what nobody follows any more.
func (s *Store) forgetChanges(ctx context.Context, t time.Time, most int64) (int64, error) {
	return s.affect(ctx, "DELETE FROM changes WHERE version IN (SELECT version FROM changes WHERE time < ? LIMIT ?)", table.Micros(t), most)
}
