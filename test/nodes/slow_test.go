//go:build faults

package nodes

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
	"github.com/haltd/haltd/test/harness"
	"github.com/haltd/haltd/test/servers"
)

// TestSlowServers: two nodes, each with a proxy before PostgreSQL and one
// before Redis. Whatever the proxies of the first do, calls go on at both
// without waiting for it, who was stopped stays stopped, the node comes back by
// itself and learns whom the other stopped meanwhile, and in the end the record
// has what the provider sold. A node that is cut off from PostgreSQL refuses a
// hard budget that it cannot ask for; the other does not.
func TestSlowServers(t *testing.T) {
	t.Parallel()
	c := prepare(t)
	c.redis = closing(t, servers.Redis)
	var stores, states []*servers.Proxy
	for range 2 {
		store, state := servers.NewProxy(t, c.database.Address), servers.NewProxy(t, c.redis.Address)
		stores, states = append(stores, store), append(states, state)
		c.add(t, strings.Replace(c.database.URL, c.database.Address, store.Address, 1), killYAML+fmt.Sprintf("state: {url: \"redis://%s\"}\n", state.Address))
	}
	c.run(t)
	here := c.nodes[0]
	here.Must(t, "POST", "/v1/agents/dead/deactivate", nil, nil)
	c.everywhere(t, "refusing a stopped agent", func(n *harness.Node) bool {
		status, _ := ask(t, n, request{agent: "dead", model: "echo"})
		return status == http.StatusBadRequest
	})
	c.budget(t, "rich", "100")
	budgeted := func(n *harness.Node, tokens int) int {
		t.Helper()
		status, _ := ask(t, n, request{agent: "rich", model: dear, tokens: tokens, reply: fakellm.Script{Text: haltd.NewName("answer ")}})
		return status
	}
	sold := 0
	// calls makes some at each node, none of which may take as long as limit.
	calls := func(t *testing.T, limit time.Duration) {
		t.Helper()
		for i := range 12 {
			agent := fmt.Sprint("caller-", sold%5)
			used := haltd.Usage{Input: 10, Output: int64(10 + i)}
			begin := time.Now()
			status, reason := ask(t, c.nodes[i%2], request{agent: agent, model: dear, header: map[string]string{bookHeader: agent},
				reply: fakellm.Script{Text: haltd.NewName("answer "), Usage: &used}})
			if took := time.Since(begin); status != http.StatusOK || took >= limit {
				t.Errorf("a call at node %d: %d %s after %v, want it to pass within %v", i%2, status, reason, took, limit)
			}
			sold++
		}
		for i, n := range c.nodes {
			if status, _ := ask(t, n, request{agent: "dead", model: "echo"}); status != http.StatusBadRequest {
				t.Errorf("a stopped agent at node %d: %d", i, status)
			}
		}
	}
	calls(t, harness.Patience)
	// slow is how long an answer takes that no call waits for: as much longer
	// than a call as can be, because the machine may be busy. A store that takes
	// longer than five seconds is taken for one that is gone.
	const slow, slowStore = 10 * time.Second, 3 * time.Second
	for _, fault := range []struct {
		name       string
		begin, end func()
		lacks      string
		limit      time.Duration
	}{
		{"Redis is slow", func() { states[0].Delay(slow) }, func() { states[0].Delay(0) }, "state", slow},
		{"Redis hangs", func() { states[0].Freeze(true) }, func() { states[0].Freeze(false) }, "state", slow},
		{"Redis is cut off", func() { states[0].Cut(true) }, func() { states[0].Cut(false) }, "state", slow},
		{"PostgreSQL is slow", func() { stores[0].Delay(slowStore) }, func() { stores[0].Delay(0) }, "", slowStore},
		{"PostgreSQL hangs", func() { stores[0].Freeze(true) }, func() { stores[0].Freeze(false) }, "store", slow},
		{"PostgreSQL is cut off", func() { stores[0].Cut(true) }, func() { stores[0].Cut(false) }, "store", slow},
	} {
		t.Run(fault.name, func(t *testing.T) {
			fault.begin()
			calls(t, fault.limit)
			if fault.lacks != "" {
				here.Eventually(t, "doing without", func() bool {
					calls(t, fault.limit)
					return slices.Contains(degraded(t, here), fault.lacks)
				})
			}
			there := c.nodes[1]
			there.Eventually(t, "well though the other is not", func() bool { return len(degraded(t, there)) == 0 })
			if status := budgeted(there, 100); status != http.StatusOK {
				t.Errorf("a hard budget at the node that lacks nothing: %d", status)
			}
			if fault.lacks == "store" {
				if status := budgeted(here, 1_000_000); status != http.StatusServiceUnavailable { // $30, which it has not reserved before
					t.Errorf("a hard budget at a node that cannot ask for it: %d", status)
				}
			}
			stopped := haltd.NewName("stopped-")
			there.Must(t, "POST", "/v1/agents/"+stopped+"/deactivate", nil, nil)
			calls(t, fault.limit)
			fault.end()
			here.Eventually(t, "well again", func() bool { return len(degraded(t, here)) == 0 })
			here.Eventually(t, "told whom the other node stopped", func() bool {
				status, _ := ask(t, here, request{agent: stopped, model: "echo"})
				return status == http.StatusBadRequest
			})
			calls(t, fault.limit)
			c.recorded(t, sold)
		})
	}
}
