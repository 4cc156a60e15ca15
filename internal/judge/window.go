package judge

import (
	"context"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/detection"
)

// Spending is what an agent has spent in the current periods.
func (j *Judge) Spending(ctx context.Context, agent string) ([]haltd.PeriodSpending, error) {
	a := j.agents.Agent(agent)
	return j.budgets.Spending(ctx, agent, a.Policy.Budgets, a.Zone)
}

// KeySpending is what a gateway key has spent of its own budgets; nil where it
// has none.
func (j *Judge) KeySpending(ctx context.Context, k haltd.Key) ([]haltd.PeriodSpending, error) {
	b := k.Budgets()
	if b == (haltd.Budgets{}) {
		return nil, nil
	}
	return j.budgets.Spending(ctx, haltd.KeyLedger(k.ID), b, j.agents.Agent(k.Agent).Zone)
}

// Window shows what similarity compares the next call of an agent with: that
// of the session where windows are per session, else the agent's own.
func (j *Judge) Window(ctx context.Context, agent, session string) (haltd.WindowView, error) {
	ev := &evaluation{judge: j, agent: j.agents.Agent(agent), request: &Request{Agent: agent, Session: session, Shared: session != "", Now: j.clock()}}
	k := &ev.agent.Policy.KillSwitch
	view := haltd.WindowView{Size: k.WindowSize, Threshold: k.Threshold, Entries: []haltd.WindowEntry{}}
	err := j.update(ctx, ev.statePlace(), ev.request.Now, func(m detection.Memory) bool {
		view.Entries = m.Window.View()
		return false
	})
	return view, err
}
