package record

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/haltd/haltd"
)

const (
	// storePatience is how long the store may take for a write before copies of
	// what waits are kept, and copyEvery how often those that came since join
	// them. With Interval that is half a second in which a crash costs events.
	storePatience = 200 * time.Millisecond
	copyEvery     = 100 * time.Millisecond
	// recentBytes is how large the file may grow before those that were written
	// meanwhile are taken out of it.
	recentBytes = 64 << 20
)

// recent keeps copies of events that the store is slow to take in a file: the
// machine may be busy, the disk slow or the database far away when the process
// is killed. A store that is quick costs it nothing. The file is not synced: a
// crash of the process leaves it whole.
//
// Only the goroutine that writes, and the timer that it starts, use it.
type recent struct {
	file   *Spool
	most   atomic.Int64 // bytes, before it is rewritten
	copied int64        // events, counted as Recorder.accepted is; earlier ones are in the file, or were written before it was needed
	failed bool         // the last copy
}

// Recover has the store take the copies that a process left which was killed.
// It takes an id once, so that those it has are not written again.
func Recover(ctx context.Context, store EventAppender, left *Spool) error {
	for left.Waiting() > 0 {
		events, lines, bytes, err := left.next(500)
		if err == nil {
			err = appendValid(ctx, store, events)
		}
		if err == nil {
			err = left.took(lines, bytes)
		}
		if err != nil {
			return fmt.Errorf("write the events that the last process left in %s: %w", left.file.Name(), err)
		}
	}
	return nil
}

// appendValid leaves out events that the store will never take.
func appendValid(ctx context.Context, store EventAppender, events []haltd.Event) error {
	err := store.AppendEvents(ctx, events)
	if haltd.ErrorCode(err) != haltd.CodeInvalid {
		return err
	}
	for i := range events {
		if err := store.AppendEvents(ctx, events[i:i+1]); err != nil && haltd.ErrorCode(err) != haltd.CodeInvalid {
			return err
		}
	}
	return nil
}

// keepCopies copies what waits for the store while it is slow, until the
// function that it returns is called.
func (r *Recorder) keepCopies() (end func()) {
	if r.recent.file == nil {
		return func() {}
	}
	done, over := make(chan struct{}), make(chan struct{})
	timer := time.AfterFunc(storePatience, func() {
		defer close(over)
		tick := time.NewTicker(copyEvery)
		defer tick.Stop()
		for {
			r.copyWaiting()
			select {
			case <-done:
				return
			case <-tick.C:
			}
		}
	})
	return func() {
		if timer.Stop() {
			close(over)
		}
		close(done)
		<-over
		r.dropCopies()
	}
}

// copyWaiting adds to the file what it does not have yet.
func (r *Recorder) copyWaiting() {
	c := &r.recent
	r.mu.Lock()
	events := r.waitingSince(max(c.copied, r.completed))
	accepted := r.accepted
	r.mu.Unlock()
	if len(events) == 0 {
		return
	}
	err := c.file.keep(events)
	if err == nil && c.file.size > c.most.Load() {
		err = r.rewriteCopies(accepted)
	}
	if err == nil {
		c.copied = accepted
	} else if !c.failed { // a full disk; they stay in memory
		r.log.Warn("a crash now would lose events that the store has not taken yet", "error", err)
	}
	c.failed = err != nil
}

// waitingSince are the events that are not completed, from the one on before
// which so many were accepted. The caller has locked mu.
func (r *Recorder) waitingSince(from int64) []haltd.Event {
	begin := r.accepted - int64(len(r.pending)) - int64(len(r.writing))
	skip := int(max(0, from-begin))
	events := make([]haltd.Event, 0, max(0, len(r.writing)+len(r.pending)-skip))
	if skip < len(r.writing) {
		events = append(events, r.writing[skip:]...)
		skip = len(r.writing)
	}
	return append(events, r.pending[min(skip-len(r.writing), len(r.pending)):]...)
}

// rewriteCopies writes a file that has only those of the copies that the store
// has not taken.
func (r *Recorder) rewriteCopies(accepted int64) error {
	r.mu.Lock()
	events := r.waitingSince(r.completed)
	events = events[:max(0, len(events)-int(r.accepted-accepted))]
	r.mu.Unlock()
	path := r.recent.file.file.Name()
	_ = os.Remove(path + ".new") // of a process that was killed
	fresh, err := OpenSpool(path + ".new")
	if err != nil {
		return err
	}
	if err := fresh.keep(events); err != nil {
		fresh.Close()
		return err
	}
	if err := os.Rename(path+".new", path); err != nil {
		fresh.Close()
		return fmt.Errorf("replace the copies of events: %w", err)
	}
	r.recent.file.replace(fresh)
	return nil
}

// dropCopies empties the file once the store has all that is in it.
func (r *Recorder) dropCopies() {
	c := &r.recent
	r.mu.Lock()
	completed := r.completed
	r.mu.Unlock()
	if c.file.Waiting() == 0 || completed < c.copied {
		return
	}
	if err := c.file.empty(); err != nil {
		r.log.Warn("copies of events that are written stay on disk", "error", err)
	}
}
