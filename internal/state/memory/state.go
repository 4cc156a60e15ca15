package memory

import (
	"context"
	"time"

	"github.com/haltd/haltd/internal/state"
)

// State is all short-lived state of one node.
type State struct {
	*Detectors
	*Limits
	*Attempts
	*Replies
	*Guesses
}

var _ state.Port = (*State)(nil)

// New keeps at least the last entries of requests, replies, buckets and
// counters, and of sessions as NewDetectors says.
func New(entries, sessions, words int) *State {
	return &State{NewDetectors(sessions, words), NewLimits(entries), NewAttempts(entries), NewReplies(entries), NewGuesses(entries)}
}

// Open answers all that a call asks. It fails only when ctx ends before the
// call has its lease, and then it has taken nothing.
func (s *State) Open(ctx context.Context, q state.Question, now time.Time) (a state.Answer, err error) {
	if q.Place != nil {
		l, err := s.acquire(ctx, *q.Place, now)
		if err != nil {
			return state.Answer{}, err
		}
		// A bucket fills while a call waits for its lease.
		a.Lease, now = l, now.Add(l.waited)
	}
	if q.Attempt != 0 {
		a.Attempt = s.Last(q.Attempt)
	}
	a.Limits = s.Take(q.Claim, now)
	return a, nil
}
