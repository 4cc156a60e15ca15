package statetest

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/haltd/haltd/internal/policy"
	"github.com/haltd/haltd/internal/state"
)

// draws asks buckets of ten a minute for so many tokens each.
func draws(costs ...int64) (ds []policy.Draw) {
	for i, c := range costs {
		ds = append(ds, policy.Draw{Key: fmt.Sprint("bucket", i), Limit: policy.PerMinute(10), Cost: c})
	}
	return ds
}

// take draws, and says which draw was refused and how long it has to wait.
func take(t *testing.T, s state.Port, now time.Time, ds []policy.Draw) (int, time.Duration) {
	t.Helper()
	a := claim(t, s, now, policy.Claim{Draws: ds})
	return a.Refused, a.Wait
}

func claim(t *testing.T, s state.Port, now time.Time, c policy.Claim) policy.Answer {
	t.Helper()
	a, err := s.Open(t.Context(), state.Question{Claim: c}, now)
	if err != nil {
		t.Errorf("Open: %v", err)
	}
	return a.Limits
}

func charge(t *testing.T, s state.Port, now time.Time, ds []policy.Draw) {
	t.Helper()
	if err := s.Charge(t.Context(), ds, now); err != nil {
		t.Fatalf("Charge: %v", err)
	}
}

// about is a wait that a clock of the state's own has made a little shorter.
func about(wait, want time.Duration) bool { return wait <= want && wait > want-2*time.Second }

func drawsTogether(t *testing.T, nodes []state.Port) {
	if refused, _ := take(t, nodes[0], noon, draws(1, 8)); refused != -1 {
		t.Fatalf("draw %d refused", refused)
	}
	if refused, wait := take(t, nodes[1], noon, draws(1, 3)); refused != 1 || !about(wait, 6*time.Second) {
		t.Errorf("draw %d refused for %v, want the second for 6 s", refused, wait)
	}
	if refused, _ := take(t, nodes[2], noon, draws(9)); refused != -1 {
		t.Error("a draw that was refused took something")
	}
}

func debts(t *testing.T, nodes []state.Port) {
	charge(t, nodes[0], noon, draws(25, 1))
	if refused, wait := take(t, nodes[1], noon, draws(1)); refused != 0 || !about(wait, 96*time.Second) {
		t.Errorf("25 of 10 taken: wait %v, want 96 s for the next", wait)
	}
	charge(t, nodes[1], noon, draws(-25, -1))
	if refused, _ := take(t, nodes[0], noon, draws(10, 10)); refused != -1 {
		t.Error("what was given back is not there")
	}
	charge(t, nodes[0], noon, draws(-100))
	take(t, nodes[0], noon, draws(10))
	if refused, _ := take(t, nodes[1], noon, draws(1)); refused != 0 {
		t.Error("giving back more than was taken made the bucket larger")
	}
}

// claims carries draws, shadows and hits in one step.
func claims(t *testing.T, nodes []state.Port) {
	shadows := []policy.Draw{{Key: "one", Limit: policy.PerMinute(1), Cost: 1}, {Key: "two", Limit: policy.PerMinute(2), Cost: 1}}
	c := policy.Claim{Draws: draws(1), Shadows: shadows, Hits: []policy.Hit{{Key: "k", Window: time.Hour}, {Key: "l", Window: time.Hour}}}
	for i := range 3 {
		a := claim(t, nodes[i%len(nodes)], noon, c)
		if a.Refused != -1 || len(a.Shadows) != 2 || len(a.Counts) != 2 {
			t.Fatalf("answer %+v to draws, two shadows and two hits", a)
		}
		if one, two := a.Shadows[0] == 0, a.Shadows[1] == 0; one != (i < 1) || two != (i < 2) {
			t.Errorf("claim %d: waits %v; want each shadow to have a bucket of its own, and to draw by itself", i+1, a.Shadows)
		}
		if a.Counts[0] != i+1 || a.Counts[1] != i+1 {
			t.Errorf("claim %d: counts %v", i+1, a.Counts)
		}
	}
	if a := claim(t, nodes[0], noon, policy.Claim{}); a.Refused != -1 || len(a.Shadows)+len(a.Counts) != 0 {
		t.Errorf("answer %+v to nothing", a)
	}
	if a := claim(t, nodes[0], noon, policy.Claim{Draws: []policy.Draw{{Key: "none", Cost: 1 << 40}}}); a.Refused != -1 {
		t.Error("no limit refuses something")
	}
}

// hitsExpire counts with windows of which one lasts and one is over before the
// next look: a shared state has a clock of its own, which nobody sets.
func hitsExpire(t *testing.T, nodes []state.Port) {
	count := func(key string, window time.Duration) int {
		return claim(t, nodes[0], time.Now(), policy.Claim{Hits: []policy.Hit{{Key: key, Window: window}}}).Counts[0]
	}
	if first, second := count("long", time.Hour), count("long", time.Hour); first != 1 || second != 2 {
		t.Errorf("counts %d and %d, want 1 and 2", first, second)
	}
	count("short", time.Millisecond)
	tick, end := time.NewTicker(10*time.Millisecond), time.After(time.Minute)
	defer tick.Stop()
	for count("short", time.Millisecond) != 1 {
		select {
		case <-tick.C:
		case <-end:
			t.Fatal("a window without a hit does not end")
		}
	}
}

// limitsConcurrent has all nodes draw from the same buckets at once, with
// clocks that differ by less than a token takes to come back.
func limitsConcurrent(t *testing.T, nodes []state.Port) {
	var passed atomic.Int64
	var wg sync.WaitGroup
	for i := range 60 {
		wg.Go(func() {
			s, now := nodes[i%len(nodes)], noon.Add(time.Duration(i%len(nodes))*time.Second)
			if refused, _ := take(t, s, now, draws(1, 1)); refused < 0 {
				passed.Add(1)
			}
			claim(t, s, now, policy.Claim{Hits: []policy.Hit{{Key: "k", Window: time.Hour}}})
		})
	}
	wg.Wait()
	n := claim(t, nodes[0], noon, policy.Claim{Hits: []policy.Hit{{Key: "k", Window: time.Hour}}}).Counts[0]
	if passed.Load() != 10 || n != 61 {
		t.Errorf("%d passed, %d hits; want 10 and 61", passed.Load(), n)
	}
}

// limitsSkew: a node whose clock is behind gets nothing that another one has
// taken already, and does not wait for ever.
func limitsSkew(t *testing.T, nodes []state.Port) {
	take(t, nodes[0], noon, draws(10))
	for _, behind := range []time.Duration{time.Second, 30 * time.Second} {
		refused, wait := take(t, nodes[1], noon.Add(-behind), draws(1))
		if refused != 0 || wait > 6*time.Second+behind {
			t.Errorf("%v behind: draw %d refused for %v, want it to wait for the token that comes", behind, refused, wait)
		}
	}
}
