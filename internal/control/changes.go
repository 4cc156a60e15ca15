package control

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/haltd/haltd"
)

const (
	// mostTries is how often a change is decided anew because another node
	// was faster.
	mostTries = 4
	// changeWait is how long who has been overtaken waits for what the other
	// node changed.
	changeWait = 2 * time.Second
	// feedPause is the rest after a failure of the feed.
	feedPause = time.Second
)

// anyTime is after every change: what another node has forgotten goes, whenever
// it was said.
var anyTime = time.Unix(1<<40, 0)

// watchChanges applies what other nodes change, until ctx ends.
func (c *Control) watchChanges(ctx context.Context) {
	failing := false
	for ctx.Err() == nil {
		err := c.applyNext(ctx, c.seen.Load())
		switch {
		case err == nil:
			failing = false
			continue
		case ctx.Err() != nil:
			return
		case !failing:
			c.log.Warn("what other nodes change is not followed", "error", err)
		}
		failing = true
		select {
		case <-ctx.Done():
		case <-time.After(feedPause):
		}
	}
}

// applyNext waits for changes after a version, and applies them.
func (c *Control) applyNext(ctx context.Context, after int64) error {
	list, err := c.feed.Changes(ctx, after)
	if haltd.ErrorCode(err) == haltd.CodeNotFound {
		return c.reload(ctx)
	}
	if err != nil {
		return err
	}
	return c.applyAll(ctx, list)
}

// applyAll applies changes that other nodes have made. Those of this node hold
// already.
func (c *Control) applyAll(ctx context.Context, list []haltd.Change) error {
	c.applying.Lock()
	defer c.applying.Unlock()
	for i := range list {
		change := &list[i]
		if change.Version <= c.seen.Load() {
			continue // somebody who was overtaken has applied it already
		}
		if change.Keys {
			if err := reload(ctx, c.keys); err != nil {
				return err
			}
		}
		if change.Prices {
			if err := reload(ctx, c.prices); err != nil {
				return err
			}
		}
		if change.Node != c.node || change.Version <= c.ownUntil.Load() {
			if err := c.applyOne(ctx, change); err != nil {
				return err
			}
		}
		c.seen.Store(change.Version)
	}
	return nil
}

// applyOne applies one change, after this node has made its own change of the
// same, which was before.
func (c *Control) applyOne(ctx context.Context, change *haltd.Change) error {
	for _, key := range locksOf(change) {
		unlock, err := c.lock(ctx, key)
		if err != nil {
			return err
		}
		defer unlock()
	}
	c.update(func(next *table) { next.apply(change) })
	if change.Cut != nil {
		c.cut(*change.Cut)
	}
	return nil
}

// locksOf are the locks under which a change is made: of an agent, then others.
func locksOf(c *haltd.Change) (keys []string) {
	switch {
	case c.Standing != nil:
		keys = append(keys, c.Standing.Agent)
	case len(c.Forgotten) > 0:
		keys = append(keys, c.Forgotten[0].Agent)
	case c.Override != nil:
		keys = append(keys, c.Agent)
	case c.Deleted != "":
		keys = append(keys, c.Deleted)
	}
	if c.Rule != nil || c.DeleteRule != "" {
		keys = append(keys, rulesLock)
	}
	if c.Bypass != nil {
		keys = append(keys, bypassLock)
	}
	return keys
}

// apply puts a change of another node into the table.
func (t *table) apply(c *haltd.Change) {
	if c.Standing != nil {
		t.setStanding(*c.Standing)
	}
	if len(c.Forgotten) > 0 {
		t.evict(c.Forgotten, anyTime)
	}
	if c.Override != nil {
		t.setOverride(c.Agent, *c.Override)
	}
	if c.Deleted != "" {
		t.setOverride(c.Deleted, haltd.PolicyOverride{})
	}
	if c.Bypass != nil {
		t.bypass = *c.Bypass
	}
	id := c.DeleteRule
	if c.Rule != nil {
		id = c.Rule.ID
	}
	if id != "" {
		list := slices.DeleteFunc(slices.Clone(t.list), func(r haltd.Rule) bool { return r.ID == id })
		if c.Rule != nil {
			list = append(list, *c.Rule)
		}
		t.setRules(sortRules(list))
	}
}

// setOverride makes an override the one in force; an empty one ends it.
func (t *table) setOverride(agent string, own haltd.PolicyOverride) {
	t.overrides = maps.Clone(t.overrides)
	t.overrides[agent] = own
	if own.IsZero() {
		delete(t.overrides, agent)
	}
	t.applyPolicy(agent)
}

// reload loads all anew, where more has changed than the feed still tells. A
// store that was set back, as by a replica that was behind and took over, has
// lost changes: then who is stopped here stays so, whatever it says.
func (c *Control) reload(ctx context.Context) error {
	c.applying.Lock()
	defer c.applying.Unlock()
	known, err := c.store.Control(ctx)
	if err != nil {
		return err
	}
	setBack := known.Version < c.seen.Load()
	if setBack {
		c.log.Error("the database was set back: changes are lost that it had confirmed; who is stopped stays so until this node ends, and has to be stopped again to last")
	}
	c.update(func(next *table) {
		before := next.agents
		*next = *newTable(known, next.defaults, next.file)
		if setBack {
			next.keepStops(before)
		}
	})
	// What this node changed meanwhile it follows like the others' changes.
	now, err := c.store.Control(ctx)
	if err != nil {
		return err
	}
	c.ownUntil.Store(now.Version)
	c.seen.Store(known.Version)
	return errors.Join(reload(ctx, c.keys), reload(ctx, c.prices))
}

// keepStops stops who was stopped before.
func (t *table) keepStops(before map[string]*Agent) {
	for _, a := range before {
		if !a.Standing.Active {
			t.setStanding(a.Standing)
		}
		for _, s := range a.sessions {
			if !s.Active {
				t.setStanding(s)
			}
		}
	}
}

// retryOnConflict makes a change, and decides about it anew when another node was
// faster: f looks at the table under a lock of its own.
func retryOnConflict[T any](ctx context.Context, c *Control, f func() (T, error)) (v T, err error) {
	for range mostTries {
		seen := c.seen.Load()
		if v, err = f(); haltd.ErrorCode(err) != haltd.CodeConflict || c.feed == nil {
			return v, err
		}
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), changeWait)
		_ = c.applyNext(limited, seen) // what is not told by then conflicts again
		cancel()
	}
	return v, err
}
