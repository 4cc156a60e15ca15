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
	budgets.sees("Day, tokens", "2 k of 4 k", "soft 1 k, alerts", "hard 4 k, blocks", "day starts again")
	budgets.lacks("month")
	budgets.click("link", "Change in the policy")
	p.sees("Edit policy")
}
