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

// notable finds the standings that differ from simply active.
const notable = "(NOT active OR num_nonnulls(deactivated_by, incident, changed_by, why, changed_at, activated_at, grace_until) > 0)"

// hasStanding finds the sessions s that have a standing.
const hasStanding = "EXISTS (SELECT 1 FROM session_standings t WHERE t.agent = s.agent AND t.session = s.id)"

func readStandings(ctx context.Context, db querier) ([]haltd.Standing, error) {
	scan := func(row scanner) (haltd.Standing, error) {
		var agent, session string
		var r table.StandingRow
		err := row.Scan(append([]any{&agent, &session}, r.Columns()...)...)
		return r.Of(agent, session), err
	}
	return read(ctx, db, scan, `SELECT id AS agent, '' COLLATE "C" AS session, `+table.StandingColumns+` FROM agents WHERE `+notable+`
		UNION ALL SELECT agent, session, `+table.StandingColumns+` FROM session_standings WHERE `+notable+`
		ORDER BY agent, session`)
}

func writeStanding(ctx context.Context, tx pgx.Tx, c *haltd.Change) error {
	if c.Standing == nil {
		return nil
	}
	if err := ensureAgent(ctx, tx, c.Standing.Agent, c.Standing.At, c.Events); err != nil {
		return err
	}
	values := table.StandingValues(c.Standing)
	if c.Standing.Session == "" {
		_, err := exec(ctx, tx, `UPDATE agents SET (`+table.StandingColumns+`) = ($1, $2, $3, $4, $5, $6, $7, $8) WHERE id = $9`,
			append(values, c.Standing.Agent)...)
		return err
	}
	_, err := exec(ctx, tx, `INSERT INTO session_standings (agent, session, `+table.StandingColumns+`)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (agent, session) DO UPDATE SET
		active = excluded.active, deactivated_by = excluded.deactivated_by, incident = excluded.incident, changed_by = excluded.changed_by,
		why = excluded.why, changed_at = excluded.changed_at, activated_at = excluded.activated_at, grace_until = excluded.grace_until`,
		append([]any{c.Standing.Agent, c.Standing.Session}, values...)...)
	return err
}

func writeOverride(ctx context.Context, tx pgx.Tx, c *haltd.Change) error {
	if c.Override == nil {
		return nil
	}
	if c.Override.IsZero() {
		_, err := exec(ctx, tx, "UPDATE agents SET override = NULL WHERE id = $1", c.Agent)
		return err
	}
	if err := ensureAgent(ctx, tx, c.Agent, time.Time{}, c.Events); err != nil {
		return err
	}
	text, err := json.Marshal(c.Override)
	if err != nil {
		return table.Unfit("override", err)
	}
	_, err = exec(ctx, tx, "UPDATE agents SET override = $1 WHERE id = $2", string(text), c.Agent)
	return err
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
func ensureAgent(ctx context.Context, tx pgx.Tx, id string, at time.Time, events []haltd.Event) error {
	for i := 0; at.IsZero() && i < len(events); i++ {
		at = events[i].Time
	}
	if at.IsZero() {
		return requireAgent(ctx, tx, id)
	}
	_, err := exec(ctx, tx, `INSERT INTO agents AS a (id, first_seen, last_seen) VALUES ($1, $2, $2) ON CONFLICT (id) DO UPDATE SET
		first_seen = CASE WHEN a.deleted THEN excluded.first_seen ELSE a.first_seen END,
		last_seen = CASE WHEN a.deleted THEN excluded.last_seen ELSE a.last_seen END, deleted = false`, id, table.Micros(at))
	return err
}

// requireAgent is for a change that does not say when it happens.
func requireAgent(ctx context.Context, tx pgx.Tx, id string) error {
	known, err := readOne(ctx, tx, value[bool], "SELECT EXISTS (SELECT 1 FROM agents WHERE id = $1 AND NOT deleted)", id)
	if err != nil || known {
		return err
	}
	return haltd.Errorf(haltd.CodeInvalid, "agent %q is new, and nothing in the change says when it appeared", id).In("events")
}

// Mark implements haltd.ControlStore.
func (s *Store) Mark(ctx context.Context, agent, session string) (m haltd.Mark, ok bool, err error) {
	scan := func(row scanner) (haltd.Mark, error) {
		m := haltd.Mark{Agent: agent, Session: session}
		var activated *int64
		var round int64
		err := row.Scan(&activated, &round, &m.Count)
		if activated != nil {
			m.ActivatedAt = table.FromMicros(*activated)
		}
		m.Round = uint64(round)
		return m, err
	}
	err = s.do(ctx, "read mark", func(ctx context.Context) error {
		m, err = readOne(ctx, s.pool, scan, "SELECT activated_at, round, count FROM marks WHERE agent = $1 AND session = $2", agent, session)
		ok = err == nil
		if isNoRows(err) {
			err = nil
		}
		return err
	})
	return m, ok, err
}

func writeMark(ctx context.Context, tx pgx.Tx, c *haltd.Change) error {
	m := c.Mark
	if m == nil {
		return nil
	}
	_, err := exec(ctx, tx, `INSERT INTO marks (agent, session, activated_at, round, count) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (agent, session) DO UPDATE SET activated_at = excluded.activated_at, round = excluded.round, count = excluded.count`,
		m.Agent, m.Session, table.OptionalMicros(m.ActivatedAt), int64(m.Round), m.Count)
	return err
}

// pruneMarks deletes the marks that were left behind by sessions which have
// gone: if one comes back, it is marked again where it stands then.
func pruneMarks(ctx context.Context, tx pgx.Tx, t time.Time, most int64) (int64, error) {
	return exec(ctx, tx, `DELETE FROM marks WHERE (agent, session) IN (SELECT m.agent, m.session FROM marks m
		WHERE m.activated_at < $1 AND NOT EXISTS (SELECT 1 FROM sessions s WHERE s.id = m.session AND s.agent = m.agent)
		LIMIT $2)`, table.Micros(t), most)
}
