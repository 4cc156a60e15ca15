package control

import (
	"context"
	"fmt"
	"time"

	"github.com/haltd/haltd"
)

// Reopen undoes a decision: the incident is open again, and who was resumed by
// it is stopped again, unless a person or a later incident has stopped it since.
func (c *Control) Reopen(ctx context.Context, id, by string) (haltd.Incident, error) {
	return retryOnConflict(ctx, c, func() (haltd.Incident, error) { return c.reopen(ctx, id, by) })
}

func (c *Control) reopen(ctx context.Context, id, by string) (haltd.Incident, error) {
	incident, err := c.incidents.Incident(ctx, id)
	if err != nil {
		return haltd.Incident{}, err
	}
	unlock, err := c.lock(ctx, incident.Agent)
	if err != nil {
		return haltd.Incident{}, fmt.Errorf("reopen incident %s: %w", id, err)
	}
	defer unlock()
	now := c.now()
	t := haltd.Target{Agent: incident.Agent}
	if incident.Scope == haltd.ScopeSession {
		t.Session = incident.Session
	}
	change := haltd.Change{
		Closing: &haltd.Closing{ID: id, Status: haltd.IncidentOpen},
		Events: []haltd.Event{audit(now, haltd.Target{Agent: incident.Agent, Session: incident.Session}, haltd.Audit{
			Change: haltd.ChangeIncidentReopened, By: by, Incident: id, Status: incident.Status,
		})},
	}
	var apply func(*table)
	if s := c.standing(t); incident.Action == haltd.Kill && !incident.Shadow && s.Active {
		killed := haltd.ByKillSwitch
		s.Active, s.DeactivatedBy, s.Incident = false, &killed, id
		s.By, s.Why, s.At, s.GraceUntil = by, incident.Sentence, now, time.Time{}
		change.Standing, apply = &s, func(next *table) { next.setStanding(s) }
	}
	if err := c.commit(ctx, change, apply); err != nil {
		return haltd.Incident{}, fmt.Errorf("reopen incident %s: %w", id, err)
	}
	return c.incidents.Incident(ctx, id)
}
