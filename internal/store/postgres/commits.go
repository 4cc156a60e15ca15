package postgres

import (
	"context"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/table"
	"github.com/jackc/pgx/v5"
)

// keepCommits is how long the order of commits is kept for those who follow.
const keepCommits = 2 * time.Hour

const writeCommitSQL = `WITH n AS (UPDATE counters SET value = value + 1 WHERE name = 'commits' RETURNING value)
	INSERT INTO commits (position, time, events) SELECT value, ` + now + `, $1 FROM n`

// writeCommit notes which events were written together, and tells who listens.
func writeCommit(ctx context.Context, tx pgx.Tx, events []haltd.Event) error {
	ids := make([]int64, len(events))
	for i := range events {
		ids[i] = int64(events[i].ID)
	}
	var batch pgx.Batch
	batch.Queue(writeCommitSQL, ids)
	batch.Queue("SELECT pg_notify('" + eventsChannel + "', '')")
	return tx.SendBatch(ctx, &batch).Close()
}

// Position implements haltd.EventFeed.
func (s *Store) Position(ctx context.Context) (position int64, err error) {
	err = s.do(ctx, "find the last commit", func(ctx context.Context) error {
		return s.pool.QueryRow(ctx, "SELECT value FROM counters WHERE name = 'commits'").Scan(&position)
	})
	return position, err
}

// Committed implements haltd.EventFeed.
func (s *Store) Committed(ctx context.Context, after int64, most int) (events []haltd.Event, last int64, err error) {
	for {
		committed := s.committed.Wait()
		err := s.snapshot(ctx, "follow events", func(ctx context.Context, tx pgx.Tx) error {
			events, last, err = committedAfter(ctx, tx, after, table.Limit(most))
			return err
		})
		if err != nil {
			return nil, after, err
		}
		if last > after {
			return events, last, nil
		}
		if err := await(ctx, committed); err != nil {
			return nil, after, err
		}
	}
}

// await waits for a bell, and for a moment at most: what NOTIFY did not tell is
// looked for.
func await(ctx context.Context, rings <-chan struct{}) error {
	poll := time.NewTimer(pollEvery)
	defer poll.Stop()
	select {
	case <-rings:
	case <-poll.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// committedAfter answers last as after where there is nothing new.
func committedAfter(ctx context.Context, tx pgx.Tx, after int64, most int) (events []haltd.Event, last int64, err error) {
	known, err := readOne(ctx, tx, value[bool],
		"SELECT $1::bigint BETWEEN coalesce((SELECT min(position) - 1 FROM commits), value) AND value FROM counters WHERE name = 'commits'", after)
	if err != nil {
		return nil, after, err
	}
	if !known {
		return nil, after, haltd.Errorf(haltd.CodeNotFound, "what was written after commit %d is not known any more", after)
	}
	ids, last, err := committedIDs(ctx, tx, after, most)
	if err != nil || len(ids) == 0 {
		return nil, last, err
	}
	events, err = read(ctx, tx, scanEvent, eventColumns+" JOIN unnest($1::bigint[]) WITH ORDINALITY AS l (id, n) ON l.id = e.id ORDER BY l.n", ids)
	return events, last, err
}

func committedIDs(ctx context.Context, tx pgx.Tx, after int64, most int) (ids []int64, last int64, err error) {
	type commit struct {
		position int64
		events   []int64
	}
	scan := func(row scanner) (c commit, err error) { return c, row.Scan(&c.position, &c.events) }
	commits, err := read(ctx, tx, scan, "SELECT position, events FROM commits WHERE position > $1 ORDER BY position LIMIT $2", after, most)
	last = after
	for _, c := range commits {
		if len(ids) >= most {
			break
		}
		ids, last = append(ids, c.events...), c.position
	}
	return ids, last, err
}

// forgetCommits deletes what nobody follows any more.
func forgetCommits(ctx context.Context, tx pgx.Tx, t time.Time, most int64) (int64, error) {
	return exec(ctx, tx, "DELETE FROM commits WHERE position IN (SELECT position FROM commits WHERE time < $1 ORDER BY position LIMIT $2)",
		table.Micros(t), most)
}
