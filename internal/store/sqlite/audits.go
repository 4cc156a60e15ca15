package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/table"
)

const insertAuditSQL = `INSERT INTO audits (id, time, by, change, agent, session, body) VALUES (?, ?, ?, ?, ?, ?, ?)
	ON CONFLICT (id) DO NOTHING`

func (a *appender) writeAudit(e *haltd.Event) error {
	text, err := json.Marshal(e.Audit)
	if err != nil {
		return table.Unfit("event "+e.ID.String(), err)
	}
	return a.insertAudit.exec(int64(e.ID), table.Micros(e.Time), e.Audit.By, e.Audit.Change, e.Agent, e.Session, string(text))
}

// Audits implements haltd.AuditStore.
func (s *Store) Audits(ctx context.Context, q haltd.AuditQuery) ([]haltd.AuditEntry, error) {
	query, args := "SELECT id, time, agent, session, body FROM audits WHERE 1", []any{}
	where := func(condition string, arg any) { query, args = query+" AND "+condition, append(args, arg) }
	for _, c := range []struct{ column, value string }{{"by", q.By}, {"change", q.Change}, {"agent", q.Agent}} {
		if c.value != "" {
			where(c.column+" = ?", c.value)
		}
	}
	if !q.Since.IsZero() {
		where("time >= ?", table.Micros(q.Since))
	}
	if !q.Until.IsZero() {
		where("time < ?", table.Micros(q.Until))
	}
	if q.Before != 0 {
		where("id < ?", int64(q.Before))
	}
	list, err := read(ctx, s.readers, table.ScanAudit, query+" ORDER BY id DESC LIMIT ?", append(args, q.Limit)...)
	if err != nil {
		return nil, fmt.Errorf("read the audit log: %w", explain(s.path, err))
	}
	return list, nil
}

// PruneAudits implements haltd.AuditStore.
func (s *Store) PruneAudits(ctx context.Context, t time.Time) (total int64, err error) {
	err = s.inChunks(ctx, t, pruneChunk, func(ctx context.Context, t time.Time, chunk int64) (int64, error) {
		gone, err := s.affect(ctx, "DELETE FROM audits WHERE id IN (SELECT id FROM audits WHERE time < ? LIMIT ?)", table.Micros(t), chunk)
		total += gone
		return gone, err
	})
	if err != nil {
		return total, fmt.Errorf("prune the audit log: %w", explain(s.path, err))
	}
	return total, nil
}
