package detection

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/haltd/haltd"
)

func TestGrows(t *testing.T) {
	for _, c := range []struct {
		name   string
		tokens []int64
		want   bool
	}{
		{"the quadratic signature of exactly 1.4", []int64{1000, 1400, 1960, 2744}, true},
		{"the counts of the alert", []int64{100, 150, 220, 330, 495}, true},
		{"three points are too few", []int64{1000, 1400, 1960}, false},
		{"one ratio below", []int64{1000, 1400, 1959, 2744}, false},
		{"normal variation", []int64{1000, 1200, 980, 1150, 1010}, false},
		{"one large document", []int64{1000, 9000, 9100, 9200}, false},
		{"only the last three ratios count", []int64{5000, 1000, 1400, 1960, 2744}, true},
		{"no division by nothing", []int64{0, 0, 0, 0}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := grows(c.tokens); got != c.want {
				t.Errorf("grows(%v) = %v, want %v", c.tokens, got, c.want)
			}
		})
	}
}

// grow observes prompt sizes in a session and returns the steps that fired.
func grow(s *Session, call *haltd.Call, counted bool, at time.Time, tokens ...int64) (fired []int) {
	set := DefaultSettings()
	st := State{Window: &Window{}, Session: s}
	for i, n := range tokens {
		reply := &haltd.Reply{Counted: counted, Usage: haltd.Usage{Input: n}}
		if sig := Observe(set, st, 0, Source{call.Model, call.System}, ReadReply(reply, true), at); len(sig) > 0 {
			fired = append(fired, i+1)
		}
	}
	return fired
}

func TestGrowthFiresAtIterationFourOncePerSession(t *testing.T) {
	s := &Session{}
	call := &haltd.Call{Model: "m"}
	if diff := cmp.Diff([]int{4}, grow(s, call, true, noon, 1000, 1400, 1960, 2744, 3842, 5379)); diff != "" {
		t.Errorf("fired at (-want +got):\n%s", diff)
	}
	if fired := grow(s, call, true, noon.Add(23*time.Hour), 8000, 12000); fired != nil {
		t.Errorf("fired again within a day, at %v", fired)
	}
	if fired := grow(s, call, true, noon.Add(25*time.Hour), 20000); fired == nil {
		t.Error("silent after a day")
	}
}

func TestGrowthKeepsSeriesApart(t *testing.T) {
	s := &Session{}
	for i, n := range []int64{1000, 1400, 1960, 2744} {
		call := &haltd.Call{Model: "m", System: uint64(i % 2)}
		if fired := grow(s, call, true, noon, n); fired != nil {
			t.Fatalf("counts of two system prompts were mixed, call %d fired", i+1)
		}
	}
}

func TestGrowthTakesNoEstimates(t *testing.T) {
	if fired := grow(&Session{}, &haltd.Call{}, false, noon, 1000, 1400, 1960, 2744); fired != nil {
		t.Errorf("estimates fired at %v", fired)
	}
}
