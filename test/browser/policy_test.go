package browser

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRules(t *testing.T) {
	t.Parallel()
	n := start(t, "")
	p := newTab(t, n)
	p.open("/rules")
	p.sees("No rule", "Policy and detectors still apply.")
	p.in("button", "New rule").first().push()
	ask := p.dialog("New rule")
	ask.button("Save, effective on the next call")
	ask.sees("Give the rule a name", "Matches every call.")
	ask.fill("Name", "No night shifts")
	ask.fill("Agent", "night-bot")
	ask.fill("Prompt tokens from", "500")
	ask.in("textbox", "to").first().enter("10")
	ask.button("Save, effective on the next call")
	ask.sees("Above the upper limit: nothing would match")
	ask.fill("Prompt tokens from", "1")
	ask.in("textbox", "to").first().enter("100000")
	ask.sees("Matches agent night-bot and 1 to 100,000 prompt tokens.")
	ask.button("Save, effective on the next call")
	ask.gone()
	p.row("No night shifts").sees("agent night-bot", "block")
	if status, _ := n.send(t, call{agent: "night-bot"}); status != http.StatusBadRequest {
		t.Errorf("with the rule on a call is answered %d, want 400", status)
	}

	p.click("switch", "Rule No night shifts is on")
	p.becomes("switch", "Rule No night shifts is on", field{Value: "on"})
	if status, _ := n.send(t, call{agent: "night-bot"}); status != http.StatusOK {
		t.Errorf("with the rule off a call is answered %d, want 200", status)
	}

	p.button("Delete No night shifts")
	p.dialog("Delete the rule “No night shifts”?").button("Delete")
	p.sees("Rule deleted.", "Policy and detectors still apply.")
}

// What the dashboard cannot check is refused by haltd, and the reason shown.
func TestRefusedChannel(t *testing.T) {
	t.Parallel()
	n := start(t, "")
	p := newTab(t, n)
	p.expect("status of 4")
	p.open("/alerts")
	p.button("Add a channel")
	ask := p.dialog("Add a channel")
	ask.click("radio", "Webhook")
	ask.fill("Name", "nowhere")
	ask.fill("Address", "ftp://example.com")
	ask.button("Save")
	ask.in("alert", "").sees("url")
}

func TestAlerts(t *testing.T) {
	t.Parallel()
	n := start(t, allowInternal)
	r := newReceiver(t)
	p := newTab(t, n)
	p.open("/alerts")
	p.sees("No alert channel", "Add Slack, a webhook or email, then press Test.", "Nothing has been sent")
	p.button("Add a channel")
	ask := p.dialog("Add a channel")
	ask.click("radio", "Webhook")
	ask.fill("Name", "on-call")
	ask.fill("Address", r.URL)
	ask.button("Save")
	p.dialog("The secret of this webhook").sees("whsec_", "It is shown this once.")
	p.dialog("The secret of this webhook").button("Done")
	p.row("on-call").sees("Webhook", "dashboard")
	p.lacks("whsec_")
	p.button("Test on-call")
	p.sees("The test message reached on-call.")

	// With somebody to hear of it, the switch is turned without a question.
	n.send(t, call{agent: "heard-bot"})
	p.open("/agents/heard-bot")
	p.sees("Alerts go to on-call")
	p.click("switch", "Kill Switch")
	p.becomes("switch", "Kill Switch", field{Value: "on", Checked: true})
	p.dialog("Nobody would hear about a kill").gone()

	id := n.runAway(t, "heard-bot", "recon")
	p.open("/alerts")
	p.in("region", "Deliveries").in("row", id).sees("on-call", n.incident(t, id).Sentence, "delivered")
	if got := r.types(); !cmp.Equal(got, []string{"alert.test", "alert.kill_switch"}) {
		t.Errorf("arrived are %v", got)
	}
	p.open("/incidents/" + id)
	p.in("region", "Deliveries").sees("1 of 1 delivered", "on-call")

	p.open("/alerts")
	p.button("Delete on-call")
	p.dialog("Delete the channel on-call?").button("Delete")
	p.sees("Channel deleted.", "No alert channel")
	p.open("/events")
	p.sees("Alert channel deleted: on-call")
}

func TestBypassIsLoud(t *testing.T) {
	t.Parallel()
	const banner = "Bypass is on: nothing is enforced except stops by hand."
	n := start(t, "")
	n.runAway(t, "loose-bot", "recon")
	p := newTab(t, n)
	p.open("/settings")
	p.button("Switch on bypass…")
	ask := p.dialog("Stop all enforcement?")
	ask.fill("Reason", "haltd kills everybody.")
	ask.button("Switch on bypass")
	p.in("alert", "").first().sees(banner, "haltd kills everybody.")
	for _, path := range []string{"/", "/agents", "/events"} {
		p.open(path)
		p.in("alert", "").first().sees(banner)
		p.settled() // an event without an agent disturbs no page
	}
	if status, _ := n.send(t, call{agent: "loose-bot", session: "recon"}); status != http.StatusOK {
		t.Errorf("with the bypass on a killed agent is answered %d, want 200", status)
	}
	p.open("/settings")
	p.button("Enforce again")
	p.lacks(banner)
}

// receiver takes alerts.
type receiver struct {
	*httptest.Server
	mu  sync.Mutex
	got []string // types of what arrived
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		var message struct{ Type string }
		_ = json.NewDecoder(req.Body).Decode(&message) // what is no message has no type
		r.mu.Lock()
		r.got = append(r.got, message.Type)
		r.mu.Unlock()
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) types() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}
