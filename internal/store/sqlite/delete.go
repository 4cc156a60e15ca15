package sqlite

import (
	"context"
	"fmt"
	"math"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/table"
)

// deleteChunk is how many events one transaction of DeleteAgent deletes, each
// perhaps with an excerpt that is several pages long, or how many sessions: a
// kill waits for no more than that.
const deleteChunk = 1000

// DeleteAgent implements haltd.ControlStore. Marks and ledgers stay with the
// standing: neither a loop that was answered for nor money that was spent is
// undone by forgetting. Of a session with a standing it stays known when it
// last called, by which the standing is forgotten. The hourly sums go on without the agent's name.
// Canceled on its way, it leaves the agent with some of its events gone.
func (s *Store) DeleteAgent(ctx context.Context, node, id string) error {
	for after := int64(0); ; {
		more, err := s.deleteSome(ctx, node, id, deleteChunk, &after)
		if err != nil {
			return fmt.Errorf("delete agent: %w", explain(s.path, err))
		}
		if !more {
			s.changed.Ring()
			return nil
		}
	}
}

// deleteSome deletes one chunk of an agent's events with their excerpts, or of
// its sessions, and, in the transaction that finds none left, all else. Sessions
// are looked for after the last one that was deleted: no index finds those of an
// agent.
func (s *Store) deleteSome(ctx context.Context, node, id string, chunk int64, after *int64) (more bool, err error) {
	err = s.writer.write(ctx, func(ctx context.Context) error {
		var no int64
		err := s.writer.conn.QueryRowContext(ctx, "SELECT no FROM agents WHERE id = ? AND deleted = 0", id).Scan(&no)
		if isNoRows(err) {
			return table.NoAgent(id)
		}
		if err != nil {
			return err
		}
		const some = "SELECT id FROM events WHERE agent = ? ORDER BY id LIMIT ?"
		if _, err := s.eraseExcerpts(ctx, some, no, chunk); err != nil {
			return err
		}
		events, err := s.affect(ctx, "DELETE FROM events WHERE id IN ("+some+")", no, chunk)
		if err != nil {
			return err
		}
		if more = events == chunk; more {
			return nil
		}
		if more, err = s.deleteSessions(ctx, no, chunk, after); err != nil || more {
			return err
		}
		if err := s.exec(ctx, "DELETE FROM incident_excerpts WHERE agent = ?", id); err != nil {
			return err
		}
		if err := s.forgetAgent(ctx, no); err != nil {
			return err
		}
		return s.writeChange(ctx, &haltd.Change{Node: node, Deleted: id})
	})
	return more, err
}

// deleteSessions deletes the next chunk of an agent's sessions without a
// standing, and says whether there may be more.
func (s *Store) deleteSessions(ctx context.Context, agent, chunk int64, after *int64) (more bool, err error) {
	s.writer.forget()
	var found, last int64
	const next = "SELECT s.no FROM sessions s WHERE s.agent = ? AND s.no > ? AND NOT " + hasStanding + " ORDER BY s.no LIMIT ?"
	if err := s.writer.conn.QueryRowContext(ctx, "SELECT count(*), coalesce(max(no), 0) FROM ("+next+")", agent, *after, chunk).Scan(&found, &last); err != nil || found == 0 {
		return false, err
	}
	if err := s.exec(ctx, "DELETE FROM sessions WHERE no IN ("+next+")", agent, *after, chunk); err != nil {
		return false, err
	}
	*after = last
	return found == chunk, nil
}

func (s *Store) forgetAgent(ctx context.Context, no int64) error {
	for _, query := range []string{
		`UPDATE sessions SET client = '', model = '', first_seen = last_seen, peak_score = 0,
			(` + totalsColumns + `) = (0, 0, 0, 0, 0, 0, 0, 0) WHERE agent = ?`,
		`INSERT INTO usage (hour, agent, provider, model, ` + totalsColumns + `)
			SELECT hour, 0, provider, model, ` + totalsColumns + ` FROM usage WHERE agent = ?` + onUsageSQL,
		"DELETE FROM usage WHERE agent = ?",
	} {
		if err := s.exec(ctx, query, no); err != nil {
			return err
		}
	}
	// The next event is the first that was seen and the last.
	return s.exec(ctx, `UPDATE agents SET deleted = 1, override = NULL, shared = 0, first_seen = ?, last_seen = ?,
		(`+totalsColumns+`) = (0, 0, 0, 0, 0, 0, 0, 0) WHERE no = ?`, int64(math.MaxInt64), int64(math.MinInt64), no)
}
