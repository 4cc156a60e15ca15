package browser

import (
	"testing"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
)

// Who opens the incident of a budget sees how it stands now, and where to
// change it.
func TestBudgetIncident(t *testing.T) {
	t.Parallel()
	n := start(t, "")
	n.Must(t, "PATCH", "/v1/agents/report-writer", raw(`{"budgets": {"day": {"soft_tokens": 1000, "hard_tokens": 4000}}}`), nil)
	n.send(t, call{agent: "report-writer", reply: fakellm.Script{Text: "Here it is.", Usage: &haltd.Usage{Input: 1900, Output: 100}}})
	s := &story{node: n}
	p := newTab(t, n)
	p.open("/incidents/" + s.newest(t, "report-writer"))
	budgets := p.in("region", "Budgets now")
	budgets.sees("Day, tokens", "2 k of 4 k", "soft 1 k, alerts", "hard 4 k, blocks", "day resets")
	budgets.lacks("month")
	budgets.click("link", "Change in the policy")
	p.sees("Edit policy")

	// The budget is raised where it is told of.
	p.open("/incidents/" + s.newest(t, "report-writer"))
	p.button("Raise the budget")
	ask := p.dialog("Raise the limit of report-writer?")
	ask.fill("Soft daily budget, tokens", "3000")
	ask.button("Raise")
	p.sees("Raised for report-writer.")
	p.in("region", "Budgets now").sees("soft 3 k, alerts")
	var now struct{ Policy haltd.Policy }
	n.Must(t, "GET", "/v1/agents/report-writer", nil, &now)
	if got := now.Policy.Budgets.Day; got.SoftTokens != 3000 || got.HardTokens != 4000 {
		t.Errorf("the budget is %+v, want 3000 soft and 4000 hard", got)
	}
}
