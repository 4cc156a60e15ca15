package control

import (
	"context"
	"fmt"

	"github.com/haltd/haltd"
)

// Remark acknowledges an incident, comments on it, or both. It decides nothing.
func (c *Control) Remark(ctx context.Context, r haltd.Remark) (haltd.Incident, error) {
	incident, err := c.incidents.Incident(ctx, r.Incident)
	if err != nil {
		return haltd.Incident{}, err
	}
	unlock, err := c.lock(ctx, incidentLock+r.Incident)
	if err != nil {
		return haltd.Incident{}, fmt.Errorf("remark on incident %s: %w", r.Incident, err)
	}
	defer unlock()
	r.At = c.now()
	entry := haltd.Audit{Change: haltd.ChangeCommented, By: r.By, Why: r.Text, Incident: r.Incident}
	if r.Seen {
		entry.Change = haltd.ChangeAcknowledged
	}
	err = c.commit(ctx, haltd.Change{
		Remark: &r, Events: []haltd.Event{audit(r.At, haltd.Target{Agent: incident.Agent, Session: incident.Session}, entry)},
	}, nil)
	if err != nil {
		return haltd.Incident{}, fmt.Errorf("remark on incident %s: %w", r.Incident, err)
	}
	return c.incidents.Incident(ctx, r.Incident)
}
