package memory

import (
	"testing"

	"pgregory.net/rapid"
)

func TestRetry(t *testing.T) {
	const unknown, failed, succeeded, stopped = 0, 1, 2, 3
	for _, tc := range []struct {
		name    string
		before  int
		claimed bool
		want    bool
	}{
		{"first request", unknown, false, false},
		{"first request that claims to be a retry", unknown, true, true},
		{"identical body after a failure", failed, false, true},
		{"identical body after a failure, claimed", failed, true, true},
		{"identical body after a 2xx", succeeded, false, false},
		{"identical body after haltd stopped it", stopped, false, false},
		{"what haltd stopped cannot hide behind the header", stopped, true, false},
		{"identical body after a 2xx cannot hide behind the header", succeeded, true, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a, ctx := NewAttempts(10), t.Context()
			const d = 1
			switch tc.before {
			case failed, succeeded:
				_ = a.Ended(ctx, d, tc.before == succeeded)
			case stopped:
				_ = a.Stopped(ctx, d)
			}
			if got, err := a.Retry(ctx, d, tc.claimed); err != nil || got != tc.want {
				t.Errorf("Retry = %v, want %v", got, tc.want)
			}
		})
	}
}

func TestRepliesBelongToTheirAgent(t *testing.T) {
	r, ctx := NewReplies(10), t.Context()
	_ = r.SaveReply(ctx, "billing", "resp_1", "ses_a")
	if got, err := r.Session(ctx, "billing", "resp_1"); err != nil || got != "ses_a" {
		t.Errorf("own reply: session %q, want ses_a", got)
	}
	if got, err := r.Session(ctx, "other", "resp_1"); err != nil || got != "" {
		t.Errorf("another agent's reply: session %q, want none", got)
	}
}

// The newest `keep` entries are always there and memory never holds more
// than twice as many.
func TestRecentIsBoundedAndKeepsTheNewest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keep := rapid.IntRange(1, 20).Draw(t, "keep")
		r := newRecent[int, int](keep)
		n := rapid.IntRange(0, 200).Draw(t, "n")
		for i := range n {
			r.set(i, i)
			if size := len(r.new) + len(r.old); size > 2*keep {
				t.Fatalf("holds %d entries, bound is %d", size, 2*keep)
			}
		}
		for i := max(0, n-keep); i < n; i++ {
			if _, ok := r.new[i]; ok {
				continue
			}
			if _, ok := r.old[i]; !ok {
				t.Fatalf("entry %d of %d is forgotten, keep is %d", i, n, keep)
			}
		}
	})
}
