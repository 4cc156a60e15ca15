package judge

import (
	"context"

	"github.com/haltd/haltd/internal/detection"
	"github.com/haltd/haltd/internal/state"
)

// open asks the state all that the checks have to know, in one step: a state
// that other nodes share is a round trip away.
func (j *Judge) open(ctx context.Context, ev *evaluation) {
	r := ev.request
	ev.asked.answer.Refused = -1
	q := state.Question{Attempt: r.Attempt, Claim: ev.claim(j.key)}
	if r.Call != nil {
		ev.place = ev.statePlace()
		ev.settings = detection.SettingsOf(&ev.agent.Policy)
		q.Place = &ev.place
	}
	if q.Place == nil && q.Attempt == 0 && len(q.Claim.Draws)+len(q.Claim.Shadows)+len(q.Claim.Hits) == 0 {
		return
	}
	a, err := j.states.Open(ctx, q, r.Now)
	if err != nil {
		ev.place = state.Place{}
		j.log.Warn("call not judged by limits and detectors: their state cannot be had", "agent", r.Agent, "error", err)
		return
	}
	ev.asked.answer, ev.lease = a.Limits, a.Lease
	ev.drawn = len(q.Claim.Draws) > 0 && a.Limits.Refused < 0
	if a.Attempt.Retry(r.Claimed) {
		r.Retry, r.Event.Retry = true, true
	}
}

// readHistory reads a request, before others have to wait for it: one with a
// history as a whole where what is known of it is not enough, one without as if it
// were the first of its session.
func (j *Judge) readHistory(r *Request) *detection.History {
	if r.Known != nil {
		if h, ok := r.Known.Read(j.cache, r.Call); ok {
			return h
		}
		r.readWhole()
	}
	if r.Shown {
		return detection.ReadShown(j.cache, r.Call, nil)
	}
	return detection.Read(j.cache, r.Call, nil)
}

// releaseLease ends a lease that nobody has used.
func (ev *evaluation) releaseLease() {
	if ev.lease != nil {
		ev.lease.Release()
	}
}
