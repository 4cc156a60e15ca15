package judge

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/ledger"
	"github.com/haltd/haltd/internal/policy"
)

// checkBudget stops an agent whose hard budget is spent or has too little left
// for the call.
func (j *Judge) checkBudget(ctx context.Context, ev *evaluation) {
	if ev.request.FetchesPaidReply { // what it fetches is paid for, and it returns the rest
		return
	}
	over, err := j.budgets.Check(ctx, ev.booking())
	if err != nil {
		j.log.Warn("budget not checked", "agent", ev.request.Agent, "error", err)
		return // the reservation fails as well, and stops the call
	}
	for _, o := range over {
		ev.decision.add(j.budgetFinding(ev, o))
	}
	j.checkKeyBudget(ctx, ev)
}

// busyRetry is when to ask again, in seconds, while calls in flight hold the
// rest of a budget.
const busyRetry = 5

func (j *Judge) budgetFinding(ev *evaluation, o ledger.Over) haltd.Finding {
	f := j.overFinding(ev, o, ev.request.Agent)
	if !o.Busy {
		j.raiseBudget(ev, o)
	}
	return f
}

// overFinding says why the budget of whose refuses the call.
func (j *Judge) overFinding(ev *evaluation, o ledger.Over, whose string) haltd.Finding {
	f := haltd.Finding{Check: haltd.CheckBudget, Action: haltd.Block, Reason: haltd.ReasonBudget, Name: string(o.Period), Period: o.Period}
	resets := ev.resets(o)
	if o.IsSpent() {
		f.Sentence = fmt.Sprintf("The %s budget of %s is spent; it resets at %s.", o.Period.Adjective(), whose, resets)
	} else {
		f.Left, f.Asked = &o.Left, &o.Asked
		f.Sentence = fmt.Sprintf("The %s budget of %s has %s left, and this call would reserve %s; it resets at %s.",
			o.Period.Adjective(), whose, formatLimited(o.Budget, o.Left), formatLimited(o.Budget, o.Asked), resets)
	}
	if o.Busy {
		f.Action, f.RetryAfter = haltd.Reject, busyRetry
		f.Sentence = fmt.Sprintf("Calls in flight hold what the %s budget of %s has left: %s are free, and this call would reserve %s.",
			o.Period.Adjective(), whose, formatLimited(o.Budget, o.Left), formatLimited(o.Budget, o.Asked))
	}
	return f
}

// spentFinding is about a stream that is cut because the money is gone.
func (ev *evaluation) spentFinding() haltd.Finding {
	f := haltd.Finding{
		Check: haltd.CheckBudget, Action: haltd.Block, Reason: haltd.ReasonBudget,
		Sentence: fmt.Sprintf("The reply was cut because the budget of %s is spent.", ev.request.Agent),
	}
	if ev.holding.key != nil {
		f.Sentence = fmt.Sprintf("The reply was cut because the budget of gateway %s is spent.", ev.keyTitle())
		if ev.holding.agent != nil {
			f.Sentence = fmt.Sprintf("The reply was cut because the budget of %s, or of gateway %s, is spent.", ev.request.Agent, ev.keyTitle())
		}
	}
	return f
}

// checkHours stops an agent outside of its hours.
func (j *Judge) checkHours(ev *evaluation) {
	p := &ev.agent.Policy
	if policy.Allowed(p.Hours, ev.agent.Zone, ev.request.Now) {
		return
	}
	sentence := fmt.Sprintf("%s may not call at this hour.", ev.request.Agent)
	if next, ok := policy.NextAllowed(p.Hours, ev.agent.Zone, ev.request.Now); ok {
		sentence = fmt.Sprintf("%s may not call at this hour; its hours begin at %s.", ev.request.Agent, next.In(ev.agent.Zone).Format("2006-01-02 15:04 MST"))
	}
	ev.decision.add(haltd.Finding{Check: haltd.CheckHours, Action: haltd.Block, Reason: haltd.ReasonHours, Sentence: sentence})
}

// asked is what a request asks of limits, and what came back.
type asked struct {
	claim   policy.Claim
	draws   []string // names of the limits
	shadows []string
	loops   []*policy.RequestPolicy // that count identical requests
	answer  policy.Answer

	memory struct { // for the lists of most requests
		draws [4]policy.Draw
		names [4]string
	}
}

// claim is all that a request draws and counts: of the agent's own limits, and
// of those of the policies that select it. A policy in shadow mode has buckets
// of its own: nothing else depends on it. Of identical requests every hit
// counts, also of what is stopped and of retries.
func (ev *evaluation) claim(key *policy.FingerprintKey) policy.Claim {
	r, a := ev.request, &ev.asked
	a.claim.Draws, a.draws = a.memory.draws[:0], a.memory.names[:0]
	if limits := ev.agent.Policy.Rates; limits.Requests > 0 {
		a.draw("requests per minute", policy.Draw{Key: "rpm:" + r.Agent, Limit: policy.PerMinute(limits.Requests), Cost: 1})
	}
	if limits := ev.agent.Policy.Rates; limits.Tokens > 0 {
		ev.tokens = policy.Draw{Key: "tpm:" + r.Agent, Limit: policy.PerMinute(limits.Tokens), Cost: r.PromptTokens}
		a.draw("tokens per minute", ev.tokens)
	}
	for _, p := range r.Policies {
		a.policy(key, r, p)
	}
	return a.claim
}

func (a *asked) draw(name string, d policy.Draw) {
	a.claim.Draws, a.draws = append(a.claim.Draws, d), append(a.draws, name)
}

// policy adds what a policy limits and counts.
func (a *asked) policy(key *policy.FingerprintKey, r *Request, p *policy.RequestPolicy) {
	if len(p.Limits) == 0 && p.Loop == nil {
		return
	}
	values := r.Descriptors(p)
	for _, l := range p.Limits {
		d := policy.Draw{Key: l.Key(values), Limit: l.Limit, Cost: 1}
		if p.Shadow {
			a.claim.Shadows, a.shadows = append(a.claim.Shadows, d), append(a.shadows, p.ID+"/"+l.Name)
		} else {
			a.draw(p.ID+"/"+l.Name, d)
		}
	}
	if p.Loop != nil {
		id := r.Identity
		id.Agent, id.Descriptors = r.Agent, values
		a.loops = append(a.loops, p)
		a.claim.Hits = append(a.claim.Hits, p.Hit(id, key))
	}
}

// checkRates reports the limits that are used up.
func (j *Judge) checkRates(ev *evaluation) {
	a := &ev.asked
	if i := a.answer.Refused; i >= 0 {
		ev.decision.add(ev.rateFinding(a.draws[i], a.answer.Wait, false))
	}
	for i, wait := range a.answer.Shadows {
		if wait > 0 {
			ev.decision.add(ev.rateFinding(a.shadows[i], wait, true))
		}
	}
}

func (ev *evaluation) rateFinding(name string, wait time.Duration, shadow bool) haltd.Finding {
	return haltd.Finding{
		Check: haltd.CheckRate, Action: haltd.Reject, Reason: haltd.ReasonRate, Name: name, Shadow: shadow,
		RetryAfter: max(1, int(math.Ceil(wait.Seconds()))),
		Sentence:   fmt.Sprintf("%s has used up its limit of %s.", ev.request.Agent, name),
	}
}

// checkRules asks the operator's rules; the first that matches decides.
func (j *Judge) checkRules(ev *evaluation) {
	r := ev.request
	rule, ok := j.agents.MatchRule(policy.RuleQuery{
		Model: r.Model, Others: slices.Concat(r.Models, r.Names), Provider: r.Provider, Path: r.Path, Agent: r.Agent, Session: r.Session,
		PromptTokens: r.PromptTokens, Time: r.Now.In(ev.agent.Zone),
	})
	if ok {
		ev.decision.add(policy.Finding(rule))
	}
}

// checkExact reports requests that were made too often. Where they could not
// be counted, they pass.
func (j *Judge) checkExact(ev *evaluation) {
	for i, count := range ev.asked.answer.Counts {
		p := ev.asked.loops[i]
		if d := p.Loop.Decide(count); d.Detected {
			ev.decision.add(exactFinding(ev.request.Agent, p, d, count))
		}
	}
}

// exactSignal is what a policy has counted.
func exactSignal(count int) haltd.Signal {
	return haltd.Signal{Detector: haltd.DetectorExact, Count: count}
}

func exactFinding(agent string, p *policy.RequestPolicy, d policy.LoopDecision, count int) haltd.Finding {
	s := exactSignal(count)
	f := haltd.Finding{Check: haltd.CheckExact, Reason: haltd.ReasonLoop, Name: p.ID, Shadow: p.Shadow, Sentence: s.Sentence(agent)}
	switch d.Action {
	case policy.LoopReject:
		f.Action, f.RetryAfter = haltd.Reject, int(d.RetryAfter.Seconds())
	case policy.LoopThrottle:
		f.Action, f.Delay = haltd.Throttle, haltd.Duration(d.Delay)
	default:
		f.Action = haltd.Warn
	}
	return f
}
