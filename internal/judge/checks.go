package judge

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/detect"
	"github.com/haltd/haltd/internal/ledger"
	"github.com/haltd/haltd/internal/policy"
)

// checkBudget stops an agent whose hard budget is spent.
func (j *Judge) checkBudget(ctx context.Context, v *Verdict) {
	r := v.request
	over, err := j.Ledgers.Check(ctx, r.Agent, v.agent.Policy.Budgets, v.agent.Zone, r.Now)
	if err != nil {
		j.Logger.Warn("budget not checked", "agent", r.Agent, "error", err)
		return // the reservation fails as well, and stops the call
	}
	for _, o := range over {
		v.find(j.budgetFinding(v, o))
	}
}

func (j *Judge) budgetFinding(v *Verdict, o ledger.Over) haltd.Finding {
	j.raiseBudget(v, o)
	return haltd.Finding{
		Check: "budget", Action: haltd.Block, Reason: haltd.ReasonBudget, Name: string(o.Period),
		Sentence: fmt.Sprintf("The %s budget of %s is spent; it starts again at %s.", adjective(o.Period), v.request.Agent,
			o.Resets.In(v.agent.Zone).Format("2006-01-02 15:04 MST")),
	}
}

func adjective(p haltd.Period) string {
	if p == haltd.Daily {
		return "daily"
	}
	return "monthly"
}

// checkHours stops an agent outside of its hours.
func (j *Judge) checkHours(v *Verdict) {
	p := &v.agent.Policy
	if policy.Allowed(p.Hours, v.agent.Zone, v.request.Now) {
		return
	}
	sentence := fmt.Sprintf("%s may not call at this hour.", v.request.Agent)
	if next, ok := policy.NextAllowed(p.Hours, v.agent.Zone, v.request.Now); ok {
		sentence = fmt.Sprintf("%s may not call at this hour; its hours begin at %s.", v.request.Agent, next.In(v.agent.Zone).Format("2006-01-02 15:04 MST"))
	}
	v.find(haltd.Finding{Check: "hours", Action: haltd.Block, Reason: haltd.ReasonHours, Sentence: sentence})
}

// checkRates looks at the agent's own limits and at those of the policies
// that select the request. A policy in shadow mode has buckets of its own and
// is drawn from at once: nothing else depends on it.
func (j *Judge) checkRates(ctx context.Context, v *Verdict) {
	r := v.request
	limits := v.agent.Policy.Rates
	if limits.Requests > 0 {
		v.draw("requests per minute", policy.Draw{Key: "rpm:" + r.Agent, Limit: policy.PerMinute(limits.Requests), Cost: 1})
	}
	if limits.Tokens > 0 {
		v.tokens = policy.Draw{Key: "tpm:" + r.Agent, Limit: policy.PerMinute(limits.Tokens), Cost: r.PromptTokens}
		v.draw("tokens per minute", v.tokens)
	}
	var shadows []policy.Draw
	var shadowNames []string
	for _, p := range r.Policies {
		if len(p.Limits) == 0 {
			continue
		}
		values := r.Descriptors(p)
		for _, l := range p.Limits {
			d := policy.Draw{Key: l.Key(values), Limit: l.Limit, Cost: 1}
			if p.Shadow {
				shadows, shadowNames = append(shadows, d), append(shadowNames, p.ID+"/"+l.Name)
			} else {
				v.draw(p.ID+"/"+l.Name, d)
			}
		}
	}
	j.ask(ctx, v, v.draws, v.drawNames, j.Limits.Check, false)
	for i := range shadows {
		j.ask(ctx, v, shadows[i:i+1], shadowNames[i:i+1], j.Limits.Take, true)
	}
}

type asker func(context.Context, []policy.Draw, time.Time) (int, time.Duration, error)

func (j *Judge) ask(ctx context.Context, v *Verdict, draws []policy.Draw, names []string, ask asker, shadow bool) {
	if len(draws) == 0 {
		return
	}
	refused, wait, err := ask(ctx, draws, v.request.Now)
	if err != nil {
		j.Logger.Warn("rate limits not checked: their state cannot be had", "agent", v.request.Agent, "error", err)
		return
	}
	if refused >= 0 {
		v.find(v.rateFinding(names[refused], wait, shadow))
	}
}

func (v *Verdict) rateFinding(name string, wait time.Duration, shadow bool) haltd.Finding {
	return haltd.Finding{
		Check: "rate", Action: haltd.Reject, Reason: haltd.ReasonRate, Name: name, Shadow: shadow,
		RetryAfter: max(1, int(math.Ceil(wait.Seconds()))),
		Sentence:   fmt.Sprintf("%s has used up its limit of %s.", v.request.Agent, name),
	}
}

// checkRules asks the operator's rules; the first that matches decides.
func (j *Judge) checkRules(v *Verdict) {
	r := v.request
	rule, ok := j.Control.MatchRule(policy.RuleQuery{
		Model: r.Model, Provider: r.Provider, Agent: r.Agent, Session: r.Session,
		PromptTokens: r.PromptTokens, Time: r.Now.In(v.agent.Zone),
	})
	if ok {
		v.find(policy.Finding(rule))
	}
}

// checkExact counts identical requests. Every hit counts, also of what is
// stopped; a counter that fails lets the request pass.
func (j *Judge) checkExact(ctx context.Context, v *Verdict) {
	r := v.request
	if r.Retry {
		return
	}
	for _, p := range r.Policies {
		if p.Loop == nil {
			continue
		}
		id := r.Identity
		id.Agent, id.Policy, id.Descriptors = r.Agent, p.ID, r.Descriptors(p)
		key := detect.CounterKey(p.ID, id.Fingerprint(j.Key), p.Shadow)
		count, err := j.Limits.Hit(ctx, key, p.Loop.Window(), r.Now)
		if err != nil {
			j.Logger.Warn("identical requests not counted: the counters cannot be had", "agent", r.Agent, "error", err)
			continue
		}
		if d := p.Loop.Decide(count); d.Detected {
			v.find(exactFinding(r.Agent, p, d, count))
		}
	}
}

func exactFinding(agent string, p *policy.Policy, d detect.LoopDecision, count int) haltd.Finding {
	s := detect.Signal{Detector: detect.Exact, Count: count}
	f := haltd.Finding{Check: "exact", Reason: haltd.ReasonLoop, Name: p.ID, Shadow: p.Shadow, Sentence: s.Sentence(agent)}
	switch d.Action {
	case detect.LoopReject:
		f.Action, f.RetryAfter = haltd.Reject, int(d.RetryAfter.Seconds())
	case detect.LoopThrottle:
		f.Action, f.Delay = haltd.Throttle, haltd.Duration(d.Delay)
	default:
		f.Action = haltd.Warn
	}
	return f
}
