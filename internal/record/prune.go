package record

import (
	"context"
	"time"
)

const pruneEvery = time.Hour

// prune deletes what is older than its retention, at the start and then once
// an hour, on the node that leads.
func (r *Recorder) prune(ctx context.Context) {
	timer := time.NewTimer(pruneEvery)
	defer timer.Stop()
	for {
		if r.opts.Leads(ctx) {
			r.pruneOnce(ctx)
			r.pruneExpired(ctx)
		}
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
	r.pruneBy(ctx, "excerpts", keep.Excerpts, r.store.PruneExcerpts)
	r.pruneBy(ctx, "events", keep.Events, r.store.PruneEvents)
	r.pruneBy(ctx, "entries of the audit log", keep.Audit, r.store.PruneAudits)
}

// pruneBy deletes things that are older than they are kept for.
func (r *Recorder) pruneBy(ctx context.Context, things string, keep time.Duration, prune func(context.Context, time.Time) (int64, error)) {
	if keep <= 0 {
		return
	}
	gone, err := prune(ctx, r.opts.Clock().Add(-keep))
	switch {
	case ctx.Err() != nil:
	case err != nil:
		r.log.Warn("old "+things+" cannot be deleted", "error", err)
	case gone > 0:
		r.log.Info("old "+things+" deleted", "count", gone, "duration", keep)
	}
}

// pruneExpired deletes what is kept for a fixed time, even if events are kept
// for ever.
func (r *Recorder) pruneExpired(ctx context.Context) {
	if err := r.store.Forget(ctx, r.opts.Clock()); err != nil && ctx.Err() == nil {
		r.log.Warn("what has expired cannot be deleted", "error", err)
	}
}
