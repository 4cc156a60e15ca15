package memory

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/haltd/haltd/detect"
	"github.com/haltd/haltd/internal/policy"
)

var noon = time.Date(2026, 3, 11, 12, 0, 0, 0, time.UTC)

func draws(costs ...int64) (ds []policy.Draw) {
	for i, c := range costs {
		ds = append(ds, policy.Draw{Key: fmt.Sprint("bucket", i), Limit: policy.PerMinute(10), Cost: c})
	}
	return ds
}

func TestLimitsTakeAllOrNothing(t *testing.T) {
	l, ctx := NewLimits(10), context.Background()
	if refused, _, _ := l.Take(ctx, draws(1, 8), noon); refused != -1 {
		t.Fatalf("draw %d refused", refused)
	}
	refused, wait, _ := l.Take(ctx, draws(1, 3), noon)
	if refused != 1 || wait != 6*time.Second {
		t.Errorf("draw %d refused for %v, want the second for 6 s", refused, wait)
	}
	for range 3 {
		if refused, _, _ := l.Check(ctx, draws(9), noon); refused != -1 {
			t.Fatal("a draw that was refused, or one that was only asked for, took something")
		}
	}
	if refused, _, _ := l.Take(ctx, draws(1, 3), noon.Add(6*time.Second)); refused != -1 {
		t.Errorf("after the wait draw %d is refused", refused)
	}
}

func TestLimitsChargeAndGiveBack(t *testing.T) {
	l, ctx := NewLimits(10), context.Background()
	bucket := func(cost int64) policy.Draw { return draws(cost)[0] }
	if err := l.Charge(ctx, bucket(25), noon); err != nil {
		t.Fatal(err)
	}
	if _, wait, _ := l.Check(ctx, draws(1), noon); wait != 96*time.Second {
		t.Errorf("25 of 10 taken: wait %v, want 96 s for the next", wait)
	}
	if err := l.Charge(ctx, bucket(-25), noon); err != nil {
		t.Fatal(err)
	}
	if refused, _, _ := l.Check(ctx, draws(10), noon); refused != -1 {
		t.Error("what was given back is not there")
	}
	if err := l.Charge(ctx, bucket(-100), noon); err != nil {
		t.Fatal(err)
	}
	_, _, _ = l.Take(ctx, draws(10), noon)
	if refused, _, _ := l.Check(ctx, draws(1), noon); refused != 0 {
		t.Error("giving back more than was taken made the bucket larger")
	}
}

func TestHitsRenewTheirWindow(t *testing.T) {
	l, ctx := NewLimits(10), context.Background()
	hit := func(after time.Duration) int {
		n, err := l.Hit(ctx, "k", time.Minute, noon.Add(after))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for i, after := range []time.Duration{0, 59 * time.Second, 118 * time.Second, 177 * time.Second} {
		if n := hit(after); n != i+1 {
			t.Errorf("hit %d counts %d", i+1, n)
		}
	}
	if n := hit(237 * time.Second); n != 1 {
		t.Errorf("after a minute without a hit: %d", n)
	}
	if n, _ := l.Hit(ctx, "other", time.Minute, noon); n != 1 {
		t.Errorf("another key counts %d", n)
	}
}

func TestLimitsUnderLoad(t *testing.T) {
	l, ctx := NewLimits(10), context.Background()
	var passed atomic.Int64
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if refused, _, _ := l.Take(ctx, draws(1, 1), noon); refused < 0 {
				passed.Add(1)
			}
			_, _ = l.Hit(ctx, "k", time.Minute, noon)
		})
	}
	wg.Wait()
	if n, _ := l.Hit(ctx, "k", time.Minute, noon); passed.Load() != 10 || n != 51 {
		t.Errorf("%d passed, %d hits; want 10 and 51", passed.Load(), n)
	}
}

// Keys that somebody makes up do not fill the memory.
func TestLimitsAreBounded(t *testing.T) {
	l, ctx := NewLimits(100), context.Background()
	for i := range 10_000 {
		_, _, _ = l.Take(ctx, []policy.Draw{{Key: fmt.Sprint(i), Limit: policy.PerMinute(10), Cost: 1}}, noon)
		_, _ = l.Hit(ctx, fmt.Sprint(i), time.Minute, noon)
	}
	for name, n := range map[string]int{
		"buckets":  len(l.buckets.new) + len(l.buckets.old),
		"counters": len(l.counters.new) + len(l.counters.old),
	} {
		if n > 200 {
			t.Errorf("%d %s are kept, want 200 at most", n, name)
		}
	}
}

// Rejections for what a window shows belong to the window, and go with it.
func TestRejectionsBelongToTheWindow(t *testing.T) {
	d := NewDetectors(10, 1e6)
	with := func(p detect.Place) (r detect.Rejections) {
		_ = d.Update(context.Background(), p, noon, func(m detect.Memory) {
			r = *m.Similar
			m.Similar.Incident = "inc_" + p.Session
		})
		return r
	}
	with(detect.Place{Agent: "bot", Session: "a"})
	if r := with(detect.Place{Agent: "bot", Session: "b"}); r.Incident != "inc_a" {
		t.Errorf("another session of the window has %q", r.Incident)
	}
	if r := with(detect.Place{Agent: "bot", Session: "c", WindowPerSession: true}); r.Incident != "" {
		t.Errorf("a window of its own has %q", r.Incident)
	}
	if r := with(detect.Place{Agent: "bot", Session: "a", Since: noon}); r.Incident != "" {
		t.Errorf("after an activation there is %q", r.Incident)
	}
}
