package judge

import (
	"context"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/detect"
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
func (j *Judge) update(ctx context.Context, p detect.Place, now time.Time, f func(detect.Memory) (changed bool)) error {
	for try := 1; ; try++ {
		err := j.updateOnce(ctx, p, now, f)
		if haltd.ErrorCode(err) != haltd.CodeConflict || try == mostTries {
			return err
		}
	}
}

func (j *Judge) updateOnce(ctx context.Context, p detect.Place, now time.Time, f func(detect.Memory) (changed bool)) error {
	lease, err := j.states.Acquire(ctx, p, now)
	if err != nil {
		return err
	}
	defer lease.Release()
	if !f(lease.Memory()) {
		return nil
	}
	return lease.Commit(ctx)
}

// awaitReply waits until the reply before a call was observed, which is a
// matter of a moment, or until replyWait is over.
func (j *Judge) awaitReply(ctx context.Context, p detect.Place, version uint64) {
	limited, cancel := context.WithTimeout(ctx, replyWait)
	defer cancel()
	_ = j.states.Await(limited, p, version) // the call is judged by what is known then
}
