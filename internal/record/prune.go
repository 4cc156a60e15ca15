package record

import (
	"context"
	"time"
)

const pruneEvery = time.Hour

// prune deletes what is older than the retention, at the start and then once
// an hour.
func (r *Recorder) prune(ctx context.Context) {
	timer := time.NewTimer(pruneEvery)
	defer timer.Stop()
	for {
		r.pruneOnce(ctx)
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
