package nodes

import (
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
	"github.com/haltd/haltd/test/harness"
)

// BenchmarkHardBudget measures what a hard budget costs a node on PostgreSQL
// (go test -run '^$' -bench HardBudget -benchtime 20s ./test/nodes), for
// docs/scaling.md: without one, with calls that its lease covers, and with calls
// that reserve three times the lease and use next to nothing of it, which the
// node gives up every few seconds.
func BenchmarkHardBudget(b *testing.B) {
	c := start(b, 1, "agents: {small: {budgets: {day: {hard_usd: 100}}}, large: {budgets: {day: {hard_usd: 100}}}}\n")
	n := c.nodes[0]
	for _, test := range []struct {
		agent  string
		tokens int
	}{{"none", 100_000}, {"small", 100}, {"large", 100_000}} {
		r := request{agent: test.agent, model: dear, tokens: test.tokens, reply: fakellm.Script{Text: "hi", Usage: &haltd.Usage{Input: 10, Output: 10}}}
		b.Run(test.agent, func(b *testing.B) {
			if status, reason := ask(b, n, r); status != http.StatusOK {
				b.Fatalf("the first call: %d %s", status, reason)
			}
			before, used, began := c.shareWrites(b), processorTime(b, n), time.Now()
			for b.Loop() {
				if status, reason := ask(b, n, r); status != http.StatusOK {
					b.Fatalf("a call: %d %s", status, reason)
				}
			}
			took := time.Since(began)
			used = processorTime(b, n) - used
			b.ReportMetric(float64(c.shareWrites(b)-before)/took.Seconds(), "writes/s")
			b.ReportMetric(float64(used.Microseconds())/float64(b.N), "CPU-µs/op")
		})
	}
}

// shareWrites is how often the share of a ledger was written.
func (c *cluster) shareWrites(t testing.TB) int {
	t.Helper()
	const sql = "SELECT coalesce(sum(n_tup_ins + n_tup_upd), 0) FROM pg_stat_user_tables WHERE relname = 'shares'"
	time.Sleep(2 * time.Second) // PostgreSQL counts what a connection did a second later
	n, err := strconv.Atoi(c.database.SQL(t, c.database.URL, sql))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// processorTime is what a node has used, in hundredths of a second.
func processorTime(t testing.TB, n *harness.Node) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", n.PID()))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * time.Second / 100
}
