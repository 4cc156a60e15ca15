package scenarios

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/harness"
)

// When the period of spent budgets ends, their incidents are closed, and what a
// person decides about one, before that or at the same moment, stands.
func TestTheEndOfAPeriodLeavesDecisionsAlone(t *testing.T) {
	const agents = 12
	s := newStage(t)
	call := func(agent string) int {
		res, err := http.Post(s.Gateway+"/agents/"+agent+"/v1/chat/completions", "application/json",
			strings.NewReader(`{"model":"gpt-4.1-mini","max_tokens":5,"messages":[{"role":"user","content":"A question that is long enough to be more than the budget has."}]}`))
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		return res.StatusCode
	}
	incidents := func() (found []haltd.Incident) {
		var page struct{ Incidents []haltd.Incident }
		s.Must(t, "GET", "/v1/incidents?kind=budget_hard&limit=100", nil, &page)
		return page.Incidents
	}
	decide := func(i haltd.Incident) int {
		status, _, err := s.Ask(t.Context(), "POST", "/v1/incidents/"+i.ID+"/feedback", map[string]string{"status": "false_positive"})
		if err != nil {
			t.Error(err)
		}
		return status
	}
	for i := range agents {
		agent := fmt.Sprint("spender-", i)
		s.Must(t, "PATCH", "/v1/agents/"+agent, map[string]any{"budgets": map[string]any{"day": map[string]any{"hard_tokens": 1}}}, nil)
		if status := call(agent); status != http.StatusBadRequest {
			t.Fatalf("%s is answered %d, want its budget spent", agent, status)
		}
	}
	if err := harness.Until(t.Context(), func() bool { return len(incidents()) == agents }); err != nil {
		t.Fatalf("%d incidents, want one an agent: %v", len(incidents()), err)
	}
	open := incidents()
	if status := decide(open[0]); status != http.StatusOK {
		t.Fatalf("decide: %d", status)
	}
	s.moveTo(s.clock().Add(48 * time.Hour))
	s.restart() // which looks at once
	decided := map[string]bool{open[0].ID: true}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, i := range open[1 : agents/2] {
		wg.Go(func() {
			if decide(i) == http.StatusOK {
				mu.Lock()
				defer mu.Unlock()
				decided[i.ID] = true
			}
		})
	}
	wg.Wait()
	left := func() (n int) {
		for _, i := range incidents() {
			if i.Status == haltd.IncidentOpen {
				n++
			}
		}
		return n
	}
	if err := harness.Until(t.Context(), func() bool { return left() == 0 }); err != nil {
		t.Fatalf("%d incidents of a period that is over stay open: %v", left(), err)
	}
	for _, i := range incidents() {
		want := haltd.IncidentResumed
		if decided[i.ID] {
			want = haltd.IncidentFalsePositive
		}
		if i.Status != want {
			t.Errorf("the incident of %s is %s by %s, want %s", i.Agent, i.Status, i.ClosedBy, want)
		}
	}
}
