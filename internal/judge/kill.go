package judge

import (
	"context"

	"github.com/haltd/haltd"
)

// kill carries out the decision to kill: it stops the agent, or the session,
// durably before the request is answered. When that cannot be written in time,
// it is stopped in memory, and the request is blocked without an incident to
// show.
func (j *Judge) kill(ctx context.Context, ev *evaluation) {
	r := ev.request
	target, scope := haltd.Target{Agent: r.Agent}, haltd.ScopeAgent
	incident := ev.incident(&ev.decision, haltd.IncidentKillSwitch, r.Now)
	incident.Excerpt = ev.quote(&incident)
	if r.Shared || ev.killSession || ev.agent.Policy.KillSwitch.KillScope == haltd.ScopeSession {
		target.Session, scope = r.Session, haltd.ScopeSession
	}
	e := ev.stopEvent(haltd.EventKillSwitch, incident.ID)
	killed, err := j.incidents.Kill(ctx, target, incident, e)
	switch {
	case err != nil:
		if killed {
			j.meter.Rung(haltd.Kill, ev.decision.Check)
		}
		j.log.Error("a kill is not written: the store failed; this call is refused", "agent", r.Agent, "error", err)
		ev.decision.Incident = ""
		ev.decision.Action = haltd.Block
	case killed:
		ev.decision.Recorded, ev.decision.Scope = true, scope
		j.meter.Rung(haltd.Kill, ev.decision.Check)
		j.log.Warn("agent killed", "agent", r.Agent, "session", r.Session, "reason", ev.decision.Check, "incident", incident.ID)
	default: // another call of the same loop, or a person, was faster
		ev.decision.Incident = ""
		ev.decision.Action = haltd.Block
		ev.agent = j.agents.Agent(r.Agent)
		ev.inactive()
	}
}

// stopEvent is the event of the request that stops its agent or session; it is
// written with the incident.
func (ev *evaluation) stopEvent(kind haltd.EventType, incident string) haltd.Event {
	e := ev.request.Event
	ev.decision.Incident = incident
	ev.decision.Describe(&e)
	e.Type, e.Verdict = kind, ev.decision.Full()
	if ev.request.Excerpt != nil {
		e.Excerpt = ev.request.Excerpt()
	}
	return e
}
