package control

import (
	"context"
	"fmt"
	"time"

	"github.com/haltd/haltd"
)

const (
	// raiseQueue is how many incidents may wait to be written. They are
	// rare: one a session at most.
	raiseQueue   = 1024
	maxOnce      = 10_000
	firstBackoff = 100 * time.Millisecond
	maxBackoff   = 5 * time.Second
)

// NoticeOf makes the notice about an incident.
func NoticeOf(i *haltd.Incident) haltd.Notice {
	n := haltd.Notice{
		ID: haltd.NewName("msg_"), Time: i.Time, Topic: i.Kind, Agent: i.Agent, Session: i.Session,
		Incident: i.ID, Action: i.Action, Scope: i.Scope, Sentence: i.Sentence,
	}
	if s := i.Verdict.Signal(haltd.DetectorGrowth); s != nil {
		n.Tokens = s.Tokens
	}
	return n
}

// Tell has people told of what is about no incident.
func (c *Control) Tell(ctx context.Context, n haltd.Notice) error {
	if err := c.commit(ctx, haltd.Change{Notices: []haltd.Notice{n}}, nil); err != nil {
		return fmt.Errorf("write notice: %w", err)
	}
	return nil
}

func bypassNotice(b haltd.Bypass) haltd.Notice {
	n := haltd.Notice{
		ID: haltd.NewName("msg_"), Time: b.At, Topic: haltd.TopicBypass, Recovery: !b.On,
		Sentence: "Policy and detectors are enforced again: " + b.By + " switched the bypass off.",
	}
	if b.On {
		n.Sentence = b.By + " switched the bypass on: nothing is enforced except stops by hand."
	}
	if b.Why != "" {
		n.Sentence += " Reason: " + b.Why
	}
	return n
}

// Raise writes an incident that stops nobody, with its event, in the
// background: the call that caused it does not wait. An incident with the Once
// of one that was raised within OnceFor is not raised again.
func (c *Control) Raise(i haltd.Incident, event haltd.Event, notices ...haltd.Notice) {
	c.raising.Lock()
	defer c.raising.Unlock()
	// Every call finds a spent budget again: what this process has raised
	// before does not go to the store.
	if at, ok := c.once[i.Once]; ok && i.Time.Sub(at) < i.OnceFor {
		return
	}
	if !c.enqueue(haltd.Change{Incident: &i, Events: []haltd.Event{event}, Notices: notices}) {
		c.log.Error("too many incidents wait to be written; one was dropped", "agent", i.Agent, "reason", i.Reason)
		return
	}
	if i.Once == "" {
		return
	}
	if len(c.once) >= maxOnce {
		clear(c.once) // the store remembers
	}
	c.once[i.Once] = i.Time
}

// enqueue queues a change; false when the queue is full or closed. The caller
// has locked raising.
func (c *Control) enqueue(change haltd.Change) bool {
	if c.closed {
		return false
	}
	select {
	case c.raised <- change:
		return true
	default:
		return false
	}
}

// Close writes what was raised and ends the worker; ctx bounds the wait.
func (c *Control) Close(ctx context.Context) {
	c.stopWatching()
	c.raising.Lock()
	c.closed = true
	close(c.raised)
	c.raising.Unlock()
	done := make(chan struct{})
	go func() {
		c.worker.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
	c.stop()
	<-done
}

func (c *Control) writeRaised(ctx context.Context) {
	for change := range c.raised {
		c.commitWithRetry(ctx, change)
	}
}

// commitWithRetry retries until the store takes the change or refuses it for
// good.
func (c *Control) commitWithRetry(ctx context.Context, change haltd.Change) {
	for wait := firstBackoff; ; wait = min(2*wait, maxBackoff) {
		err := c.commit(ctx, change, nil)
		switch haltd.ErrorCode(err) {
		case "", haltd.CodeExists:
			return
		case haltd.CodeUnavailable:
		default:
			c.logUnwritten(change, err)
			return
		}
		select {
		case <-ctx.Done():
			c.logUnwritten(change, err)
			return
		case <-time.After(wait):
		}
	}
}

func (c *Control) logUnwritten(change haltd.Change, err error) {
	switch {
	case change.Incident != nil:
		c.log.Error("incident not written", "agent", change.Incident.Agent, "error", err)
	case change.Closing != nil: // the incident may have been deleted with its agent
		c.log.Warn("an incident stays open: it cannot be closed", "agent", change.Closing.Agent, "incident", change.Closing.ID, "error", err)
	case change.Mark != nil:
		c.log.Warn("mark not written: after a restart old rounds may be left out for longer", "agent", change.Mark.Agent, "error", err)
	}
}
