package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/table"
)

// Mark implements haltd.ControlStore.
func (s *Store) Mark(ctx context.Context, agent, session string) (haltd.Mark, bool, error) {
	m := haltd.Mark{Agent: agent, Session: session}
	var activated sql.NullInt64
	var round int64
	err := s.readers.QueryRowContext(ctx, "SELECT activated_at, round, count FROM marks WHERE agent = ? AND session = ?", agent, session).
		Scan(&activated, &round, &m.Count)
	if isNoRows(err) {
		return haltd.Mark{}, false, nil
	}
	if err != nil {
		return haltd.Mark{}, false, fmt.Errorf("read mark: %w", explain(s.path, err))
	}
	m.ActivatedAt, m.Round = table.OptionalTime(activated), uint64(round)
	return m, true, nil
}

func (s *Store) writeMark(ctx context.Context, c *haltd.Change) error {
	m := c.Mark
	if m == nil {
		return nil
	}
	return s.exec(ctx, "INSERT OR REPLACE INTO marks (agent, session, activated_at, round, count) VALUES (?, ?, ?, ?, ?)",
		m.Agent, m.Session, table.OptionalMicros(m.ActivatedAt), int64(m.Round), m.Count)
}

// pruneMarks deletes the marks that were left behind by sessions which have
// gone: if one comes back, it is marked again where it stands then.
func (s *Store) pruneMarks(ctx context.Context, t time.Time, most int64) (int64, error) {
	return s.affect(ctx, `DELETE FROM marks WHERE (agent, session) IN (SELECT m.agent, m.session FROM marks m
		WHERE m.activated_at < ? AND NOT EXISTS (
			SELECT 1 FROM sessions s JOIN agents a ON a.no = s.agent WHERE s.id = m.session AND a.id = m.agent)
		LIMIT ?)`, table.Micros(t), most)
}
