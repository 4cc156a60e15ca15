package record

import (
	"context"
	"time"

	"github.com/haltd/haltd"
)

const (
	firstRetry = 50 * time.Millisecond
	lastRetry  = 5 * time.Second
	// refusals is how many tries a batch has when it fails for a reason
	// that will not pass by itself.
	refusals = 3
	// keepBuffers is how large a buffer may be to be used again: what a
	// jam has grown is given back.
	keepBuffers = 4096
)

// write is the worker. Without events it sleeps and no timer runs; the first
// event starts one, so that others may join its batch.
func (r *Recorder) write(ctx context.Context) {
	timer := time.NewTimer(0)
	timer.Stop()
	for {
		select {
		case <-r.wake:
		case <-ctx.Done():
			return
		}
		timer.Reset(r.opts.Interval)
		select {
		case <-timer.C:
		case <-r.hurry:
		case <-r.closes:
		case <-ctx.Done():
			return
		}
		timer.Stop()
		if !r.writeAll(ctx, r.take()) {
			return
		}
	}
}

// take empties the queue.
func (r *Recorder) take() []haltd.Event {
	r.mu.Lock()
	events := r.pending
	r.pending, r.spare = r.spare[:0], nil
	r.mu.Unlock()
	return events
}

// writeAll writes events batch by batch, however long the store fails. It
// answers false when ctx ended first.
func (r *Recorder) writeAll(ctx context.Context, events []haltd.Event) bool {
	for rest := events; len(rest) > 0; {
		n := min(len(rest), r.opts.Batch)
		if !r.writeBatch(ctx, rest[:n], refusals) {
			return false
		}
		rest = rest[n:]
	}
	clear(events) // lets go of the texts
	r.mu.Lock()
	if cap(events) <= keepBuffers {
		r.spare = events[:0]
	}
	r.mu.Unlock()
	return true
}

// writeBatch writes batch or, after so many chances to fail for a reason that
// will not pass by itself, what can be written of it.
func (r *Recorder) writeBatch(ctx context.Context, batch []haltd.Event, chances int) bool {
	for wait := firstRetry; ; wait = min(2*wait, lastRetry) {
		err := r.store.AppendEvents(ctx, batch)
		if err == nil {
			r.recovered()
			r.written.Add(int64(len(batch)))
			r.watch.send(batch)
			r.settle(len(batch))
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		r.failed(err)
		if haltd.ErrorCode(err) != haltd.CodeUnavailable {
			chances--
		}
		if chances == 0 {
			return r.divide(ctx, batch, err)
		}
		if !r.pause(ctx, wait) {
			return false
		}
	}
}

// divide writes a refused batch event by event, so that none is lost for the
// sake of another. An event refused alone is given up.
func (r *Recorder) divide(ctx context.Context, batch []haltd.Event, err error) bool {
	if len(batch) > 1 {
		for i := range batch {
			if !r.writeBatch(ctx, batch[i:i+1], 1) {
				return false
			}
		}
		return true
	}
	r.log.Error("event rejected by the store", "event", batch[0].ID, "error", err)
	if haltd.ErrorCode(err) == haltd.CodeInvalid {
		r.recovered() // the event was at fault, not the store
	}
	r.rejected.Add(1)
	r.settle(1)
	return true
}

// pause waits before the next try; somebody who waits cuts it short.
func (r *Recorder) pause(ctx context.Context, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.hurry:
	case <-ctx.Done():
		return false
	}
	return true
}

// settle tells those who wait that n more events are dealt with.
func (r *Recorder) settle(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.settled += int64(n)
	for len(r.flushes) > 0 && r.flushes[0].target <= r.settled {
		close(r.flushes[0].done)
		r.flushes = r.flushes[1:]
	}
}

// failed and recovered log the change of state, not every try.
func (r *Recorder) failed(err error) {
	if r.degraded.Swap(&err) == nil {
		r.log.Warn("events cannot be written and are kept in memory", "error", err)
	}
}

func (r *Recorder) recovered() {
	if r.degraded.Load() != nil && r.degraded.Swap(nil) != nil {
		r.log.Info("events are written again")
	}
}
