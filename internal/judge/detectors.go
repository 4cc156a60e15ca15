package judge

import (
	"context"
	"slices"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/detect"
)

// detect runs the detectors and, in the same moment, lets the request into
// the window when nothing stops it. While the kill switch is off they run in
// a state of their own and only tell.
func (j *Judge) detect(ctx context.Context, v *Verdict) {
	r := v.request
	v.place = v.placeOf()
	v.settings = detect.SettingsOf(&v.agent.Policy)
	since := v.agent.Activated(r.Session)
	mark, err := j.findMark(ctx, v.place, r, since)
	var h *detect.History
	if err == nil {
		h, err = j.read(ctx, v.place, r)
	}
	if err == nil {
		err = j.States.With(ctx, v.place, r.Now, func(m detect.Memory) {
			st := j.state(m, r)
			if mark.needed && m.Note.Marked.Before(since) {
				mark.put(st, m.Note, h, r, since)
			}
			st.Mark = m.Note.Mark
			j.judgeCall(v, st, h, m)
		})
	}
	if err != nil {
		j.Logger.Warn("call not judged by the detectors", "agent", r.Agent, "error", err)
		v.decide()
		return
	}
	if mark.made != nil {
		if err := j.Control.SaveMark(context.WithoutCancel(ctx), *mark.made); err != nil {
			j.Logger.Warn("mark not written: after a restart old rounds may be left out for longer", "agent", r.Agent, "error", err)
		}
	}
}

// read reads the request outside of every lock: however long it is, other
// calls of its agent do not wait for it. What a request without a history goes
// on from is asked for first.
func (j *Judge) read(ctx context.Context, p detect.Place, r *Request) (*detect.History, error) {
	var before *detect.Pending
	if len(r.Call.Rounds) == 0 {
		if err := j.States.With(ctx, p, r.Now, func(m detect.Memory) { before = m.Session.Pending() }); err != nil {
			return nil, err
		}
	}
	return detect.Read(j.cache, r.Call, before), nil
}

func (j *Judge) state(m detect.Memory, r *Request) detect.State {
	return detect.State{Window: m.Window, Session: m.Session, SessionID: r.sessionID(), Mark: m.Note.Mark}
}

func (j *Judge) judgeCall(v *Verdict, st detect.State, h *detect.History, m detect.Memory) {
	r, set := v.request, v.settings
	set.Stateless = set.Stateless || r.Retry // the retry of a call is like that call
	v.Detected = detect.Judge(set, st, h, r.Now)
	if v.forgive(m, h) {
		st.Mark = m.Note.Mark
		v.Detected = detect.Judge(set, st, h, r.Now)
	}
	v.findDetected()
	v.decide()
	switch {
	case v.Decision.Action.Stops():
		v.noteRejection(m)
	case !r.Retry && !r.reported:
		v.entry = detect.Admit(v.settings, st, v.Detected, r.Now)
	}
	if v.Detected.Level > m.Note.Told {
		m.Note.Told, v.News = v.Detected.Level, true
	}
}

// forgive ends rejections after the agent has been quiet for as long as it was
// asked to: what it did before no longer counts. It reports whether it did.
func (v *Verdict) forgive(m detect.Memory, h *detect.History) (did bool) {
	r := v.request
	quiet := func(d detect.Detector, past *detect.Rejections) bool {
		wait := time.Duration(v.agent.Policy.KillSwitch.RetryAfter) * time.Second
		if !v.rejects(d) || past.Last.IsZero() || r.Now.Sub(past.Last) < wait {
			return false
		}
		past.Last = time.Time{}
		return true
	}
	if quiet(detect.Similarity, m.Similar) {
		m.Window.Clear()
		did = true
	}
	if quiet(detect.Stall, &m.Note.Stalled) {
		m.Note.Mark = m.Session.MarkHere(h, r.Now)
		did = true
	}
	return did
}

// noteRejection keeps when a request was last rejected, and files rejections
// that belong together under one incident.
func (v *Verdict) noteRejection(m detect.Memory) {
	now := v.request.Now
	for d, past := range map[detect.Detector]*detect.Rejections{detect.Similarity: m.Similar, detect.Stall: &m.Note.Stalled} {
		if !v.rejects(d) {
			continue
		}
		past.Last = now
		if v.Decision.Action != haltd.Reject || v.Decision.Check != string(d) {
			continue
		}
		if past.Incident == "" || now.Sub(past.Began) >= rejectOnce {
			past.Incident, past.Began, v.rejected = haltd.NewName("inc_"), now, true
		}
		v.Incident = past.Incident
	}
}

// The detectors' names as checks.
const (
	checkSimilarity = string(detect.Similarity)
	checkStall      = string(detect.Stall)
)

// rejects reports whether a detector is certain and its action is to reject.
func (v *Verdict) rejects(d detect.Detector) bool {
	k := &v.agent.Policy.KillSwitch
	return k.Enabled && actionOf(k, d) == haltd.Reject &&
		slices.ContainsFunc(v.Detected.Signals, func(s detect.Signal) bool { return s.Detector == d && s.Level == detect.Kill })
}

func actionOf(k *haltd.KillSwitch, d detect.Detector) haltd.Action {
	if d == detect.Similarity {
		return k.Similarity
	}
	return k.Stall
}

// findDetected turns signals into findings. A detector that is certain does
// what its agent's policy says; in a time of grace it only warns.
func (v *Verdict) findDetected() {
	r, k := v.request, &v.agent.Policy.KillSwitch
	for i := range v.Detected.Signals {
		s := &v.Detected.Signals[i]
		f := haltd.Finding{
			Check: string(s.Detector), Action: haltd.Warn, Reason: haltd.ReasonLoop,
			Shadow: !k.Enabled, Sentence: s.Sentence(r.Agent),
		}
		if s.Level == detect.Kill {
			f.Action = actionOf(k, s.Detector)
		}
		if f.Action == haltd.Reject {
			f.RetryAfter = k.RetryAfter
		}
		if f.Action > haltd.Warn && v.agent.InGrace(r.Session, r.Now) {
			f.Action, f.RetryAfter = haltd.Warn, 0
			v.grace = true
		}
		v.find(f)
	}
}

func (v *Verdict) placeOf() detect.Place {
	r, k := v.request, &v.agent.Policy.KillSwitch
	p := detect.Place{Agent: r.Agent, Session: r.Session, Shadow: !k.Enabled, Since: v.agent.Emptied}
	if r.Shared || k.WindowScope == haltd.ScopeSession {
		p.WindowPerSession = true
	}
	return p
}

// marking is how the rounds from before an activation are left out.
type marking struct {
	needed bool
	known  *detect.Mark // as it was put before; nil: put it at this request
	fresh  bool         // the session began after the activation: nothing to leave out
	made   *haltd.Mark  // to be kept
}

// findMark looks up where the rounds of a session begin to count, at its
// first request after its agent was activated. Agents that never were need
// none.
func (j *Judge) findMark(ctx context.Context, p detect.Place, r *Request, since time.Time) (*marking, error) {
	m := &marking{}
	if since.IsZero() {
		return m, nil
	}
	err := j.States.With(ctx, p, r.Now, func(mem detect.Memory) { m.needed = mem.Note.Marked.Before(since) })
	if err != nil || !m.needed {
		return m, err
	}
	mark, ok, err := j.Control.Mark(ctx, r.Agent, r.Session)
	if err != nil {
		return m, err
	}
	if ok && mark.ActivatedAt.Equal(since) {
		m.known = &detect.Mark{Round: mark.Round, Count: mark.Count}
		return m, nil
	}
	s, err := j.Sessions.Session(ctx, r.Agent, r.Session)
	m.fresh = err == nil && s.FirstSeen.After(since) || len(r.Call.Rounds) == 0 && haltd.ErrorCode(err) == haltd.CodeNotFound
	if haltd.ErrorCode(err) == haltd.CodeNotFound {
		err = nil
	}
	return m, err
}

// put leaves everything that the request shows behind the mark, unless a mark
// is known or none is needed.
func (m *marking) put(st detect.State, n *detect.Note, h *detect.History, r *Request, since time.Time) {
	*n = detect.Note{Marked: since}
	switch {
	case m.known != nil:
		n.Mark = *m.known
	case !m.fresh:
		n.Mark = st.Session.MarkHere(h, r.Now)
		m.made = &haltd.Mark{Agent: r.Agent, Session: r.Session, ActivatedAt: since, Round: n.Mark.Round, Count: n.Mark.Count}
	}
}
