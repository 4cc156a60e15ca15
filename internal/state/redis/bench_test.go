package redis

import (
	"fmt"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/detection"
	"github.com/haltd/haltd/internal/policy"
	"github.com/haltd/haltd/internal/state"
)

// conversation is a call with so many rounds.
func conversation(rounds int) *haltd.Call {
	c := &haltd.Call{Opening: []haltd.Message{{Text: "Find out why the build fails and mend it."}}}
	for i := range rounds {
		c.Rounds = append(c.Rounds, haltd.Round{
			Text:    fmt.Sprintf("Let me look at part %d of the build.", i),
			Calls:   []haltd.ToolCall{{ID: fmt.Sprint(i), Name: "read_file", Arguments: fmt.Sprintf(`{"path":"src/part%d.go","lines":%d}`, i, 10*i)}},
			Results: []haltd.ToolResult{{CallID: fmt.Sprint(i), Text: fmt.Sprintf("package part%d\n\nfunc Build%d() error { return fmt.Errorf(\"step %d: cannot find module %d\") }\n", i, i, i, i*i)}},
		})
	}
	return c
}

// BenchmarkCall is what one call asks of Redis before it is forwarded: one
// round trip, and a commit that it does not wait for. It reports how long the
// call waits, how many scripts it runs and how large what is kept of its
// session is.
func BenchmarkCall(b *testing.B) {
	for _, rounds := range []int{1, 10, 100} {
		for _, nodes := range []int{1, 2} {
			b.Run(fmt.Sprintf("rounds=%d/nodes=%d", rounds, nodes), func(b *testing.B) { benchCall(b, rounds, nodes) })
		}
	}
}

func benchCall(b *testing.B, rounds, nodes int) {
	var all []*State
	for range nodes {
		all = append(all, connect(b))
	}
	p := state.Place{Agent: "bot", Session: "a", OneAgent: true}
	set := detection.DefaultSettings()
	h := detection.Read(detection.NewCache(1<<20), conversation(rounds), nil)
	var waited time.Duration
	q := state.Question{Attempt: 1, Place: &p, Claim: policy.Claim{Draws: []policy.Draw{{Key: "rpm:bot", Limit: policy.PerMinute(1e9), Cost: 1}}}}
	call := func(i int) {
		began, now := time.Now(), time.Now()
		a, err := all[i%nodes].Open(b.Context(), q, now)
		if err != nil {
			b.Fatal(err)
		}
		waited += time.Since(began)
		m := a.Lease.Memory()
		st := detection.State{Window: m.Window, Session: m.Session, Mark: m.Progress.Mark}
		detection.Admit(set, st, detection.Judge(set, st, h, now), now)
		if err := a.Lease.Commit(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	for i := range 2 * nodes {
		call(i)
	}
	before := scripts(b, all[0])
	waited = 0
	b.ResetTimer()
	for i := range b.N {
		call(i)
	}
	b.StopTimer()
	b.ReportMetric(float64(waited.Microseconds())/float64(b.N), "µs-waited/call")
	b.ReportMetric(float64(scripts(b, all[0])-before)/float64(b.N), "scripts/call")
	c, err := all[0].connected()
	if err != nil {
		b.Fatal(err)
	}
	for kind, key := range map[string]string{"session": all[0].sessionKey(p), "window": all[0].key("w", p.Agent, "")} {
		n, err := c.Do(b.Context(), c.B().MemoryUsage().Key(key).Build()).AsInt64()
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(n), "B/"+kind)
	}
}
