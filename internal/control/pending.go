package control

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/haltd/haltd"
)

const (
	// killWait is how long the call that kills waits for its kill to be
	// written. Its target is stopped meanwhile.
	killWait = 2 * time.Second
	// maxPending is how many stops may wait to be written. Beyond that a stop
	// does not hold before it is on disk.
	maxPending = 1024
)

// pendingStop is a stop that is decided and not yet written: its target may not
// call, so that a slow or full disk lets no call pass, and nobody is shown or
// told of it, because a crash would lift it.
type pendingStop struct {
	standing haltd.Standing // as callers are told
	tried    chan struct{}  // closed when the first try to write it is over
	ended    chan struct{}  // closed when it is written, refused, or lifted
	late     chan struct{}  // closed after killWait: nobody waits for it any more
	timer    *time.Timer    // which closes late
}

// pendingStops are read by every call and seldom changed. What a snapshot holds
// never changes.
type pendingStops struct {
	mu  sync.Mutex
	all atomic.Pointer[map[string]map[string]*pendingStop] // by agent and session; nil while there are none
}

// of are the pending stops of an agent, by session; nil where there are none.
func (p *pendingStops) of(agent string) map[string]*pendingStop {
	if all := p.all.Load(); all != nil {
		return (*all)[agent]
	}
	return nil
}

// add makes a stop hold. Where its target has one already, that stays, and is
// returned, unless the new one is by a person. Both are nil where there are too
// many.
func (p *pendingStops) add(s haltd.Standing) (added, before *pendingStop) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if before = p.of(s.Agent)[s.Session]; before != nil && *s.DeactivatedBy != haltd.ByManual {
		return nil, before
	}
	all := map[string]map[string]*pendingStop{}
	if known := p.all.Load(); known != nil {
		if len(*known) >= maxPending {
			return nil, nil
		}
		all = maps.Clone(*known)
	}
	own := maps.Clone(all[s.Agent])
	if len(own) >= maxPending {
		return nil, nil
	}
	if own == nil {
		own = map[string]*pendingStop{}
	}
	added = &pendingStop{standing: s, tried: make(chan struct{}), ended: make(chan struct{}), late: make(chan struct{})}
	added.timer = time.AfterFunc(killWait, func() { close(added.late) })
	own[s.Session], all[s.Agent] = added, own
	p.all.Store(&all)
	return added, nil
}

// end ends the pending stop of a target: only that one, or any where it is nil.
func (p *pendingStops) end(t haltd.Target, only *pendingStop) {
	p.mu.Lock()
	defer p.mu.Unlock()
	found := p.of(t.Agent)[t.Session]
	if found == nil || only != nil && found != only {
		return
	}
	all := maps.Clone(*p.all.Load())
	if own := maps.Clone(all[t.Agent]); len(own) > 1 {
		delete(own, t.Session)
		all[t.Agent] = own
	} else {
		delete(all, t.Agent)
	}
	found.timer.Stop()
	if close(found.ended); len(all) == 0 {
		p.all.Store(nil)
		return
	}
	p.all.Store(&all)
}

// holds reports whether a pending stop is still the one in force.
func (p *pendingStops) holds(s *pendingStop) bool {
	return s != nil && p.of(s.standing.Agent)[s.standing.Session] == s
}

// inMemory is a change that holds before it is written.
type inMemory struct {
	what  string          // it is, for the log
	about []any           // whom it is about, for the log
	tried func()          // is called when the first try to write it is over
	end   func()          // ends it, because it is written, refused, or lifted
	ended <-chan struct{} // closed when it no longer holds
}

// stopAtOnce has write make a stop durable that holds in memory.
func stopAtOnce[T any](ctx context.Context, c *Control, p *pendingStop, wait time.Duration, write func(context.Context) (T, error)) (v T, held bool, err error) {
	s := &p.standing
	return writeAtOnce(ctx, c, inMemory{
		what: "a stop", about: []any{"agent", s.Agent, "session", s.Session}, ended: p.ended,
		tried: func() { close(p.tried) },
		end:   func() { c.pending.end(haltd.Target{Agent: s.Agent, Session: s.Session}, p) },
	}, wait, write)
}

// writeAtOnce has write make a change durable that holds in memory. It returns
// what the first try comes to, or that it takes longer than its caller, or wait,
// lasts; then, and where the store is not available, held says that the change
// holds and is tried again until the store takes it, it is lifted, or haltd ends.
func writeAtOnce[T any](ctx context.Context, c *Control, m inMemory, wait time.Duration, write func(context.Context) (T, error)) (v T, held bool, err error) {
	type result struct {
		v   T
		err error
	}
	first := make(chan result, 1)
	begun := c.begin(func() {
		defer m.end()
		lasting := context.WithoutCancel(ctx)
		v, err := write(lasting)
		later := haltd.ErrorCode(err) == haltd.CodeUnavailable
		if !later {
			m.end() // before anybody hears that it is over
		}
		first <- result{v, err}
		if m.tried(); !later {
			return
		}
		c.writeLater(m, err, func() error { _, err := write(lasting); return err })
	})
	if !begun {
		m.end()
		m.tried()
		return v, false, haltd.Errorf(haltd.CodeUnavailable, "haltd is shutting down")
	}
	limited, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	select {
	case r := <-first:
		return r.v, haltd.ErrorCode(r.err) == haltd.CodeUnavailable, r.err
	case <-limited.Done():
		return v, true, stillWriting(limited.Err())
	}
}

func stillWriting(why error) error {
	return fmt.Errorf("%w (%w)", haltd.Errorf(haltd.CodeUnavailable, "it is still being written").
		WithFix("Check the disk; haltd tries again by itself."), why)
}

// begin runs a worker that Close waits for; false when haltd ends.
func (c *Control) begin(work func()) bool {
	c.raising.Lock()
	defer c.raising.Unlock()
	if c.closed {
		return false
	}
	c.worker.Go(work)
	return true
}

// writeLater tries to write a change that holds in memory until the store takes
// it, or refuses it for good, or it was lifted; once more when haltd ends.
func (c *Control) writeLater(m inMemory, err error, write func() error) {
	log := c.log.With(m.about...)
	log.Error(m.what+" holds in memory only: the store failed; haltd tries again", "error", err)
	for wait, last := firstBackoff, false; !last; wait = min(2*wait, maxBackoff) {
		select {
		case <-m.ended:
			return
		case <-c.watching.Done():
			last = true
		case <-time.After(wait):
		}
		switch err = write(); haltd.ErrorCode(err) {
		case "":
			log.Warn(m.what + " that held in memory is written")
			return
		case haltd.CodeUnavailable:
		default:
			last = true
		}
	}
	log.Error(m.what+" was not written", "error", err)
}

// AwaitStop waits, where a session is stopped and that is being written for the
// first time, until it is, or killWait since its beginning is over: then there
// is an incident to show. It reports whether there was something to wait for.
func (a *Agent) AwaitStop(ctx context.Context, session string) bool {
	for _, of := range [...]string{"", session} {
		if p := a.pending[of]; p != nil {
			select {
			case <-p.tried:
			case <-p.late:
			case <-ctx.Done():
			}
			return true
		}
	}
	return false
}

// awaitPending waits until another stop of the same target is written.
func awaitPending(ctx context.Context, p *pendingStop) error {
	select {
	case <-p.ended:
		return nil
	case <-p.late:
		return stillWriting(context.DeadlineExceeded)
	case <-ctx.Done():
		return stillWriting(ctx.Err())
	}
}

// heldOnly tells a person that what he did holds and is not on disk.
func heldOnly(what string, err error) error {
	fix := "Check the disk; haltd tries again by itself."
	var e *haltd.Error
	if errors.As(err, &e) && e.Fix != "" {
		fix = e.Fix
	}
	return haltd.Errorf(haltd.CodeUnavailable, "%s, but that is not on disk yet, and a restart would lift it: %v", what, err).WithFix("%s", fix)
}
