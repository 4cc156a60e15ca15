package record

import (
	"context"
	"slices"
	"time"

	"github.com/haltd/haltd"
)

const (
	firstBackoff = 50 * time.Millisecond
	maxBackoff   = 5 * time.Second
	// maxRefusals is how often a batch may fail for a reason that will not
	// pass by itself.
	maxRefusals = 3
	// maxSpare is the largest buffer that is kept: one that grew while the
	// store failed is freed.
	maxSpare = 4096
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
		case <-r.flushNow:
		case <-r.closes:
		case <-ctx.Done():
			return
		}
		timer.Stop()
		endCopies := r.keepCopies()
		all := r.writeAll(ctx, r.take())
		endCopies()
		if !all {
			return
		}
	}
}

// take empties the queue.
func (r *Recorder) take() []haltd.Event {
	r.mu.Lock()
	events := r.pending
	r.pending, r.spare, r.writing = r.spare[:0], nil, events
	r.mu.Unlock()
	return events
}

// writeAll writes events batch by batch, however long the store fails. It
// answers false when ctx ended first.
func (r *Recorder) writeAll(ctx context.Context, events []haltd.Event) bool {
	for rest := events; len(rest) > 0; {
		n := min(len(rest), r.opts.Batch)
		if !r.writeBatch(ctx, rest[:n], maxRefusals) {
			return false
		}
		rest = rest[n:]
	}
	r.mu.Lock()
	r.writing = nil
	r.mu.Unlock()
	clear(events) // frees the texts
	r.mu.Lock()
	if cap(events) <= maxSpare {
		r.spare = events[:0]
	}
	r.mu.Unlock()
	return true
}

// writeBatch writes batch, however often it has to retry. After so many
// refusals for a reason that will not pass by itself, it writes what can be
// written of it. It answers false when ctx ended first.
func (r *Recorder) writeBatch(ctx context.Context, batch []haltd.Event, refusals int) bool {
	// Behind what waits on disk; what has no room there need not wait for it.
	if r.opts.Spool.Waiting() > 0 && r.spool(batch) == nil {
		return true
	}
	for wait := firstBackoff; ; wait = min(2*wait, maxBackoff) {
		err := r.store.AppendEvents(ctx, batch)
		if err == nil {
			if r.opts.Spool.Waiting() == 0 {
				r.recovered()
			}
			r.written.Add(int64(len(batch)))
			r.Announce(batch)
			r.complete(len(batch))
			return true
		}
		if ctx.Err() != nil {
			if r.opts.Spool != nil {
				r.spoolOrDrop(batch) // the next process sends it
			}
			return false
		}
		r.failed(err)
		if haltd.ErrorCode(err) != haltd.CodeUnavailable {
			refusals--
		} else if r.opts.Spool != nil {
			r.spoolOrDrop(batch)
			return true
		}
		if refusals == 0 {
			return r.writeSingly(ctx, batch, err)
		}
		if !r.backoff(ctx, wait) {
			return false
		}
	}
}

// writeSingly writes a refused batch event by event, so that none is lost for the
// sake of another. An event refused alone is rejected.
func (r *Recorder) writeSingly(ctx context.Context, batch []haltd.Event, err error) bool {
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
	r.Abandon(batch)
	r.complete(1)
	return true
}

// backoff waits before the next retry, or until somebody asks for a flush.
func (r *Recorder) backoff(ctx context.Context, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.flushNow:
	case <-ctx.Done():
		return false
	}
	return true
}

// complete counts n more events as written or rejected, and ends the flushes
// that waited for them.
func (r *Recorder) complete(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.completed += int64(n)
	for len(r.flushes) > 0 && r.flushes[0].target <= r.completed {
		close(r.flushes[0].done)
		r.flushes = r.flushes[1:]
	}
}

// failed and recovered log the change of state, not every retry.
func (r *Recorder) failed(err error) {
	r.mu.Lock()
	r.flushes = slices.DeleteFunc(r.flushes, func(f flush) bool {
		if f.failed == nil {
			return false
		}
		f.failed <- err
		return true
	})
	r.mu.Unlock()
	if r.degraded.Swap(&err) == nil {
		where := "in memory"
		if r.opts.Spool != nil {
			where = "on disk"
		}
		r.log.Warn("events cannot be written and are kept "+where, "error", err)
	}
}

func (r *Recorder) recovered() {
	if r.degraded.Load() != nil && r.degraded.Swap(nil) != nil {
		r.log.Info("events are written again")
	}
}
