//go:build faults

package nodes

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
	"github.com/haltd/haltd/test/harness"
)

// freeze halts a node until the function is called, as a machine does that is
// moved while it runs.
func freeze(t *testing.T, n *harness.Node) (thaw func()) {
	t.Helper()
	signal := func(s syscall.Signal) {
		if err := syscall.Kill(n.PID(), s); err != nil {
			t.Error(err)
		}
	}
	signal(syscall.SIGSTOP)
	thaw = sync.OnceFunc(func() { signal(syscall.SIGCONT) })
	t.Cleanup(thaw)
	return thaw
}

// TestANodeThatIsFrozen: the node that leads, with calls in flight and money
// reserved, stands still for longer than its lease, and goes on. What it held is
// charged meanwhile, once, and it spends none of it again; whom others stopped
// it stops, and what others told it does not tell again.
func TestANodeThatIsFrozen(t *testing.T) {
	t.Parallel()
	c := prepare(t)
	for range 3 {
		c.add(t, c.database.URL, killYAML)
	}
	for _, n := range c.nodes { // the first leads
		n.Run(t)
	}
	frozen, others := c.nodes[0], &cluster{nodes: c.nodes[1:]}
	c.budget(t, "orphan", "10")
	stream := func(agent string, pause time.Duration) (begun *bufio.Reader) {
		t.Helper()
		res, err := call(t, frozen, request{agent: agent, model: dear, tokens: 100_000, stream: true,
			reply: fakellm.Script{Text: strings.Repeat("word ", 20), Chunks: 10, ChunkDelay: fakellm.Delay(pause), Usage: &haltd.Usage{Input: 10, Output: 1000}}})
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("a stream: %v, %v", res, err)
		}
		t.Cleanup(func() { res.Body.Close() })
		begun = bufio.NewReader(res.Body)
		if _, err := begun.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		return begun
	}
	paid := stream("orphan", 100*time.Millisecond)
	cut := stream("cut", time.Hour)
	const reserved = 100_000 * 30 * haltd.Dollar / 1_000_000
	thaw := freeze(t, frozen)
	here := others.nodes[0]
	here.Must(t, "POST", "/v1/agents/cut/deactivate", map[string]any{"now": true}, nil)
	others.budget(t, "poor", "0.01")
	ask(t, here, request{agent: "poor", model: dear, tokens: 1000}) // which raises an incident
	here.Eventually(t, "charging what the node held", func() bool { return spent(t, here, "orphan").Spent.Cost >= reserved })
	here.Eventually(t, "telling of the incident", func() bool { return c.notices.about("poor") > 0 })
	charged := spent(t, here, "orphan").Spent.Cost
	if most := reserved + 10*haltd.Dollar/100 + price(haltd.Usage{Input: 1000}); charged > most {
		t.Errorf("%v was charged for a node that held %v and a lease", charged, most)
	}

	thaw()
	thawed := time.Now()
	rest, _ := io.ReadAll(cut)
	if took := time.Since(thawed); took > 2*second || !strings.Contains(string(rest), `"error"`) {
		t.Errorf("the call of an agent that was stopped meanwhile went on for %v, and ended with %q", took, rest)
	}
	c.everywhere(t, "refusing the stopped agent", func(n *harness.Node) bool {
		status, _ := ask(t, n, request{agent: "cut", model: "echo"})
		return status == http.StatusBadRequest
	})
	if rest, err := io.ReadAll(paid); err != nil || !strings.Contains(string(rest), "[DONE]") {
		t.Errorf("the other call ended with %q, %v", rest, err)
	}
	frozen.Eventually(t, "a node again", func() bool {
		return strings.Contains(frozen.Log(), "it joined again")
	})
	for i, n := range c.nodes {
		if got := spent(t, n, "orphan").Spent.Cost; got != charged {
			t.Errorf("node %d says %v spent, want the %v that were charged", i, got, charged)
		}
	}
	// What is left is spent by all nodes at once, and not more than that.
	const output = 1000
	each := price(haltd.Usage{Input: 10, Output: output})
	var passed atomic.Int64
	var wg sync.WaitGroup
	for _, n := range c.nodes {
		for range 10 {
			wg.Go(func() {
				for range 15 {
					if status, _ := ask(t, n, request{agent: "orphan", model: dear, tokens: output + 100,
						reply: fakellm.Script{Text: "hi", Usage: &haltd.Usage{Input: 10, Output: output}}}); status == http.StatusOK {
						passed.Add(1)
					}
				}
			})
		}
	}
	wg.Wait()
	want := charged + haltd.Money(passed.Load())*each
	if passed.Load() < 100 || want > 10*haltd.Dollar {
		t.Errorf("%d calls passed: %v is spent of $10", passed.Load(), want)
	}
	for _, n := range others.nodes {
		n.Stop(t)
	}
	if got := spent(t, frozen, "orphan").Spent.Cost; got != want {
		t.Errorf("%v is spent, want %v", got, want)
	}
	if n := c.notices.about("poor"); n != 1 {
		t.Errorf("%d notices of one incident", n)
	}
}
