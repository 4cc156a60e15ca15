package ledger_test

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/ledger"
	"github.com/haltd/haltd/internal/store/sqlite"
)

// bench is a set of ledgers on a store on disk, and a clock that can be set forward.
type bench struct {
	*ledger.Ledgers
	later atomic.Int64
}

func (l *bench) now() time.Time {
	return time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC).Add(time.Duration(l.later.Load()))
}

func newBench(b *testing.B) *bench {
	s, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "record.db"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	if _, err := s.Join(b.Context(), haltd.Node{ID: "n"}, time.Hour); err != nil {
		b.Fatal(err)
	}
	l := &bench{}
	l.Ledgers = ledger.Open(s, "n", func(context.Context) error { return nil }, l.now, slog.New(slog.DiscardHandler))
	return l
}

// call reserves and settles one call of an agent with a hard budget of so many tokens.
func (l *bench) call(b *testing.B, agent, tokens int64) {
	budget := haltd.Budget{HardTokens: tokens}
	r, over, err := l.Reserve(b.Context(), ledger.Booking{
		Agent: fmt.Sprint("agent-", agent), Budgets: haltd.Budgets{Day: budget, Month: budget}, Zone: time.UTC,
		Amount: haltd.Spending{Tokens: 1000}, Now: l.now(),
	})
	if err != nil || over != nil {
		b.Errorf("reserve: over %v, %v", over, err)
		return
	}
	r.Settle(haltd.Spending{Tokens: 500})
	r.Flush()
}

const large = 1e9 // a budget that no agent spends one percent of

// many has agents call from sixteen connections at once.
func (l *bench) many(b *testing.B, n, tokens int64, agent func(i int64) int64) {
	done := make(chan struct{}, 16)
	var begun atomic.Int64
	for range cap(done) {
		go func() {
			defer func() { done <- struct{}{} }()
			for i := begun.Add(1) - 1; i < n; i = begun.Add(1) - 1 {
				l.call(b, agent(i), tokens)
			}
		}()
	}
	for range cap(done) {
		<-done
	}
}

// reportCPU says what one of n took since before.
func reportCPU(b *testing.B, before time.Duration, n int64) {
	b.ReportMetric(float64((cpuTime(b)-before).Nanoseconds())/1000/float64(n), "cpu-µs/op")
}

// BenchmarkFirstCalls is what the first call of an agent costs, which opens its
// account and writes its allotments.
func BenchmarkFirstCalls(b *testing.B) {
	l := newBench(b)
	before := cpuTime(b)
	b.ResetTimer()
	l.many(b, int64(b.N), large, func(i int64) int64 { return i })
	b.StopTimer()
	reportCPU(b, before, int64(b.N))
	if err := l.Close(b.Context()); err != nil {
		b.Error(err)
	}
}

// BenchmarkSeenCalls is what the next calls of agents cost that were seen, among so
// many of them: soon after the last, and when none has come for a while, so that
// their allotments were given up.
func BenchmarkSeenCalls(b *testing.B) {
	for _, agents := range []int64{1000, 10_000, 50_000} {
		b.Run(fmt.Sprintf("agents=%d", agents), func(b *testing.B) {
			l := newBench(b)
			l.many(b, agents, large, func(i int64) int64 { return i })
			for _, idle := range []time.Duration{0, time.Minute} {
				b.Run(fmt.Sprintf("idle=%v", idle), func(b *testing.B) {
					l.later.Add(int64(idle))
					if idle > 0 {
						time.Sleep(3 * time.Second) // the worker looks each second
					}
					before := cpuTime(b)
					b.ResetTimer()
					const prime = 7919 // they come from all over
					l.many(b, int64(b.N), large, func(i int64) int64 { return i * prime % agents })
					b.StopTimer()
					reportCPU(b, before, int64(b.N))
				})
			}
			if err := l.Close(b.Context()); err != nil {
				b.Error(err)
			}
		})
	}
}

// BenchmarkLowAllotments is what a call costs of a few agents among so many, whose
// allotments last for some calls.
func BenchmarkLowAllotments(b *testing.B) {
	for _, agents := range []int64{100, 50_000} {
		b.Run(fmt.Sprintf("agents=%d", agents), func(b *testing.B) {
			l := newBench(b)
			l.many(b, agents, large, func(i int64) int64 { return i })
			before := cpuTime(b)
			b.ResetTimer()
			l.many(b, int64(b.N), 1e6, func(i int64) int64 { return agents + i%100 })
			b.StopTimer()
			reportCPU(b, before, int64(b.N))
			if err := l.Close(b.Context()); err != nil {
				b.Error(err)
			}
		})
	}
}

// BenchmarkGiveUp is what it costs to give up the allotments of an agent that does
// not call any more.
func BenchmarkGiveUp(b *testing.B) {
	l := newBench(b)
	l.many(b, int64(b.N), large, func(i int64) int64 { return i })
	before := cpuTime(b)
	b.ResetTimer()
	if err := l.Close(b.Context()); err != nil {
		b.Error(err)
	}
	b.StopTimer()
	reportCPU(b, before, int64(b.N))
}

func cpuTime(b *testing.B) time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
