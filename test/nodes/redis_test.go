package nodes

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
	"github.com/haltd/haltd/test/harness"
	"github.com/haltd/haltd/test/servers"
)

// degraded is what a node does without.
func degraded(t *testing.T, n *harness.Node) []string {
	t.Helper()
	var s struct{ Degraded []string }
	n.Must(t, "GET", "/v1/status", nil, &s)
	return s.Degraded
}

func withoutState(t *testing.T, n *harness.Node) bool {
	t.Helper()
	return slices.Contains(degraded(t, n), "state")
}

// doctor runs haltd doctor with the configuration of a node.
func doctor(t *testing.T, n *harness.Node) (said string, healthy bool) {
	t.Helper()
	cmd := harness.Command(t, nil, "doctor", "--config", n.Config.Path, "--json")
	out, err := cmd.Output()
	var report struct {
		Healthy bool
		Checks  []haltd.Diagnosis
	}
	if decodeErr := json.Unmarshal(out, &report); decodeErr != nil {
		t.Fatalf("%v: %s", decodeErr, out)
	}
	if report.Healthy != (err == nil) {
		t.Errorf("healthy %v, and it ended with %v", report.Healthy, err)
	}
	for _, c := range report.Checks {
		said += c.Outcome + ": " + c.Message + " → " + c.Fix + "\n"
		if c.Outcome == haltd.DiagnosisProblem && c.Fix == "" {
			t.Errorf("%q does not say what to do", c.Message)
		}
	}
	return said, report.Healthy
}

// startShared starts nodes that share a Redis as well.
func startShared(t *testing.T, size int, yaml ...string) *cluster {
	t.Helper()
	redis := closing(t, servers.Redis)
	c := start(t, size, append(yaml, fmt.Sprintf("state: {url: %q}\n", redis.URL))...)
	c.redis = redis
	return c
}

// Three nodes that share a Redis act as one; without it they go on, and who was
// killed stays so.
func TestThreeNodesWithRedis(t *testing.T) {
	c := startShared(t, 3, killYAML+budgetsYAML(t))
	for _, test := range []struct {
		name string
		run  func(*testing.T, *cluster)
	}{
		{"A loop is killed once, at the call at which one node kills it", oneKill},
		{"Every call of many agents is counted once", manyCalls},
		{"Redis refuses writes", redisRefuses},
		{"Redis forgets in the middle of a loop", redisForgets},
		{"Redis is gone", redisGone},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, c) })
	}
}

// redisRefuses: a Redis that refuses what is written, and answers all else, is
// one that is gone. Each node stops the loops that it sees.
func redisRefuses(t *testing.T, c *cluster) {
	for i, fault := range []struct{ says, begin, end string }{
		{"OOM", "CONFIG SET maxmemory 1", "CONFIG SET maxmemory 0"},
		{"READONLY", "REPLICAOF 127.0.0.1 1", "REPLICAOF NO ONE"},
	} {
		n, agent := c.nodes[i], fmt.Sprint("refused-", i)
		opened := func() int { return strings.Count(n.Log(), "the shared state is out of reach") }
		before := opened()
		c.redis.Command(t, fault.begin)
		stoppedAt(t, []*harness.Node{n}, agent, func(n *harness.Node, i int) (int, string) { return retool(t, n.Gateway, agent, i) })
		n.Eventually(t, "doing without Redis", func() bool {
			ask(t, n, request{agent: "healthy", model: "gpt-4o", tokens: 10})
			return withoutState(t, n)
		})
		if said, _ := doctor(t, n); !strings.Contains(said, fault.says) && !strings.Contains(said, "takes no writes") {
			t.Errorf("doctor does not say why:\n%s", said)
		}
		if n := opened() - before; n != 1 {
			t.Errorf("the breaker has opened %d times, want once", n)
		}
		c.redis.Command(t, fault.end)
		for _, n := range c.nodes {
			n.Eventually(t, "finding Redis again", func() bool { return !withoutState(t, n) })
		}
	}
}

// redisForgets: a Redis that was emptied, its scripts too, costs a loop no more
// calls than it takes to see one.
func redisForgets(t *testing.T, c *cluster) {
	call := func(agent string) func(n *harness.Node, i int) (int, string) {
		return func(n *harness.Node, i int) (int, string) { return retool(t, n.Gateway, agent, i) }
	}
	whole := stoppedAt(t, c.nodes, "whole", call("whole"))
	const before = 4
	for i := range before {
		if status, reason := call("forgotten")(c.nodes[i%len(c.nodes)], i); status != http.StatusOK {
			t.Fatalf("call %d: %d %s", i, status, reason)
		}
		observed(t, c.nodes[0].Listeners, "forgotten")
	}
	c.redis.Command(t, "FLUSHALL")
	c.redis.Command(t, "SCRIPT FLUSH")
	if after := stoppedAt(t, c.nodes, "forgotten", func(n *harness.Node, i int) (int, string) { return call("forgotten")(n, before+i) }); after > whole {
		t.Errorf("a loop that Redis forgot is stopped at call %d after that, one that it did not at call %d", after, whole)
	}
	for i, n := range c.nodes {
		if withoutState(t, n) {
			t.Errorf("node %d does without Redis", i)
		}
	}
}

func redisGone(t *testing.T, c *cluster) {
	if said, healthy := doctor(t, c.nodes[0]); !healthy || !strings.Contains(said, "Redis has version") || !strings.Contains(said, "The tables are up to date") || !strings.Contains(said, "3 nodes live") {
		t.Errorf("doctor is not content:\n%s", said)
	}
	sell := func() {
		t.Helper()
		for i := range 30 {
			used := haltd.Usage{Input: 10, Output: int64(1 + i)}
			if status, reason := ask(t, c.nodes[i%len(c.nodes)], request{agent: "seller", model: dear, header: map[string]string{bookHeader: "seller"},
				reply: fakellm.Script{Text: haltd.NewName("answer "), Usage: &used}}); status != http.StatusOK {
				t.Errorf("a call: %d %s", status, reason)
			}
		}
	}
	sell()
	c.redis.Stop(t)
	sell()
	for _, n := range c.nodes {
		n.Eventually(t, "doing without Redis", func() bool {
			if status, _ := ask(t, n, request{agent: "healthy", model: "gpt-4o", tokens: 10}); status != http.StatusOK {
				t.Fatalf("a call without Redis: %d", status)
			}
			return withoutState(t, n)
		})
		if status, reason := repeat(t, n, "bot"); status != http.StatusBadRequest || reason != string(haltd.ReasonKilled) {
			t.Errorf("without Redis the killed agent gets %d %s", status, reason)
		}
	}
	if said, healthy := doctor(t, c.nodes[0]); healthy || !strings.Contains(said, "problem: Redis at") || !strings.Contains(said, "Not working: state") {
		t.Errorf("doctor does not see that Redis is gone:\n%s", said)
	}
	c.redis.Start(t) // empty
	for _, n := range c.nodes {
		n.Eventually(t, "finding Redis again", func() bool { return !withoutState(t, n) })
		if status, reason := repeat(t, n, "bot"); status != http.StatusBadRequest || reason != string(haltd.ReasonKilled) {
			t.Errorf("with an empty Redis the killed agent gets %d %s", status, reason)
		}
	}
	sell()
	if sold := of(&c.book, "seller").calls; sold != 90 {
		t.Errorf("the provider sold %d calls of 90", sold)
	}
	c.recorded(t, c.book.calls())
}
