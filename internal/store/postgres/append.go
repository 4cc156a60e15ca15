package postgres

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/table"
	"github.com/jackc/pgx/v5"
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
	return s.do(ctx, "append events", func(ctx context.Context) error {
		// Ids are new all but always, so they are looked up only after a copy
		// has found one that was not.
		err := s.transact(ctx, func(ctx context.Context, tx pgx.Tx) error { return s.append(ctx, tx, events) })
		for range 3 {
			if !isConstraint(err) {
				break
			}
			err = s.transact(ctx, func(ctx context.Context, tx pgx.Tx) error { return s.appendNew(ctx, tx, events) })
		}
		return err
	})
}

// appendNew writes those events whose ids are not there yet.
func (s *Store) appendNew(ctx context.Context, tx pgx.Tx, events []haltd.Event) error {
	ids := make([]int64, len(events))
	for i := range events {
		ids[i] = int64(events[i].ID)
	}
	known, err := read(ctx, tx, value[int64], "SELECT id FROM events WHERE id = ANY($1)", ids)
	if err != nil {
		return err
	}
	seen := map[haltd.EventID]bool{}
	for _, id := range known {
		seen[haltd.EventID(id)] = true
	}
	fresh := make([]haltd.Event, 0, len(events))
	for i := range events {
		if id := events[i].ID; !seen[id] {
			seen[id] = true
			fresh = append(fresh, events[i])
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	return s.append(ctx, tx, fresh)
}

// append writes events and what they add up to. Rows are locked in the order of
// their names, and the number of the commit comes last, because all nodes wait
// for it.
func (s *Store) append(ctx context.Context, tx pgx.Tx, events []haltd.Event) error {
	t := table.NewTally()
	for i := range events {
		t.Add(&events[i])
	}
	for _, write := range []func(context.Context, pgx.Tx, *table.Tally) error{writeSums, writeUsage} {
		if err := write(ctx, tx, t); err != nil {
			return err
		}
	}
	if err := s.copyEvents(ctx, tx, events); err != nil {
		return err
	}
	if err := writeAudits(ctx, tx, events); err != nil {
		return err
	}
	return writeCommit(ctx, tx, events)
}

var eventColumnNames = []string{"id", "time", "agent", "session", "type", "client", "provider", "model", "blocked", "score", "detail", "raw"}

func (s *Store) copyEvents(ctx context.Context, tx pgx.Tx, events []haltd.Event) error {
	rows := make([][]any, len(events))
	var excerpts [][]any
	for i := range events {
		e := &events[i]
		detail, err := table.DetailOf(e)
		if err != nil {
			return table.Unfit("event "+e.ID.String(), err)
		}
		session := e.Session
		if e.Agent == "" {
			session = "" // the detail has it
		}
		rows[i] = mended([]any{int64(e.ID), table.Micros(e.Time), e.Agent, session, string(e.Type), e.Client, e.Provider, e.Model,
			e.Blocked, e.Score, detail, rawOf(e)})
		if e.Excerpt != nil && s.seal != nil {
			sealed, err := s.seal.excerpt(e)
			if err != nil {
				return err
			}
			excerpts = append(excerpts, []any{int64(e.ID), table.Micros(e.Time), sealed})
		}
	}
	if _, err := tx.CopyFrom(ctx, pgx.Identifier{"events"}, eventColumnNames, pgx.CopyFromRows(rows)); err != nil {
		return err
	}
	if len(excerpts) == 0 {
		return nil
	}
	_, err := tx.CopyFrom(ctx, pgx.Identifier{"excerpts"}, []string{"event", "time", "sealed"}, pgx.CopyFromRows(excerpts))
	return err
}

// rawOf is what the columns of an event cannot hold as it is: texts with zero
// bytes. NULL for all others.
func rawOf(e *haltd.Event) any {
	texts := [...]string{e.Session, e.Client, e.Provider, e.Model}
	for _, text := range texts {
		if mend(text) != text {
			b, _ := json.Marshal(texts) // texts always encode
			return string(b)
		}
	}
	return nil
}

const totalsColumns = "calls, blocked, errors, input, output, cache_read, cache_write, cost"

// addTotals is for an UPDATE whose sums come from u.
const addTotals = `calls = r.calls + u.calls, blocked = r.blocked + u.blocked, errors = r.errors + u.errors,
	input = r.input + u.input, output = r.output + u.output,
	cache_read = r.cache_read + u.cache_read, cache_write = r.cache_write + u.cache_write, cost = r.cost + u.cost`

const (
	insertAgentsSQL = `INSERT INTO agents (id, first_seen, last_seen)
		SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[]) ON CONFLICT (id) DO NOTHING`
	lockAgentsSQL = "SELECT id FROM agents WHERE id = ANY($1) ORDER BY id FOR NO KEY UPDATE"
	// A deleted agent is back with its first call.
	addAgentsSQL = `UPDATE agents r SET deleted = r.deleted AND u.calls = 0, shared = r.shared OR u.shared,
		first_seen = least(r.first_seen, u.first), last_seen = greatest(r.last_seen, u.last), ` + addTotals + `
		FROM unnest($1::text[], $2::boolean[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[],
			$8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[])
		AS u (id, shared, first, last, ` + totalsColumns + `) WHERE r.id = u.id`

	insertSessionsSQL = `INSERT INTO sessions (agent, id, first_seen, last_seen, first_event, last_event)
		SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[]) ON CONFLICT (agent, id) DO NOTHING`
	// The newest event with a client or a model names them.
	addSessionsSQL = `UPDATE sessions r SET
		client = CASE WHEN u.last >= r.last_seen OR r.client = '' THEN coalesce(nullif(u.client, ''), r.client) ELSE r.client END,
		model = CASE WHEN u.last >= r.last_seen OR r.model = '' THEN coalesce(nullif(u.model, ''), r.model) ELSE r.model END,
		first_seen = least(r.first_seen, u.first), last_seen = greatest(r.last_seen, u.last),
		first_event = least(r.first_event, u.first_event), last_event = greatest(r.last_event, u.last_event),
		peak_score = greatest(r.peak_score, u.peak), ` + addTotals + `
		FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::float8[],
			$10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[], $14::bigint[], $15::bigint[], $16::bigint[], $17::bigint[])
		AS u (agent, id, client, model, first, last, first_event, last_event, peak, ` + totalsColumns + `)
		WHERE r.agent = u.agent AND r.id = u.id`

	addHoursSQL = `INSERT INTO hours (hour, first_event, last_event) SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[])
		ON CONFLICT (hour) DO UPDATE SET
		first_event = least(hours.first_event, excluded.first_event), last_event = greatest(hours.last_event, excluded.last_event)`
)

// columns are the sums of several rows, column by column, as unnest takes them.
type columns [8][]int64

func (c *columns) add(t *haltd.Totals) {
	for i, n := range [8]int64{t.Calls, t.Blocked, t.Errors, t.Tokens.Input, t.Tokens.Output, t.Tokens.CacheRead, t.Tokens.CacheWrite, int64(t.Cost)} {
		c[i] = append(c[i], n)
	}
}

func (c *columns) args() []any {
	args := make([]any, len(c))
	for i := range c {
		args[i] = c[i]
	}
	return args
}

// writeSums adds events to their agents, sessions and hours, in one round trip.
func writeSums(ctx context.Context, tx pgx.Tx, t *table.Tally) error {
	var batch pgx.Batch
	if len(t.Agents) > 0 {
		queueAgents(&batch, t)
	}
	if len(t.Sessions) > 0 {
		queueSessions(&batch, t)
	}
	var hours, first, last []int64
	for _, hour := range slices.Sorted(maps.Keys(t.Hours)) {
		hours, first, last = append(hours, hour), append(first, t.Hours[hour].First), append(last, t.Hours[hour].Last)
	}
	batch.Queue(addHoursSQL, hours, first, last)
	return tx.SendBatch(ctx, &batch).Close()
}

func queueAgents(batch *pgx.Batch, t *table.Tally) {
	var ids []string
	var shared []bool
	var firstSeen, lastSeen, first, last []int64
	var sums columns
	for _, id := range slices.Sorted(maps.Keys(t.Agents)) {
		a := t.Agents[id]
		ids, shared = append(ids, mend(id)), append(shared, a.Shared)
		firstSeen, lastSeen = append(firstSeen, a.Events.First), append(lastSeen, a.Events.Last)
		first, last = append(first, a.Seen.First), append(last, a.Seen.Last)
		sums.add(&a.Totals)
	}
	batch.Queue(insertAgentsSQL, ids, firstSeen, lastSeen)
	batch.Queue(lockAgentsSQL, ids)
	batch.Queue(addAgentsSQL, append([]any{ids, shared, first, last}, sums.args()...)...)
}

func queueSessions(batch *pgx.Batch, t *table.Tally) {
	keys := slices.SortedFunc(maps.Keys(t.Sessions), func(a, b table.SessionKey) int {
		return cmp.Or(cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.ID, b.ID))
	})
	var agents, ids, clients, models []string
	var firstSeen, lastSeen, first, last, firstEvent, lastEvent []int64
	var peaks []float64
	var sums columns
	for _, key := range keys {
		s := t.Sessions[key]
		agents, ids = append(agents, mend(key.Agent)), append(ids, mend(key.ID))
		clients, models = append(clients, mend(s.Client)), append(models, mend(s.Model))
		firstSeen, lastSeen = append(firstSeen, s.Times.First), append(lastSeen, s.Times.Last)
		first, last = append(first, s.Seen.First), append(last, s.Seen.Last)
		firstEvent, lastEvent = append(firstEvent, s.Events.First), append(lastEvent, s.Events.Last)
		peaks = append(peaks, s.Peak)
		sums.add(&s.Totals)
	}
	batch.Queue(insertSessionsSQL, agents, ids, firstSeen, lastSeen, firstEvent, lastEvent)
	batch.Queue(addSessionsSQL, append([]any{agents, ids, clients, models, first, last, firstEvent, lastEvent, peaks}, sums.args()...)...)
}
