package judge

import (
	"context"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/detection"
	"github.com/haltd/haltd/internal/ledger"
)

// Ingest takes a call that was made without the gateway, with its reply, and
// judges whether its agent should go on. What the call cost is spent, whatever
// the decision. active says whether the agent may call again.
func (j *Judge) Ingest(ctx context.Context, r *Request, reply *haltd.Reply, cost haltd.Money) (_ Decision, active bool) {
	r.ingested = true
	seen := &evaluation{judge: j, request: r, agent: j.agents.Agent(r.Agent), loose: r.isLoose(), first: r.isFirst()}
	seen.place, seen.settings = seen.statePlace(), detection.SettingsOf(&seen.agent.Policy)
	err := j.update(ctx, seen.place, r.Now, func(m detection.Memory) bool {
		seen.entry = detection.Admit(seen.settings, j.state(m, r), detection.Detection{}, r.Now)
		if seen.limitsSession() {
			m.Progress.Tally.Call(1)
		}
		return true
	})
	if err != nil {
		seen.entry = 0
		j.log.Warn("call not seen by the detectors", "agent", r.Agent, "error", err)
	}
	if seen.limitsSession() {
		seen.spent = haltd.Spending{Cost: cost, Tokens: reply.Usage.Input + reply.Usage.Output}
	}
	growth := seen.observe(ctx, reply, r.Now)

	_, t := j.Judge(ctx, r)
	t.releaseMoney() // the call has been made: what it cost is charged below
	ev := &t.evaluation
	for _, f := range growth {
		ev.decision.add(f)
	}
	spent := haltd.Spending{Cost: cost, Tokens: reply.Usage.Input + reply.Usage.Output}
	crossed, err := j.budgets.Charge(ctx, ledger.Booking{
		Agent: r.Agent, Budgets: ev.agent.Policy.Budgets, Zone: ev.agent.Zone, Amount: spent, Now: r.Now,
	})
	if err != nil {
		j.log.Error("a reported call is not booked", "agent", r.Agent, "error", err)
	}
	for _, over := range crossed {
		j.raiseBudget(ev, over)
	}
	return ev.decision, j.agents.Agent(r.Agent).Active(r.Session)
}
