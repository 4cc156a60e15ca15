package browser

import (
	"encoding/json"
	"fmt"
	"testing"
)

// quicker lets somebody else have decided about an incident.
const quicker = `(() => {
	const ask = window.fetch
	window.fetch = (request, options) => request.url?.endsWith('/%s/feedback')
		? Promise.resolve(Response.json({ error: { code: 'conflict', message: 'ann has decided already' } }, { status: 409 }))
		: ask(request, options)
})()`

// Incidents of one cause are one row, and are decided together.
func TestGroupsOfIncidents(t *testing.T) {
	t.Parallel()
	n := start(t, "")
	var ids []string
	for _, agent := range []string{"worker-1", "worker-2", "worker-3"} {
		ids = append(ids, n.runAway(t, agent, "recon-of-"+agent))
	}
	p := newTab(t, n)
	p.open("/incidents")
	list := p.in("main", "")
	list.sees("3 agents alike:", "called find_payment", "× 3", "Stopped", "3 incidents of one cause")
	p.button("3 agents alike…")
	list.sees("worker-1", "worker-2", "worker-3", ids[0])
	p.accessible(axe(t))
	p.show(phone)
	p.fits()
	p.show(desktop)
	p.button("Keep all stopped")
	ask := p.dialog("Keep all stopped: 3 incidents?")
	ask.sees("3 agents", "worker-1")
	// Where somebody else was quicker that is told, and the others are decided.
	evaluate[any](p, fmt.Sprintf(quicker, ids[1]))
	ask.button("Keep all stopped")
	p.sees("not all were decided.", "ann has decided already", "2 of 3 decided.", "1 incident")
	n.expectStatus(t, ids[1], "open")
	n.Must(t, "POST", "/v1/incidents/"+ids[1]+"/feedback", json.RawMessage(`{"status": "kept"}`), nil)
	p.sees("No open incidents")
	for _, id := range ids {
		n.expectStatus(t, id, "kept")
	}
	p.open("/incidents?status=all&alone=1")
	p.in("main", "").sees("worker-1 called find_payment", "worker-3 called find_payment", "Kept stopped")
	p.lacks("3 agents alike")

	// The session says what each call did, what came back, its status and its
	// cost, and can be searched.
	p.open("/sessions")
	p.row("recon-of-worker-2").sees("Agent stopped")
	p.link("recon-of-worker-2")
	p.sees("Agent stopped", "Stopped at #6")
	calls := p.in("region", "Calls")
	calls.sees("Tool, result", "Status", "Cost", "Certainty", "find_payment", "INV-20931", `same result: {"error":"payment_not_found"}`, "200", "$0.00", "not forwarded", "stopped here")
	p.fill("Find in these calls", "stopped here")
	calls.sees("1 call of 6")
	calls.lacks("find_payment")
	p.at("/agents/worker-2/sessions/recon-of-worker-2?find=stopped+here")
	p.accessible(axe(t))
	p.show(phone)
	p.fits()
}
