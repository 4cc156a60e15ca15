package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/table"
)

// Forget implements haltd.RetentionStore.
func (s *Store) Forget(ctx context.Context, now time.Time) error {
	for _, kept := range []struct {
		what   string
		time   time.Duration
		forget func(context.Context, time.Time, int64) (int64, error)
	}{
		{"sums", haltd.KeepSums, s.forgetUsage},
		{"incidents", haltd.KeepSums, s.forgetIncidents},
		{"ledgers", haltd.KeepLedgers, s.forgetLedgers},
		{"agents", haltd.KeepSums, s.forgetAgents},
		{"changes", keepChanges, s.forgetChanges},
		{"commits", keepCommits, s.forgetCommits},
	} {
		if err := s.inChunks(ctx, now.Add(-kept.time), pruneChunk, kept.forget); err != nil {
			return fmt.Errorf("forget old %s: %w", kept.what, explain(s.path, err))
		}
	}
	return nil
}

// forgetUsage deletes whole hours of agents, and so a few rows more than most.
func (s *Store) forgetUsage(ctx context.Context, t time.Time, most int64) (int64, error) {
	return s.affect(ctx, `DELETE FROM usage WHERE (hour, agent) <= (SELECT hour, agent FROM (
		SELECT hour, agent FROM usage WHERE hour < ? ORDER BY hour, agent LIMIT ?) ORDER BY hour DESC, agent DESC LIMIT 1)`,
		table.HourOf(t), most)
}

func (s *Store) forgetLedgers(ctx context.Context, t time.Time, most int64) (int64, error) {
	return s.affect(ctx, `DELETE FROM shares WHERE (agent, period, start, node) IN (
		SELECT agent, period, start, node FROM shares WHERE start < ? LIMIT ?)`, table.Micros(t), most)
}

// forgetAgents deletes agents that nobody said anything of and that have no
// sessions, events or sums left. The sums of whole hours from before t are
// gone, so that one last seen before that hour has none.
func (s *Store) forgetAgents(ctx context.Context, t time.Time, most int64) (int64, error) {
	gone, err := s.affect(ctx, `DELETE FROM agents WHERE no IN (SELECT no FROM agents
		WHERE last_seen < ? AND override IS NULL AND NOT (`+notable+`)
		AND NOT EXISTS (SELECT 1 FROM events e WHERE e.agent = agents.no)
		AND no NOT IN (SELECT agent FROM sessions) LIMIT ?)`, table.HourOf(t), most)
	if gone > 0 {
		s.writer.forget() // their numbers are given to others
	}
	return gone, err
}

// ForgetSessions implements haltd.ControlStore.
func (s *Store) ForgetSessions(ctx context.Context, node string, sessions []haltd.Target, since time.Time) (gone []haltd.Target, err error) {
	err = s.writer.write(ctx, func(ctx context.Context) error {
		if gone, err = s.forgetSessions(ctx, sessions, since); err != nil {
			return err
		}
		byAgent := map[string][]haltd.Target{}
		for _, t := range gone {
			byAgent[t.Agent] = append(byAgent[t.Agent], t)
		}
		for _, list := range byAgent {
			if err := s.writeChange(ctx, &haltd.Change{Node: node, Forgotten: list}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("forget sessions: %w", explain(s.path, err))
	}
	s.changed.Ring()
	return gone, nil
}

func (s *Store) forgetSessions(ctx context.Context, sessions []haltd.Target, since time.Time) (gone []haltd.Target, err error) {
	forget, err := s.writer.conn.PrepareContext(ctx, `DELETE FROM session_standings WHERE agent = ? AND session = ?
		AND coalesce(changed_at, 0) < ? AND NOT EXISTS (SELECT 1 FROM sessions s JOIN agents a ON a.no = s.agent
			WHERE s.id = session_standings.session AND a.id = session_standings.agent AND s.last_seen >= ?)`)
	if err != nil {
		return nil, err
	}
	defer forget.Close()
	for _, t := range sessions {
		result, err := forget.ExecContext(ctx, t.Agent, t.Session, table.Micros(since), table.Micros(since))
		if err != nil {
			return nil, err
		}
		if n, err := result.RowsAffected(); err != nil {
			return nil, err
		} else if n > 0 {
			gone = append(gone, t)
		}
	}
	return gone, nil
}
