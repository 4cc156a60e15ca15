package control

import (
	"context"
	"fmt"
	"sync"

	"github.com/haltd/haltd"
)

// turns let one change at a time be made of one thing: an agent, an incident,
// the rules, the bypass. A change of one never waits for that of another,
// however long the store takes.
type turns struct {
	mu    sync.Mutex
	taken map[string]chan struct{} // closed when the turn ends
}

// Keys of turns that are no agents. No agent has a space in its id.
const (
	rulesTurn    = " rules"
	bypassTurn   = " bypass"
	incidentTurn = " incident " // and its id
)

// acquire waits for a turn as long as ctx lasts.
func (t *turns) acquire(ctx context.Context, key string) (end func(), err error) {
	for {
		t.mu.Lock()
		before, busy := t.taken[key]
		if !busy {
			if t.taken == nil {
				t.taken = map[string]chan struct{}{}
			}
			done := make(chan struct{})
			t.taken[key] = done
			t.mu.Unlock()
			return func() { t.release(key, done) }, nil
		}
		t.mu.Unlock()
		select {
		case <-before:
		case <-ctx.Done():
			return nil, fmt.Errorf("%w (%w)", haltd.Errorf(haltd.CodeUnavailable, "another change of the same is still being written").
				WithFix("Try again; if that lasts, check the disk."), ctx.Err())
		}
	}
}

func (t *turns) release(key string, done chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.taken, key)
	close(done)
}

// turn waits for the turn to change something, for commitTimeout at most.
func (c *Control) turn(ctx context.Context, key string) (end func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, commitTimeout)
	defer cancel()
	return c.turns.acquire(ctx, key)
}
