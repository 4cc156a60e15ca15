package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/haltd/haltd/internal/store/table"
)

// exportChunk is how many rows are in memory at a time.
const exportChunk = 2000

// exports are the tables in the columns of a store that nodes share: by names
// in the place of row numbers. Truths are those columns that are 0 or 1 here.
var exports = []struct {
	table   string
	columns string
	truths  string
	from    string // what stands in for the columns, and where they come from
}{
	{"agents", "id, " + table.StandingColumns + ", override, deleted, shared, first_seen, last_seen, " + totalsColumns, "active deleted shared",
		"id, " + table.StandingColumns + ", override, deleted, shared, first_seen, last_seen, " + totalsColumns + " FROM agents ORDER BY no"},
	{"sessions", "agent, id, client, model, first_seen, last_seen, first_event, last_event, peak_score, " + totalsColumns, "",
		"a.id, s.id, s.client, s.model, s.first_seen, s.last_seen, s.first_event, s.last_event, s.peak_score, " + prefixed("s.", totalsColumns) +
			" FROM sessions s JOIN agents a ON a.no = s.agent ORDER BY s.no"},
	{"events", "id, time, agent, session, type, client, provider, model, blocked, score, detail", "blocked",
		`e.id, e.time, coalesce(a.id, ''), coalesce(s.id, ''), e.type, e.client, e.provider, e.model, e.blocked,
			CAST(coalesce(e.detail ->> '$.score', 0) AS REAL), e.detail
			FROM events e LEFT JOIN agents a ON a.no = e.agent LEFT JOIN sessions s ON s.no = e.session ORDER BY e.id`},
	{"hours", "hour, first_event, last_event", "", "hour, first_event, last_event FROM hours"},
	{"usage", "hour, agent, provider, model, " + totalsColumns, "",
		`u.hour, coalesce(a.id, '') AS name, u.provider, u.model, sum(u.calls), sum(u.blocked), sum(u.errors), sum(u.input), sum(u.output),
			sum(u.cache_read), sum(u.cache_write), sum(u.cost) FROM usage u LEFT JOIN agents a ON a.no = u.agent GROUP BY u.hour, name, u.provider, u.model`},
	{"keys", "no, id, agent, name, hash, created_at, revoked_at, limits, last_used_at", "", "no, id, agent, name, hash, created_at, revoked_at, limits, last_used_at FROM keys"},
	{"session_standings", "agent, session, " + table.StandingColumns, "active", "agent, session, " + table.StandingColumns + " FROM session_standings"},
	{"marks", "agent, session, activated_at, round, count", "", "agent, session, activated_at, round, count FROM marks"},
	{"bypass", "no, body", "", "no, body FROM bypass"},
	{"price_file", "no, body", "", "no, body FROM price_file"},
	{"rules", "no, id, body", "", "no, id, body FROM rules"},
	{"alert_rules", "no, id, body", "", "no, id, body FROM alert_rules"},
	{"incidents", "no, id, time, kind, detector, action, status, shadow, scope, agent, session, once, verdict, body, closed_at, closed_by, note, seen_at, seen_by, comments", "shadow",
		`no, id, time, kind, detector, action, status, shadow, coalesce(body ->> '$.scope', ''), agent, session, once, verdict, body, closed_at, closed_by, note,
			seen_at, seen_by, comments FROM incidents`},
	{"shares", "agent, period, start, node, spent_cost, spent_tokens, held_cost, held_tokens, alone", "alone",
		`agent, period, start, '', sum(spent_cost + held_cost), sum(spent_tokens + held_tokens), 0, 0, 0 FROM shares GROUP BY agent, period, start`},
	{"notices", "no, id, time, incident, dispatched, body", "dispatched", "no, id, time, incident, dispatched, body FROM notices"},
	{"deliveries", "no, id, notice, channel, status, attempts, next_at, answer, updated_at", "",
		"no, id, notice, channel, status, attempts, next_at, answer, updated_at FROM deliveries"},
	{"tokens", "no, id, hash, body", "", "no, id, hash, body FROM tokens"},
	{"users", "no, id, name, password, body", "", "no, id, name, password, body FROM users"},
	{"audits", "id, time, by, change, agent, session, body", "", "id, time, by, change, agent, session, body FROM audits ORDER BY id"},
	{"sign_outs", "digest, until", "", "digest, until FROM sign_outs"},
	{"shared_secrets", "name, value", "", "name, value FROM shared_secrets"},
}

func prefixed(prefix, columns string) string {
	return prefix + strings.ReplaceAll(columns, ", ", ", "+prefix)
}

// Export implements table.Source. Channels come with their settings open, and
// excerpts as they were said: the store that takes them seals both.
func (s *Store) Export(ctx context.Context, each func(table.Chunk) error) error {
	for _, e := range exports {
		c := table.Chunk{Table: e.table, Columns: strings.Split(e.columns, ", ")}
		if err := s.export(ctx, c, strings.Fields(e.truths), "SELECT "+e.from, each); err != nil {
			return fmt.Errorf("copy %s: %w", e.table, explain(s.path, err))
		}
	}
	excerpts := table.Chunk{Table: "excerpts", Columns: []string{"event", "time", "prompt", "reply", "tool_calls"}}
	if err := s.export(ctx, excerpts, nil, "SELECT event, time, prompt, reply, tool_calls FROM excerpts ORDER BY event", each); err != nil {
		return fmt.Errorf("copy excerpts: %w", explain(s.path, err))
	}
	if err := s.exportIncidentExcerpts(ctx, each); err != nil {
		return fmt.Errorf("copy excerpts of incidents: %w", explain(s.path, err))
	}
	list, err := s.Channels(ctx)
	if err != nil {
		return err
	}
	c := table.Chunk{Table: "channels", Columns: []string{"id", "body"}}
	for i := range list {
		body, err := json.Marshal(list[i])
		if err != nil {
			return fmt.Errorf("copy channel %s: %w", list[i].ID, err)
		}
		c.Rows = append(c.Rows, []any{list[i].ID, string(body)})
	}
	return each(c)
}

// exportIncidentExcerpts opens what proves incidents. What the key file does not
// open can be read by nobody, and stays behind.
func (s *Store) exportIncidentExcerpts(ctx context.Context, each func(table.Chunk) error) error {
	aead, err := s.secrets.key(false)
	if err != nil {
		return nil
	}
	c := table.Chunk{Table: "incident_excerpts", Columns: []string{"incident", "agent", "time", "sealed"}}
	return s.export(ctx, c, nil, "SELECT incident, agent, time, sealed FROM incident_excerpts", func(c table.Chunk) error {
		open := c.Rows[:0]
		for _, row := range c.Rows {
			id, _ := row[0].(string)
			sealed, _ := row[3].([]byte)
			if plain, err := aead.Open(nil, nil, sealed, []byte(id)); err == nil {
				row[3] = plain
				open = append(open, row)
			}
		}
		c.Rows = open
		return each(c)
	})
}

func (s *Store) export(ctx context.Context, c table.Chunk, truths []string, query string, each func(table.Chunk) error) error {
	rows, err := s.readers.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		row := make([]any, len(c.Columns))
		targets := make([]any, len(row))
		for i := range row {
			targets[i] = &row[i]
		}
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		for i, column := range c.Columns {
			if n, ok := row[i].(int64); ok && slices.Contains(truths, column) {
				row[i] = n != 0
			}
		}
		c.Rows = append(c.Rows, row)
		if len(c.Rows) == exportChunk {
			if err := each(c); err != nil {
				return err
			}
			c.Rows = nil
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return each(c)
}

// Sums implements table.Source.
func (s *Store) Sums(ctx context.Context) (table.Sums, error) {
	sums := table.Sums{}
	for what, query := range map[string]string{
		"events": "SELECT count(*) FROM events", "agents": "SELECT count(*) FROM agents", "keys": "SELECT count(*) FROM keys",
		"tokens": "SELECT count(*) FROM tokens", "users": "SELECT count(*) FROM users", "changes in the audit log": "SELECT count(*) FROM audits",
		"sessions":  "SELECT count(*) FROM sessions WHERE agent IN (SELECT no FROM agents)",
		"incidents": "SELECT count(*) FROM incidents", "rules": "SELECT count(*) FROM rules", "channels": "SELECT count(*) FROM channels",
		"deliveries": "SELECT count(*) FROM deliveries", "marks": "SELECT count(*) FROM marks", "stopped sessions": "SELECT count(*) FROM session_standings",
		"money of all hours":    "SELECT coalesce(sum(cost), 0) FROM usage",
		"calls of all hours":    "SELECT coalesce(sum(calls), 0) FROM usage",
		"money of all agents":   "SELECT coalesce(sum(cost), 0) FROM agents",
		"money of all sessions": "SELECT coalesce(sum(cost), 0) FROM sessions WHERE agent IN (SELECT no FROM agents)",
		"money of all budgets":  "SELECT coalesce(sum(spent_cost + held_cost), 0) FROM shares",
		"inactive agents":       "SELECT count(*) FROM agents WHERE active = 0",
	} {
		var n int64
		if err := s.readers.QueryRowContext(ctx, query).Scan(&n); err != nil {
			return nil, fmt.Errorf("count %s: %w", what, explain(s.path, err))
		}
		sums[what] = n
	}
	return sums, nil
}

var _ table.Source = (*Store)(nil)
