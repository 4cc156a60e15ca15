// Package record takes events off the request path: it queues them, writes them
// in batches and sends them to subscribers. It decides nothing about calls and
// reads nothing back; the store it writes to is a port.
package record

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/haltd/haltd"
)

// EventAppender is the part of haltd.EventStore and haltd.ExcerptStore that a
// Recorder uses. An error with CodeUnavailable means that the same write may
// pass later; any other is taken for the fault of the events.
type EventAppender interface {
	AppendEvents(ctx context.Context, events []haltd.Event) error
	PruneEvents(ctx context.Context, t time.Time) (int64, error)
	Forget(ctx context.Context, now time.Time) error
	PruneExcerpts(ctx context.Context, t time.Time) (int64, error)
	PruneAudits(ctx context.Context, t time.Time) (int64, error)
}

// Options shape a Recorder; each zero field has a default.
type Options struct {
	Queue     int              // events that may wait to be written; 65536
	Batch     int              // events in one write at most; half as many do not wait for more; 2000
	Interval  time.Duration    // how long an event may wait for others; 200 ms
	Retention func() Retention // asked before each prune; none prunes nothing at all
	Node      int              // the number of this node; see haltd.Node
	// Spool keeps events on disk while the store is gone; nil keeps them in
	// memory.
	Spool *Spool
	// Recent keeps copies of events on disk while the store is slow to take
	// them; what an earlier process left there has to be recovered before. nil
	// leaves them in memory.
	Recent *Spool
	// Leads says whether this node prunes, for all; nil where there is one.
	Leads  func(context.Context) bool
	After  haltd.EventID // the last event in the store; later ones have larger ids, even if the clock went back
	Clock  haltd.Clock   // time.Now
	Logger *slog.Logger  // silent
}

// Retention is how long the record is kept; 0 is for ever.
type Retention struct {
	Events   time.Duration
	Excerpts time.Duration // they go with their events at the latest
	Audit    time.Duration // of the audit log
}

// excerptShare is the part of the queue, one in so many, in which excerpts may
// wait: they are many times as large as events, and must not displace them.
const excerptShare = 16

// Stats counts what a Recorder has done.
type Stats struct {
	Pending  int   // accepted and not yet written
	Written  int64 // committed to the store
	Dropped  int64 // lost because the queue was full or the Recorder closed
	Rejected int64 // lost because the store refused them for good
}

// Recorder writes events in the background, in the order they came.
type Recorder struct {
	store EventAppender
	opts  Options
	log   *slog.Logger

	mu        sync.Mutex
	ids       haltd.EventIDs
	pending   []haltd.Event
	writing   []haltd.Event // taken off pending, and not all completed
	spare     []haltd.Event // the buffer that pending takes turns with
	accepted  int64         // events ever queued
	completed int64         // of those, written or rejected
	flushes   []flush
	closed    bool

	written, dropped, rejected atomic.Int64
	degraded                   atomic.Pointer[error]

	wake     chan struct{} // an event waits
	flushNow chan struct{} // half a batch is there, or somebody waits
	closes   chan struct{} // closed by Close

	recent      recent
	stop        context.CancelFunc // ends writes and prunes under way
	workers     sync.WaitGroup
	order       order
	subscribers subscribers
}

// flush is a caller who waits until completed reaches target or, where it has
// failed, until a write fails.
type flush struct {
	target int64
	done   chan struct{}
	failed chan error // room for one; nil for who waits on
}

// New starts a Recorder. Close ends it.
func New(store EventAppender, opts Options) *Recorder {
	if opts.Queue <= 0 {
		opts.Queue = 65536
	}
	if opts.Batch <= 0 {
		opts.Batch = 2000
	}
	if opts.Interval <= 0 {
		opts.Interval = 200 * time.Millisecond
	}
	if opts.Leads == nil {
		opts.Leads = func(context.Context) bool { return true }
	}
	if opts.Clock == nil {
		opts.Clock = time.Now
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	ctx, stop := context.WithCancel(context.Background())
	r := &Recorder{
		store: store, opts: opts, log: opts.Logger, stop: stop,
		recent: recent{file: opts.Recent},
		wake:   make(chan struct{}, 1), flushNow: make(chan struct{}, 1), closes: make(chan struct{}),
	}
	r.recent.most.Store(recentBytes)
	r.ids.Node(opts.Node)
	r.ids.After(opts.After)
	r.workers.Go(func() { r.write(ctx) })
	if opts.Spool != nil {
		if n := opts.Spool.Waiting(); n > 0 {
			r.degraded.Store(new(error(haltd.Errorf(haltd.CodeUnavailable, "%d events of an earlier process wait on disk for the store", n))))
		}
		r.workers.Go(func() { r.drain(ctx) })
	}
	if opts.Retention != nil {
		r.workers.Go(func() { r.prune(ctx) })
	}
	return r
}

// Record queues an event and gives it an id where it has none; ids grow in
// the order of the queue. It never waits for the store; when the queue is long the event
// loses its excerpt, and when it is full the event is dropped and counted.
func (r *Recorder) Record(e haltd.Event) {
	now := r.opts.Clock()
	r.mu.Lock()
	if r.closed || r.accepted-r.completed >= int64(r.opts.Queue) {
		r.mu.Unlock()
		r.dropped.Add(1)
		r.Abandon([]haltd.Event{e})
		return
	}
	if e.ID == 0 {
		e.ID = r.ids.Next(now)
		r.order.take(e.ID)
	}
	if r.accepted-r.completed >= int64(r.opts.Queue/excerptShare) {
		e.Excerpt = nil
	}
	r.pending = append(r.pending, e)
	r.accepted++
	n := len(r.pending)
	r.mu.Unlock()
	if n == 1 {
		signal(r.wake)
	}
	if n == (r.opts.Batch+1)/2 { // what comes before the worker is there still has room
		signal(r.flushNow)
	}
}

// Stamp gives an id to an event that has none, for a caller who writes it and
// then calls Announce or, when it cannot, Abandon.
func (r *Recorder) Stamp(e *haltd.Event) {
	now := r.opts.Clock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if e.ID == 0 {
		e.ID = r.ids.Next(now)
		r.order.take(e.ID)
	}
}

// SetNode makes the ids to come those of another node: this process has lost
// its number and taken a new one.
func (r *Recorder) SetNode(number int) { r.ids.Node(number) }

// Announce sends events that their caller has written to the subscribers.
func (r *Recorder) Announce(events []haltd.Event) { r.order.end(events, false, r.subscribers.send) }

// Abandon takes back the ids of events that will not be written under them.
func (r *Recorder) Abandon(events []haltd.Event) { r.order.end(events, true, r.subscribers.send) }

// CommittedUpTo is an event id: all events up to it are in the store, or never will
// be, and those after it are yet to be sent to subscribers.
func (r *Recorder) CommittedUpTo() haltd.EventID { return r.order.committedUpTo() }

// Flush waits until all events recorded so far are in the store, or rejected
// by it for good.
func (r *Recorder) Flush(ctx context.Context) error {
	return r.flush(ctx, flush{done: make(chan struct{})})
}

// TryFlush is Flush for who would rather know at once that the store fails than
// wait until it is back.
func (r *Recorder) TryFlush(ctx context.Context) error {
	if err := r.Degraded(); err != nil {
		return err
	}
	return r.flush(ctx, flush{done: make(chan struct{}), failed: make(chan error, 1)})
}

func (r *Recorder) flush(ctx context.Context, f flush) error {
	r.mu.Lock()
	if r.completed == r.accepted {
		r.mu.Unlock()
		return nil
	}
	f.target = r.accepted
	r.flushes = append(r.flushes, f)
	r.mu.Unlock()
	signal(r.flushNow)
	select {
	case <-f.done:
		return nil
	case err := <-f.failed:
		return err
	case <-ctx.Done():
		return r.unwritten(ctx.Err())
	}
}

// Close writes what is queued and ends the Recorder; later events are
// dropped. When ctx ends first, the error says how many events were lost.
func (r *Recorder) Close(ctx context.Context) error {
	r.mu.Lock()
	if !r.closed {
		r.closed = true
		close(r.closes)
	}
	r.mu.Unlock()
	err := r.Flush(ctx)
	r.stop()
	r.workers.Wait()
	r.subscribers.close()
	return err
}

func (r *Recorder) unwritten(cause error) error {
	if last := r.Degraded(); last != nil {
		cause = errors.Join(cause, last)
	}
	return fmt.Errorf("%d events are not written yet: %w", r.Stats().Pending, cause)
}

// Degraded is the last error of the store while it fails, and nil when all
// is well.
func (r *Recorder) Degraded() error {
	if err := r.degraded.Load(); err != nil {
		return *err
	}
	return nil
}

// Stats are the counts so far.
func (r *Recorder) Stats() Stats {
	spooled := r.opts.Spool.Waiting() // which may wait for the disk, as calls may not
	r.mu.Lock()
	pending := int(r.accepted-r.completed) + spooled
	r.mu.Unlock()
	return Stats{Pending: pending, Written: r.written.Load(), Dropped: r.dropped.Load(), Rejected: r.rejected.Load()}
}

// Subscribe sends every event after it and all before it are committed, in the
// order of their ids. A subscriber that falls
// more than buffer events behind is cut off: its channel is closed, as it is
// by Close, and what it missed is in the store. The function unsubscribes.
func (r *Recorder) Subscribe(buffer int) (<-chan haltd.Event, func()) {
	return r.subscribers.add(buffer)
}

// signal wakes whoever waits on c; one signal is enough.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
