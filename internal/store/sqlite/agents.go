package sqlite

import (
	"context"
	"fmt"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/table"
)

const agentColumns = `SELECT a.no, a.id, a.shared, a.first_seen, a.last_seen,
	a.calls, a.blocked, a.errors, a.input, a.output, a.cache_read, a.cache_write, a.cost,
	a.active, a.deactivated_by, a.incident, a.changed_by, a.why, a.changed_at, a.activated_at, a.grace_until
	FROM agents a`

const sessionColumns = `SELECT s.no, s.id, a.id, s.client, s.model, s.first_seen, s.last_seen, s.peak_score,
	s.calls, s.blocked, s.errors, s.input, s.output, s.cache_read, s.cache_write, s.cost,
	t.active, t.deactivated_by, t.incident, t.changed_by, t.why, t.changed_at, t.activated_at, t.grace_until
	FROM sessions s JOIN agents a ON a.no = s.agent
	LEFT JOIN session_standings t ON t.agent = a.id AND t.session = s.id`

// Agents implements haltd.AgentStore.
func (s *Store) Agents(ctx context.Context, q haltd.AgentQuery) ([]haltd.Agent, string, error) {
	var w table.Conditions
	w.Add("a.deleted = 0")
	w.Agents(q)
	order := table.OrderBy(q.Sort, "a", 'a')
	scan := func(row scanner) (haltd.Agent, table.Position, error) {
		a, at, err := table.ScanAgent(row)
		return a, order.Place(at, &a.Totals), err
	}
	agents, next, err := list(ctx, s.readers, listing[haltd.Agent]{
		columns: agentColumns, at: order.Column, no: "a.no", kind: order.Kind, scan: scan, where: w, page: q.Page,
	})
	if err != nil {
		return nil, "", fmt.Errorf("list agents: %w", explain(s.path, err))
	}
	return agents, next, nil
}

// Agent implements haltd.AgentStore.
func (s *Store) Agent(ctx context.Context, id string) (haltd.Agent, error) {
	a, _, err := table.ScanAgent(s.readers.QueryRowContext(ctx, agentColumns+" WHERE a.id = ? AND a.deleted = 0", id))
	if isNoRows(err) {
		err = table.NoAgent(id)
	}
	if err != nil {
		return haltd.Agent{}, fmt.Errorf("read agent: %w", explain(s.path, err))
	}
	return a, nil
}

// Sessions implements haltd.AgentStore.
func (s *Store) Sessions(ctx context.Context, q haltd.SessionQuery) ([]haltd.Session, string, error) {
	var w table.Conditions
	w.Add("a.deleted = 0")
	w.Sessions(q)
	order := table.OrderBy(q.Sort, "s", 's')
	scan := func(row scanner) (haltd.Session, table.Position, error) {
		session, at, err := table.ScanSession(row)
		return session, order.Place(at, &session.Totals), err
	}
	sessions, next, err := list(ctx, s.readers, listing[haltd.Session]{
		columns: sessionColumns, at: order.Column, no: "s.no", kind: order.Kind, scan: scan, where: w, page: q.Page,
	})
	if err != nil {
		return nil, "", fmt.Errorf("list sessions: %w", explain(s.path, err))
	}
	return sessions, next, nil
}

// Session implements haltd.AgentStore.
func (s *Store) Session(ctx context.Context, agent, id string) (haltd.Session, error) {
	session, _, err := table.ScanSession(s.readers.QueryRowContext(ctx, sessionColumns+" WHERE s.id = ? AND a.id = ? AND a.deleted = 0", id, agent))
	if isNoRows(err) {
		err = haltd.Errorf(haltd.CodeNotFound, "agent %q has no session %q", agent, id).
			WithFix("Sessions older than the retention are gone.")
	}
	if err != nil {
		return haltd.Session{}, fmt.Errorf("read session: %w", explain(s.path, err))
	}
	return session, nil
}
