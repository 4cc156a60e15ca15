//go:build faults

package nodes

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
	"github.com/haltd/haltd/test/harness"
	"github.com/haltd/haltd/test/servers"
)

// sell makes calls of one agent at a node, several at once, and all pass.
func (c *cluster) sell(t *testing.T, n *harness.Node, agent string, calls int) {
	t.Helper()
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := w; i < calls; i += 4 {
				used := haltd.Usage{Input: 10, Output: int64(1 + i)}
				if status, reason := ask(t, n, request{agent: agent, model: dear, header: map[string]string{bookHeader: agent},
					reply: fakellm.Script{Text: haltd.NewName("answer "), Usage: &used}}); status != http.StatusOK {
					t.Errorf("a call of %s: %d %s", agent, status, reason)
				}
			}
		})
	}
	wg.Wait()
}

// TestANodeThatIsCutOffKeepsItsNumber: a node that PostgreSQL has not heard of
// for longer than its lease goes on recording. One that starts meanwhile has
// another number, or events of both would have the same ids and the record
// would take the second for the first.
func TestANodeThatIsCutOffKeepsItsNumber(t *testing.T) {
	t.Parallel()
	c := prepare(t)
	proxy := servers.NewProxy(t, c.database.Address)
	c.add(t, strings.Replace(c.database.URL, c.database.Address, proxy.Address, 1), "")
	c.add(t, c.database.URL, "")
	c.nodes[0].Run(t) // the first number is its
	c.nodes[1].Run(t)
	c.sell(t, c.nodes[0], "early", 4)
	proxy.Cut(true)
	c.nodes[1].Eventually(t, "taking the other node for dead", func() bool {
		var s status
		c.nodes[1].Must(t, "GET", "/v1/status", nil, &s)
		gone := 0
		for _, n := range s.Nodes {
			if !n.Alive {
				gone++
			}
		}
		return gone == 1
	})
	c.add(t, c.database.URL, "")
	c.nodes[2].Run(t)
	const each = 200
	var wg sync.WaitGroup
	for i, agent := range []string{"cut", "known", "new"} {
		wg.Go(func() { c.sell(t, c.nodes[i], agent, each) })
	}
	wg.Wait()
	proxy.Cut(false)
	c.recorded(t, 4+3*each)
	numbers := map[int]string{}
	for _, agent := range []string{"cut", "known", "new"} {
		for _, e := range c.nodes[1].AllEvents(t, fmt.Sprintf("agent=%s&type=llm_call&limit=500", agent)) {
			if by := numbers[e.ID.Node()]; by != "" && by != agent {
				t.Fatalf("%s and %s were recorded under the number %d", by, agent, e.ID.Node())
			}
			numbers[e.ID.Node()] = agent
		}
	}
	if len(numbers) != 3 {
		t.Errorf("numbers %v, want three", numbers)
	}
}

// TestDatabaseLost: PostgreSQL comes back empty. Nodes go on, who was stopped
// stays so where that is known, and once a node has made the tables anew, what
// was recorded meanwhile is there, once, and changes are followed again.
func TestDatabaseLost(t *testing.T) {
	t.Parallel()
	c := start(t, 2)
	here, there := c.nodes[0], c.nodes[1]
	for i := range 5 { // so that the database is behind what both have seen
		here.Must(t, "POST", fmt.Sprintf("/v1/agents/dead-%d/deactivate", i), nil, nil)
	}
	refused := func(agent string) func(*harness.Node) bool {
		return func(n *harness.Node) bool {
			status, _ := ask(t, n, request{agent: agent, model: "echo"})
			return status == http.StatusBadRequest
		}
	}
	c.everywhere(t, "refusing a stopped agent", refused("dead-4"))
	c.database.SQL(t, c.database.URL, "DROP SCHEMA haltd CASCADE")
	c.sell(t, here, "caller-0", 20)
	c.sell(t, there, "caller-1", 20)
	for i, n := range c.nodes {
		if !refused("dead-4")(n) {
			t.Errorf("node %d lets a stopped agent call", i)
		}
		n.Eventually(t, "keeping its events on disk", func() bool {
			return strings.Count(read(t, filepath.Join(n.Config.DataDir, "spool.jsonl")), fmt.Sprint("caller-", i)) >= 20
		})
	}
	there.Kill(t)
	there.Run(t) // makes the tables
	here.Eventually(t, "well again", func() bool { return len(degraded(t, here)) == 0 })
	c.sell(t, here, "caller-2", 20)
	c.sell(t, there, "caller-2", 20)
	c.recorded(t, 80)
	there.Must(t, "POST", "/v1/agents/late/deactivate", nil, nil)
	c.everywhere(t, "refusing who was stopped after that", refused("late"))
	if !refused("dead-4")(here) {
		t.Error("who was stopped before may call where that was known")
	}
	here.Must(t, "POST", "/v1/agents/dead-4/deactivate", nil, nil)
	c.everywhere(t, "refusing who was stopped again", refused("dead-4"))
}
