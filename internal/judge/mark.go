package judge

import (
	"context"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/detection"
)

// sessionMark says from which round on a session counts after an activation:
// the rounds before it are no evidence.
type sessionMark struct {
	known *detection.Mark // that was saved; nil: make it at this request
	fresh bool            // the session began after the activation: nothing to leave out
	made  *haltd.Mark     // to be saved
}

// loadMark loads the mark of a session, at its first request after its agent
// was activated. Agents that never were need none.
func (j *Judge) loadMark(ctx context.Context, r *Request, since time.Time) (*sessionMark, error) {
	m := &sessionMark{}
	mark, ok, err := j.marks.Mark(ctx, r.Agent, r.Session)
	if err != nil {
		return m, err
	}
	if ok && mark.ActivatedAt.Equal(since) {
		m.known = &detection.Mark{Round: mark.Round, Count: mark.Count}
		return m, nil
	}
	s, err := j.sessions.Session(ctx, r.Agent, r.Session)
	m.fresh = err == nil && s.FirstSeen.After(since) || len(r.Call.Rounds) == 0 && haltd.ErrorCode(err) == haltd.CodeNotFound
	if haltd.ErrorCode(err) == haltd.CodeNotFound {
		err = nil
	}
	return m, err
}

// apply puts the mark behind all rounds that the request shows, unless one is
// known or none is needed.
func (m *sessionMark) apply(st detection.State, n *detection.SessionProgress, h *detection.History, r *Request, since time.Time) {
	*n = detection.SessionProgress{Marked: since, Tally: n.Tally, Climb: afterHalt(n.Climb, r.Now)}
	m.made = nil
	switch {
	case m.known != nil:
		n.Mark = *m.known
	case !m.fresh:
		n.Mark = st.Session.MarkHere(h, r.Now)
		m.made = &haltd.Mark{Agent: r.Agent, Session: r.Session, ActivatedAt: since, Round: n.Mark.Round, Count: n.Mark.Count}
	}
}
