package judge

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/detection"
	"github.com/haltd/haltd/internal/policy"
)

// Ticket is the handle on what one request holds while it is in flight: rate
// tokens, a reservation, its place in the window. It ends once, by Settle or by Release;
// what comes after that does nothing. Whoever was given a ticket ends it: what
// is never ended stays reserved.
type Ticket struct {
	evaluation
	ended    atomic.Bool
	observed atomic.Bool
	covered  int64 // tokens of the reply that are paid for; -1 until somebody asks
}

// Recheck checks, after a wait, whether the agent may still call. When it may
// not, ok is false, the decision says why, and the ticket is released.
func (t *Ticket) Recheck(ctx context.Context) (_ Decision, ok bool) {
	t.agent = t.judge.agents.Agent(t.request.Agent)
	if !t.inactive() {
		return t.decision, true
	}
	t.Release(ctx)
	return t.decision, false
}

// Cut is the decision on a call that was in flight when its agent was stopped.
// The ticket is still to be settled.
func (t *Ticket) Cut() Decision {
	t.agent = t.judge.agents.Agent(t.request.Agent)
	if !t.inactive() { // it was resumed again, but this call is cut
		t.decision.Finding = switchedOff(t.request.Agent)
		t.decision.Findings = append(t.decision.Findings, t.decision.Finding)
	}
	return t.decision
}

// Release gives back all that the request took. It is for a request that is
// not forwarded after all.
func (t *Ticket) Release(ctx context.Context) {
	if t.ended.Swap(true) {
		return
	}
	ctx = lasting(ctx)
	j, r := t.judge, t.request
	t.holding.release()
	if t.drawn {
		back := slices.Clone(t.asked.claim.Draws)
		for i := range back {
			back[i].Cost = -back[i].Cost
		}
		j.later.Do(func() { _ = j.states.Charge(ctx, back, r.Now) }) // a state that is lost starts full
	}
	if t.entry != 0 {
		_ = j.update(ctx, t.place, r.Now, func(m detection.Memory) bool {
			detection.Withdraw(j.state(m, r), t.entry)
			t.uncount(m)
			return true
		})
	} else if t.counted {
		_ = j.update(ctx, t.place, r.Now, func(m detection.Memory) bool { t.uncount(m); return true })
	}
}

// uncount takes the call back from what its session has used.
func (t *Ticket) uncount(m detection.Memory) {
	if t.counted {
		m.Progress.Tally.Call(-1)
	}
}

// releaseMoney ends the ticket of a call that was made already: its rate
// tokens stay taken.
func (t *Ticket) releaseMoney() {
	if !t.ended.Swap(true) {
		t.holding.release()
	}
}

// Settle charges what the request really used. It does not wait for the disk:
// Flush does.
func (t *Ticket) Settle(ctx context.Context, used haltd.Usage, cost haltd.Money, now time.Time) {
	if t.ended.Swap(true) {
		return
	}
	total := used.Input + used.Output
	defer t.settleHolding(haltd.Spending{Cost: cost, Tokens: total}) // whatever becomes of the rest: nobody else would
	t.flushSpent(ctx, now)
	if t.drawn && t.tokens.Key != "" {
		rest := t.tokens
		rest.Cost = total - t.tokens.Cost
		_ = t.judge.states.Charge(lasting(ctx), []policy.Draw{rest}, now) // a state that is lost starts full
	}
}

// SamePeriods reports whether what was charged at one time and is corrected at
// another falls into the same day and month of the agent's budgets.
func (t *Ticket) SamePeriods(then, now time.Time) bool {
	return policy.PeriodStart(haltd.Daily, t.agent.Zone, then).Equal(policy.PeriodStart(haltd.Daily, t.agent.Zone, now))
}

// SettleInFull charges all that is reserved, for a request of which nobody
// knows what it used.
func (t *Ticket) SettleInFull() {
	if t.ended.Swap(true) {
		return
	}
	t.settleHolding(t.holding.amount())
}

// Flush writes what the request cost beyond its reservation. It is for a ticket
// that is settled.
func (t *Ticket) Flush() { t.holding.flush() }

// Observe gives the reply to the detectors and raises what only the reply
// shows. It counts once, and not after the ticket was ended.
func (t *Ticket) Observe(ctx context.Context, reply *haltd.Reply, now time.Time) (found []haltd.Finding) {
	if t.ended.Load() || t.observed.Swap(true) {
		return nil
	}
	return t.observe(ctx, reply, now)
}

// extendBy is how many tokens more a stream reserves that outgrows its
// reservation.
const extendBy = 1024

// Extend reserves more money for a stream that outgrows its reservation.
// tokens is how many it has so far. ok is false when a hard budget has nothing
// left for it: then the stream is to be cut. One goroutine extends a ticket.
func (t *Ticket) Extend(tokens int64) (ok bool) {
	if tokens <= max(t.covered, 0) || t.holding.none() || t.ended.Load() {
		return true
	}
	if t.covered < 0 {
		if t.covered = t.coveredOutput(); tokens <= t.covered {
			return true
		}
	}
	for _, more := range [...]int64{max(extendBy, tokens-t.covered), tokens - t.covered} {
		if t.holding.extend(haltd.Spending{Cost: t.cost(haltd.Usage{Output: more}), Tokens: more}) {
			t.covered += more
			return true
		}
	}
	return false
}

// Spent is the decision on a stream whose money is gone. The ticket is still
// to be settled.
func (t *Ticket) Spent() Decision {
	t.decision.add(t.spentFinding())
	return t.decision
}

// Known is what the call has told of its first n rounds; nil where that is not
// enough to read the next one on from them.
func (t *Ticket) Known(n int) *detection.Known { return t.history.Known(n) }

// DropTexts frees the texts of the call while the provider thinks.
func (t *Ticket) DropTexts() {
	if c := t.request.Call; c != nil {
		t.request.Call = &haltd.Call{Model: c.Model, System: c.System}
		t.request.Known, t.request.Whole, t.history = nil, nil, nil
	}
}

// MaxUsage estimates the most that the call can use: what its reservation pays
// for or, where nothing is reserved, what it would have paid for.
func (t *Ticket) MaxUsage() haltd.Usage {
	u := t.maxUsage()
	switch {
	case t.holding.none() || t.ended.Load():
	case t.covered >= 0:
		u.Output = t.covered
	default:
		u.Output = t.coveredOutput()
	}
	return u
}
