package postgres

import (
	"context"
	"database/sql"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/table"
	"github.com/jackc/pgx/v5"
)

// writeRemark acknowledges an incident, comments on it, or both. The row is
// locked first: of two comments that come together none is lost.
func writeRemark(ctx context.Context, tx pgx.Tx, c *haltd.Change) error {
	if c.Remark == nil {
		return nil
	}
	r := c.Remark
	comments, err := readOne(ctx, tx, value[sql.NullString], "SELECT comments FROM incidents WHERE id = $1 FOR UPDATE", r.Incident)
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
		if _, err := exec(ctx, tx, "UPDATE incidents SET comments = $1 WHERE id = $2", comments.String, r.Incident); err != nil {
			return err
		}
	}
	if r.Seen {
		_, err = exec(ctx, tx, "UPDATE incidents SET seen_at = $1, seen_by = $2 WHERE id = $3 AND seen_at IS NULL", table.Micros(r.At), r.By, r.Incident)
	}
	return err
}

// IncidentCounts implements haltd.IncidentStore.
func (s *Store) IncidentCounts(ctx context.Context, q haltd.IncidentQuery) (counts []haltd.IncidentCount, err error) {
	var w table.Conditions
	w.Incidents(q)
	scan := func(row scanner) (haltd.IncidentCount, error) { return table.ScanIncidentCount(row.Scan) }
	err = s.do(ctx, "count incidents", func(ctx context.Context) error {
		counts, err = read(ctx, s.pool, scan, numbered(insensitive(table.IncidentCounts(&w))), w.Args...)
		return err
	})
	return counts, err
}

// AgentCounts implements haltd.AgentStore.
func (s *Store) AgentCounts(ctx context.Context, search string) (c haltd.AgentCounts, err error) {
	var w table.Conditions
	w.Add("NOT a.deleted")
	w.Contains("a.id", search)
	scan := func(row scanner) (c haltd.AgentCounts, err error) { return c, table.ScanAgentCounts(row.Scan, &c) }
	err = s.do(ctx, "count agents", func(ctx context.Context) error {
		c, err = readOne(ctx, s.pool, scan, numbered(insensitive(table.AgentCounts(&w))), w.Args...)
		return err
	})
	return c, err
}
