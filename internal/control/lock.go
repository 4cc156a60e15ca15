package control

import (
	"context"
	"fmt"

	"github.com/haltd/haltd"
)

// Keys of locks that are no agents. No agent has a space in its id.
const (
	rulesLock    = " rules"
	bypassLock   = " bypass"
	incidentLock = " incident " // and its id
)

// lock waits for the right to change one thing, an agent, an incident, the
// rules or the bypass, for commitTimeout at most. A change of one never waits
// for that of another, however long the store takes.
func (c *Control) lock(ctx context.Context, key string) (unlock func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, commitTimeout)
	defer cancel()
	if err := c.locks.Acquire(ctx, key); err != nil {
		return nil, fmt.Errorf("%w (%w)", haltd.Errorf(haltd.CodeUnavailable, "another change of the same is still being written").
			WithFix("Try again; if that lasts, check the disk."), err)
	}
	return func() { c.locks.Release(key) }, nil
}
