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
	forgetEvery = time.Hour
	// forgetChunk is how many sessions are forgotten at once: few enough
	// that a kill does not wait long.
	forgetChunk = 1000
)

// watchSessions forgets sessions at the start and then once an hour.
func (c *Control) watchSessions(ctx context.Context) {
	tick := time.NewTicker(forgetEvery)
	defer tick.Stop()
	for {
		if err := c.ForgetSessions(ctx); err != nil && ctx.Err() == nil {
			c.log.Warn("sessions that are long silent are still remembered", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// ForgetSessions forgets that sessions were stopped by the kill switch, or
// resumed, which have been silent for haltd.KeepStopped: clients make new ones
// without end. What a person has stopped stays stopped, and so does every
// agent.
func (c *Control) ForgetSessions(ctx context.Context) error {
	before := c.now().Add(-haltd.KeepStopped)
	for sessions := range slices.Chunk(c.table.Load().settled(before), forgetChunk) {
		if err := c.forget(ctx, sessions, before); err != nil {
			return fmt.Errorf("forget sessions: %w", err)
		}
	}
	return nil
}

// forget asks the store, which knows when a session last called.
func (c *Control) forget(ctx context.Context, sessions []haltd.Target, before time.Time) error {
	c.changes.Lock()
	defer c.changes.Unlock()
	gone, err := c.store.ForgetSessions(ctx, sessions, before)
	if err != nil || len(gone) == 0 {
		return err
	}
	next := c.table.Load().clone()
	next.forget(gone)
	c.table.Store(next)
	return nil
}

// settled are the sessions whose standing has not changed since before, but
// for those that a person stopped.
func (t *table) settled(before time.Time) (list []haltd.Target) {
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

// forget drops the standings of sessions, and agents of which nothing else is
// known.
func (t *table) forget(sessions []haltd.Target) {
	changed := map[string]*Agent{}
	for _, s := range sessions {
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
