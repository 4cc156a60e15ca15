package nodes

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/harness"
)

// TestLimitsAreDividedWithoutRedis: three nodes that share a Redis let as many
// calls pass together as the limit says; while it is stopped or frozen each has
// a third of that, as many as live, and together no more. A node that has gone
// leaves its part to the others.
func TestLimitsAreDividedWithoutRedis(t *testing.T) {
	t.Parallel()
	const limit = 30
	c := startShared(t, 3, fmt.Sprintf("defaults: {kill_switch: {enabled: true}, rate_limits: {requests_per_minute: %d}}\n", limit))
	c.nodes[0].Must(t, "POST", "/v1/agents/dead/deactivate", nil, nil)
	c.everywhere(t, "refusing a stopped agent", func(n *harness.Node) bool {
		status, _ := ask(t, n, request{agent: "dead", model: "echo"})
		return status == http.StatusBadRequest
	})
	counted := func(t *testing.T, nodes []*harness.Node) {
		t.Helper()
		for _, n := range nodes {
			n.Eventually(t, "knowing how many nodes live", func() bool {
				var status struct{ Nodes []haltd.Node }
				n.Must(t, "GET", "/v1/status", nil, &status)
				living := 0
				for _, other := range status.Nodes {
					if other.Alive {
						living++
					}
				}
				return living == len(nodes)
			})
		}
	}
	// passed makes more calls at each node than any may let pass, and counts those
	// that do. Tokens come back meanwhile, one in two seconds for all nodes.
	passed := func(t *testing.T, agent string, nodes []*harness.Node) (each []int, all, more int) {
		t.Helper()
		begin := time.Now()
		each = make([]int, len(nodes))
		for range limit + 5 {
			for i, n := range nodes {
				switch status, reason := ask(t, n, request{agent: agent, model: "echo"}); {
				case status == http.StatusOK:
					each[i]++
					all++
				case status != http.StatusTooManyRequests || reason != string(haltd.ReasonRate):
					t.Fatalf("a call at node %d: %d %s", i, status, reason)
				}
			}
		}
		return each, all, 1 + int(time.Since(begin).Seconds()*limit/60)
	}
	if each, all, more := passed(t, "with-redis", c.nodes); all < limit || all > limit+more {
		t.Errorf("with Redis %d calls pass, %v by node, want %d and %d that came back at most", all, each, limit, more)
	}
	trip := func(t *testing.T, nodes []*harness.Node) {
		t.Helper()
		for _, n := range nodes {
			n.Eventually(t, "doing without Redis", func() bool {
				if status, _ := ask(t, n, request{agent: haltd.NewName("caller-"), model: "echo"}); status != http.StatusOK {
					t.Fatalf("a call without Redis: %d", status)
				}
				return withoutState(t, n)
			})
			if status, _ := ask(t, n, request{agent: "dead", model: "echo"}); status != http.StatusBadRequest {
				t.Errorf("a stopped agent without Redis: %d", status)
			}
		}
	}
	divided := func(t *testing.T, agent string, nodes []*harness.Node) {
		t.Helper()
		each, all, more := passed(t, agent, nodes)
		for i, n := range each {
			if part := limit / len(nodes); n < part || n > part+more {
				t.Errorf("node %d lets %d calls pass, want its part of %d and %d that came back at most", i, n, part, more)
			}
		}
		if more += len(nodes); all > limit+more {
			t.Errorf("without Redis %d calls pass, %v by node, want %d and %d that came back at most", all, each, limit, more)
		}
	}
	back := func(t *testing.T, nodes []*harness.Node) {
		t.Helper()
		for _, n := range nodes {
			n.Eventually(t, "finding Redis again", func() bool { return !withoutState(t, n) })
		}
	}
	t.Run("frozen", func(t *testing.T) {
		counted(t, c.nodes)
		c.redis.Freeze(t)
		trip(t, c.nodes)
		divided(t, "frozen", c.nodes)
		c.redis.Thaw(t)
		back(t, c.nodes)
		if each, all, more := passed(t, "thawed", c.nodes); all < limit || all > limit+more {
			t.Errorf("with Redis again %d calls pass, %v by node, want %d and %d that came back at most", all, each, limit, more)
		}
	})
	t.Run("stopped, and two nodes left", func(t *testing.T) {
		c.nodes[2].Stop(t)
		left := c.nodes[:2]
		counted(t, left)
		c.redis.Stop(t)
		trip(t, left)
		divided(t, "stopped", left)
		c.redis.Start(t)
		back(t, left)
	})
}
