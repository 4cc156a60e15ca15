package judge

import (
	"context"
	"fmt"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/ledger"
)

// holding is what one call has reserved: of the budgets of its agent and of
// those of its gateway key. Either is nil where there is no budget.
type holding struct{ agent, key *ledger.Reservation }

// none reports a call for which nothing is reserved.
func (h holding) none() bool { return h.agent == nil && h.key == nil }

// amount is what both pay for.
func (h holding) amount() haltd.Spending {
	switch {
	case h.key == nil:
		return h.agent.Amount()
	case h.agent == nil:
		return h.key.Amount()
	}
	a, b := h.agent.Amount(), h.key.Amount()
	return haltd.Spending{Cost: min(a.Cost, b.Cost), Tokens: min(a.Tokens, b.Tokens)}
}

// extend reserves more of both. What one has more than the other is settled
// with the call.
func (h holding) extend(more haltd.Spending) bool { return h.agent.Extend(more) && h.key.Extend(more) }

func (h holding) release() {
	h.agent.Release()
	h.key.Release()
}

func (h holding) flush() {
	h.agent.Flush()
	h.key.Flush()
}

// settleHolding charges what the call cost to both, and raises what is spent
// with it.
func (ev *evaluation) settleHolding(spent haltd.Spending) {
	ofAgent, ofKey := ev.holding.agent.Settle(spent), ev.holding.key.Settle(spent)
	for _, over := range ofAgent {
		ev.judge.raiseBudget(ev, over)
	}
	for _, over := range ofKey {
		ev.judge.raiseKeyBudget(ev, over)
	}
}

// keyBooking is what the call asks of the budgets of its key.
func (ev *evaluation) keyBooking() ledger.Booking {
	b := ledger.Booking{Zone: ev.agent.Zone, Now: ev.request.Now}
	if k := ev.request.Key; k != nil {
		b = ev.bookingOf(haltd.KeyLedger(k.ID), k.Budgets())
	}
	return b
}

// keyBudgetFinding says that the budget of the key refuses the call.
func (j *Judge) keyBudgetFinding(ev *evaluation, o ledger.Over) haltd.Finding {
	f := j.overFinding(ev, o, "gateway "+ev.keyTitle())
	f.Key = ev.request.Key.Title()
	if !o.Busy {
		j.raiseKeyBudget(ev, o)
	}
	return f
}

// keyTitle names the gateway key of the request.
func (ev *evaluation) keyTitle() string {
	return fmt.Sprintf("key %q of %s", ev.request.Key.Title(), ev.request.Agent)
}

// checkKeyBudget stops a call for which the budget of its key has no room.
func (j *Judge) checkKeyBudget(ctx context.Context, ev *evaluation) {
	over, err := j.budgets.Check(ctx, ev.keyBooking())
	if err != nil {
		j.log.Warn("budget of a key not checked", "agent", ev.request.Agent, "error", err)
		return // the reservation fails as well, and stops the call
	}
	for _, o := range over {
		ev.decision.add(j.keyBudgetFinding(ev, o))
	}
}

// reserveOfKey holds back the same of the budgets of the key. Where they have
// no room, what the agent's budgets held is released with the ticket.
func (j *Judge) reserveOfKey(ctx context.Context, ev *evaluation) {
	reservation, over, err := j.budgets.Reserve(ctx, ev.keyBooking())
	switch {
	case err != nil && ev.decision.Bypass:
		j.log.Warn("nothing is reserved for a call of a key", "agent", ev.request.Agent, "error", err)
	case err != nil:
		j.refuseUnsaved(ctx, ev, "this gateway key has a budget", err)
	case len(over) > 0:
		ev.decision.add(j.keyBudgetFinding(ev, over[0]))
	default:
		ev.holding.key = reservation
	}
}
