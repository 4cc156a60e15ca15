package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/haltd/haltd"
)

// A decision can be undone and changed, and nobody overwrites that of another
// without being told.
func TestADecisionCanBeUndone(t *testing.T) {
	t.Parallel()
	s := newStage(t, "defaults: {kill_switch: {enabled: true}}\n")
	a := s.agent(t)
	id := runAway(t, a).ID
	decide := func(body map[string]any) (int, haltd.Incident) {
		t.Helper()
		var i haltd.Incident
		return s.API(t, "POST", "/v1/incidents/"+id+"/feedback", body, &i), i
	}
	standing := func() (view struct {
		Active   bool    `json:"active"`
		By       *string `json:"deactivated_by"`
		Standing struct{ Incident string }
	}) {
		t.Helper()
		s.API(t, "GET", "/v1/agents/"+a.id, nil, &view)
		return view
	}
	if status, i := decide(map[string]any{"status": "resumed", "expect": "open"}); status != http.StatusOK || i.Status != haltd.IncidentResumed || !standing().Active {
		t.Fatalf("resume: %d, incident %s, agent %+v", status, i.Status, standing())
	}
	status, body, err := s.Ask(t.Context(), "POST", "/v1/incidents/"+id+"/feedback", map[string]any{"status": "kept", "expect": "open"})
	if err != nil || status != http.StatusConflict || !strings.Contains(string(body), "has decided already") || !strings.Contains(string(body), "Resumed") {
		t.Errorf("a decision on what somebody else has decided: %d %s %v, want 409 that says who and what", status, body, err)
	}
	if status, i := decide(map[string]any{"status": "open", "expect": "resumed"}); status != http.StatusOK || i.Status != haltd.IncidentOpen || i.ClosedAt != nil || i.ClosedBy != "" {
		t.Fatalf("undo: %d, incident %+v", status, i)
	}
	if got := standing(); got.Active || got.By == nil || *got.By != "kill_switch" || got.Standing.Incident != id {
		t.Errorf("after the undo the agent stands %+v, want it stopped by its incident", got)
	}
	if got := a.send(request{messages: []message{user("hello")}, session: "another"}); got.status != http.StatusBadRequest {
		t.Errorf("its next call is answered %d, want the inactive answer", got.status)
	}
	for _, label := range []string{"kept", "false_positive"} {
		if status, i := decide(map[string]any{"status": label}); status != http.StatusOK || string(i.Status) != label || standing().Active {
			t.Errorf("%s: %d, incident %s, agent %+v", label, status, i.Status, standing())
		}
	}
	if status, _ := decide(map[string]any{"status": "open", "note": "oh"}); status != http.StatusUnprocessableEntity && status != http.StatusBadRequest {
		t.Errorf("an undo with a note: %d, want it refused", status)
	}
}
