package memory

import (
	"testing"
	"time"

	"github.com/haltd/haltd/internal/policy"
	"github.com/haltd/haltd/internal/state"
)

// While a call waits for its lease the buckets that it draws from fill.
func TestAWaitForALeaseIsNotHeldAgainstTheCall(t *testing.T) {
	s := New(8, 8, 1<<10)
	place := &state.Place{Agent: "bot", Session: "s"}
	draw := policy.Claim{Draws: []policy.Draw{{Key: "bot", Limit: policy.PerSecond(20, 1), Cost: 1}}}
	now := time.Now()
	first, err := s.Open(t.Context(), state.Question{Place: place, Claim: draw}, now)
	if err != nil || first.Limits.Refused >= 0 {
		t.Fatalf("the first call: %+v, %v", first.Limits, err)
	}
	time.AfterFunc(100*time.Millisecond, first.Lease.Release)
	second, err := s.Open(t.Context(), state.Question{Place: place, Claim: draw}, now)
	if err != nil || second.Limits.Refused >= 0 {
		t.Errorf("the second call, after twice the time of a call: %+v, %v", second.Limits, err)
	}
	second.Lease.Release()
}
