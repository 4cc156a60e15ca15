package browser

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
)

// Who opens the incident of a budget or limit sees how it stands now, where to
// change it, and which calls led up to it.
func TestBudgetIncident(t *testing.T) {
	t.Parallel()
	n := start(t, "defaults: {loop_detection: {enabled: true, window_seconds: 300, threshold_identical_requests: 4, action: reject}}\n")
	n.Must(t, "PATCH", "/v1/agents/report-writer", json.RawMessage(`{"budgets": {"day": {"soft_tokens": 1000, "hard_tokens": 4000}}}`), nil)
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

	// A call that takes the last of a budget is answered; those after it are not.
	for k := range 2 {
		n.send(t, call{agent: "report-writer", session: "weekly", messages: []message{user(fmt.Sprint("Write part ", k))}, reply: fakellm.Script{Text: "Here it is.", Usage: &haltd.Usage{Input: 1900, Output: 100}}})
	}
	w := &walk{node: n}
	p.open("/incidents/" + w.ofKind(t, "report-writer", "budget_hard"))
	p.sees("Calls are refused until the day ends (UTC).", "haltd refuses the calls after it")
	p.in("region", "Evidence").sees("#1", "1.9 k, 100", "HTTP 200")
	p.lacks("was not forwarded", "haltd refused the call")

	t.Run("Limit of a turn", func(t *testing.T) { limitOfTurn(t, p) })
	t.Run("Exact", func(t *testing.T) { exact(t, p) })
}

func limitOfTurn(t *testing.T, p *tab) {
	p.during(t)
	n := p.n
	n.Must(t, "PATCH", "/v1/agents/mail-bot", json.RawMessage(`{"session": {"turn": {"calls": 3}}}`), nil)
	asked := []message{user("Tidy the mailbox.")}
	for k := range 4 {
		asked = append(asked, round(fmt.Sprint("call_", k), "move_mail", fmt.Sprintf(`{"id": %d}`, k), fmt.Sprint("moved ", k))...)
		n.send(t, call{agent: "mail-bot", session: "box", messages: asked, reply: fakellm.Script{Text: "I go on.", ToolCalls: []fakellm.ToolCall{{Name: "move_mail", Arguments: "{}"}}}})
	}
	w := &walk{node: n}
	p.open("/incidents/" + w.ofKind(t, "mail-bot", "session_limit"))
	p.sees("by session limit", "Call #4 was not forwarded. The session continues when a person writes.")
	p.in("region", "Evidence").sees("session.turn.calls", "Calls per turn, at most 3", "haltd refused call #4", "move_mail", "refused, HTTP 400")
	p.settled()
	p.accessible(axe(t))
	p.show(phone)
	p.fits()
	p.show(desktop)
}

// Identical requests are counted, not compared: no score stands beside them.
func exact(t *testing.T, p *tab) {
	p.during(t)
	n := p.n
	for range 4 {
		n.send(t, call{agent: "rate-bot", session: "poll", messages: []message{user("Fetch the rate of the euro.")}, reply: fakellm.Script{Text: "1 EUR is 1.09 USD."}})
	}
	w := &walk{node: n}
	p.open("/incidents/" + w.ofKind(t, "rate-bot", "kill_switch"))
	p.sees("rate-bot sent the same request 4 times.", "Call #4 was not forwarded.", "only this request is refused", "refused, HTTP 429")
	p.in("region", "Evidence").sees("The request, the same each time", "× 4", "Fetch the rate of the euro.")
	p.settled()
	p.lacks("Score against threshold", "signals agree", "Window 4 calls")
}
