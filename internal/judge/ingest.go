package judge

import (
	"context"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/detect"
	"github.com/haltd/haltd/internal/ledger"
)

// Ingest takes a call that was made without the gateway, with its reply, and
// judges whether its agent should go on. What the call cost is spent, whatever
// the verdict.
func (j *Judge) Ingest(ctx context.Context, r *Request, reply *haltd.Reply, cost haltd.Money) *Verdict {
	r.reported = true
	seen := &Verdict{judge: j, request: r, agent: j.Control.Agent(r.Agent)}
	seen.place, seen.settings = seen.placeOf(), detect.SettingsOf(&seen.agent.Policy)
	err := j.States.With(ctx, seen.place, r.Now, func(m detect.Memory) {
		seen.entry = detect.Admit(seen.settings, j.state(m, r), detect.Verdict{}, r.Now)
	})
	if err != nil {
		j.Logger.Warn("call not seen by the detectors", "agent", r.Agent, "error", err)
	}
	growth := seen.Observe(ctx, reply, r.Now)

	v := j.Judge(ctx, r)
	for _, f := range growth {
		v.find(f)
	}
	v.held.Release() // the call has been made: nothing is held back for it
	v.held = nil
	spent := haltd.Spending{Cost: cost, Tokens: reply.Usage.Input + reply.Usage.Output}
	crossed, err := j.Ledgers.Charge(ctx, ledger.Booking{
		Agent: r.Agent, Budgets: v.agent.Policy.Budgets, Zone: v.agent.Zone, Amount: spent, Now: r.Now,
	})
	if err != nil {
		j.Logger.Error("a reported call is not booked", "agent", r.Agent, "error", err)
	}
	for _, over := range crossed {
		j.raiseBudget(v, over)
	}
	return v
}
