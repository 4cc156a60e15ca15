package judge

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/control"
	"github.com/haltd/haltd/internal/detection"
	"github.com/haltd/haltd/internal/ledger"
	"github.com/haltd/haltd/internal/policy"
)

const (
	growthSpan    = 24 * time.Hour
	rejectionSpan = time.Hour // what is rejected within it is one incident
	warningSpan   = time.Hour // what a window shows is told once within it, see warnedOf
	forever       = 100 * 365 * 24 * time.Hour
)

// incident makes the incident about a decision.
func (ev *evaluation) incident(d *Decision, kind haltd.IncidentKind, now time.Time) haltd.Incident {
	r := ev.request
	return haltd.Incident{
		ID: haltd.NewName("inc_"), Time: now.UTC(), Kind: kind, Status: haltd.IncidentOpen,
		Action: d.Action, Scope: haltd.ScopeSession,
		Agent: r.Agent, Session: r.Session, Client: r.Event.Client, Trace: r.Event.Trace, Provider: r.Provider, Model: r.Model,
		Reason: d.Reason, Detector: d.Check, Sentence: d.Sentence,
		Verdict: d.Full(), Settings: ev.agent.Policy,
	}
}

// report raises an incident though nobody was killed: the first time that each
// rung would have stopped a session, and the first rejection of one. A
// mere warning of the detectors becomes an event, unless its window told of it lately.
func (j *Judge) report(ev *evaluation) {
	r, d := ev.request, &ev.decision
	shadow, found := d.wouldStop()
	switch {
	case d.Action >= haltd.Halt || d.Recorded:
	case ev.rejected:
		j.meter.Rung(haltd.Reject, d.Check)
		i := ev.incident(d, haltd.IncidentKillSwitch, r.Now)
		i.ID = d.Incident
		i.Excerpt = ev.quote(&i)
		j.incidents.Raise(i, ev.event(d, haltd.EventWarning, i.ID), control.NoticeOf(&i))
	case (d.NewLevel || ev.newRung) && found:
		i := ev.incident(d, haltd.IncidentKillSwitch, r.Now)
		i.Shadow, i.Action, i.Reason, i.Detector, i.Sentence = true, shadow.Action, shadow.Reason, shadow.Check, shadow.Sentence
		i.Once, i.OnceFor = onceKey(d.shadowStep(shadow.Action), r), forever
		i.Excerpt = ev.quote(&i)
		n := control.NoticeOf(&i)
		n.Topic = haltd.TopicShadow
		j.incidents.Raise(i, ev.event(d, haltd.EventWarning, i.ID), n)
	case d.Action == haltd.Steer || ev.newRung: // told already
	case d.NewLevel && d.Incident == "": // or the incident has the evidence
		e := ev.event(d, haltd.EventWarning, "")
		if signals := d.Detected.Signals; !e.Shadow && len(signals) > 0 {
			j.meter.Rung(haltd.Warn, haltd.Check(signals[0].Detector))
		}
		j.record(e)
	}
}

// onceKey names an incident that is raised once for a session. No agent has a
// space in its id, so that no two sessions share a key.
func onceKey(what string, r *Request) string { return what + ":" + r.Agent + " " + r.Session }

// wouldStop is the strictest of what detectors would have done while their
// switch is off.
func (d *Decision) wouldStop() (best haltd.Finding, ok bool) {
	for _, f := range d.Findings {
		if f.Shadow && f.Action.Stops() && f.Action > best.Action && (f.Check == haltd.CheckSimilarity || f.Check == haltd.CheckStall) {
			best, ok = f, true
		}
	}
	return best, ok
}

// shadowStep names the step of a session that would have been stopped: its
// first, and each that is stricter than one before.
func (d *Decision) shadowStep(a haltd.Action) string {
	for _, r := range d.Rungs {
		if r.Action.Stops() && r.Action < a {
			return "shadow-" + a.String()
		}
	}
	return "shadow"
}

// event makes an event about a decision, besides that of the request.
func (ev *evaluation) event(d *Decision, kind haltd.EventType, incident string) haltd.Event {
	e := ev.request.Event
	return haltd.Event{
		Time: ev.request.Now.UTC(), Type: kind,
		Agent: e.Agent, Label: e.Label, Session: e.Session, Client: e.Client, Trace: e.Trace,
		Provider: e.Provider, Format: e.Format, Path: e.Path, Model: e.Model,
		Shadow: !ev.agent.Policy.KillSwitch.Enabled || d.Bypass, Verdict: d.Full(),
		Score: d.Detected.Parts.Score(), Incident: incident,
	}
}

// raiseGrowth raises an incident about a session whose prompts grow without
// end, once a day.
func (j *Judge) raiseGrowth(ev *evaluation, s haltd.Signal, now time.Time) haltd.Finding {
	r := ev.request
	d := decisionOn(r.Agent, haltd.Finding{
		Check: haltd.CheckGrowth, Action: haltd.Warn, Reason: haltd.ReasonGrowth, Sentence: s.Sentence(r.Agent),
	}, detection.Detection{Level: s.Level, Signals: []haltd.Signal{s}})
	d.Grace, d.Bypass = ev.decision.Grace, ev.decision.Bypass
	i := ev.incident(&d, haltd.IncidentGrowth, now)
	i.Once, i.OnceFor = onceKey("growth", r), growthSpan
	e := ev.event(&d, haltd.EventGrowth, i.ID)
	e.Time, e.Shadow, e.Score = now.UTC(), false, 0
	j.incidents.Raise(i, e, control.NoticeOf(&i))
	return d.Finding
}

// raiseExact raises an incident about a session that sends the same request
// again and again and is rejected for that, once for rejectionSpan.
func (j *Judge) raiseExact(ev *evaluation) {
	if ev.decision.Action != haltd.Reject || ev.decision.Check != haltd.CheckExact {
		return
	}
	r, f := ev.request, ev.decision.Finding
	i := slices.IndexFunc(ev.asked.loops, func(p *policy.RequestPolicy) bool { return p.ID == f.Name })
	if i < 0 || i >= len(ev.asked.answer.Counts) {
		return
	}
	s := exactSignal(ev.asked.answer.Counts[i])
	s.Level = haltd.LevelKill
	d := decisionOn(r.Agent, f, detection.Detection{Level: s.Level, Signals: []haltd.Signal{s}})
	d.Grace, d.Bypass = ev.decision.Grace, ev.decision.Bypass
	incident := ev.incident(&d, haltd.IncidentKillSwitch, r.Now)
	incident.Once, incident.OnceFor = onceKey(string(haltd.CheckExact)+":"+f.Name, r), rejectionSpan
	incident.Excerpt = ev.quote(&incident)
	e := ev.event(&d, haltd.EventWarning, incident.ID)
	e.Shadow, e.Score = false, 0
	j.incidents.Raise(incident, e, control.NoticeOf(&incident))
}

// formatSpending writes an amount for a person.
func formatSpending(s haltd.Spending) string {
	return s.Cost.Rounded() + " and " + formatTokens(s.Tokens)
}

func formatTokens(n int64) string { return grouped(n) + " tokens" }

// grouped writes a number in groups of three digits.
func grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// formatLimited writes the part of an amount that a hard budget limits.
func formatLimited(limit haltd.Budget, s haltd.Spending) string {
	dollars, tokens := s.Cost.Rounded(), formatTokens(s.Tokens)
	if s.Cost > 0 && s.Cost < haltd.Dollar/100 {
		dollars = "$" + s.Cost.String()
	}
	switch {
	case limit.HardTokens <= 0:
		return dollars
	case limit.HardUSD <= 0:
		return tokens
	}
	return dollars + " and " + tokens
}

// formatBudget writes how large the budget is that was reached. A limit of money
// and one of tokens hold beside each other.
func formatBudget(o ledger.Over) string {
	cost, tokens := o.Budget.SoftUSD, o.Budget.SoftTokens
	if o.Hard {
		cost, tokens = o.Budget.HardUSD, o.Budget.HardTokens
	}
	var limits []string
	if cost > 0 {
		limits = append(limits, formatLimited(haltd.Budget{HardUSD: cost}, haltd.Spending{Cost: cost}))
	}
	if tokens > 0 {
		limits = append(limits, formatTokens(tokens))
	}
	return strings.Join(limits, " or ")
}

// resets is when the period of a budget ends, on the clock of the agent.
func (ev *evaluation) resets(o ledger.Over) string {
	return o.Resets.In(ev.agent.Zone).Format("2006-01-02 15:04 MST")
}

// raiseBudget raises an incident about a budget that is spent, or has too
// little left for a call, once a period.
func (j *Judge) raiseBudget(ev *evaluation, o ledger.Over) {
	agent := ev.request.Agent // written as it is, also at the start of a sentence
	j.raiseOver(ev, o, budgetOwner{first: agent, inside: agent, ledger: agent})
}

// raiseKeyBudget does the same for the budget of a gateway key.
func (j *Judge) raiseKeyBudget(ev *evaluation, o ledger.Over) {
	title := ev.keyTitle()
	j.raiseOver(ev, o, budgetOwner{first: "Gateway " + title, inside: "gateway " + title, ledger: haltd.KeyLedger(ev.request.Key.ID)})
}

// budgetOwner is whose a budget is: as the first word of a sentence, inside of
// one, and by the name of the ledger.
type budgetOwner struct{ first, inside, ledger string }

func (j *Judge) raiseOver(ev *evaluation, o ledger.Over, whose budgetOwner) {
	r := ev.request
	kind, reason, action, limit := haltd.IncidentBudgetSoft, haltd.ReasonSoft, haltd.Warn, "soft"
	if o.Hard {
		kind, reason, action, limit = haltd.IncidentBudgetHard, haltd.ReasonBudget, haltd.Block, "hard"
	}
	d := decisionOn(r.Agent, haltd.Finding{
		Check: haltd.CheckBudget, Action: action, Reason: reason, Name: string(o.Period), Period: o.Period, Spent: &o.Spent,
		Sentence: fmt.Sprintf("%s has reached its %s %s budget of %s: %s are spent. It resets at %s.",
			whose.first, limit, o.Period.Adjective(), formatBudget(o), formatSpending(o.Spent), ev.resets(o)),
	}, detection.Detection{})
	if !o.IsSpent() {
		limit = "unfit"
		d.Sentence = fmt.Sprintf("A call of %s was refused: its hard %s budget of %s has %s left, and the call would have reserved %s. It resets at %s.",
			whose.inside, o.Period.Adjective(), formatBudget(o), formatLimited(o.Budget, o.Left), formatLimited(o.Budget, o.Asked), ev.resets(o))
		d.Left, d.Asked = &o.Left, &o.Asked
		d.Findings = []haltd.Finding{d.Finding}
	}
	d.Grace, d.Bypass = ev.decision.Grace, ev.decision.Bypass
	i := ev.incident(&d, kind, r.Now)
	i.Scope = haltd.ScopeAgent
	i.Once, i.OnceFor = fmt.Sprintf("budget:%s:%s:%s:%d", whose.ledger, limit, o.Period, o.Start.Unix()), forever
	e := ev.event(&d, haltd.EventAlert, i.ID)
	e.Shadow = false
	j.incidents.Raise(i, e, control.NoticeOf(&i))
}

// BudgetSpent raises an incident about a budget that is spent with what other
// nodes spent.
func (j *Judge) BudgetSpent(agent string, o ledger.Over) {
	j.raiseBudget(&evaluation{judge: j, agent: j.agents.Agent(agent), request: &Request{Agent: agent, Event: haltd.Event{Agent: agent}, Now: j.clock()}}, o)
}
