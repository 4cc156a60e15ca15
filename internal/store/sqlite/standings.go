package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/table"
)

// notable finds the standings that differ from simply active.
const notable = "active = 0 OR coalesce(deactivated_by, incident, changed_by, why, changed_at, activated_at, grace_until) IS NOT NULL"

// hasStanding finds the sessions s that have a standing.
const hasStanding = "EXISTS (SELECT 1 FROM agents a JOIN session_standings t ON t.agent = a.id WHERE a.no = s.agent AND t.session = s.id)"

func readStandings(ctx context.Context, db querier) ([]haltd.Standing, error) {
	scan := func(row scanner) (haltd.Standing, error) {
		var agent, session string
		var r table.StandingRow
		err := row.Scan(append([]any{&agent, &session}, r.Columns()...)...)
		return r.Of(agent, session), err
	}
	return read(ctx, db, scan, `SELECT id AS agent, '' AS session, `+table.StandingColumns+` FROM agents WHERE `+notable+`
		UNION ALL SELECT agent, session, `+table.StandingColumns+` FROM session_standings WHERE `+notable+`
		ORDER BY agent, session`)
}

func (s *Store) writeStanding(ctx context.Context, c *haltd.Change) error {
	if c.Standing == nil {
		return nil
	}
	if err := s.ensureAgent(ctx, c.Standing.Agent, c.Standing.At, c.Events); err != nil {
		return err
	}
	values := table.StandingValues(c.Standing)
	if c.Standing.Session == "" {
		return s.exec(ctx, `UPDATE agents SET (`+table.StandingColumns+`) = (?, ?, ?, ?, ?, ?, ?, ?) WHERE id = ?`,
			append(values, c.Standing.Agent)...)
	}
	return s.exec(ctx, `INSERT OR REPLACE INTO session_standings (agent, session, `+table.StandingColumns+`)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, append([]any{c.Standing.Agent, c.Standing.Session}, values...)...)
}

func (s *Store) writeOverride(ctx context.Context, c *haltd.Change) error {
	if c.Override == nil {
		return nil
	}
	if c.Override.IsZero() {
		return s.exec(ctx, "UPDATE agents SET override = NULL WHERE id = ?", c.Agent)
	}
	if err := s.ensureAgent(ctx, c.Agent, time.Time{}, c.Events); err != nil {
		return err
	}
	text, err := json.Marshal(c.Override)
	if err != nil {
		return table.Unfit("override", err)
	}
	return s.exec(ctx, "UPDATE agents SET override = ? WHERE id = ?", string(text), c.Agent)
}

func readOverrides(ctx context.Context, db querier) (map[string]haltd.PolicyOverride, error) {
	overrides := map[string]haltd.PolicyOverride{}
	scan := func(row scanner) (agent string, err error) {
		var text []byte
		if err := row.Scan(&agent, &text); err != nil {
			return "", err
		}
		var o haltd.PolicyOverride
		if err := json.Unmarshal(text, &o); err != nil {
			return "", fmt.Errorf("override of agent %s: %w", agent, err)
		}
		overrides[agent] = o
		return agent, nil
	}
	_, err := read(ctx, db, scan, "SELECT id, override FROM agents WHERE override IS NOT NULL")
	return overrides, err
}

// ensureAgent makes the row of an agent that was never seen, or was deleted,
// as of at or, without it, of the first event that says when.
func (s *Store) ensureAgent(ctx context.Context, id string, at time.Time, events []haltd.Event) error {
	for i := 0; at.IsZero() && i < len(events); i++ {
		at = events[i].Time
	}
	if at.IsZero() {
		return s.requireAgent(ctx, id)
	}
	return s.exec(ctx, `INSERT INTO agents (id, first_seen, last_seen) VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET
		first_seen = iif(deleted, excluded.first_seen, first_seen), last_seen = iif(deleted, excluded.last_seen, last_seen), deleted = 0`,
		id, table.Micros(at), table.Micros(at))
}

// requireAgent is for a change that does not say when it happens.
func (s *Store) requireAgent(ctx context.Context, id string) error {
	var known bool
	row := s.writer.conn.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM agents WHERE id = ? AND deleted = 0)", id)
	if err := row.Scan(&known); err != nil || known {
		return err
	}
	return haltd.Errorf(haltd.CodeInvalid, "agent %q is new, and nothing in the change says when it appeared", id).In("events")
}
