package sqlite

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/haltd/haltd"
)

// BenchmarkAppendEvents writes batches of 1,000 as a busy gateway would: some
// agents with some live sessions each, so many calls a session; one where each
// call comes by itself. Besides wall time, which waits for the disk, it reports
// what an event costs in CPU.
func BenchmarkAppendEvents(b *testing.B) {
	for _, load := range []struct{ agents, sessions, calls int }{{1, 1, 50}, {20, 100, 50}, {100, 500, 50}, {20, 500, 1}} {
		b.Run(fmt.Sprintf("agents=%d/sessions=%d/calls=%d", load.agents, load.sessions, load.calls), func(b *testing.B) {
			b.ReportAllocs()
			s, err := Open(b.Context(), filepath.Join(b.TempDir(), "record.db"))
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			var ids haltd.EventIDs
			batch := make([]haltd.Event, 1000)
			at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
			count := 0
			var spent time.Duration
			for b.Loop() {
				for i := range batch {
					at = at.Add(500 * time.Microsecond)
					batch[i] = benchEvent(ids.Next(at), at, count%load.agents, count%load.sessions, count/(load.calls*load.sessions))
					count++
				}
				start := cpuTime(b)
				if err := s.AppendEvents(b.Context(), batch); err != nil {
					b.Fatal(err)
				}
				spent += cpuTime(b) - start
			}
			b.ReportMetric(float64(spent.Microseconds())/float64(count), "cpu-µs/event")
			b.ReportMetric(float64(s.Size())/float64(count), "bytes/event")
		})
	}
}

func benchEvent(id haltd.EventID, at time.Time, agent, session, generation int) haltd.Event {
	return haltd.Event{
		ID: id, Time: at, Type: haltd.EventCall,
		Agent: fmt.Sprintf("agent-%d", agent), Session: benchSession(session, generation), Client: "claude-code",
		Provider: "anthropic", Format: "anthropic-messages", Path: "/v1/messages", Model: "claude-sonnet-4-5",
		Status: 200, Stream: true, Tokens: haltd.Usage{Input: 12345, Output: 321, CacheRead: 11000}, Cost: 12_345_678,
		Latency: haltd.Duration(1234 * time.Millisecond), FirstByte: haltd.Duration(345 * time.Millisecond),
		Finish: "tool_use", ToolCalls: []string{"read_file"},
		PromptHash: "0123456789abcdef", PromptLen: 54321, ReplyHash: "fedcba9876543210", ReplyLen: 1234,
	}
}

// benchSession is an id as sessions have it, without any order.
func benchSession(session, generation int) string {
	d := sha256.Sum256(fmt.Appendf(nil, "%d %d", session, generation))
	return fmt.Sprintf("ses_%x", d[:8])
}

func cpuTime(b *testing.B) time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
