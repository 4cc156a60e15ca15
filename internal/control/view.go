package control

import (
	"context"
	"fmt"
	"slices"

	"github.com/haltd/haltd"
)

// Standing is the standing of a target; ok is false when nobody ever changed
// it, and then it is active.
func (c *Control) Standing(t haltd.Target) (s haltd.Standing, ok bool) {
	a := c.table.Load().agents[t.Agent]
	switch {
	case a == nil:
	case t.Session != "":
		s, ok = a.sessions[t.Session]
	default:
		s, ok = a.Standing, !a.Standing.At.IsZero()
	}
	if !ok {
		s = haltd.Standing{Agent: t.Agent, Session: t.Session, Active: true}
	}
	return s, ok
}

// Known reports an agent that has a policy of its own, by API or in the file,
// or that may not call; it need not ever have called.
func (c *Control) Known(agent string) bool {
	t := c.table.Load()
	own, file := t.overrides[agent], t.file[agent]
	return !own.IsZero() || !file.IsZero() || !t.agent(agent).Standing.Active
}

// Stopped lists the agents that have a stopped session of this id.
func (c *Control) Stopped(session string) []string {
	var agents []string
	for id, a := range c.table.Load().agents {
		if s, ok := a.sessions[session]; ok && !s.Active {
			agents = append(agents, id)
		}
	}
	slices.Sort(agents)
	return agents
}

// Delete removes what was recorded of an agent, and the API's override for it.
// Its standing stays: deleting lifts no kill.
func (c *Control) Delete(ctx context.Context, agent, by string) error {
	unlock, err := c.lock(ctx, agent)
	if err != nil {
		return fmt.Errorf("delete %s: %w", agent, err)
	}
	defer unlock()
	if err := c.store.DeleteAgent(ctx, c.node, agent); err != nil {
		return fmt.Errorf("delete %s: %w", agent, err)
	}
	return c.commit(ctx, haltd.Change{
		Events: []haltd.Event{audit(c.now(), haltd.Target{Agent: agent}, haltd.Audit{Change: haltd.ChangeDeleted, By: by})},
	}, func(next *table) { next.setOverride(agent, haltd.PolicyOverride{}) })
}
