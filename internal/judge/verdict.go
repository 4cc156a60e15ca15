package judge

import (
	"context"
	"slices"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/detect"
	"github.com/haltd/haltd/internal/control"
	"github.com/haltd/haltd/internal/ledger"
	"github.com/haltd/haltd/internal/policy"
)

// Verdict is what was made of one request. It is bound to the request: its
// reply is observed and its cost settled here.
type Verdict struct {
	// Decision is the finding that counts; its Action is Allow when
	// nothing was found.
	Decision haltd.Finding
	Findings []haltd.Finding // of all checks, in their order
	Detected detect.Detection
	Incident string // that stops the request, "" without one
	// Scope is what the kill switch or a person has switched off, and so what
	// somebody has to resume; "" when something else stops the request.
	Scope haltd.Scope
	// Written says that the event of the request is in the record already.
	Written bool
	// News says that the session has not been told of this level before.
	News bool

	judge   *Judge
	request *Request
	agent   *control.Agent
	bypass  bool
	grace   bool // a detector would have stopped it

	settings detect.Settings
	place    detect.Place
	entry    uint64 // in the window; 0 when it is not there
	rejected bool   // the first rejection of its session

	draws     []policy.Draw
	drawNames []string
	tokens    policy.Draw // of the limit in tokens
	held      *ledger.Reservation
}

func (v *Verdict) draw(name string, d policy.Draw) {
	v.draws, v.drawNames = append(v.draws, d), append(v.drawNames, name)
}

// inactive ends judging for an agent or session that may not call. The bypass
// opens all doors but those that a person has closed.
func (v *Verdict) inactive() bool {
	s, stopped := v.agent.Stopped(v.request.Session)
	if !stopped {
		return false
	}
	who, scope := v.request.Agent, haltd.ScopeAgent
	if s.Session != "" {
		who, scope = "This session of "+who, haltd.ScopeSession
	}
	f := switchedOff(who)
	if s.DeactivatedBy != nil && *s.DeactivatedBy == haltd.ByKillSwitch {
		if v.bypass {
			return false
		}
		f.Reason, f.Sentence = haltd.ReasonKilled, who+" was stopped by the kill switch. "+s.Why
	}
	v.Incident, v.Scope = s.Incident, scope
	v.Findings = append(v.Findings, f)
	v.Decision = f
	return true
}

func switchedOff(who string) haltd.Finding {
	return haltd.Finding{
		Check: "inactive", Action: haltd.Block, Reason: haltd.ReasonManual,
		Sentence: who + " was switched off by a person.",
	}
}

// find adds a finding. While the bypass is on, none is enforced.
func (v *Verdict) find(f haltd.Finding) {
	f.Shadow = f.Shadow || v.bypass
	v.Findings = append(v.Findings, f)
	v.decide()
}

func (v *Verdict) decide() {
	if f, ok := haltd.Strictest(v.Findings); ok {
		v.Decision = f
	}
}

// Recheck asks, after a wait, whether the agent may still call. When it may
// not, what the request had taken is given back.
func (v *Verdict) Recheck(ctx context.Context) bool {
	v.agent = v.judge.Control.Agent(v.request.Agent)
	if !v.inactive() {
		return true
	}
	v.Withdraw(ctx)
	return false
}

// Stop turns the verdict into that on an agent which was stopped while the
// call was on its way.
func (v *Verdict) Stop() {
	v.agent = v.judge.Control.Agent(v.request.Agent)
	if !v.inactive() { // it was resumed again, but this call is cut
		v.Decision = switchedOff(v.request.Agent)
		v.Findings = append(v.Findings, v.Decision)
	}
}

// Withdraw gives back what a request took that is not forwarded after all.
func (v *Verdict) Withdraw(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	j, r := v.judge, v.request
	v.held.Release()
	v.held = nil
	for _, d := range v.draws {
		d.Cost = -d.Cost
		_ = j.Limits.Charge(ctx, d, r.Now) // a state that is lost starts full
	}
	v.draws, v.tokens = nil, policy.Draw{}
	if v.entry != 0 {
		_ = j.States.With(ctx, v.place, r.Now, func(m detect.Memory) { m.Window.Remove(v.entry) })
		v.entry = 0
	}
}

// LetGo frees the texts of the call while the provider thinks.
func (v *Verdict) LetGo() {
	if c := v.request.Call; c != nil {
		v.request.Call = &haltd.Call{Model: c.Model, System: c.System}
	}
}

// Observe takes the reply to the request and raises what only the reply
// shows.
func (v *Verdict) Observe(ctx context.Context, reply *haltd.Reply, now time.Time) (found []haltd.Finding) {
	if v.request.Call == nil || v.place.Agent == "" {
		return nil
	}
	j, r := v.judge, v.request
	var signals []detect.Signal
	answer := detect.ReadReply(reply)
	// The client may be gone; what it was told still counts.
	err := j.States.With(context.WithoutCancel(ctx), v.place, now, func(m detect.Memory) {
		signals = detect.Observe(v.settings, j.state(m, r), v.entry, detect.Source{Model: r.Call.Model, System: r.Call.System}, answer, now)
	})
	if err != nil {
		j.Logger.Warn("reply not observed", "agent", r.Agent, "error", err)
	}
	for i := range signals {
		if signals[i].Detector == detect.Growth {
			signals[i].Session = r.Session
			found = append(found, j.raiseGrowth(v, signals[i], now))
		}
	}
	return found
}

// Said holds back more money for a reply that grows beyond what was reserved.
func (v *Verdict) Said(tokens int64) {
	if v.held == nil {
		return
	}
	held := v.held.Held()
	need := v.request.PromptTokens + tokens
	if need <= held.Tokens {
		return
	}
	more := max(v.agent.Policy.Budgets.ReserveTokens, need-held.Tokens)
	cost, _ := v.judge.Price(v.request.Provider, v.request.Model, haltd.Usage{Output: more})
	v.held.Extend(haltd.Spending{Cost: cost, Tokens: more})
}

// Settle charges what the request really used.
func (v *Verdict) Settle(ctx context.Context, used haltd.Usage, cost haltd.Money, now time.Time) {
	total := used.Input + used.Output
	if v.tokens.Key != "" {
		rest := v.tokens
		rest.Cost = total - v.tokens.Cost
		_ = v.judge.Limits.Charge(context.WithoutCancel(ctx), rest, now) // a state that is lost starts full
	}
	for _, over := range v.held.Settle(haltd.Spending{Cost: cost, Tokens: total}) {
		v.judge.raiseBudget(v, over)
	}
	v.held = nil
}

// Brief is the verdict for the event of its call, without the evidence; nil
// when there is nothing to say.
func (v *Verdict) Brief() *haltd.Verdict {
	if len(v.Findings) == 0 && v.Detected.Level == detect.Pass && v.Detected.Parts.Score() == 0 && v.Detected.Certainty < 5 {
		return nil
	}
	return v.value()
}

// Full is the verdict with its evidence and what it rests on.
func (v *Verdict) Full() *haltd.Verdict {
	out := v.value()
	out.Signals = v.Detected.Signals
	if b := v.Detected.Basis; b != (haltd.Basis{}) {
		out.Basis = &b
	}
	return out
}

func (v *Verdict) value() *haltd.Verdict {
	d := &v.Detected
	out := &haltd.Verdict{
		Version: haltd.VerdictVersion,
		Action:  v.Decision.Action, Check: v.Decision.Check, Reason: v.Decision.Reason, Sentence: v.Decision.Sentence,
		Level: d.Level, Score: d.Parts.Score(), Parts: d.Parts, Certainty: d.Certainty, Unmet: d.Unmet,
		Grace: v.grace, Bypass: v.bypass, Findings: slices.Clip(v.Findings), // more may be found later
	}
	if out.Sentence == "" && len(d.Signals) > 0 {
		out.Sentence = d.Signals[0].Sentence(v.request.Agent)
	}
	return out
}

// Describe puts the verdict into the event of its request.
func (v *Verdict) Describe(e *haltd.Event) {
	e.Verdict, e.Score, e.Incident = v.Brief(), v.Detected.Parts.Score(), v.Incident
	if v.Decision.Action.Stops() {
		e.Blocked, e.BlockReason = true, v.Decision.Reason
	}
	e.Tags = nil
	for _, f := range v.Findings {
		if f.Check == "rule" {
			e.Rule = f.Name
		}
		if f.Tag != "" {
			e.Tags = append(e.Tags, f.Tag)
		}
	}
}
