package record

import (
	"context"
	"time"
)

const pruneEvery = time.Hour

// prune deletes what is older than the retention, and what else has been kept
// for its time, at the start and then once an hour.
func (r *Recorder) prune(ctx context.Context) {
	timer := time.NewTimer(pruneEvery)
	defer timer.Stop()
	for {
		r.pruneOnce(ctx)
		r.forgetOnce(ctx)
		timer.Reset(pruneEvery)
		select {
		case <-timer.C:
		case <-ctx.Done():
			return
		}
	}
}

func (r *Recorder) pruneOnce(ctx context.Context) {
	keep := r.opts.Retention()
	if keep <= 0 {
		return
	}
	gone, err := r.store.PruneEvents(ctx, r.opts.Clock().Add(-keep))
	switch {
	case ctx.Err() != nil:
	case err != nil:
		r.log.Warn("old events cannot be deleted", "error", err)
	case gone > 0:
		r.log.Info("old events deleted", "events", gone, "kept_for", keep)
	}
}

// forgetOnce is for what is kept for a fixed time, also when events are kept
// for ever.
func (r *Recorder) forgetOnce(ctx context.Context) {
	if err := r.store.Forget(ctx, r.opts.Clock()); err != nil && ctx.Err() == nil {
		r.log.Warn("what is no longer needed cannot be deleted", "error", err)
	}
}
