package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/haltd/haltd"
)

// defaultLimit is the length of a page that does not say.
const defaultLimit = 100

// Events implements haltd.EventStore.
func (s *Store) Events(ctx context.Context, q haltd.EventQuery) ([]haltd.Event, error) {
	events, err := s.events(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("read events: %w", explain(s.path, err))
	}
	return events, nil
}

// LastEvent implements haltd.EventStore.
func (s *Store) LastEvent(ctx context.Context) (last haltd.EventID, err error) {
	if err := s.readers.QueryRowContext(ctx, "SELECT coalesce(max(id), 0) FROM events").Scan((*int64)(&last)); err != nil {
		return 0, fmt.Errorf("find the last event: %w", explain(s.path, err))
	}
	return last, nil
}

func (s *Store) events(ctx context.Context, q haltd.EventQuery) ([]haltd.Event, error) {
	var w conditions
	w.events(q)
	if some, err := s.narrowToTime(ctx, &w, q); err != nil || !some {
		return []haltd.Event{}, err
	}
	if q.Session != "" {
		if some, err := s.narrowToSession(ctx, &w, q); err != nil || !some {
			return []haltd.Event{}, err
		}
	}
	rows, err := s.readers.QueryContext(ctx, eventColumns+w.where()+` ORDER BY e.id DESC LIMIT ?`, append(w.args, limit(q.Limit))...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	events := []haltd.Event{}
	for rows.Next() {
		e, err := scanEvent(rows)
		if err != nil {
			return nil, err
		}
		events = append(events, e)
	}
	return events, rows.Err()
}

// eventColumns is the beginning of a query that scanEvent reads.
const eventColumns = `SELECT e.id, e.time, e.type, coalesce(a.id, ''), coalesce(s.id, ''),
	e.client, e.provider, e.model, e.blocked, e.detail
	FROM events e LEFT JOIN agents a ON a.no = e.agent LEFT JOIN sessions s ON s.no = e.session`

func scanEvent(rows *sql.Rows) (e haltd.Event, err error) {
	var id, at int64
	var text []byte
	if err := rows.Scan(&id, &at, &e.Type, &e.Agent, &e.Session, &e.Client, &e.Provider, &e.Model, &e.Blocked, &text); err != nil {
		return e, err
	}
	e.ID, e.Time = haltd.EventID(id), fromMicros(at)
	if err := readDetail(text, &e); err != nil {
		return e, fmt.Errorf("event %s: %w", e.ID, err)
	}
	return e, nil
}

// events adds the filters that need no look at other tables.
func (w *conditions) events(q haltd.EventQuery) {
	if len(q.Types) > 0 {
		types := make([]any, len(q.Types))
		for i, t := range q.Types {
			types[i] = string(t)
		}
		w.add("e.type IN (?"+strings.Repeat(", ?", len(types)-1)+")", types...)
	}
	if q.Agent != "" {
		w.add("e.agent = (SELECT no FROM agents WHERE id = ?)", q.Agent)
	}
	w.equal("e.client", q.Client)
	w.equal("e.provider", q.Provider)
	w.equal("e.model", q.Model)
	if q.Blocked != nil {
		w.add("e.blocked = ?", *q.Blocked)
	}
	if !q.Since.IsZero() {
		w.add("e.time >= ?", micros(q.Since))
	}
	if !q.Until.IsZero() {
		w.add("e.time < ?", micros(q.Until))
	}
	if q.Before != 0 {
		w.add("e.id < ?", int64(q.Before))
	}
}

// narrowToTime bounds the ids by the hours that q asks for. some is false
// when those hours hold nothing.
func (s *Store) narrowToTime(ctx context.Context, w *conditions, q haltd.EventQuery) (some bool, err error) {
	var hours conditions
	if !q.Since.IsZero() {
		hours.add("hour >= ?", hourOf(q.Since))
	}
	if !q.Until.IsZero() {
		hours.add("hour <= ?", hourOf(q.Until))
	}
	if len(hours.terms) == 0 {
		return true, nil
	}
	var first, last sql.NullInt64
	row := s.readers.QueryRowContext(ctx, "SELECT min(first_event), max(last_event) FROM hours"+hours.where(), hours.args...)
	if err := row.Scan(&first, &last); err != nil || !first.Valid {
		return false, err
	}
	w.add("e.id BETWEEN ? AND ?", first.Int64, last.Int64)
	return true, nil
}

// narrowToSession bounds the ids by the session's first and last, because
// events are indexed by agent only.
func (s *Store) narrowToSession(ctx context.Context, w *conditions, q haltd.EventQuery) (some bool, err error) {
	var sessions conditions
	sessions.add("s.id = ?", q.Session)
	if q.Agent != "" {
		sessions.add("s.agent = (SELECT no FROM agents WHERE id = ?)", q.Agent)
	}
	var count int
	var no, agent, first, last sql.NullInt64
	row := s.readers.QueryRowContext(ctx, `SELECT count(*), min(no), min(agent), min(first_event), max(last_event)
		FROM sessions s`+sessions.where(), sessions.args...)
	if err := row.Scan(&count, &no, &agent, &first, &last); err != nil || count == 0 {
		return false, err
	}
	w.add("e.id BETWEEN ? AND ?", first.Int64, last.Int64)
	if count == 1 {
		w.add("e.agent = ? AND e.session = ?", agent.Int64, no.Int64)
	} else {
		w.add("e.session IN (SELECT no FROM sessions WHERE id = ?)", q.Session)
	}
	return true, nil
}

// conditions collects the terms of a WHERE clause. A term is constant text;
// what a caller sent goes into args only.
type conditions struct {
	terms []string
	args  []any
}

func (w *conditions) add(term string, args ...any) {
	w.terms = append(w.terms, term)
	w.args = append(w.args, args...)
}

// equal adds a filter by a column's value.
func (w *conditions) equal(column, value string) {
	if value != "" {
		w.add(column+" = ?", value)
	}
}

// contains adds a search for part of a column.
func (w *conditions) contains(column, part string) {
	if part != "" {
		part = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(part)
		w.add(column+` LIKE ? ESCAPE '\'`, "%"+part+"%")
	}
}

func (w *conditions) where() string {
	if len(w.terms) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(w.terms, " AND ")
}

func limit(n int) int {
	if n <= 0 {
		return defaultLimit
	}
	return n
}

func isNoRows(err error) bool { return errors.Is(err, sql.ErrNoRows) }
