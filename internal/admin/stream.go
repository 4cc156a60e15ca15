package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/haltd/haltd"
)

const (
	// heartbeat keeps proxies and clients from taking a quiet stream for a
	// dead one.
	heartbeat = 15 * time.Second
	// liveBuffer is how far a subscriber may fall behind before it reads
	// what it missed from the store.
	liveBuffer = 256
	// backlogLimit is how many missed events a stream makes up for.
	backlogLimit = 1000
	// resubscribeAfter is the rest between two subscriptions.
	resubscribeAfter = 500 * time.Millisecond
)

type streamInput struct {
	EventFilter
	LastEventID string `header:"Last-Event-ID" doc:"Continue after this event."`
}

func (s *server) registerStream() {
	op := operation(http.MethodGet, "/v1/events/stream", "stream-events", "Events as they happen")
	op.Description = "Server-sent events. Each `event` carries one event as JSON and its id; a `lagged` says that events older than its `before` were left out; comments keep the connection alive."
	op.Responses = textResponse("text/event-stream", "The stream.")
	register(s, op, s.stream)
}

func (s *server) stream(_ context.Context, in *streamInput) (*huma.StreamResponse, error) {
	q, err := in.query(s.deps.Clock())
	if err != nil {
		return nil, err
	}
	var last *haltd.EventID
	var at place
	located := false
	if in.LastEventID != "" {
		if at, located, err = parsePlace(in.LastEventID); err != nil {
			return nil, fmt.Errorf("read Last-Event-ID: %w", err)
		}
		last = &at.event
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		r, w := humago.Unwrap(hc)
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("X-Accel-Buffering", "no")
		if r.Method == http.MethodHead {
			return
		}
		ctx, end := s.streamContext(r.Context())
		defer end()
		f := &follower{server: s, query: q, w: w, control: http.NewResponseController(w)}
		if located && s.deps.Feed != nil {
			f.place = at
			last = nil
		}
		if err := f.start(ctx, last); err != nil {
			if ctx.Err() != nil {
				return // the client has left, or haltd ends: a stream that is over, no fault
			}
			writeProblem(w, s.problemOf(ctx, hc.Operation(), err))
			return
		}
		defer func() { f.unsubscribe() }()
		defer endDeadline(f.control)
		if err := f.run(ctx); err != nil && ctx.Err() == nil && !errors.Is(err, errCannotWrite) {
			s.deps.Logger.WarnContext(ctx, "event stream ended early", "error", err)
		}
	}}, nil
}

// streamContext is that of a request for as long as streams may last. Other
// requests may finish while haltd ends.
func (s *server) streamContext(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	if s.deps.Streams == nil {
		return ctx, cancel
	}
	stop := context.AfterFunc(s.deps.Streams, cancel)
	return ctx, func() { stop(); cancel() }
}

// errCannotWrite means that the other side has gone: nothing to report.
var errCannotWrite = errors.New("write event stream")

// follower sends one caller the events it selected, in the order in which
// they happened, each once.
type follower struct {
	*server
	query   haltd.EventQuery
	w       http.ResponseWriter
	control *http.ResponseController

	live        <-chan haltd.Event
	unsubscribe func()
	last        haltd.EventID          // the newest that was sent, or that was there before the stream
	backlog     []haltd.Event          // to be sent before live ones, oldest first
	gap         bool                   // more was missed than backlog holds
	made        map[haltd.EventID]bool // sent from a backlog; may come again live
	place       place                  // where the feed of all nodes was followed to
}

// start subscribes before it reads the store, so that nothing falls between.
// Without a last id the stream begins now.
func (f *follower) start(ctx context.Context, last *haltd.EventID) error {
	f.subscribe()
	err := f.locate(ctx, last)
	if err != nil {
		f.unsubscribe()
	}
	return err
}

func (f *follower) locate(ctx context.Context, last *haltd.EventID) (err error) {
	if f.deps.Feed != nil {
		if f.place != (place{}) {
			return nil
		}
		if f.place.position, err = f.deps.Feed.Position(ctx); err != nil || last == nil {
			return err
		}
	}
	if last != nil {
		f.last = *last
		return f.readBacklog(ctx)
	}
	committed := f.deps.Recorder.CommittedUpTo()
	newest, err := f.deps.Events.Events(ctx, haltd.EventQuery{Limit: 1})
	if err == nil && len(newest) == 1 {
		f.last = min(newest[0].ID, committed)
	}
	return err
}

func (f *follower) readBacklog(ctx context.Context) error {
	// What is written while others before it are not comes live, after them:
	// sent from here, it would hide them from who goes on after its id.
	q := f.query
	q.Limit = backlogLimit + 1
	if committed := f.deps.Recorder.CommittedUpTo(); committed < math.MaxInt64-1 {
		q.Before = committed + 1
	}
	events, err := f.deps.Events.Events(ctx, q)
	if err != nil {
		return fmt.Errorf("read missed events: %w", err)
	}
	if i := slices.IndexFunc(events, func(e haltd.Event) bool { return e.ID <= f.last }); i >= 0 {
		events = events[:i]
	}
	if f.gap = len(events) > backlogLimit; f.gap {
		events = events[:backlogLimit]
	}
	slices.Reverse(events)
	f.backlog = events
	f.made = make(map[haltd.EventID]bool, len(events))
	for i := range events {
		f.made[events[i].ID] = true
	}
	return nil
}

// run sends what was missed, and then what happens until ctx ends.
func (f *follower) run(ctx context.Context) error {
	if err := f.write("retry: 2000\n\n"); err != nil {
		return err
	}
	if err := f.sendBacklog(); err != nil {
		return err
	}
	if f.deps.Feed != nil {
		return f.runFeed(ctx)
	}
	return f.runLive(ctx)
}

// runLive sends the events that this node writes.
func (f *follower) runLive(ctx context.Context) error {
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
		case e, ok := <-f.live:
			if !ok {
				if err := f.catchUp(ctx); err != nil {
					return err
				}
				continue
			}
			if err := f.sendLive(e); err != nil {
				return err
			}
		}
	}
}

// catchUp subscribes again after the subscription ended, which means that
// this follower was too slow, and makes up for what it missed. The pause
// keeps it from asking again and again while haltd stops.
func (f *follower) catchUp(ctx context.Context) error {
	f.unsubscribe()
	select {
	case <-ctx.Done():
		return nil
	case <-time.After(resubscribeAfter):
	}
	f.subscribe()
	if err := f.readBacklog(ctx); err != nil {
		return err
	}
	return f.sendBacklog()
}

func (f *follower) subscribe() {
	if f.deps.Feed != nil {
		f.unsubscribe = func() {}
		return
	}
	live, end := f.deps.Recorder.Subscribe(liveBuffer)
	f.live, f.unsubscribe = live, sync.OnceFunc(end)
}

func (f *follower) sendBacklog() error {
	if f.gap && len(f.backlog) > 0 {
		if err := f.print("event: lagged\ndata: {\"before\":%q}\n\n", f.backlog[0].ID); err != nil {
			return err
		}
	}
	for i := range f.backlog {
		if err := f.send(&f.backlog[i]); err != nil {
			return err
		}
	}
	f.backlog = nil
	return f.flush()
}

func (f *follower) sendLive(e haltd.Event) error {
	if !selects(&f.query, &e) || f.made[e.ID] {
		return nil
	}
	if err := f.send(&e); err != nil {
		return err
	}
	if len(f.live) > 0 {
		return nil // more is coming: flush once
	}
	return f.flush()
}

func (f *follower) send(e *haltd.Event) error { return f.sendAt(e, e.ID.String()) }

// sendAt sends an event under the id of a message, after which the caller may
// go on.
func (f *follower) sendAt(e *haltd.Event, id string) error {
	data, err := json.Marshal(eventInUTC(*e))
	if err != nil {
		return fmt.Errorf("encode event %s: %w", e.ID, err)
	}
	f.last = max(f.last, e.ID)
	return f.print("id: %s\nevent: event\ndata: %s\n\n", id, data)
}

func (f *follower) write(text string) error {
	if err := f.print("%s", text); err != nil {
		return err
	}
	return f.flush()
}

// print gives each message its own deadline: a caller that reads nothing is
// let go.
func (f *follower) print(format string, args ...any) error {
	extendWrite(f.control)
	if _, err := fmt.Fprintf(f.w, format, args...); err != nil {
		return fmt.Errorf("%w: %w", errCannotWrite, err)
	}
	return nil
}

func (f *follower) flush() error {
	if err := f.control.Flush(); err != nil {
		return fmt.Errorf("%w: %w", errCannotWrite, err)
	}
	return nil
}
