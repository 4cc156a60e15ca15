package sqlite

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/table"
)

// keepCommits is how long the order of commits is kept for those who follow.
const keepCommits = 2 * time.Hour

const insertCommitSQL = "INSERT INTO commits (time, events) VALUES (" + now + ", ?)"

// writeCommit notes which events were written together.
func (a *appender) writeCommit(events []haltd.Event) error {
	if len(events) == 0 {
		return nil
	}
	a.ids = a.ids[:0]
	last := int64(0)
	for i := range events {
		id := int64(events[i].ID)
		a.ids = binary.AppendVarint(a.ids, id-last)
		last = id
	}
	return a.insertCommit.exec(a.ids)
}

// Position implements haltd.EventFeed.
func (s *Store) Position(ctx context.Context) (position int64, err error) {
	row := s.readers.QueryRowContext(ctx, "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'commits'), 0)")
	if err := row.Scan(&position); err != nil {
		return 0, fmt.Errorf("find the last commit: %w", explain(s.path, err))
	}
	return position, nil
}

// Committed implements haltd.EventFeed.
func (s *Store) Committed(ctx context.Context, after int64, most int) (events []haltd.Event, last int64, err error) {
	for {
		committed := s.committed.Wait()
		if events, last, err = s.committedAfter(ctx, after, table.Limit(most)); err != nil {
			return nil, after, fmt.Errorf("follow events: %w", explain(s.path, err))
		}
		if last > after {
			return events, last, nil
		}
		select {
		case <-committed:
		case <-ctx.Done():
			return nil, after, ctx.Err()
		}
	}
}

// committedAfter answers last as after where there is nothing new.
func (s *Store) committedAfter(ctx context.Context, after int64, most int) (events []haltd.Event, last int64, err error) {
	known, err := read(ctx, s.readers, func(row scanner) (known bool, err error) { return known, row.Scan(&known) },
		`WITH last (position) AS (SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'commits'), 0))
		SELECT ? BETWEEN coalesce((SELECT min(position) - 1 FROM commits), position) AND position FROM last`, after)
	if err != nil {
		return nil, after, err
	}
	if !known[0] {
		return nil, after, haltd.Errorf(haltd.CodeNotFound, "what was written after commit %d is not known any more", after)
	}
	ids, last, err := s.committedIDs(ctx, after, most)
	if err != nil || len(ids) == 0 {
		return nil, last, err
	}
	events, err = s.eventsByID(ctx, ids)
	return events, last, err
}

func (s *Store) committedIDs(ctx context.Context, after int64, most int) (ids []int64, last int64, err error) {
	rows, err := s.readers.QueryContext(ctx, "SELECT position, events FROM commits WHERE position > ? ORDER BY position", after)
	if err != nil {
		return nil, after, err
	}
	defer rows.Close()
	last = after
	for len(ids) < most && rows.Next() {
		var blob []byte
		if err := rows.Scan(&last, &blob); err != nil {
			return nil, after, err
		}
		id := int64(0)
		for len(blob) > 0 {
			more, n := binary.Varint(blob)
			if n <= 0 {
				return nil, after, fmt.Errorf("read commit %d: its events are damaged", last)
			}
			blob = blob[n:]
			id += more
			ids = append(ids, id)
		}
	}
	return ids, last, rows.Err()
}

// eventsByID reads events in the order of their ids in the list. Those that
// were deleted meanwhile are left out.
func (s *Store) eventsByID(ctx context.Context, ids []int64) ([]haltd.Event, error) {
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	rows, err := s.readers.QueryContext(ctx, eventColumns+` JOIN json_each(?) l ON l.value = e.id ORDER BY l.key`, string(list))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var events []haltd.Event
	for rows.Next() {
		e, err := scanEvent(rows)
		if err != nil {
			return nil, err
		}
		events = append(events, e)
	}
	return events, rows.Err()
}

// forgetCommits deletes what nobody follows any more.
func (s *Store) forgetCommits(ctx context.Context, t time.Time, most int64) (int64, error) {
	return s.affect(ctx, "DELETE FROM commits WHERE position IN (SELECT position FROM commits WHERE time < ? LIMIT ?)", table.Micros(t), most)
}
