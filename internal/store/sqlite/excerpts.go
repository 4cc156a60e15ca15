package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/table"
)

const insertExcerptSQL = "INSERT INTO excerpts (event, time, prompt, reply, tool_calls) VALUES (?, ?, ?, ?, ?)"

func (a *appender) writeExcerpt(e *haltd.Event) error {
	return a.insertExcerpt.exec(int64(e.ID), table.Micros(e.Time), e.Excerpt.Prompt, e.Excerpt.Reply, e.Excerpt.ToolCalls)
}

// Excerpt implements haltd.ExcerptStore.
func (s *Store) Excerpt(ctx context.Context, event haltd.EventID) (haltd.Excerpt, bool, error) {
	var e haltd.Excerpt
	err := s.readers.QueryRowContext(ctx, "SELECT prompt, reply, tool_calls FROM excerpts WHERE event = ?", int64(event)).
		Scan(&e.Prompt, &e.Reply, &e.ToolCalls)
	if isNoRows(err) {
		return haltd.Excerpt{}, false, nil
	}
	if err != nil {
		return haltd.Excerpt{}, false, fmt.Errorf("read excerpt: %w", explain(s.path, err))
	}
	return e, true, nil
}

// PruneExcerpts implements haltd.ExcerptStore. Canceled on its way, it says
// how many went so far.
func (s *Store) PruneExcerpts(ctx context.Context, t time.Time) (int64, error) {
	var total int64
	for {
		var gone, ofIncidents int64
		err := s.writer.write(ctx, func(ctx context.Context) (err error) {
			if gone, err = s.eraseExcerpts(ctx, "SELECT event FROM excerpts WHERE time < ? ORDER BY time LIMIT ?", table.Micros(t), excerptChunk); err != nil {
				return err
			}
			ofIncidents, err = s.affect(ctx, `DELETE FROM incident_excerpts WHERE incident IN (
				SELECT incident FROM incident_excerpts WHERE time < ? LIMIT ?)`, table.Micros(t), excerptChunk)
			return err
		})
		if err != nil {
			return total, fmt.Errorf("prune excerpts: %w", explain(s.path, err))
		}
		total += gone + ofIncidents
		if max(gone, ofIncidents) < excerptChunk {
			return total, nil
		}
	}
}

// excerptChunk is how many excerpts one transaction of PruneExcerpts deletes;
// see pruneChunk. Their pages are written once more.
const excerptChunk = 500

// eraseExcerpts deletes the excerpts of the events that a query names, inside
// the transaction of its caller. What people said must not stay behind in the
// file: pages that become free are overwritten. Whatever is left over in pages
// that are written anyway, fast overwrites all the time.
func (s *Store) eraseExcerpts(ctx context.Context, events string, args ...any) (int64, error) {
	if err := s.exec(ctx, "PRAGMA secure_delete = ON"); err != nil {
		return 0, err
	}
	gone, err := s.affect(ctx, "DELETE FROM excerpts WHERE event IN ("+events+")", args...)
	if err != nil {
		return 0, err
	}
	return gone, s.exec(ctx, "PRAGMA secure_delete = FAST")
}
