package control

import (
	"context"
	"fmt"
	"time"

	"github.com/haltd/haltd"
)

// Kill stops a target until a person resumes it, and raises the incident with
// the event of the call that caused it. Nothing changes when the session is
// stopped already, because a loop that many calls prove at once is killed
// once, nor when it was resumed after the call was judged. Killed with an error
// is stopped in memory, and written as soon as the store takes it; on any other
// error nothing has changed.
func (c *Control) Kill(ctx context.Context, t haltd.Target, incident haltd.Incident, event haltd.Event) (killed bool, err error) {
	if c.isMoot(t.Agent, &incident) {
		return false, nil
	}
	write := func(ctx context.Context) (bool, error) {
		return retryOnConflict(ctx, c, func() (bool, error) { return c.kill(ctx, t, incident, event) })
	}
	by := haltd.ByKillSwitch
	p, before := c.pending.add(haltd.Standing{
		Agent: t.Agent, Session: t.Session, DeactivatedBy: &by, At: incident.Time,
		Why: incident.Sentence + " haltd could not write that to its store yet, and tries again.",
	})
	switch {
	case before != nil:
		return false, awaitPending(ctx, before)
	case p == nil:
		return write(ctx)
	}
	killed, held, err := stopAtOnce(ctx, c, p, killWait, write)
	return killed || held, err
}

// isMoot reports an incident that stops nobody any more: its session is stopped
// already, or was resumed since. What is still being written does not count.
func (c *Control) isMoot(agent string, i *haltd.Incident) bool {
	a := c.table.Load().agent(agent)
	_, halted := a.Halted(i.Session)
	_, stopped := a.Stopped(i.Session)
	return stopped || halted || a.Activated(i.Session).After(i.Time)
}

func (c *Control) kill(ctx context.Context, t haltd.Target, incident haltd.Incident, event haltd.Event) (killed bool, err error) {
	unlock, err := c.lock(ctx, t.Agent)
	if err != nil {
		return false, fmt.Errorf("kill %s: %w", t.Agent, err)
	}
	defer unlock()
	if c.isMoot(t.Agent, &incident) {
		return false, nil
	}
	incident.Scope = haltd.ScopeAgent
	if t.Session != "" {
		incident.Scope = haltd.ScopeSession
	}
	now := c.now()
	by := haltd.ByKillSwitch
	s := c.standing(t)
	s.Active, s.DeactivatedBy, s.Incident = false, &by, incident.ID
	s.By, s.Why, s.At, s.GraceUntil = "haltd", incident.Sentence, now, time.Time{}
	err = c.commit(ctx, haltd.Change{
		Standing: &s, Incident: &incident, Events: []haltd.Event{event}, Notices: []haltd.Notice{NoticeOf(&incident)},
	}, func(next *table) { next.setStanding(s) })
	if err != nil {
		return false, fmt.Errorf("kill %s: %w", t.Agent, err)
	}
	return true, nil
}

// standing is a copy of the standing of a target, to be changed.
func (c *Control) standing(t haltd.Target) haltd.Standing {
	a := c.Agent(t.Agent)
	s := a.Standing
	if t.Session != "" {
		var ok bool
		if s, ok = a.sessions[t.Session]; !ok {
			s = haltd.Standing{Active: true}
		}
	}
	s.Agent, s.Session = t.Agent, t.Session
	return s
}

// Activate lets a target call again, from its next request on, and resets what
// the detectors knew of it. With grace, a kill only warns until then.
func (c *Control) Activate(ctx context.Context, t haltd.Target, grace time.Duration, by, why string) (haltd.Standing, error) {
	return retryOnConflict(ctx, c, func() (haltd.Standing, error) {
		unlock, err := c.lock(ctx, t.Agent)
		if err != nil {
			return haltd.Standing{}, fmt.Errorf("activate %s: %w", t.Agent, err)
		}
		defer unlock()
		return c.setActive(ctx, t, grace, by, why, haltd.IncidentResumed)
	})
}

// setActive is for who holds the lock of the agent.
func (c *Control) setActive(ctx context.Context, t haltd.Target, grace time.Duration, by, why string, as haltd.IncidentStatus) (haltd.Standing, error) {
	now := c.now()
	before := c.standing(t)
	s := before
	s.Active, s.DeactivatedBy, s.Incident = true, nil, ""
	s.By, s.Why, s.At, s.ActivatedAt, s.GraceUntil = by, why, now, now, time.Time{}
	record := haltd.Audit{Change: haltd.ChangeActivated, By: by, Why: why, Incident: before.Incident}
	if grace > 0 {
		s.GraceUntil = now.Add(grace)
		record.GraceUntil = &s.GraceUntil
	}
	change := haltd.Change{Standing: &s, Events: []haltd.Event{audit(now, t, record)}}
	if !before.Active {
		change.Closing = &haltd.Closing{Agent: t.Agent, Session: t.Session, Status: as, By: by, Note: why, At: now}
	}
	if before.Incident != "" {
		change.Notices = []haltd.Notice{{
			ID: haltd.NewName("msg_"), Time: now, Topic: haltd.IncidentKillSwitch, Recovery: true,
			Agent: t.Agent, Session: t.Session, Incident: before.Incident,
			Sentence: fmt.Sprintf("%s was resumed by %s and is active again.", nameOf(t), by),
		}}
	}
	if err := c.commit(ctx, change, func(next *table) { next.setStanding(s) }); err != nil {
		return haltd.Standing{}, fmt.Errorf("activate %s: %w", t.Agent, err)
	}
	c.pending.end(t, nil)
	return s, nil
}

// nameOf is the name of a target in sentences.
func nameOf(t haltd.Target) string {
	if t.Session == "" {
		return t.Agent
	}
	return "A session of " + t.Agent
}

// Deactivate stops a target because a person wants it. Calls in flight finish,
// unless they are to be cut: then they are cut on all nodes, when the stop is written.
// It holds at once, and where the store is not available, which is an error,
// too: then it is written later.
func (c *Control) Deactivate(ctx context.Context, t haltd.Target, cut bool, by, why string) (haltd.Standing, error) {
	manual := haltd.ByManual
	p, _ := c.pending.add(haltd.Standing{Agent: t.Agent, Session: t.Session, DeactivatedBy: &manual, At: c.now(), By: by, Why: why})
	write := func(ctx context.Context) (haltd.Standing, error) {
		s, err := retryOnConflict(ctx, c, func() (haltd.Standing, error) { return c.deactivate(ctx, t, p, cut, by, why) })
		if err == nil && cut {
			c.cut(t)
		}
		return s, err
	}
	if p == nil {
		return write(ctx)
	}
	s, held, err := stopAtOnce(ctx, c, p, 2*commitTimeout, write)
	if held {
		err = heldOnly(fmt.Sprintf("calls of %s are refused from now on", t.Agent), err)
	}
	return s, err
}

func (c *Control) deactivate(ctx context.Context, t haltd.Target, p *pendingStop, cut bool, by, why string) (haltd.Standing, error) {
	unlock, err := c.lock(ctx, t.Agent)
	if err != nil {
		return haltd.Standing{}, fmt.Errorf("deactivate %s: %w", t.Agent, err)
	}
	defer unlock()
	if p != nil && !c.pending.holds(p) { // resumed, or stopped anew, since it could not be written
		return c.standing(t), nil
	}
	at := c.now()
	manual := haltd.ByManual
	s := c.standing(t)
	s.Active, s.DeactivatedBy = false, &manual
	s.By, s.Why, s.At, s.GraceUntil = by, why, at, time.Time{}
	change := haltd.Change{
		Standing: &s, Events: []haltd.Event{audit(at, t, haltd.Audit{Change: haltd.ChangeDeactivated, By: by, Why: why})},
	}
	if cut {
		change.Cut = &t
	}
	err = c.commit(ctx, change, func(next *table) { next.setStanding(s) })
	if err != nil {
		return haltd.Standing{}, fmt.Errorf("deactivate %s: %w", t.Agent, err)
	}
	return s, nil
}

// Mark finds where the rounds of a session begin to count.
func (c *Control) Mark(ctx context.Context, agent, session string) (haltd.Mark, bool, error) {
	return c.store.Mark(ctx, agent, session)
}

// SaveMark writes a mark in the background, so that a restart does not move
// it. It fails where too much waits to be written.
func (c *Control) SaveMark(_ context.Context, m haltd.Mark) error {
	c.raising.Lock()
	defer c.raising.Unlock()
	if !c.enqueue(haltd.Change{Mark: &m}) {
		return haltd.Errorf(haltd.CodeUnavailable, "too much waits to be written")
	}
	return nil
}
