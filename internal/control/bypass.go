package control

import (
	"context"
	"fmt"

	"github.com/haltd/haltd"
)

// heldBypass is a bypass that was switched on and is not yet written.
type heldBypass struct {
	haltd.Bypass
	ended chan struct{} // closed when it is written, switched off, or on anew
}

// Bypass is the state of the break-glass switch.
func (c *Control) Bypass() haltd.Bypass {
	if held := c.bypass.Load(); held != nil { // first: what is written leaves it for the table
		return held.Bypass
	}
	return c.table.Load().bypass
}

// SetBypass stops, or starts again, all enforcement except stops by hand. It is
// for when haltd itself is the problem, which its disk may be: switched on it holds
// at once, and where the store is not available, which is an error, too: then it is
// written later.
func (c *Control) SetBypass(ctx context.Context, on bool, by, why string) (haltd.Bypass, error) {
	b := haltd.Bypass{On: on, By: by, Why: why, At: c.now()}
	if !on {
		held := c.bypass.Load()
		c.endBypass(held)
		set, err := retryOnConflict(ctx, c, func() (haltd.Bypass, error) { return c.setBypass(ctx, b, nil) })
		if held != nil && haltd.ErrorCode(err) == haltd.CodeUnavailable && !c.Bypass().On {
			return b, nil // what was held was never written, so nothing has to be
		}
		return set, err
	}
	held := &heldBypass{b, make(chan struct{})}
	if before := c.bypass.Swap(held); before != nil {
		close(before.ended)
	}
	c.log.Warn("bypass is on: nothing is enforced except stops by hand", "by", by, "reason", why)
	m := inMemory{what: "the bypass", end: func() { c.endBypass(held) }, tried: func() {}, ended: held.ended}
	b, holds, err := writeAtOnce(ctx, c, m, 2*commitTimeout, func(ctx context.Context) (haltd.Bypass, error) {
		return retryOnConflict(ctx, c, func() (haltd.Bypass, error) { return c.setBypass(ctx, held.Bypass, held) })
	})
	if holds {
		err = heldOnly("nothing is enforced from now on except stops by hand", err)
	}
	return b, err
}

// endBypass ends a bypass that is not written, where there is one and it holds.
func (c *Control) endBypass(held *heldBypass) {
	if held != nil && c.bypass.CompareAndSwap(held, nil) {
		close(held.ended)
	}
}

// setBypass writes how the switch is to stand. What is held is written only as
// long as it holds.
func (c *Control) setBypass(ctx context.Context, b haltd.Bypass, held *heldBypass) (haltd.Bypass, error) {
	unlock, err := c.lock(ctx, bypassLock)
	if err != nil {
		return haltd.Bypass{}, fmt.Errorf("set the bypass: %w", err)
	}
	defer unlock()
	if held != nil && c.bypass.Load() != held { // switched since it could not be written
		return c.Bypass(), nil
	}
	record := haltd.Audit{Change: haltd.ChangeBypassOff, By: b.By, Why: b.Why}
	if b.On {
		record.Change = haltd.ChangeBypassOn
	}
	change := haltd.Change{Bypass: &b, Events: []haltd.Event{audit(b.At, haltd.Target{}, record)}}
	if b.On != c.table.Load().bypass.On {
		change.Notices = []haltd.Notice{bypassNotice(b)}
	}
	err = c.commit(ctx, change, func(next *table) { next.bypass = b })
	if err != nil {
		return haltd.Bypass{}, fmt.Errorf("set the bypass: %w", err)
	}
	if !b.On {
		c.log.Warn("bypass is off: policy and detectors are enforced again", "by", b.By)
	}
	return b, nil
}
