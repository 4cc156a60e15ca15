package browser

import (
	"testing"

	"github.com/haltd/haltd"
)

// What was meant for a channel that is no more is taken off the list by hand.
func TestADeadDeliveryIsDismissed(t *testing.T) {
	t.Parallel()
	n := start(t, "")
	var made struct{ ID string }
	n.Must(t, "POST", "/v1/channels", map[string]any{ // where channels of the API may not send
		"name": "nowhere", "kind": "webhook", "settings": map[string]string{"url": "http://127.0.0.1:1/hook"},
	}, &made)
	n.send(t, call{agent: "lost-bot"})
	n.Must(t, "PATCH", "/v1/agents/lost-bot/kill-switch", map[string]bool{"enabled": true}, nil)
	id := n.runAway(t, "lost-bot", "recon")
	n.Eventually(t, "on its way to the channel", func() bool {
		var page struct{ Deliveries []haltd.Delivery }
		n.Must(t, "GET", "/v1/deliveries", nil, &page)
		return len(page.Deliveries) > 0
	})
	n.Must(t, "DELETE", "/v1/channels/"+made.ID, nil, nil)

	p := newTab(t, n)
	p.open("/alerts")
	row := p.in("region", "Deliveries").in("row", id)
	row.sees("(deleted)", "given up")
	row.button("Dismiss")
	row.sees("given up and dismissed")
}
