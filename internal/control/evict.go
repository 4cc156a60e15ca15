package control

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/haltd/haltd"
)

const (
	evictEvery = time.Hour
	// evictChunk is how many sessions are evicted at once: few enough that
	// a kill does not wait long.
	evictChunk = 1000
)

// evictPeriodically evicts sessions at the start and then once an hour, on the
// node that leads; the others hear of it.
func (c *Control) evictPeriodically(ctx context.Context) {
	tick := time.NewTicker(evictEvery)
	defer tick.Stop()
	for {
		if c.leads(ctx) {
			if err := c.EvictSessions(ctx); err != nil && ctx.Err() == nil {
				c.log.Warn("idle sessions are not evicted", "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// EvictSessions drops the standings of sessions that were stopped by the kill
// switch, or resumed, and have been idle for haltd.KeepStopped: clients make
// new sessions without end. What a person has stopped stays stopped, and so
// does every agent.
func (c *Control) EvictSessions(ctx context.Context) error {
	before := c.now().Add(-haltd.KeepStopped)
	for sessions := range slices.Chunk(c.table.Load().unchangedSince(before), evictChunk) {
		if err := c.evict(ctx, sessions, before); err != nil {
			return fmt.Errorf("evict sessions: %w", err)
		}
	}
	return nil
}

// evict asks the store, which knows when a session last called. It holds no
// lock: a session that is stopped meanwhile is left alone, by the store as by
// the table, because its standing is new.
func (c *Control) evict(ctx context.Context, sessions []haltd.Target, before time.Time) error {
	gone, err := c.store.ForgetSessions(ctx, c.node, sessions, before)
	if err != nil || len(gone) == 0 {
		return err
	}
	c.update(func(next *table) { next.evict(gone, before) })
	return nil
}

// unchangedSince lists the sessions whose standing has not changed since then,
// except those that a person stopped.
func (t *table) unchangedSince(before time.Time) (list []haltd.Target) {
	for id, a := range t.agents {
		for session, s := range a.sessions {
			byPerson := s.DeactivatedBy != nil && *s.DeactivatedBy == haltd.ByManual
			if s.At.Before(before) && !byPerson {
				list = append(list, haltd.Target{Agent: id, Session: session})
			}
		}
	}
	return list
}

// evict drops the standings of sessions that have not changed since then, and
// agents of which nothing else is known.
func (t *table) evict(sessions []haltd.Target, before time.Time) {
	changed := map[string]*Agent{}
	for _, s := range sessions {
		if a := t.agents[s.Agent]; a == nil || !a.sessions[s.Session].At.Before(before) {
			continue
		}
		a := changed[s.Agent]
		if a == nil {
			copied := *t.agents[s.Agent]
			a = &copied
			a.sessions = maps.Clone(a.sessions)
			changed[s.Agent] = a
		}
		delete(a.sessions, s.Session)
	}
	for id, a := range changed {
		t.agents[id] = a
		own, file := t.overrides[id], t.file[id]
		if len(a.sessions) == 0 && a.Standing.At.IsZero() && own.IsZero() && file.IsZero() {
			delete(t.agents, id)
		}
	}
}
