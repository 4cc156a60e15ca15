package judge

import (
	"context"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/detection"
)

// A session that is halted for the mostHalts-th time within haltSpan is
// stopped: its person goes on, and so does its loop.
const (
	mostHalts = 3
	haltSpan  = 30 * time.Minute
)

// haltedAt loads where a session was halted. Where nobody knows, every
// conversation of it counts for the one.
func (j *Judge) haltedAt(ctx context.Context, r *Request, s *haltd.Standing) (*detection.Mark, error) {
	m, ok, err := j.marks.Mark(ctx, r.Agent, r.Session)
	if err != nil || !ok || !m.ActivatedAt.Equal(s.At) {
		return &detection.Mark{}, err
	}
	return &detection.Mark{Round: m.Round, Count: m.Count}, nil
}

// staysHalted looks at a request of a session that is halted. Side calls, of other
// conversations, pass and lift nothing; what goes on with the one that was
// halted waits for a person.
func (t *detectionTry) staysHalted(j *Judge, m detection.Memory) (held, byPerson bool) {
	r := t.request
	if *t.halt == (detection.Mark{}) {
		return len(r.Call.Rounds) > 0, false
	}
	continues, byPerson := m.Session.Continues(j.state(m, r), t.history, *t.halt, t.halted.At, r.Now)
	return continues && !byPerson, byPerson
}

// lift lets the session of a request go on because a person wrote to it. When
// that cannot be written, the call passes all the same, and the next one tries
// again.
func (j *Judge) lift(ctx context.Context, t *detectionTry) {
	r := t.request
	s, lifted, err := j.incidents.Continue(ctx, haltd.Target{Agent: r.Agent, Session: r.Session})
	t.halted = nil
	if err != nil {
		j.log.Warn("a halt is not lifted: the store failed; the call passes", "agent", r.Agent, "error", err)
		return
	}
	t.agent = j.agents.Agent(r.Agent)
	t.since = s.ActivatedAt
	if lifted {
		j.meter.Outcome(haltd.IncidentContinued)
		j.log.Info("a person goes on with a halted session", "agent", r.Agent, "session", r.Session)
	}
}

// haltedFinding is about a request that goes on with a halted conversation.
func (ev *evaluation) haltedFinding(s *haltd.Standing) {
	ev.decision.Incident, ev.decision.Scope = s.Incident, haltd.ScopeSession
	ev.decision.add(haltd.Finding{
		Check: haltd.CheckInactive, Action: haltd.Block, Reason: haltd.ReasonHalted,
		Sentence: "This turn of " + ev.request.Agent + " was halted. " + s.Why,
	})
}

// halt carries out the decision to halt, durably before the request is
// answered. When that cannot be written, the request is blocked all the same.
func (j *Judge) halt(ctx context.Context, ev *evaluation) {
	r := ev.request
	n, err := j.incidents.Halts(ctx, haltd.Target{Agent: r.Agent, Session: r.Session}, r.Now.Add(-haltSpan))
	if err == nil && n >= mostHalts-1 {
		ev.decision.harden(haltd.Kill, " It was halted twice within 30 minutes before.")
		ev.killSession = true
		j.kill(ctx, ev)
		return
	}
	incident := ev.incident(&ev.decision, haltd.IncidentKillSwitch, r.Now)
	incident.Excerpt = ev.quote(&incident)
	e := ev.stopEvent(haltd.EventHalt, incident.ID)
	mark := haltd.Mark{Agent: r.Agent, Session: r.Session, Round: ev.haltMark.Round, Count: ev.haltMark.Count}
	halted := false
	if err == nil {
		halted, err = j.incidents.Halt(ctx, mark, incident, e)
	}
	switch {
	case err != nil:
		j.log.Error("session not halted: the store failed; this call is refused", "agent", r.Agent, "error", err)
		ev.decision.Incident = ""
		ev.decision.Action = haltd.Block
	case halted:
		ev.decision.Recorded, ev.decision.Scope = true, haltd.ScopeSession
		j.meter.Rung(haltd.Halt, ev.decision.Check)
		j.log.Warn("session halted", "agent", r.Agent, "session", r.Session, "reason", ev.decision.Check, "incident", incident.ID)
	default: // another call of the same loop, or a person, was faster
		ev.decision.Incident = ""
		ev.decision.Action = haltd.Block
		ev.agent = j.agents.Agent(r.Agent)
		if s, ok := ev.agent.Halted(r.Session); ok {
			ev.decision.Findings = nil
			ev.haltedFinding(&s)
		} else {
			ev.inactive()
		}
	}
}

// harden makes the finding that decides a stricter one.
func (d *Decision) harden(a haltd.Action, why string) {
	for i := range d.Findings {
		if f := &d.Findings[i]; f.Check == d.Check && f.Action == d.Action && !f.Shadow {
			f.Action, f.Sentence = a, f.Sentence+why
			d.Finding = *f
			return
		}
	}
}
