package nodes

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
)

// TestDatabaseGone: while PostgreSQL is gone calls go on, hard budgets refuse,
// who was stopped stays stopped; afterwards every event is there, once.
func TestDatabaseGone(t *testing.T) {
	t.Parallel()
	c := start(t, 2)
	here := c.nodes[0]
	c.nodes[1].Must(t, "POST", "/v1/agents/dead/deactivate", nil, nil)
	here.Eventually(t, "told of the stop", func() bool {
		status, _ := ask(t, here, request{agent: "dead", model: "echo"})
		return status == 400
	})
	c.budget(t, "budgeted", "1")
	plain := request{agent: "plain", model: dear, reply: fakellm.Script{Text: "hi", Usage: &haltd.Usage{Input: 10, Output: 10}}}
	made := 0
	calls := func(t *testing.T) {
		t.Helper()
		for range 10 {
			begin := time.Now()
			if status, reason := ask(t, c.nodes[made%2], plain); status != 200 {
				t.Errorf("a call: %d %s, want it to go on", status, reason)
			}
			if took := time.Since(begin); took > 3*second {
				t.Errorf("a call waited %v for the database", took)
			}
			made++
		}
		if status, _ := ask(t, here, request{agent: "dead", model: "echo"}); status != 400 {
			t.Errorf("a stopped agent: %d, want 400", status)
		}
	}
	calls(t)
	for _, fault := range []struct {
		name       string
		begin, end func(testing.TB)
	}{
		{"stopped", c.database.Stop, c.database.Start},
		{"frozen", c.database.Freeze, c.database.Thaw},
		{"killed", c.database.Kill, c.database.Start},
		{"being restored", func(t testing.TB) {
			c.database.SQL(t, c.database.URL, "ALTER TABLE haltd.events RENAME TO away", "ALTER TABLE haltd.shares RENAME TO away_too")
		},
			func(t testing.TB) {
				c.database.SQL(t, c.database.URL, "ALTER TABLE haltd.away RENAME TO events", "ALTER TABLE haltd.away_too RENAME TO shares")
			}},
	} {
		t.Run(fault.name, func(t *testing.T) {
			fault.begin(t)
			calls(t)
			here.Eventually(t, "refusing what a hard budget cannot be asked for", func() bool {
				status, _ := ask(t, here, request{agent: "budgeted", model: dear, tokens: 10_000})
				return status == 503
			})
			calls(t)
			here.Eventually(t, "keeping events on disk", func() bool { return spooled(t, here.Config.DataDir) > 0 })
			calls(t)
			fault.end(t)
			for _, n := range c.nodes {
				n.Eventually(t, "well again", func() bool {
					var s struct{ Degraded []string }
					n.Must(t, "GET", "/v1/status", nil, &s)
					return !slices.Contains(s.Degraded, "store")
				})
			}
			for i, n := range c.nodes {
				events := n.Events(t, "agent=plain&type=llm_call&limit=500", made)
				if len(events) != made {
					t.Errorf("node %d shows %d events of %d calls", i, len(events), made)
				}
			}
			if status, reason := ask(t, here, request{agent: "budgeted", model: dear, tokens: 100, reply: plain.reply}); status != 200 {
				t.Errorf("a budget after that: %d %s", status, reason)
			}
		})
	}
	var agent haltd.Agent
	here.Must(t, "GET", "/v1/agents/plain", nil, &agent)
	each := 10*5*haltd.Dollar/1_000_000 + 10*30*haltd.Dollar/1_000_000
	if want := haltd.Money(made) * each; agent.Totals.Calls != int64(made) || agent.Totals.Cost != want {
		t.Errorf("%d calls for %v, want %d for %v", agent.Totals.Calls, agent.Totals.Cost, made, want)
	}
}

// TestSpoolOutlivesTheProcess: what could not be written before kill -9 is
// written by the next process.
func TestSpoolOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	c := start(t, 1)
	n := c.nodes[0]
	c.database.Stop(t)
	for range 5 {
		if status, _ := ask(t, n, request{agent: "spooled", model: "echo"}); status != 200 {
			t.Fatalf("a call: %d", status)
		}
	}
	n.Eventually(t, "keeping events on disk", func() bool { return spooled(t, n.Config.DataDir) == 5 })
	n.Kill(t)
	c.database.Start(t)
	n.Run(t)
	if events := n.Events(t, "agent=spooled", 5); len(events) != 5 {
		t.Errorf("%d events, want 5", len(events))
	}
	n.Eventually(t, "empty on disk", func() bool { return spooled(t, n.Config.DataDir) == 0 })
}

// spooled is how many events wait on the disk of a node.
func spooled(t *testing.T, dir string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "spool.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(text), "\n")
}
