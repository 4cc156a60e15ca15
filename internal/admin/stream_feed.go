package admin

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/haltd/haltd"
)

// place is where a stream is: after which commit, and after which event of the
// commits that follow it. Ids alone do not tell: those of several nodes are not
// written in their order.
type place struct {
	position int64
	event    haltd.EventID // 0 where all up to position was sent and nothing after it
}

// id is the place as the id of a message, and the Last-Event-ID of who comes
// back.
func (p place) id(e haltd.EventID) string { return fmt.Sprintf("%s@%d", e, p.position) }

// parsePlace reads what id wrote; located is false for an event id alone.
func parsePlace(text string) (p place, located bool, err error) {
	name, position, located := strings.Cut(text, "@")
	if p.event, err = haltd.ParseEventID(name); err != nil || !located {
		return p, false, err
	}
	if p.position, err = strconv.ParseInt(position, 10, 64); err != nil || p.position < 0 {
		return p, false, haltd.Errorf(haltd.CodeInvalid, "%q is not the id of a message", text).WithFix("Send back the id as it came, or an event id.")
	}
	return p, true, nil
}

// commits are what the feed answers a stream at once.
type commits struct {
	events []haltd.Event
	before int64 // the position before these
	last   int64
	err    error
}

// runFeed sends the events that all nodes write, in the order of their commits.
func (f *follower) runFeed(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	feed := make(chan commits)
	go f.ask(ctx, feed)
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-beat.C:
			if err := f.write(": still here\n\n"); err != nil {
				return err
			}
		case t := <-feed:
			if err := f.sendCommits(&t); err != nil {
				return err
			}
		}
	}
}

// ask asks the feed until ctx ends. What it does not keep any more was left
// out; what it cannot tell now it tells when it can.
func (f *follower) ask(ctx context.Context, feed chan<- commits) {
	for position := f.place.position; ctx.Err() == nil; {
		t := commits{before: position}
		t.events, t.last, t.err = f.deps.Feed.Committed(ctx, position, backlogLimit)
		if haltd.ErrorCode(t.err) == haltd.CodeNotFound {
			t.last, _ = f.deps.Feed.Position(ctx) // 0 asks again from the start
		}
		if t.err == nil || haltd.ErrorCode(t.err) == haltd.CodeNotFound && t.last > 0 {
			position = t.last
			select {
			case feed <- t:
			case <-ctx.Done():
			}
			continue
		}
		select {
		case <-time.After(resubscribeAfter):
		case <-ctx.Done():
		}
	}
}

// sendCommits sends what the caller selected. Up to the last event of several
// commits the place is before them, so that who comes back misses none.
func (f *follower) sendCommits(t *commits) error {
	if t.err != nil {
		f.place = place{position: t.last}
		return f.print("event: lagged\ndata: {\"before\":%q}\n\n", haltd.EventID(0))
	}
	skip := f.place.event != 0 && f.place.position == t.before
	known := false
	for i := range t.events {
		known = known || t.events[i].ID == f.place.event
	}
	for i := range t.events {
		e := &t.events[i]
		if skip && known {
			skip = e.ID != f.place.event
			continue
		}
		if !selects(&f.query, e) || f.made[e.ID] {
			continue
		}
		at := place{position: t.before}
		if i == len(t.events)-1 {
			at.position = t.last
		}
		if err := f.sendAt(e, at.id(e.ID)); err != nil {
			return err
		}
	}
	f.place = place{position: t.last}
	return f.flush()
}
