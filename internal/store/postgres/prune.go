package postgres

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/table"
	"github.com/jackc/pgx/v5"
)

const (
	// pruneChunk is how many rows one transaction of PruneEvents deletes: few
	// enough that nobody waits long for what it locks.
	pruneChunk = 5000
	// prunePatience is how long that may take.
	prunePatience = 30 * time.Second
)

// pruner deletes about so many rows from before a time and says how many went.
type pruner func(ctx context.Context, tx pgx.Tx, t time.Time, most int64) (int64, error)

// inChunks prunes until there is no more. Each time is a transaction of its
// own.
func (s *Store) inChunks(ctx context.Context, what string, t time.Time, prune pruner) error {
	for gone := int64(pruneChunk); gone >= pruneChunk; {
		err := s.doWithin(ctx, prunePatience, what, func(ctx context.Context) error {
			return s.transact(ctx, func(ctx context.Context, tx pgx.Tx) (err error) {
				gone, err = prune(ctx, tx, t, pruneChunk)
				return err
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// PruneEvents implements haltd.RetentionStore. Canceled on its way, it says how
// many events went so far. Sessions go after the events before t, so that none
// loses the session it names. One that has a standing stays, because it tells
// when the session last called.
func (s *Store) PruneEvents(ctx context.Context, t time.Time) (total int64, err error) {
	if _, err := s.PruneExcerpts(ctx, t); err != nil {
		return 0, err
	}
	events := func(ctx context.Context, tx pgx.Tx, t time.Time, most int64) (int64, error) {
		gone, err := exec(ctx, tx, `DELETE FROM events WHERE id IN (SELECT id FROM events
			WHERE id <= (SELECT max(last_event) FROM hours WHERE hour <= $1) AND time < $2 ORDER BY id LIMIT $3)`,
			table.HourOf(t), table.Micros(t), most)
		total += gone
		return gone, err
	}
	for _, prune := range []pruner{events, pruneSessions, pruneHours, pruneMarks, pruneIncidents, pruneDeliveries, pruneNotices} {
		if err := s.inChunks(ctx, "prune events", t, prune); err != nil {
			return total, err
		}
	}
	return total, nil
}

func pruneSessions(ctx context.Context, tx pgx.Tx, t time.Time, most int64) (int64, error) {
	return exec(ctx, tx, `DELETE FROM sessions WHERE no IN (SELECT s.no FROM sessions s WHERE s.last_seen < $1 AND NOT `+hasStanding+` LIMIT $2)
		AND last_seen < $1`, table.Micros(t), most)
}

func pruneHours(ctx context.Context, tx pgx.Tx, t time.Time, most int64) (int64, error) {
	return exec(ctx, tx, "DELETE FROM hours WHERE hour IN (SELECT hour FROM hours WHERE hour < $1 LIMIT $2)", table.HourOf(t), most)
}

// Forget implements haltd.RetentionStore.
func (s *Store) Forget(ctx context.Context, now time.Time) error {
	for _, kept := range []struct {
		what   string
		time   time.Duration
		forget pruner
	}{
		{"sums", haltd.KeepSums, forgetUsage},
		{"incidents", haltd.KeepSums, forgetIncidents},
		{"ledgers", haltd.KeepLedgers, forgetLedgers},
		{"agents", haltd.KeepSums, forgetAgents},
		{"changes", keepChanges, forgetChanges},
		{"commits", keepCommits, forgetCommits},
	} {
		if err := s.inChunks(ctx, "forget old "+kept.what, now.Add(-kept.time), kept.forget); err != nil {
			return err
		}
	}
	return nil
}

func forgetUsage(ctx context.Context, tx pgx.Tx, t time.Time, most int64) (int64, error) {
	return exec(ctx, tx, `DELETE FROM usage WHERE (hour, agent, provider, model) IN (
		SELECT hour, agent, provider, model FROM usage WHERE hour < $1 ORDER BY hour LIMIT $2)`, table.HourOf(t), most)
}

func forgetLedgers(ctx context.Context, tx pgx.Tx, t time.Time, most int64) (int64, error) {
	return exec(ctx, tx, `DELETE FROM shares WHERE (agent, period, start, node) IN (
		SELECT agent, period, start, node FROM shares WHERE start < $1 LIMIT $2)`, table.Micros(t), most)
}

// forgetAgents deletes agents that nobody said anything of and that have no
// sessions, events or sums left. The sums of whole hours from before t are
// gone, so that one last seen before that hour has none.
func forgetAgents(ctx context.Context, tx pgx.Tx, t time.Time, most int64) (int64, error) {
	return exec(ctx, tx, `DELETE FROM agents WHERE id IN (SELECT a.id FROM agents a
		WHERE last_seen < $1 AND override IS NULL AND NOT `+notable+`
		AND NOT EXISTS (SELECT 1 FROM events e WHERE e.agent = a.id)
		AND NOT EXISTS (SELECT 1 FROM sessions s WHERE s.agent = a.id) LIMIT $2) AND last_seen < $1`, table.HourOf(t), most)
}

// ForgetSessions implements haltd.ControlStore.
func (s *Store) ForgetSessions(ctx context.Context, node string, sessions []haltd.Target, since time.Time) (gone []haltd.Target, err error) {
	err = s.write(ctx, "forget sessions", func(ctx context.Context, tx pgx.Tx) error {
		gone = nil
		byAgent := map[string][]haltd.Target{}
		for _, t := range sessions {
			n, err := exec(ctx, tx, `DELETE FROM session_standings r WHERE agent = $1 AND session = $2 AND coalesce(changed_at, 0) < $3
				AND NOT EXISTS (SELECT 1 FROM sessions s WHERE s.id = r.session AND s.agent = r.agent AND s.last_seen >= $3)`,
				t.Agent, t.Session, table.Micros(since))
			if err != nil {
				return err
			}
			if n > 0 {
				gone = append(gone, t)
				byAgent[t.Agent] = append(byAgent[t.Agent], t)
			}
		}
		for _, list := range byAgent {
			if err := logChange(ctx, tx, haltd.Change{Node: node, Forgotten: list}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return gone, nil
}

// deleteChunk is how many events, or sessions, one transaction of DeleteAgent
// deletes: commits of others wait for no more than that.
const deleteChunk = 1000

// DeleteAgent implements haltd.ControlStore. Marks and ledgers stay with the
// standing: neither a loop that was answered for nor money that was spent is
// undone by forgetting. Of a session with a standing it stays known when it
// last called, by which the standing is forgotten. The hourly sums go on
// without the agent's name. Canceled on its way, it leaves the agent with some
// of its events gone.
func (s *Store) DeleteAgent(ctx context.Context, node, id string) error {
	for more := true; more; {
		err := s.write(ctx, "delete agent", func(ctx context.Context, tx pgx.Tx) (err error) {
			more, err = deleteSome(ctx, tx, node, id)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// deleteSome deletes one chunk of an agent's events with their excerpts, or of
// its sessions without a standing, and, in the transaction that finds none left,
// all else.
func deleteSome(ctx context.Context, tx pgx.Tx, node, id string) (more bool, err error) {
	known, err := read(ctx, tx, value[string], "SELECT id FROM agents WHERE id = $1 AND NOT deleted FOR UPDATE", id)
	if err != nil {
		return false, err
	}
	if len(known) == 0 {
		return false, table.NoAgent(id)
	}
	events, err := read(ctx, tx, value[int64], "SELECT id FROM events WHERE agent = $1 ORDER BY id LIMIT $2", id, deleteChunk)
	if err != nil {
		return false, err
	}
	for _, query := range []string{"DELETE FROM excerpts WHERE event = ANY($1)", "DELETE FROM events WHERE id = ANY($1)"} {
		if _, err := exec(ctx, tx, query, events); err != nil {
			return false, err
		}
	}
	if len(events) == deleteChunk {
		return true, nil
	}
	sessions, err := exec(ctx, tx, "DELETE FROM sessions WHERE no IN (SELECT s.no FROM sessions s WHERE s.agent = $1 AND NOT "+hasStanding+" LIMIT $2)", id, deleteChunk)
	if err != nil || sessions == deleteChunk {
		return err == nil, err
	}
	if err := forgetAgent(ctx, tx, id); err != nil {
		return false, err
	}
	return false, logChange(ctx, tx, haltd.Change{Node: node, Deleted: id})
}

func forgetAgent(ctx context.Context, tx pgx.Tx, id string) error {
	for _, query := range []string{
		"DELETE FROM incident_excerpts WHERE agent = $1",
		`UPDATE sessions SET client = '', model = '', first_seen = last_seen, peak_score = 0,
			(` + totalsColumns + `) = (0, 0, 0, 0, 0, 0, 0, 0) WHERE agent = $1`,
		`INSERT INTO usage (hour, agent, provider, model, ` + totalsColumns + `)
			SELECT hour, '', provider, model, ` + totalsColumns + ` FROM usage WHERE agent = $1` + onUsageSQL,
		"DELETE FROM usage WHERE agent = $1",
		// The next event is the first that was seen and the last.
		fmt.Sprintf(`UPDATE agents SET deleted = true, override = NULL, shared = false, first_seen = %d, last_seen = -%d,
			(`+totalsColumns+`) = (0, 0, 0, 0, 0, 0, 0, 0) WHERE id = $1`, int64(math.MaxInt64), int64(math.MaxInt64)),
	} {
		if _, err := exec(ctx, tx, query, id); err != nil {
			return err
		}
	}
	return nil
}
