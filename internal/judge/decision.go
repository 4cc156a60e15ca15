package judge

import (
	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/detection"
)

// Decision is what was decided about one request: plain data that may be
// copied and kept. What the request holds meanwhile is in its Ticket.
type Decision struct {
	// Finding is the one that decides; its Action is Allow when nothing was
	// found.
	haltd.Finding
	Agent    string
	Findings []haltd.Finding // of all checks, in their order
	Detected detection.Detection
	Incident string // that stops the request, "" without one
	// Scope is what the kill switch or a person has switched off, and so what
	// somebody has to resume; "" when something else stops the request.
	Scope haltd.Scope
	// Recorded says that the event of the request is in the record already.
	Recorded bool
	// NewLevel says that the detectors had not reached this level in the
	// session before, and that nobody was warned of the same window lately.
	NewLevel bool
	Grace    bool         // a kill only warned
	Rungs    []haltd.Rung // of its ladder that the session has climbed
	Bypass   bool         // nothing was enforced
}

// add takes a finding into account. While the bypass is on, none is enforced.
func (d *Decision) add(f haltd.Finding) {
	f.Shadow = f.Shadow || d.Bypass
	d.Findings = append(d.Findings, f)
	d.decide()
}

func (d *Decision) decide() {
	if f, ok := haltd.Strictest(d.Findings); ok {
		d.Finding = f
	}
}

// decisionOn is a decision beside the one on a request: about what was found of its
// reply or its budget.
func decisionOn(agent string, f haltd.Finding, detected detection.Detection) Decision {
	return Decision{Finding: f, Agent: agent, Findings: []haltd.Finding{f}, Detected: detected}
}
