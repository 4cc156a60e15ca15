package postgres

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/table"
)

// Events implements haltd.EventStore.
func (s *Store) Events(ctx context.Context, q haltd.EventQuery) (events []haltd.Event, err error) {
	err = s.do(ctx, "read events", func(ctx context.Context) error {
		events, err = s.events(ctx, q)
		return err
	})
	return events, err
}

// LastEvent implements haltd.EventStore.
func (s *Store) LastEvent(ctx context.Context) (last haltd.EventID, err error) {
	err = s.do(ctx, "find the last event", func(ctx context.Context) error {
		id, err := readOne(ctx, s.pool, value[int64], "SELECT coalesce(max(id), 0) FROM events")
		last = haltd.EventID(id)
		return err
	})
	return last, err
}

func (s *Store) events(ctx context.Context, q haltd.EventQuery) ([]haltd.Event, error) {
	var w table.Conditions
	w.Events(q)
	w.Equal("e.agent", q.Agent)
	if some, err := s.narrowToTime(ctx, &w, q); err != nil || !some {
		return []haltd.Event{}, err
	}
	if q.Session != "" {
		if some, err := s.narrowToSession(ctx, &w, q); err != nil || !some {
			return []haltd.Event{}, err
		}
	}
	return read(ctx, s.pool, scanEvent, numbered(eventColumns+w.Where()+" ORDER BY e.id DESC LIMIT ?"), append(w.Args, table.Limit(q.Limit))...)
}

// eventColumns is the beginning of a query that scanEvent reads.
const eventColumns = "SELECT e.id, e.time, e.type, e.agent, e.session, e.client, e.provider, e.model, e.blocked, e.detail, e.raw FROM events e"

func scanEvent(row scanner) (e haltd.Event, err error) {
	var id, at int64
	var text, raw []byte
	if err := row.Scan(&id, &at, &e.Type, &e.Agent, &e.Session, &e.Client, &e.Provider, &e.Model, &e.Blocked, &text, &raw); err != nil {
		return e, err
	}
	if raw != nil {
		if err := json.Unmarshal(raw, &[]*string{&e.Session, &e.Client, &e.Provider, &e.Model}); err != nil {
			return e, err
		}
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
	row := s.pool.QueryRow(ctx, numbered("SELECT min(first_event), max(last_event) FROM hours"+hours.Where()), hours.Args...)
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
	sessions.Add("id = ?", q.Session)
	sessions.Equal("agent", q.Agent)
	type found struct {
		count    int
		agent    sql.NullString
		from, to sql.NullInt64
	}
	scan := func(row scanner) (f found, err error) { return f, row.Scan(&f.count, &f.agent, &f.from, &f.to) }
	f, err := readOne(ctx, s.pool, scan, numbered("SELECT count(*), min(agent), min(first_event), max(last_event) FROM sessions"+sessions.Where()), sessions.Args...)
	if err != nil || f.count == 0 {
		return false, err
	}
	w.Add("e.id BETWEEN ? AND ? AND e.session = ?", f.from.Int64, f.to.Int64, q.Session)
	if f.count == 1 {
		w.Add("e.agent = ?", f.agent.String)
	}
	return true, nil
}
