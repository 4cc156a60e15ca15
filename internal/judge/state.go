package judge

import (
	"context"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/detection"
	"github.com/haltd/haltd/internal/state"
)

const (
	// mostTries is how often a state is acquired that others change meanwhile.
	mostTries = 3
	// replyWait is how long a call waits at most for the observation of the
	// reply that it goes on from.
	replyWait = 50 * time.Millisecond
)

// update runs f on the state of a session and commits what it changed, where f
// reports that it has. When another call was faster, f runs again on what that
// one left: it has to begin anew each time.
func (j *Judge) update(ctx context.Context, p state.Place, now time.Time, f func(detection.Memory) (changed bool)) error {
	return j.updateFrom(ctx, nil, p, now, f)
}

// updateFrom is update with a lease that the caller has already; nil for none.
func (j *Judge) updateFrom(ctx context.Context, lease state.Lease, p state.Place, now time.Time, f func(detection.Memory) (changed bool)) (err error) {
	for try := 1; ; try++ {
		if lease == nil {
			if lease, err = j.states.Acquire(ctx, p, now); err != nil {
				return err
			}
		}
		err = j.use(ctx, lease, p, f)
		if haltd.ErrorCode(err) != haltd.CodeConflict || try == mostTries {
			return err
		}
		lease = nil
	}
}

// lasting is a context that does not end, for what is done also when the client is
// gone. Most callers have one already.
func lasting(ctx context.Context) context.Context {
	if ctx.Done() == nil {
		return ctx
	}
	return context.WithoutCancel(ctx)
}

// use runs f on a lease and ends it. Nobody waits for a commit that no other
// call can be faster than.
func (j *Judge) use(ctx context.Context, lease state.Lease, p state.Place, f func(detection.Memory) (changed bool)) error {
	committing := false
	defer func() {
		if !committing {
			lease.Release()
		}
	}()
	if !f(lease.Memory()) {
		return nil
	}
	committing = true
	if j.later == nil || !lease.Exclusive() {
		defer lease.Release()
		return lease.Commit(ctx)
	}
	ctx = lasting(ctx)
	j.later.Do(func() {
		defer lease.Release()
		if err := lease.Commit(ctx); err != nil {
			j.log.Warn("what the detectors saw is not kept", "agent", p.Agent, "error", err)
		}
	})
	return nil
}

// awaitReply waits until the reply before a call was observed, which is a
// matter of a moment, or until replyWait is over.
func (j *Judge) awaitReply(ctx context.Context, p state.Place, version uint64) {
	limited, cancel := context.WithTimeout(ctx, replyWait)
	defer cancel()
	_ = j.states.Await(limited, p, version) // the call is judged by what is known then
}
