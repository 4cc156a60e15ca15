package judge

import (
	"cmp"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/ledger"
)

// booking is what the call asks of the budgets of its agent.
func (ev *evaluation) booking() ledger.Booking {
	return ev.bookingOf(ev.request.Agent, ev.agent.Policy.Budgets)
}

// bookingOf is what the call asks of budgets. Where it does not fit, a stream
// goes alone because it can be cut when the money is gone, and a call that names
// no maximum because it seldom uses what it reserves.
func (ev *evaluation) bookingOf(account string, budgets haltd.Budgets) ledger.Booking {
	r := ev.request
	b := ledger.Booking{
		Agent: account, Budgets: budgets, Zone: ev.agent.Zone, Now: r.Now, Force: ev.decision.Bypass || r.FetchesPaidReply,
	}
	hasBudget := b.Budgets.Day != haltd.Budget{} || b.Budgets.Month != haltd.Budget{}
	if hasBudget && r.isPriced() && !r.ingested { // that one was made already
		if ev.most == (haltd.Spending{}) {
			ev.most = ev.maxSpending()
		}
		b.Amount, b.Alone, b.Cuttable = ev.most, r.Stream || ev.openReplies() > 0, r.Stream
	}
	return b
}

// openReplies is for how many replies the request names no maximum.
func (ev *evaluation) openReplies() int64 {
	if r := ev.request; r.Call != nil && r.MaxTokens <= 0 {
		return max(r.Open, 1)
	}
	return ev.request.Open
}

// maxUsage estimates the most that the call can use: the prompt, the maximum
// that it names, and for each reply without one the longest of the model.
func (ev *evaluation) maxUsage() haltd.Usage {
	r := ev.request
	if !r.isPriced() {
		return haltd.Usage{}
	}
	u := haltd.Usage{Input: r.PromptTokens, Output: r.MaxTokens + r.Predicted}
	if open := ev.openReplies(); open > 0 {
		u.Output += open * ev.longestReply()
	}
	return u
}

// longestReply is how long a reply of the models can be, in tokens.
func (ev *evaluation) longestReply() int64 {
	r, j := ev.request, ev.judge
	longest := cmp.Or(j.prices.MaxOutput(r.Provider, r.Model), ev.agent.Policy.Budgets.ReserveTokens)
	for _, model := range r.Models {
		longest = max(longest, cmp.Or(j.prices.MaxOutput(r.Provider, model), ev.agent.Policy.Budgets.ReserveTokens))
	}
	return longest
}

// mostCost bounds what one call reserves, so that sums of absurd amounts do
// not overflow.
const mostCost = 1_000_000 * haltd.Dollar

func (ev *evaluation) maxSpending() haltd.Spending {
	u := ev.maxUsage()
	return haltd.Spending{Cost: min(max(ev.cost(u), ev.request.Flat), mostCost), Tokens: u.Input + u.Output}
}

// cost is what the dearest of the models takes.
func (ev *evaluation) cost(u haltd.Usage) haltd.Money {
	r := ev.request
	most, _ := ev.judge.prices.Cost(r.Provider, r.Model, u)
	for _, model := range r.Models {
		cost, _ := ev.judge.prices.Cost(r.Provider, model, u)
		most = max(most, cost)
	}
	return most
}

// coveredOutput is how many tokens of the reply the reservation pays for.
func (ev *evaluation) coveredOutput() int64 {
	const million = 1_000_000
	reserved := ev.holding.amount()
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
