package record

import (
	"context"
	"time"

	"github.com/haltd/haltd"
)

const (
	followBatch = 1000
	// followPause is the rest after a failure of the feed.
	followPause = time.Second
)

// follow sends subscribers the events that other nodes have written. Those of
// this node they have from it.
func (r *Recorder) follow(ctx context.Context) {
	position, located, failing := int64(0), false, false
	for ctx.Err() == nil {
		var events []haltd.Event
		var err error
		if !located {
			position, err = r.opts.Feed.Position(ctx)
			located = err == nil
		} else {
			events, position, err = r.opts.Feed.Committed(ctx, position, followBatch)
		}
		switch {
		case err == nil:
			failing = false
			r.sendOthers(events)
			continue
		case ctx.Err() != nil:
			return
		case haltd.ErrorCode(err) == haltd.CodeNotFound:
			located = false // the live stream is of what happens now
			continue
		case !failing:
			r.log.Warn("the live stream lacks what other nodes record", "error", err)
		}
		failing = true
		select {
		case <-ctx.Done():
		case <-time.After(followPause):
		}
	}
}

func (r *Recorder) sendOthers(events []haltd.Event) {
	own := r.ids.Number()
	kept := events[:0]
	for i := range events {
		if events[i].ID.Node() != own {
			kept = append(kept, events[i])
		}
	}
	if len(kept) > 0 {
		r.subscribers.send(kept)
	}
}
