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
func (j *Judge) kill(ctx context.Context, v *Verdict) {
	r := v.request
	target, scope := haltd.Target{Agent: r.Agent}, haltd.ScopeAgent
	incident := v.incident(haltd.IncidentKillSwitch, r.Now)
	if r.Shared || v.agent.Policy.KillSwitch.KillScope == haltd.ScopeSession {
		target.Session, scope = r.Session, haltd.ScopeSession
	}
	e := r.Event
	v.Incident = incident.ID
	v.Describe(&e)
	e.Type, e.Verdict = haltd.EventKillSwitch, v.Full()
	if r.Excerpt != nil {
		e.Excerpt = r.Excerpt()
	}
	_, killed, err := j.Control.Kill(ctx, target, incident, e)
	switch {
	case err != nil:
		j.Logger.Error("agent not killed: the store failed; this call is refused", "agent", r.Agent, "error", err)
		v.Incident = ""
		v.Decision.Action = haltd.Block
	case killed:
		v.Written, v.Scope = true, scope
		j.Meter.Kill(v.Decision.Check)
		j.Logger.Warn("agent killed", "agent", r.Agent, "session", r.Session, "reason", v.Decision.Check, "incident", incident.ID)
	default: // another call of the same loop, or a person, was faster
		v.Incident = ""
		v.Decision.Action = haltd.Block
		v.agent = j.Control.Agent(r.Agent)
		v.inactive()
	}
}

// incident is the verdict as a person will look at it.
func (v *Verdict) incident(kind haltd.IncidentKind, now time.Time) haltd.Incident {
	r := v.request
	return haltd.Incident{
		ID: haltd.NewName("inc_"), Time: now.UTC(), Kind: kind, Status: haltd.IncidentOpen,
		Action: v.Decision.Action, Scope: haltd.ScopeSession,
		Agent: r.Agent, Session: r.Session, Client: r.Event.Client, Provider: r.Provider, Model: r.Model,
		Reason: v.Decision.Reason, Detector: v.Decision.Check, Sentence: v.Decision.Sentence,
		Verdict: v.Full(), Settings: v.agent.Policy,
	}
}

// tell raises what a person should look at though nobody was killed: the
// first time that the switch would have killed a session, and the first
// rejection of one. What the detectors merely warn of becomes an event.
func (j *Judge) tell(v *Verdict) {
	r := v.request
	shadow, found := v.wouldStop()
	switch {
	case v.Decision.Action == haltd.Kill || v.Written:
	case v.rejected:
		i := v.incident(haltd.IncidentKillSwitch, r.Now)
		i.ID = v.Incident
		j.Control.Raise(i, j.eventOf(v, haltd.EventWarning, i.ID), control.NoticeOf(&i))
	case v.News && found:
		i := v.incident(haltd.IncidentKillSwitch, r.Now)
		i.Shadow, i.Action, i.Reason, i.Detector, i.Sentence = true, shadow.Action, shadow.Reason, shadow.Check, shadow.Sentence
		i.Once, i.OnceFor = once("shadow", r), ever
		j.Control.Raise(i, j.eventOf(v, haltd.EventWarning, i.ID))
	case v.News && v.Incident == "": // or the incident has the evidence
		j.Record(j.eventOf(v, haltd.EventWarning, ""))
	}
}

// once names what is told once for a session. No agent has a space in its id,
// so that no two sessions share a name.
func once(what string, r *Request) string { return what + ":" + r.Agent + " " + r.Session }

// wouldStop is what a detector would have done while its switch is off.
func (v *Verdict) wouldStop() (haltd.Finding, bool) {
	for _, f := range v.Findings {
		if f.Shadow && f.Action.Stops() && (f.Check == checkSimilarity || f.Check == checkStall) {
			return f, true
		}
	}
	return haltd.Finding{}, false
}

// eventOf is an event beside that of the request, which tells of something.
func (j *Judge) eventOf(v *Verdict, kind haltd.EventType, incident string) haltd.Event {
	e := v.request.Event
	return haltd.Event{
		Time: v.request.Now.UTC(), Type: kind,
		Agent: e.Agent, Label: e.Label, Session: e.Session, Client: e.Client,
		Provider: e.Provider, Format: e.Format, Path: e.Path, Model: e.Model,
		Shadow: !v.agent.Policy.KillSwitch.Enabled || v.bypass, Verdict: v.Full(),
		Score: v.Detected.Parts.Score(), Incident: incident,
	}
}

// raiseGrowth tells of a session whose prompts grow without end, once a day.
func (j *Judge) raiseGrowth(v *Verdict, s detect.Signal, now time.Time) haltd.Finding {
	r := v.request
	told := *v
	told.Detected = detect.Detection{Level: s.Level, Signals: []detect.Signal{s}}
	told.Findings = []haltd.Finding{{Check: string(detect.Growth), Action: haltd.Warn, Reason: haltd.ReasonGrowth, Sentence: s.Sentence(r.Agent)}}
	told.Decision = told.Findings[0]
	i := told.incident(haltd.IncidentGrowth, now)
	i.Once, i.OnceFor = once("growth", r), growthOnce
	e := j.eventOf(&told, haltd.EventGrowth, i.ID)
	e.Time, e.Shadow, e.Score = now.UTC(), false, 0
	j.Control.Raise(i, e, control.NoticeOf(&i))
	return told.Decision
}

// amount is what was spent, for a person.
func amount(s haltd.Spending) string {
	digits := strconv.FormatInt(s.Tokens, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return fmt.Sprintf("$%.2f and %s tokens", s.Cost.Dollars(), digits)
}

// raiseBudget tells of a budget that is spent, once a period.
func (j *Judge) raiseBudget(v *Verdict, o ledger.Over) {
	r := v.request
	told := *v
	kind, reason, action, limit := haltd.IncidentBudgetSoft, haltd.ReasonSoft, haltd.Warn, "soft"
	if o.Hard {
		kind, reason, action, limit = haltd.IncidentBudgetHard, haltd.ReasonBudget, haltd.Block, "hard"
	}
	told.Findings = []haltd.Finding{{
		Check: "budget", Action: action, Reason: reason, Name: string(o.Period), Spent: &o.Spent,
		Sentence: fmt.Sprintf("%s has reached its %s %s budget: %s are spent.", r.Agent, limit, adjective(o.Period), amount(o.Spent)),
	}}
	told.Decision, told.Detected = told.Findings[0], detect.Detection{}
	i := told.incident(kind, r.Now)
	i.Scope = haltd.ScopeAgent
	i.Once, i.OnceFor = fmt.Sprintf("budget:%s:%s:%s:%d", r.Agent, limit, o.Period, o.Start.Unix()), ever
	e := j.eventOf(&told, haltd.EventAlert, i.ID)
	e.Shadow = false
	j.Control.Raise(i, e, control.NoticeOf(&i))
}
