package postgres

import (
	"context"

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
	FROM sessions s JOIN agents a ON a.id = s.agent
	LEFT JOIN session_standings t ON t.agent = a.id AND t.session = s.id`

// Agents implements haltd.AgentStore.
func (s *Store) Agents(ctx context.Context, q haltd.AgentQuery) (agents []haltd.Agent, next string, err error) {
	var w table.Conditions
	w.Add("NOT a.deleted")
	w.Agents(q)
	order := table.OrderBy(q.Sort, "a", 'a')
	scan := func(row scanner) (haltd.Agent, table.Position, error) {
		a, at, err := table.ScanAgent(row)
		return a, order.Place(at, &a.Totals), err
	}
	err = s.do(ctx, "list agents", func(ctx context.Context) error {
		agents, next, err = list(ctx, s.pool, listing[haltd.Agent]{
			columns: agentColumns, at: order.Column, no: "a.no", kind: order.Kind, scan: scan, where: w, page: q.Page,
		})
		return err
	})
	return agents, next, err
}

// Agent implements haltd.AgentStore.
func (s *Store) Agent(ctx context.Context, id string) (a haltd.Agent, err error) {
	err = s.do(ctx, "read agent", func(ctx context.Context) error {
		scan := func(row scanner) (haltd.Agent, error) {
			a, _, err := table.ScanAgent(row)
			return a, err
		}
		a, err = readOne(ctx, s.pool, scan, agentColumns+" WHERE a.id = $1 AND NOT a.deleted", id)
		if isNoRows(err) {
			err = table.NoAgent(id)
		}
		return err
	})
	return a, err
}

// Sessions implements haltd.AgentStore.
func (s *Store) Sessions(ctx context.Context, q haltd.SessionQuery) (sessions []haltd.Session, next string, err error) {
	var w table.Conditions
	w.Add("NOT a.deleted")
	w.Sessions(q)
	order := table.OrderBy(q.Sort, "s", 's')
	scan := func(row scanner) (haltd.Session, table.Position, error) {
		session, at, err := table.ScanSession(row)
		return session, order.Place(at, &session.Totals), err
	}
	err = s.do(ctx, "list sessions", func(ctx context.Context) error {
		sessions, next, err = list(ctx, s.pool, listing[haltd.Session]{
			columns: sessionColumns, at: order.Column, no: "s.no", kind: order.Kind, scan: scan, where: w, page: q.Page,
		})
		return err
	})
	return sessions, next, err
}

// Session implements haltd.AgentStore.
func (s *Store) Session(ctx context.Context, agent, id string) (session haltd.Session, err error) {
	err = s.do(ctx, "read session", func(ctx context.Context) error {
		scan := func(row scanner) (haltd.Session, error) {
			session, _, err := table.ScanSession(row)
			return session, err
		}
		session, err = readOne(ctx, s.pool, scan, sessionColumns+" WHERE s.id = $1 AND a.id = $2 AND NOT a.deleted", id, agent)
		if isNoRows(err) {
			err = haltd.Errorf(haltd.CodeNotFound, "agent %q has no session %q", agent, id).
				WithFix("Sessions older than the retention are gone.")
		}
		return err
	})
	return session, err
}
