package judge

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/detect"
	"github.com/haltd/haltd/internal/control"
	"github.com/haltd/haltd/internal/ledger"
	"github.com/haltd/haltd/internal/policy"
)

// Ticket is what one request holds while it is on its way: rate tokens, a
// reservation, its place in the window. It ends once, by Settle or by Release;
// what comes after that does nothing. Whoever was given a ticket ends it: what
// is never ended stays reserved.
type Ticket struct {
	_ noCopy
	evaluation
	ended    atomic.Bool
	observed atomic.Bool
}

// noCopy lets go vet find copies of a ticket: two of them would both hold
// what is there once.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// evaluation is one request under judgement, and what it takes when it passes.
type evaluation struct {
	judge    *Judge
	request  *Request
	agent    *control.Agent
	decision Decision

	settings detect.Settings
	place    detect.Place
	entry    uint64 // in the window; 0 when it is not there
	rejected bool   // the first rejection of its session

	draws       []policy.Draw // that the rate limits ask for
	drawNames   []string
	drawn       bool        // all of them were taken
	tokens      policy.Draw // of the limit in tokens
	reservation *ledger.Reservation
}

// Recheck asks, after a wait, whether the agent may still call. When it may
// not, ok is false, the decision says why, and the ticket is released.
func (t *Ticket) Recheck(ctx context.Context) (_ Decision, ok bool) {
	t.agent = t.judge.agents.Agent(t.request.Agent)
	if !t.inactive() {
		return t.decision, true
	}
	t.Release(ctx)
	return t.decision, false
}

// Cut is the decision on a call that was on its way when its agent was
// stopped. The ticket is still to be settled.
func (t *Ticket) Cut() Decision {
	t.agent = t.judge.agents.Agent(t.request.Agent)
	if !t.inactive() { // it was resumed again, but this call is cut
		t.decision.Finding = switchedOff(t.request.Agent)
		t.decision.Findings = append(t.decision.Findings, t.decision.Finding)
	}
	return t.decision
}

// Release gives back all that a request took which is not forwarded after all.
func (t *Ticket) Release(ctx context.Context) {
	if t.ended.Swap(true) {
		return
	}
	ctx = context.WithoutCancel(ctx)
	j, r := t.judge, t.request
	t.reservation.Release()
	if t.drawn {
		for _, d := range t.draws {
			d.Cost = -d.Cost
			_ = j.limits.Charge(ctx, d, r.Now) // a state that is lost starts full
		}
	}
	if t.entry != 0 {
		_ = j.states.Update(ctx, t.place, r.Now, func(m detect.Memory) { m.Window.Remove(t.entry) })
	}
}

// releaseMoney ends the ticket of a call that was made already: its rate
// tokens stay taken.
func (t *Ticket) releaseMoney() {
	if !t.ended.Swap(true) {
		t.reservation.Release()
	}
}

// Settle charges what the request really used.
func (t *Ticket) Settle(ctx context.Context, used haltd.Usage, cost haltd.Money, now time.Time) {
	if t.ended.Swap(true) {
		return
	}
	total := used.Input + used.Output
	if t.drawn && t.tokens.Key != "" {
		rest := t.tokens
		rest.Cost = total - t.tokens.Cost
		_ = t.judge.limits.Charge(context.WithoutCancel(ctx), rest, now) // a state that is lost starts full
	}
	for _, over := range t.reservation.Settle(haltd.Spending{Cost: cost, Tokens: total}) {
		t.judge.raiseBudget(&t.evaluation, over)
	}
}

// SettleInFull charges all that is reserved, for a request of which nobody
// knows what it used.
func (t *Ticket) SettleInFull() {
	if t.ended.Swap(true) {
		return
	}
	for _, over := range t.reservation.Settle(t.reservation.Amount()) {
		t.judge.raiseBudget(&t.evaluation, over)
	}
}

// Observe takes the reply to the request and raises what only the reply
// shows. It counts once, and not after the ticket was ended.
func (t *Ticket) Observe(ctx context.Context, reply *haltd.Reply, now time.Time) (found []haltd.Finding) {
	if t.ended.Load() || t.observed.Swap(true) {
		return nil
	}
	return t.observe(ctx, reply, now)
}

// Extend reserves more money for a reply that grows beyond what was reserved.
func (t *Ticket) Extend(tokens int64) {
	if t.ended.Load() || t.reservation == nil {
		return
	}
	reserved := t.reservation.Amount()
	need := t.request.PromptTokens + tokens
	if need <= reserved.Tokens {
		return
	}
	more := max(t.agent.Policy.Budgets.ReserveTokens, need-reserved.Tokens)
	cost, _ := t.judge.price(t.request.Provider, t.request.Model, haltd.Usage{Output: more})
	t.reservation.Extend(haltd.Spending{Cost: cost, Tokens: more})
}

// DropTexts frees the texts of the call while the provider thinks.
func (t *Ticket) DropTexts() {
	if c := t.request.Call; c != nil {
		t.request.Call = &haltd.Call{Model: c.Model, System: c.System}
	}
}

// MaxUsage is what the call may use at most, as far as one can tell.
func (t *Ticket) MaxUsage() haltd.Usage { return t.maxUsage() }
