package judge

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/detect"
	"github.com/haltd/haltd/internal/control"
	"github.com/haltd/haltd/internal/ledger"
)

const (
	growthOnce = 24 * time.Hour
	rejectOnce = time.Hour // what is rejected within it is one incident
	ever       = 100 * 365 * 24 * time.Hour
)

// kill stops the agent, or the session, before anybody is told. When that
// cannot be written, the request is stopped all the same, but not as killed.
func (j *Judge) kill(ctx context.Context, ev *evaluation) {
	r := ev.request
	target, scope := haltd.Target{Agent: r.Agent}, haltd.ScopeAgent
	incident := ev.incident(&ev.decision, haltd.IncidentKillSwitch, r.Now)
	if r.Shared || ev.agent.Policy.KillSwitch.KillScope == haltd.ScopeSession {
		target.Session, scope = r.Session, haltd.ScopeSession
	}
	e := r.Event
	ev.decision.Incident = incident.ID
	ev.decision.Describe(&e)
	e.Type, e.Verdict = haltd.EventKillSwitch, ev.decision.Full()
	if r.Excerpt != nil {
		e.Excerpt = r.Excerpt()
	}
	killed, err := j.incidents.Kill(ctx, target, incident, e)
	switch {
	case err != nil:
		j.log.Error("agent not killed: the store failed; this call is refused", "agent", r.Agent, "error", err)
		ev.decision.Incident = ""
		ev.decision.Action = haltd.Block
	case killed:
		ev.decision.Recorded, ev.decision.Scope = true, scope
		j.meter.Kill(ev.decision.Check)
		j.log.Warn("agent killed", "agent", r.Agent, "session", r.Session, "reason", ev.decision.Check, "incident", incident.ID)
	default: // another call of the same loop, or a person, was faster
		ev.decision.Incident = ""
		ev.decision.Action = haltd.Block
		ev.agent = j.agents.Agent(r.Agent)
		ev.inactive()
	}
}

// incident is a decision as a person will look at it.
func (ev *evaluation) incident(d *Decision, kind haltd.IncidentKind, now time.Time) haltd.Incident {
	r := ev.request
	return haltd.Incident{
		ID: haltd.NewName("inc_"), Time: now.UTC(), Kind: kind, Status: haltd.IncidentOpen,
		Action: d.Action, Scope: haltd.ScopeSession,
		Agent: r.Agent, Session: r.Session, Client: r.Event.Client, Provider: r.Provider, Model: r.Model,
		Reason: d.Reason, Detector: d.Check, Sentence: d.Sentence,
		Verdict: d.Full(), Settings: ev.agent.Policy,
	}
}

// report raises what a person should look at though nobody was killed: the
// first time that the switch would have killed a session, and the first
// rejection of one. What the detectors merely warn of becomes an event.
func (j *Judge) report(ev *evaluation) {
	r, d := ev.request, &ev.decision
	shadow, found := d.wouldStop()
	switch {
	case d.Action == haltd.Kill || d.Recorded:
	case ev.rejected:
		i := ev.incident(d, haltd.IncidentKillSwitch, r.Now)
		i.ID = d.Incident
		j.incidents.Raise(i, ev.event(d, haltd.EventWarning, i.ID), control.NoticeOf(&i))
	case d.NewLevel && found:
		i := ev.incident(d, haltd.IncidentKillSwitch, r.Now)
		i.Shadow, i.Action, i.Reason, i.Detector, i.Sentence = true, shadow.Action, shadow.Reason, shadow.Check, shadow.Sentence
		i.Once, i.OnceFor = once("shadow", r), ever
		j.incidents.Raise(i, ev.event(d, haltd.EventWarning, i.ID))
	case d.NewLevel && d.Incident == "": // or the incident has the evidence
		j.record(ev.event(d, haltd.EventWarning, ""))
	}
}

// once names what is told once for a session. No agent has a space in its id,
// so that no two sessions share a name.
func once(what string, r *Request) string { return what + ":" + r.Agent + " " + r.Session }

// wouldStop is what a detector would have done while its switch is off.
func (d *Decision) wouldStop() (haltd.Finding, bool) {
	for _, f := range d.Findings {
		if f.Shadow && f.Action.Stops() && (f.Check == checkSimilarity || f.Check == checkStall) {
			return f, true
		}
	}
	return haltd.Finding{}, false
}

// event is an event beside that of the request, about a decision.
func (ev *evaluation) event(d *Decision, kind haltd.EventType, incident string) haltd.Event {
	e := ev.request.Event
	return haltd.Event{
		Time: ev.request.Now.UTC(), Type: kind,
		Agent: e.Agent, Label: e.Label, Session: e.Session, Client: e.Client,
		Provider: e.Provider, Format: e.Format, Path: e.Path, Model: e.Model,
		Shadow: !ev.agent.Policy.KillSwitch.Enabled || d.Bypass, Verdict: d.Full(),
		Score: d.Detected.Parts.Score(), Incident: incident,
	}
}

// raiseGrowth raises an incident about a session whose prompts grow without
// end, once a day.
func (j *Judge) raiseGrowth(ev *evaluation, s detect.Signal, now time.Time) haltd.Finding {
	r := ev.request
	d := only(r.Agent, haltd.Finding{
		Check: string(detect.Growth), Action: haltd.Warn, Reason: haltd.ReasonGrowth, Sentence: s.Sentence(r.Agent),
	}, detect.Verdict{Level: s.Level, Signals: []detect.Signal{s}})
	d.Grace, d.Bypass = ev.decision.Grace, ev.decision.Bypass
	i := ev.incident(&d, haltd.IncidentGrowth, now)
	i.Once, i.OnceFor = once("growth", r), growthOnce
	e := ev.event(&d, haltd.EventGrowth, i.ID)
	e.Time, e.Shadow, e.Score = now.UTC(), false, 0
	notice := control.NoticeOf(&i)
	notice.Tokens = s.Tokens
	j.incidents.Raise(i, e, notice)
	return d.Finding
}

// amount is what was spent, for a person.
func amount(s haltd.Spending) string {
	digits := strconv.FormatInt(s.Tokens, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return fmt.Sprintf("$%.2f and %s tokens", s.Cost.Dollars(), digits)
}

// raiseBudget raises an incident about a budget that is spent, once a period.
func (j *Judge) raiseBudget(ev *evaluation, o ledger.Over) {
	r := ev.request
	kind, reason, action, limit := haltd.IncidentBudgetSoft, haltd.ReasonSoft, haltd.Warn, "soft"
	if o.Hard {
		kind, reason, action, limit = haltd.IncidentBudgetHard, haltd.ReasonBudget, haltd.Block, "hard"
	}
	d := only(r.Agent, haltd.Finding{
		Check: "budget", Action: action, Reason: reason, Name: string(o.Period),
		Sentence: fmt.Sprintf("%s has reached its %s %s budget: %s are spent.", r.Agent, limit, adjective(o.Period), amount(o.Spent)),
	}, detect.Verdict{})
	d.Grace, d.Bypass = ev.decision.Grace, ev.decision.Bypass
	i := ev.incident(&d, kind, r.Now)
	i.Scope = haltd.ScopeAgent
	i.Once, i.OnceFor = fmt.Sprintf("budget:%s:%s:%s:%d", r.Agent, limit, o.Period, o.Start.Unix()), ever
	e := ev.event(&d, haltd.EventAlert, i.ID)
	e.Shadow = false
	j.incidents.Raise(i, e, control.NoticeOf(&i))
}
