//go:build faults

package nodes

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/haltd/haltd/test/harness"
)

// TestFailover: a replica takes over from a PostgreSQL that takes no more writes
// and goes on answering, as it does while an operator switches over. Nodes whose
// store.url names both find the new one by themselves; what was recorded
// meanwhile is there, once.
func TestFailover(t *testing.T) {
	t.Parallel()
	c := prepare(t)
	replica := closing(t, c.database.Replica)
	both := strings.Replace(c.database.URL, c.database.Address, c.database.Address+","+replica.Address, 1) + "&target_session_attrs=read-write"
	for range 2 {
		c.add(t, both, "")
	}
	c.run(t)
	here, there := c.nodes[0], c.nodes[1]
	refused := func(agent string) func(*harness.Node) bool {
		return func(n *harness.Node) bool {
			status, _ := ask(t, n, request{agent: agent, model: "echo"})
			return status == http.StatusBadRequest
		}
	}
	here.Must(t, "POST", "/v1/agents/dead/deactivate", nil, nil)
	c.everywhere(t, "refusing a stopped agent", refused("dead"))
	c.budget(t, "budgeted", "1")
	sell := func(agent string) {
		for i, n := range c.nodes {
			c.sell(t, n, fmt.Sprint(agent, i), 10)
		}
	}
	sell("before-")

	c.database.SetReadOnly(t, true)
	sell("read-only-")
	for i, n := range c.nodes {
		if !refused("dead")(n) {
			t.Errorf("node %d lets a stopped agent call", i)
		}
		n.Eventually(t, "doing without the store", func() bool { return len(degraded(t, n)) > 0 })
		if status, reason := ask(t, n, request{agent: "budgeted", model: dear, tokens: 10_000}); status != http.StatusServiceUnavailable {
			t.Errorf("node %d, which cannot ask for the money of a hard budget: %d %s", i, status, reason)
		}
	}
	if status := here.API(t, "POST", "/v1/agents/by-hand/deactivate", nil, nil); status != http.StatusServiceUnavailable {
		t.Errorf("stopping an agent, which cannot be written: %d", status)
	}
	if !refused("by-hand")(here) {
		t.Error("the node that was asked to stop an agent lets it call")
	}
	replica.Promote(t, c.database)
	for _, n := range c.nodes {
		n.Eventually(t, "well again", func() bool { return len(degraded(t, n)) == 0 })
	}
	sell("after-")
	there.Eventually(t, "told whom a person stopped meanwhile", func() bool { return refused("by-hand")(there) })
	there.Must(t, "POST", "/v1/agents/late/deactivate", nil, nil)
	c.everywhere(t, "refusing who was stopped after that", refused("late"))
	for i, n := range c.nodes {
		if !refused("dead")(n) {
			t.Errorf("node %d lets a stopped agent call", i)
		}
		if status, reason := ask(t, n, request{agent: "budgeted", model: dear, tokens: 100}); status != http.StatusOK {
			t.Errorf("node %d: a hard budget after that: %d %s", i, status, reason)
		}
	}
	c.recorded(t, 60)
	for i, n := range c.nodes {
		if strings.Contains(n.Log(), "the database was set back") {
			t.Errorf("node %d says that something was lost", i)
		}
	}
}
