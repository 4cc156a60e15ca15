package judge

import (
	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/ledger"
)

// booking is what the call asks of the budgets of its agent. Where it does not
// fit, a stream goes alone because it can be cut when the money is gone, and a
// call that names no maximum because it seldom uses what it reserves.
func (ev *evaluation) booking() ledger.Booking {
	r := ev.request
	b := ledger.Booking{
		Agent: r.Agent, Budgets: ev.agent.Policy.Budgets, Zone: ev.agent.Zone, Now: r.Now, Force: ev.decision.Bypass,
	}
	if r.Call != nil && !r.ingested { // that one was made already
		if ev.most == (haltd.Spending{}) {
			ev.most = ev.maxSpending()
		}
		b.Amount, b.Alone, b.Cuttable = ev.most, r.Stream || r.MaxTokens <= 0, r.Stream
	}
	return b
}

// maxUsage estimates the most that the call can use: the prompt and, for each
// choice, the maximum that the call names, else the model's own.
func (ev *evaluation) maxUsage() haltd.Usage {
	r := ev.request
	if r.Call == nil {
		return haltd.Usage{}
	}
	out := r.MaxTokens
	if out <= 0 {
		out = ev.judge.maxOutput(r.Provider, r.Model)
	}
	if out <= 0 {
		out = ev.agent.Policy.Budgets.ReserveTokens
	}
	return haltd.Usage{Input: r.PromptTokens, Output: out * max(r.Choices, 1)}
}

// mostCost bounds what one call reserves, so that sums of absurd amounts do
// not overflow.
const mostCost = 1_000_000 * haltd.Dollar

func (ev *evaluation) maxSpending() haltd.Spending {
	u := ev.maxUsage()
	return haltd.Spending{Cost: min(ev.cost(u), mostCost), Tokens: u.Input + u.Output}
}

func (ev *evaluation) cost(u haltd.Usage) haltd.Money {
	cost, _ := ev.judge.price(ev.request.Provider, ev.request.Model, u)
	return cost
}

// coveredOutput is how many tokens of the reply the reservation pays for.
func (ev *evaluation) coveredOutput() int64 {
	const million = 1_000_000
	reserved := ev.reservation.Amount()
	if reserved == ev.most {
		return ev.maxUsage().Output
	}
	covered := reserved.Tokens - ev.request.PromptTokens
	if perMillion := ev.cost(haltd.Usage{Output: million}); perMillion > 0 {
		rest := reserved.Cost - ev.cost(haltd.Usage{Input: ev.request.PromptTokens})
		covered = min(covered, int64(float64(rest)/float64(perMillion)*million))
	}
	return max(covered, 0)
}
