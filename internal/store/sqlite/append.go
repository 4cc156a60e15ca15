package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/table"
)

// AppendEvents implements haltd.EventStore. An event that can never be
// written is CodeInvalid, and then none of the batch is.
func (s *Store) AppendEvents(ctx context.Context, events []haltd.Event) error {
	if len(events) == 0 {
		return nil
	}
	for i := range events {
		if err := table.CheckEvent(&events[i]); err != nil {
			return fmt.Errorf("append events: %w", err)
		}
	}
	// Ids are new all but always, so they are looked up only after an
	// insert has found one that was not.
	err := s.appendAll(ctx, events)
	if isConstraint(err) {
		err = s.appendNew(ctx, events)
	}
	if err != nil {
		return fmt.Errorf("append events: %w", explain(s.path, err))
	}
	s.committed.Ring()
	return nil
}

func (s *Store) appendAll(ctx context.Context, events []haltd.Event) error {
	return s.writer.write(ctx, func(context.Context) error {
		return s.writer.conn.Raw(func(any) error { return s.writer.append(events) })
	})
}

// appendNew writes those events whose ids are not there yet.
func (s *Store) appendNew(ctx context.Context, events []haltd.Event) error {
	return s.writer.write(ctx, func(ctx context.Context) error { return s.writeNew(ctx, events) })
}

// writeNew is appendNew inside the transaction of its caller.
func (s *Store) writeNew(ctx context.Context, events []haltd.Event) error {
	seen, err := s.existing(ctx, events)
	if err != nil {
		return err
	}
	fresh := make([]haltd.Event, 0, len(events))
	for i := range events {
		if id := events[i].ID; !seen[id] {
			seen[id] = true
			fresh = append(fresh, events[i])
		}
	}
	return s.writer.conn.Raw(func(any) error { return s.writer.append(fresh) })
}

func (s *Store) existing(ctx context.Context, events []haltd.Event) (map[haltd.EventID]bool, error) {
	ids := make([]int64, len(events))
	for i := range events {
		ids[i] = int64(events[i].ID)
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	rows, err := s.writer.conn.QueryContext(ctx, "SELECT id FROM events WHERE id IN (SELECT value FROM json_each(?))", string(list))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	seen := map[haltd.EventID]bool{}
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		seen[haltd.EventID(id)] = true
	}
	return seen, rows.Err()
}

// maxNumbers bounds how many sessions an appender remembers the numbers of.
const maxNumbers = 10_000

// appender holds what AppendEvents needs on the connection: its statements,
// and the row numbers of agents and sessions seen lately, which make a row a
// plain update by number.
type appender struct {
	findAgent, findSession       *statement
	addAgent, addSession         *statement
	insertSessions, insertEvents inserter
	addHour, addUsage            *statement
	countUsage, hasUsage         *statement
	insertExcerpt, insertCommit  *statement
	insertAudit                  *statement

	ids      []byte // of a commit
	agents   map[string]int64
	sessions map[table.SessionKey]int64
}

const (
	totalsColumns = "calls, blocked, errors, input, output, cache_read, cache_write, cost"

	addTotalsSQL = `calls = calls + ?, blocked = blocked + ?, errors = errors + ?, input = input + ?, output = output + ?,
		cache_read = cache_read + ?, cache_write = cache_write + ?, cost = cost + ?`

	findAgentSQL = `INSERT INTO agents (id, first_seen, last_seen) VALUES (?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET id = id RETURNING no`

	findSessionSQL = `SELECT no FROM sessions WHERE id = ? AND agent = ?`

	// A deleted agent is back with its first call.
	addAgentSQL = `UPDATE agents SET deleted = iif(?, 0, deleted),
		shared = max(shared, ?), first_seen = min(first_seen, ?), last_seen = max(last_seen, ?),
		` + addTotalsSQL + ` WHERE no = ?`

	// The newest event with a client or a model names them.
	addSessionSQL = `UPDATE sessions SET
		client = iif(? >= last_seen OR client = '', coalesce(nullif(?, ''), client), client),
		model = iif(? >= last_seen OR model = '', coalesce(nullif(?, ''), model), model),
		first_seen = min(first_seen, ?), last_seen = max(last_seen, ?),
		first_event = min(first_event, ?), last_event = max(last_event, ?),
		peak_score = max(peak_score, ?),
		` + addTotalsSQL + ` WHERE no = ?`

	addHourSQL = `INSERT INTO hours (hour, first_event, last_event) VALUES (?, ?, ?)
		ON CONFLICT (hour) DO UPDATE SET
		first_event = min(first_event, excluded.first_event), last_event = max(last_event, excluded.last_event)`
)

func insertSessionsSQL(rows int) string {
	return insertSQL("sessions", "id, agent, first_seen, last_seen, first_event, last_event, client, model, peak_score, "+totalsColumns, rows) +
		" ON CONFLICT (id, agent) DO NOTHING"
}

func insertEventsSQL(rows int) string {
	return insertSQL("events", "id, time, agent, session, type, client, provider, model, blocked, detail", rows)
}

func newAppender(c preparer) (*appender, error) {
	a := &appender{agents: map[string]int64{}, sessions: map[table.SessionKey]int64{}}
	for query, to := range map[string]**statement{
		findAgentSQL: &a.findAgent, findSessionSQL: &a.findSession, addAgentSQL: &a.addAgent, addSessionSQL: &a.addSession,
		addHourSQL: &a.addHour, addUsageSQL: &a.addUsage,
		insertSessionsSQL(1): &a.insertSessions.one, insertSessionsSQL(rowsAtOnce): &a.insertSessions.many,
		insertEventsSQL(1): &a.insertEvents.one, insertEventsSQL(rowsAtOnce): &a.insertEvents.many,
		countUsageSQL: &a.countUsage, hasUsageSQL: &a.hasUsage,
		insertExcerptSQL: &a.insertExcerpt, insertCommitSQL: &a.insertCommit, insertAuditSQL: &a.insertAudit,
	} {
		var err error
		if *to, err = prepare(c, query); err != nil {
			return nil, errors.Join(err, a.close())
		}
	}
	return a, nil
}

func (a *appender) close() error {
	return closeAll(
		a.findAgent, a.findSession, a.addAgent, a.addSession, a.addHour, a.addUsage, a.countUsage, a.hasUsage,
		a.insertSessions.one, a.insertSessions.many, a.insertEvents.one, a.insertEvents.many,
		a.insertExcerpt, a.insertCommit, a.insertAudit,
	)
}

// forget drops the remembered numbers, after rows may have gone.
func (a *appender) forget() {
	clear(a.agents)
	clear(a.sessions)
}

// append writes events and what they add up to, inside the transaction of
// its caller.
func (a *appender) append(events []haltd.Event) error {
	t := table.NewTally()
	for i := range events {
		t.Add(&events[i])
	}
	for _, write := range []func(*table.Tally) error{a.writeAgents, a.writeSessions, a.writeHours} {
		if err := write(t); err != nil {
			return err
		}
	}
	if err := a.writeEvents(t, events); err != nil {
		return err
	}
	return a.writeCommit(events)
}

func (a *appender) writeAgents(t *table.Tally) (err error) {
	for id, s := range t.Agents {
		var known bool
		if s.No, known = a.agents[id]; !known {
			if s.No, err = a.findAgent.number(id, s.Events.First, s.Events.Last); err != nil {
				return err
			}
			a.agents[id] = s.No
		}
		u := &s.Totals
		err = a.addAgent.exec(u.Calls > 0, s.Shared, s.Seen.First, s.Seen.Last,
			u.Calls, u.Blocked, u.Errors, u.Tokens.Input, u.Tokens.Output, u.Tokens.CacheRead, u.Tokens.CacheWrite, int64(u.Cost), s.No)
		if err != nil {
			return err
		}
	}
	return nil
}

func (a *appender) writeSessions(t *table.Tally) error {
	if len(a.sessions)+len(a.agents) > maxNumbers {
		a.forget()
	}
	unknown := make([]unknownSession, 0, len(t.Sessions))
	for key, s := range t.Sessions {
		var known bool
		if s.No, known = a.sessions[key]; !known {
			unknown = append(unknown, unknownSession{key, t.Agents[key.Agent].No, s})
		} else if err := a.updateSession(s); err != nil {
			return err
		}
	}
	// In the order of their index, whose pages are then gone through once: of a
	// large one the cache holds a few only.
	slices.SortFunc(unknown, func(x, y unknownSession) int { return strings.Compare(x.key.ID, y.key.ID) })
	for len(unknown) > 0 {
		n := a.insertSessions.begin(len(unknown))
		if err := a.writeUnknown(unknown[:n]); err != nil {
			return err
		}
		unknown = unknown[n:]
	}
	return nil
}

// unknownSession is one whose number is not remembered.
type unknownSession struct {
	key   table.SessionKey
	agent int64 // its number
	*table.SessionSum
}

// writeUnknown writes as many sessions as go into one statement. Most of them are new,
// and many have one call: they take no more than this.
func (a *appender) writeUnknown(sessions []unknownSession) error {
	for _, s := range sessions {
		u := &s.Totals
		a.insertSessions.add(s.key.ID, s.agent, s.Times.First, s.Times.Last, s.Events.First, s.Events.Last, s.Client, s.Model, s.Peak,
			u.Calls, u.Blocked, u.Errors, u.Tokens.Input, u.Tokens.Output, u.Tokens.CacheRead, u.Tokens.CacheWrite, int64(u.Cost))
	}
	first, added, err := a.insertSessions.exec()
	if err != nil {
		return err
	}
	for i, s := range sessions {
		s.No = first + int64(i)
		if added < int64(len(sessions)) { // some were there already, and nothing says which
			if s.No, err = a.findSession.number(s.key.ID, s.agent); err != nil {
				return err
			}
			if added == 0 || s.No < first {
				if err := a.updateSession(s.SessionSum); err != nil {
					return err
				}
			}
		}
		a.sessions[s.key] = s.No
	}
	return nil
}

func (a *appender) updateSession(s *table.SessionSum) error {
	u := &s.Totals
	return a.addSession.exec(s.Seen.Last, s.Client, s.Seen.Last, s.Model, s.Seen.First, s.Seen.Last, s.Events.First, s.Events.Last, s.Peak,
		u.Calls, u.Blocked, u.Errors, u.Tokens.Input, u.Tokens.Output, u.Tokens.CacheRead, u.Tokens.CacheWrite, int64(u.Cost), s.No)
}

func (a *appender) writeHours(t *table.Tally) error {
	for hour, s := range t.Hours {
		if err := a.addHour.exec(hour, s.First, s.Last); err != nil {
			return err
		}
	}
	for key, u := range t.Usage {
		provider, model, err := a.usageRow(key, agentNo(t, key.Agent))
		if err != nil {
			return err
		}
		err = a.addUsage.exec(key.Hour, agentNo(t, key.Agent), provider, model,
			u.Calls, u.Blocked, u.Errors, u.Tokens.Input, u.Tokens.Output, u.Tokens.CacheRead, u.Tokens.CacheWrite, int64(u.Cost))
		if err != nil {
			return err
		}
	}
	return nil
}

func (a *appender) writeEvents(t *table.Tally, events []haltd.Event) error {
	for len(events) > 0 {
		n := a.insertEvents.begin(len(events))
		for i := range events[:n] {
			if err := a.addEvent(t, &events[i]); err != nil {
				return err
			}
		}
		if _, _, err := a.insertEvents.exec(); err != nil {
			return err
		}
		events = events[n:]
	}
	return nil
}

// addEvent adds an event to the next insert, and writes what goes beside it.
func (a *appender) addEvent(t *table.Tally, e *haltd.Event) error {
	text, err := table.DetailOf(e)
	if err != nil {
		return table.Unfit("event "+e.ID.String(), err)
	}
	a.insertEvents.add(int64(e.ID), table.Micros(e.Time), agentNo(t, e.Agent), sessionNo(t, e.Agent, e.Session),
		string(e.Type), e.Client, e.Provider, e.Model, e.Blocked, text)
	if e.Audit != nil {
		err = a.writeAudit(e)
	}
	if err != nil || e.Excerpt == nil {
		return err
	}
	return a.writeExcerpt(e)
}

func agentNo(t *table.Tally, id string) int64 {
	if a := t.Agents[id]; a != nil {
		return a.No
	}
	return 0
}

func sessionNo(t *table.Tally, agent, id string) int64 {
	if s := t.Sessions[table.SessionKey{Agent: agent, ID: id}]; s != nil {
		return s.No
	}
	return 0
}
