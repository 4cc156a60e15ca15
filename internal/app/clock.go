package app

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/haltd/haltd"
)

const (
	// clockTolerance is by how much the clock of this node may differ from
	// the one that all nodes share before it is set anew.
	clockTolerance = 20 * time.Millisecond
	// clockTries is how often the time is asked for at the start; the answer
	// that came fastest counts.
	clockTries = 3
	// clockNotice is the difference that an operator should know of.
	clockNotice = 2 * time.Second
)

// sharedClock is the clock of a node among others: its own, set to that of the
// store. What nodes write for each other (when a call came, when a window was
// emptied, which day a budget is of) has one order then, whatever their own
// clocks say.
type sharedClock struct {
	own   haltd.Clock
	store haltd.StoreClock
	log   *slog.Logger
	ahead atomic.Int64 // of the store before this node
}

func (c *sharedClock) now() time.Time { return c.own().Add(time.Duration(c.ahead.Load())) }

// set asks the store for the time and follows where this node differs by more
// than the answer may be wrong.
func (c *sharedClock) set(ctx context.Context, tries int) error {
	ahead, doubt := time.Duration(0), time.Duration(-1)
	for range tries {
		asked := c.own()
		now, err := c.store.Now(ctx)
		if err != nil {
			return err
		}
		took := c.own().Sub(asked)
		if doubt < 0 || took/2 < doubt {
			ahead, doubt = now.Sub(asked.Add(took/2).Round(0)), took/2
		}
	}
	before := time.Duration(c.ahead.Load())
	if (ahead - before).Abs() <= clockTolerance+doubt {
		return nil
	}
	c.ahead.Store(int64(ahead))
	if (ahead - before).Abs() > clockNotice {
		c.log.Warn("the clock of this machine differs from the database's, which all nodes go by; let NTP set both", "duration", -ahead)
	}
	return nil
}
