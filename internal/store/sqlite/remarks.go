package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/table"
)

// writeRemark acknowledges an incident, comments on it, or both.
func (s *Store) writeRemark(ctx context.Context, c *haltd.Change) error {
	if c.Remark == nil {
		return nil
	}
	r := c.Remark
	var comments sql.NullString
	err := s.writer.conn.QueryRowContext(ctx, "SELECT comments FROM incidents WHERE id = ?", r.Incident).Scan(&comments)
	if isNoRows(err) {
		return table.NoIncident(r.Incident)
	}
	if err != nil {
		return err
	}
	if r.Text != "" {
		if comments.String, err = table.AddComment(comments.String, r); err != nil {
			return err
		}
		if err := s.exec(ctx, "UPDATE incidents SET comments = ? WHERE id = ?", comments.String, r.Incident); err != nil {
			return err
		}
	}
	if !r.Seen {
		return nil
	}
	return s.exec(ctx, "UPDATE incidents SET seen_at = ?, seen_by = ? WHERE id = ? AND seen_at IS NULL", table.Micros(r.At), r.By, r.Incident)
}

// IncidentCounts implements haltd.IncidentStore.
func (s *Store) IncidentCounts(ctx context.Context, q haltd.IncidentQuery) ([]haltd.IncidentCount, error) {
	var w table.Conditions
	w.Incidents(q)
	counts, err := read(ctx, s.readers, func(row scanner) (haltd.IncidentCount, error) { return table.ScanIncidentCount(row.Scan) },
		table.IncidentCounts(&w), w.Args...)
	if err != nil {
		return nil, fmt.Errorf("count incidents: %w", explain(s.path, err))
	}
	return counts, nil
}

// AgentCounts implements haltd.AgentStore.
func (s *Store) AgentCounts(ctx context.Context, search string) (c haltd.AgentCounts, err error) {
	var w table.Conditions
	w.Add("a.deleted = 0")
	w.Contains("a.id", search)
	if err := table.ScanAgentCounts(s.readers.QueryRowContext(ctx, table.AgentCounts(&w), w.Args...).Scan, &c); err != nil {
		return c, fmt.Errorf("count agents: %w", explain(s.path, err))
	}
	return c, nil
}
