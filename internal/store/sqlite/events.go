package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/table"
)

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
	var w table.Conditions
	w.Events(q)
	if q.Agent != "" {
		w.Add("e.agent = (SELECT no FROM agents WHERE id = ?)", q.Agent)
	}
	if some, err := s.narrowToTime(ctx, &w, q); err != nil || !some {
		return []haltd.Event{}, err
	}
	if q.Session != "" {
		if some, err := s.narrowToSession(ctx, &w, q); err != nil || !some {
			return []haltd.Event{}, err
		}
	}
	rows, err := s.readers.QueryContext(ctx, eventColumns+w.Where()+` ORDER BY e.id DESC LIMIT ?`, append(w.Args, table.Limit(q.Limit))...)
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
	e.ID, e.Time = haltd.EventID(id), table.FromMicros(at)
	if err := table.ReadDetail(text, &e); err != nil {
		return e, fmt.Errorf("event %s: %w", e.ID, err)
	}
	return e, nil
}

// narrowToTime bounds the ids by the hours that q asks for. some is false
// when those hours hold nothing.
func (s *Store) narrowToTime(ctx context.Context, w *table.Conditions, q haltd.EventQuery) (some bool, err error) {
	var hours table.Conditions
	if !q.Since.IsZero() {
		hours.Add("hour >= ?", table.HourOf(q.Since))
	}
	if !q.Until.IsZero() {
		hours.Add("hour <= ?", table.HourOf(q.Until))
	}
	if len(hours.Terms) == 0 {
		return true, nil
	}
	var first, last sql.NullInt64
	row := s.readers.QueryRowContext(ctx, "SELECT min(first_event), max(last_event) FROM hours"+hours.Where(), hours.Args...)
	if err := row.Scan(&first, &last); err != nil || !first.Valid {
		return false, err
	}
	w.Add("e.id BETWEEN ? AND ?", first.Int64, last.Int64)
	return true, nil
}

// narrowToSession bounds the ids by the session's first and last, because
// events are indexed by agent only.
func (s *Store) narrowToSession(ctx context.Context, w *table.Conditions, q haltd.EventQuery) (some bool, err error) {
	var sessions table.Conditions
	sessions.Add("s.id = ?", q.Session)
	if q.Agent != "" {
		sessions.Add("s.agent = (SELECT no FROM agents WHERE id = ?)", q.Agent)
	}
	var count int
	var no, agent, first, last sql.NullInt64
	row := s.readers.QueryRowContext(ctx, `SELECT count(*), min(no), min(agent), min(first_event), max(last_event)
		FROM sessions s`+sessions.Where(), sessions.Args...)
	if err := row.Scan(&count, &no, &agent, &first, &last); err != nil || count == 0 {
		return false, err
	}
	w.Add("e.id BETWEEN ? AND ?", first.Int64, last.Int64)
	if count == 1 {
		w.Add("e.agent = ? AND e.session = ?", agent.Int64, no.Int64)
	} else {
		w.Add("e.session IN (SELECT no FROM sessions WHERE id = ?)", q.Session)
	}
	return true, nil
}

func isNoRows(err error) bool { return errors.Is(err, sql.ErrNoRows) }
