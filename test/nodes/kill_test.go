//go:build faults

package nodes

import (
	"net/http"
	"testing"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/harness"
)

// TestAKillWhileTheDatabaseIsGone: a loop over three nodes is stopped although
// nobody can write that down, everywhere and for good; when PostgreSQL is back
// there is one incident, and one notice.
func TestAKillWhileTheDatabaseIsGone(t *testing.T) {
	t.Parallel()
	c := startShared(t, 3, killYAML)
	_, url := harness.Provider(t, harness.Scripted)
	alone := []*harness.Node{harness.Start(t, harness.Providers(url)+killYAML)}
	loop := func(n *harness.Node, i int) (int, string) { return retool(t, n.Gateway, "bot", i) }
	want := stoppedAt(t, alone, "bot", loop)
	for _, fault := range []struct {
		name, agent string
		begin, end  func(testing.TB)
	}{
		{"stopped", "early", c.database.Stop, c.database.Start},
		{"frozen", "late", c.database.Freeze, c.database.Thaw},
	} {
		t.Run(fault.name, func(t *testing.T) {
			call := func(n *harness.Node, i int) (int, string) { return retool(t, n.Gateway, fault.agent, i) }
			call(c.nodes[0], 0)
			fault.begin(t)
			if got := 1 + stoppedAt(t, c.nodes, fault.agent, func(n *harness.Node, i int) (int, string) { return call(n, i+1) }); got != want {
				t.Errorf("without the database the loop is stopped at call %d, one node stops it at call %d", got, want)
			}
			for i, n := range c.nodes {
				if status, _ := call(n, 50+i); status != http.StatusBadRequest {
					t.Errorf("node %d lets it go on: %d", i, status)
				}
			}
			fault.end(t)
			var list struct{ Incidents []haltd.Incident }
			for i, n := range c.nodes {
				n.Eventually(t, "showing the kill", func() bool {
					var a haltd.Agent
					return n.Read(t.Context(), "GET", "/v1/incidents?agent="+fault.agent, nil, &list) == nil &&
						n.Read(t.Context(), "GET", "/v1/agents/"+fault.agent, nil, &a) == nil && len(list.Incidents) > 0 && !a.Active
				})
				if status, reason := call(n, 60+i); status != http.StatusBadRequest || reason != string(haltd.ReasonKilled) {
					t.Errorf("node %d: %d %s, want the agent to be killed", i, status, reason)
				}
			}
			c.toldOnce(t, fault.agent, list.Incidents)
			if events := c.nodes[0].Events(t, "agent="+fault.agent+"&type=kill_switch", 1); len(events) != 1 {
				t.Errorf("%d kills, want one", len(events))
			}
			// Who resumes it is obeyed everywhere: no node has a kill left to write.
			c.nodes[1].Must(t, "POST", "/v1/agents/"+fault.agent+"/activate", nil, nil)
			c.everywhere(t, "letting a resumed agent call", func(n *harness.Node) bool {
				status, _ := ask(t, n, request{agent: fault.agent, model: "echo"})
				return status == http.StatusOK
			})
		})
	}
}
