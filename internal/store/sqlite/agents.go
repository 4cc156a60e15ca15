package sqlite

import (
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/binary"
	"fmt"

	"github.com/haltd/haltd"
)

const agentColumns = `SELECT a.no, a.id, a.active, a.deactivated_by, a.shared, a.first_seen, a.last_seen,
	a.calls, a.blocked, a.errors, a.input, a.output, a.cache_read, a.cache_write, a.cost FROM agents a`

const sessionColumns = `SELECT s.no, s.id, a.id, s.client, s.model, s.first_seen, s.last_seen,
	s.calls, s.blocked, s.errors, s.input, s.output, s.cache_read, s.cache_write, s.cost
	FROM sessions s JOIN agents a ON a.no = s.agent`

// Agents implements haltd.AgentStore.
func (s *Store) Agents(ctx context.Context, q haltd.AgentQuery) ([]haltd.Agent, string, error) {
	var w conditions
	w.contains("a.id", q.Search)
	agents, next, err := list(ctx, s.readers, listing[haltd.Agent]{
		columns: agentColumns, table: "a", kind: 'a', scan: scanAgent, where: w, page: q.Page,
	})
	if err != nil {
		return nil, "", fmt.Errorf("list agents: %w", explain(s.path, err))
	}
	return agents, next, nil
}

// Agent implements haltd.AgentStore.
func (s *Store) Agent(ctx context.Context, id string) (haltd.Agent, error) {
	a, _, err := scanAgent(s.readers.QueryRowContext(ctx, agentColumns+" WHERE a.id = ?", id))
	if isNoRows(err) {
		err = haltd.Errorf(haltd.CodeNotFound, "there is no agent %q", id).WithFix("An agent appears with its first call.")
	}
	if err != nil {
		return haltd.Agent{}, fmt.Errorf("read agent: %w", explain(s.path, err))
	}
	return a, nil
}

// Sessions implements haltd.AgentStore.
func (s *Store) Sessions(ctx context.Context, q haltd.SessionQuery) ([]haltd.Session, string, error) {
	var w conditions
	w.contains("s.id", q.Search)
	if q.Agent != "" {
		w.add("a.id = ?", q.Agent)
	}
	sessions, next, err := list(ctx, s.readers, listing[haltd.Session]{
		columns: sessionColumns, table: "s", kind: 's', scan: scanSession, where: w, page: q.Page,
	})
	if err != nil {
		return nil, "", fmt.Errorf("list sessions: %w", explain(s.path, err))
	}
	return sessions, next, nil
}

// Session implements haltd.AgentStore.
func (s *Store) Session(ctx context.Context, agent, id string) (haltd.Session, error) {
	session, _, err := scanSession(s.readers.QueryRowContext(ctx, sessionColumns+" WHERE s.id = ? AND a.id = ?", id, agent))
	if isNoRows(err) {
		err = haltd.Errorf(haltd.CodeNotFound, "agent %q has no session %q", agent, id).
			WithFix("Sessions older than the retention are gone.")
	}
	if err != nil {
		return haltd.Session{}, fmt.Errorf("read session: %w", explain(s.path, err))
	}
	return session, nil
}

type scanner interface{ Scan(dest ...any) error }

func scanAgent(row scanner) (a haltd.Agent, at position, err error) {
	var by sql.NullString
	var first int64
	t := &a.Totals
	err = row.Scan(&at.no, &a.ID, &a.Active, &by, &a.Shared, &first, &at.lastSeen,
		&t.Calls, &t.Blocked, &t.Errors, &t.Tokens.Input, &t.Tokens.Output, &t.Tokens.CacheRead, &t.Tokens.CacheWrite, &t.Cost)
	if by.Valid {
		a.DeactivatedBy = new(haltd.DeactivatedBy(by.String))
	}
	a.FirstSeen, a.LastSeen = fromMicros(first), fromMicros(at.lastSeen)
	return a, at, err
}

func scanSession(row scanner) (s haltd.Session, at position, err error) {
	var first int64
	t := &s.Totals
	err = row.Scan(&at.no, &s.ID, &s.Agent, &s.Client, &s.Model, &first, &at.lastSeen,
		&t.Calls, &t.Blocked, &t.Errors, &t.Tokens.Input, &t.Tokens.Output, &t.Tokens.CacheRead, &t.Tokens.CacheWrite, &t.Cost)
	s.FirstSeen, s.LastSeen = fromMicros(first), fromMicros(at.lastSeen)
	return s, at, err
}

// position is where a row stands in a listing by last_seen.
type position struct{ lastSeen, no int64 }

// cursor makes a position opaque. kind keeps a cursor of one listing out of
// another.
func (p position) cursor(kind byte) string {
	b := binary.BigEndian.AppendUint64([]byte{kind}, uint64(p.lastSeen))
	b = binary.BigEndian.AppendUint64(b, uint64(p.no))
	return base64.RawURLEncoding.EncodeToString(b)
}

func parseCursor(text string, kind byte) (position, error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) != 17 || b[0] != kind {
		return position{}, haltd.Errorf(haltd.CodeInvalid, "cursor: %q is none of this listing's", text).
			WithFix("Pass the next of the page before, unchanged, or leave it out to start at the newest.")
	}
	return position{int64(binary.BigEndian.Uint64(b[1:])), int64(binary.BigEndian.Uint64(b[9:]))}, nil
}

// listing is a query for rows by last_seen, newest first.
type listing[T any] struct {
	columns string
	table   string // the alias of the table that has last_seen and no
	kind    byte
	scan    func(scanner) (T, position, error)
	where   conditions
	page    haltd.Page
}

func list[T any](ctx context.Context, db *sql.DB, l listing[T]) (items []T, next string, err error) {
	if l.page.Cursor != "" {
		after, err := parseCursor(l.page.Cursor, l.kind)
		if err != nil {
			return nil, "", err
		}
		l.where.add("("+l.table+".last_seen, "+l.table+".no) < (?, ?)", after.lastSeen, after.no)
	}
	size := limit(l.page.Limit)
	// One row more than asked tells whether there is a next page.
	rows, err := db.QueryContext(ctx, l.columns+l.where.where()+
		" ORDER BY "+l.table+".last_seen DESC, "+l.table+".no DESC LIMIT ?", append(l.where.args, size+1)...)
	if err != nil {
		return nil, "", err
	}
	defer rows.Close()
	items = []T{}
	var last position
	for rows.Next() {
		item, at, err := l.scan(rows)
		if err != nil {
			return nil, "", err
		}
		if len(items) == size {
			return items, last.cursor(l.kind), nil
		}
		items, last = append(items, item), at
	}
	return items, "", rows.Err()
}
