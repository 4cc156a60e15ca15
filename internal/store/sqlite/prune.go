package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/haltd/haltd/internal/store/table"
)

// pruneChunk is how many rows one transaction of PruneEvents deletes: few
// enough that an append waits for milliseconds, not for the whole prune.
const pruneChunk = 5000

// PruneEvents implements haltd.RetentionStore. Canceled on its way, it says how
// many events went so far.
func (s *Store) PruneEvents(ctx context.Context, t time.Time) (int64, error) {
	if _, err := s.PruneExcerpts(ctx, t); err != nil {
		return 0, err
	}
	var total int64
	for {
		events, more, err := s.pruneSome(ctx, t, pruneChunk)
		total += events
		if err != nil {
			return total, fmt.Errorf("prune events: %w", explain(s.path, err))
		}
		if !more {
			break
		}
	}
	for _, prune := range []func(context.Context, time.Time, int64) (int64, error){
		s.pruneMarks, s.pruneIncidents, s.pruneDeliveries, s.pruneNotices,
	} {
		if err := s.inChunks(ctx, t, pruneChunk, prune); err != nil {
			return total, fmt.Errorf("prune events: %w", explain(s.path, err))
		}
	}
	return total, nil
}

// inChunks runs prune, which deletes about chunk rows from before t, until
// there are no more. Each time is a transaction of its own.
func (s *Store) inChunks(ctx context.Context, t time.Time, chunk int64, prune func(context.Context, time.Time, int64) (int64, error)) error {
	for gone := chunk; gone >= chunk; {
		err := s.writer.write(ctx, func(ctx context.Context) (err error) {
			gone, err = prune(ctx, t, chunk)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// pruneSome deletes one chunk. Sessions go in a transaction that has found no
// events before t left, so that none loses the session it names. One that has
// a standing stays, because it tells when the session last called.
func (s *Store) pruneSome(ctx context.Context, t time.Time, chunk int64) (events int64, more bool, err error) {
	err = s.writer.write(ctx, func(ctx context.Context) error {
		events, err = s.affect(ctx, `DELETE FROM events WHERE id IN (SELECT id FROM events
			WHERE id <= (SELECT max(last_event) FROM hours WHERE hour <= ?) AND time < ? ORDER BY id LIMIT ?)`,
			table.HourOf(t), table.Micros(t), chunk)
		if err != nil {
			return err
		}
		if more = events == chunk; more {
			return nil
		}
		sessions, err := s.affect(ctx, `DELETE FROM sessions WHERE no IN (
			SELECT s.no FROM sessions s WHERE s.last_seen < ? AND NOT `+hasStanding+` LIMIT ?)`, table.Micros(t), chunk)
		if err != nil {
			return err
		}
		if sessions > 0 {
			s.writer.forget()
		}
		more = sessions == chunk
		return s.exec(ctx, "DELETE FROM hours WHERE hour < ?", table.HourOf(t))
	})
	if err != nil {
		return 0, false, err // rolled back
	}
	return events, more, nil
}
