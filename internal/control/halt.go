package control

import (
	"context"
	"fmt"
	"time"

	"github.com/haltd/haltd"
)

// Halt ends the turn of a session at a mark, until a person writes to it, and
// raises the incident with the event of the call that caused it. Nothing
// changes when the session is halted or stopped already, nor when it was
// resumed after the call was judged. On an error nothing has changed either.
func (c *Control) Halt(ctx context.Context, m haltd.Mark, incident haltd.Incident, event haltd.Event) (halted bool, err error) {
	return retryOnConflict(ctx, c, func() (bool, error) { return c.halt(ctx, m, incident, event) })
}

func (c *Control) halt(ctx context.Context, m haltd.Mark, incident haltd.Incident, event haltd.Event) (halted bool, err error) {
	unlock, err := c.lock(ctx, m.Agent)
	if err != nil {
		return false, fmt.Errorf("halt a session of %s: %w", m.Agent, err)
	}
	defer unlock()
	a := c.Agent(m.Agent)
	_, before := a.Halted(m.Session)
	if _, stopped := a.Stopped(m.Session); stopped || before || a.Activated(m.Session).After(incident.Time) {
		return false, nil
	}
	by := haltd.ByHalt
	incident.Scope = haltd.ScopeSession
	s := c.standing(haltd.Target{Agent: m.Agent, Session: m.Session})
	s.Active, s.DeactivatedBy, s.Incident = false, &by, incident.ID
	s.By, s.Why, s.At, s.GraceUntil = "haltd", incident.Sentence, c.now(), time.Time{}
	m.ActivatedAt = s.At
	err = c.commit(ctx, haltd.Change{
		Standing: &s, Mark: &m, Incident: &incident, Events: []haltd.Event{event}, Notices: []haltd.Notice{NoticeOf(&incident)},
	}, func(next *table) { next.setStanding(s) })
	if err != nil {
		return false, fmt.Errorf("halt a session of %s: %w", m.Agent, err)
	}
	return true, nil
}

// Halts counts how often a session was halted since then.
func (c *Control) Halts(ctx context.Context, t haltd.Target, since time.Time) (n int, err error) {
	list, _, err := c.incidents.Incidents(ctx, haltd.IncidentQuery{
		Agent: t.Agent, Session: t.Session, Kind: haltd.IncidentKillSwitch, Since: since, Page: haltd.Page{Limit: 100},
	})
	for i := range list {
		if list[i].Action == haltd.Halt && !list[i].Shadow {
			n++
		}
	}
	return n, err
}

// Continue lifts a halt because a person wrote to the session. All that it
// said so far is behind the mark. Of several calls that lift it at once, lifted
// is true for one.
func (c *Control) Continue(ctx context.Context, t haltd.Target) (s haltd.Standing, lifted bool, err error) {
	s, err = retryOnConflict(ctx, c, func() (haltd.Standing, error) {
		unlock, err := c.lock(ctx, t.Agent)
		if err != nil {
			return haltd.Standing{}, fmt.Errorf("continue a session of %s: %w", t.Agent, err)
		}
		defer unlock()
		if before := c.standing(t); !before.IsHalted() { // another call of the session was faster
			lifted = false
			return before, nil
		}
		lifted = true
		return c.setActive(ctx, t, 0, "a person in the session", "continued by a person", haltd.IncidentContinued)
	})
	return s, lifted && err == nil, err
}

// CloseLater closes an incident in the background, after what was raised
// before.
func (c *Control) CloseLater(closing haltd.Closing) {
	c.raising.Lock()
	defer c.raising.Unlock()
	t := haltd.Target{Agent: closing.Agent, Session: closing.Session}
	if !c.enqueue(haltd.Change{Closing: &closing, Events: []haltd.Event{audit(closing.At, t, haltd.Audit{
		Change: haltd.ChangeIncidentClosed, By: closing.By, Why: closing.Note, Incident: closing.ID, Status: closing.Status,
	})}}) {
		c.log.Error("too many incidents wait to be written; one is not closed", "agent", closing.Agent, "incident", closing.ID)
	}
}
