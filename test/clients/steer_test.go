package clients

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
	"github.com/haltd/haltd/test/harness"
)

// TestSteeredAgent has an agent of each SDK walk a ladder, from the first
// warning on. A model that reads the note comes to its senses, and one that
// does not is killed after the second.
func TestSteeredAgent(t *testing.T) {
	_, fake := harness.Provider(t, func(r fakellm.Request) fakellm.Script {
		if r.Header.Get("X-Reads") == "true" && bytes.Contains(r.Body, []byte("[Note by haltd")) {
			return fakellm.Script{Text: text, Usage: &usage}
		}
		return stuck[0].Script
	})
	n := harness.Start(t, harness.Providers(fake)+"defaults: {kill_switch: {enabled: true, stall: [warn, steer, kill], similarity: [warn, steer, kill]}}\n")
	for _, k := range sdks {
		for i, reads := range []bool{true, false, true, false} {
			stream := i > 1
			t.Run(fmt.Sprintf("%s stream %v reads %v", k.name, stream, reads), func(t *testing.T) {
				t.Parallel()
				agent := strings.ToLower(strings.ReplaceAll(fmt.Sprint(k.name, "-", i), " ", "-"))
				l := &looper{t: t, stand: &stand{Node: n}, agent: agent}
				got := k.talk(t.Context(), n.Gateway+"/agents/"+agent+k.agentPath, ask{
					model: model, key: "sk-client-key", prompt: "How is the weather in Lübeck?", tools: true, stream: stream, retry: true,
					header: map[string]string{"X-Session-Id": "run", "X-Reads": fmt.Sprint(reads)},
				})
				l.recorded(haltd.EventWarning, 1)
				status, steers := haltd.IncidentRecovered, 1
				if reads && (got.Failed || got.Text != text) {
					t.Errorf("%+v, want the answer after a note", got)
				}
				if !reads {
					status, steers = haltd.IncidentUnmoved, 2
					if !got.Failed || got.Status != http.StatusBadRequest {
						t.Errorf("%+v, want a kill after two notes", got)
					}
				}
				l.recorded(haltd.EventSteer, steers)
				l.recorded(haltd.EventKillSwitch, steers-1)
				n.Eventually(t, "closing the incident as "+string(status), func() bool {
					var page struct{ Incidents []haltd.Incident }
					n.Must(t, http.MethodGet, "/v1/incidents?kind=steer&agent="+agent, nil, &page)
					return len(page.Incidents) == 1 && page.Incidents[0].Status == status
				})
			})
		}
	}
}
