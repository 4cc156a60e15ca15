package memory

import (
	"fmt"
	"testing"
	"time"

	"github.com/haltd/haltd/internal/policy"
)

// Keys that somebody makes up do not fill the memory.
func TestLimitsAreBounded(t *testing.T) {
	l, now := NewLimits(100), time.Now()
	for i := range 10_000 {
		l.Take(policy.Claim{
			Draws: []policy.Draw{{Key: fmt.Sprint(i), Limit: policy.PerMinute(10), Cost: 1}},
			Hits:  []policy.Hit{{Key: fmt.Sprint(i), Window: time.Minute}},
		}, now)
	}
	for name, n := range map[string]int{
		"buckets":  l.buckets.Len(),
		"counters": l.counters.Len(),
	} {
		if n > 200 {
			t.Errorf("%d %s are kept, want 200 at most", n, name)
		}
	}
}

func BenchmarkLimits(b *testing.B) {
	l, now := NewLimits(1000), time.Now()
	draws := []policy.Draw{{Key: "rpm:bot", Limit: policy.PerMinute(1e9), Cost: 1}, {Key: "tpm:bot", Limit: policy.PerMinute(1e12), Cost: 1000}}
	b.ReportAllocs()
	for b.Loop() {
		l.Take(policy.Claim{Draws: draws}, now)
	}
}
