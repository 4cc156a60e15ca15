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
func (j *Judge) detect(ctx context.Context, ev *evaluation) {
	r := ev.request
	ev.place = ev.placeOf()
	ev.settings = settings(&ev.agent.Policy)
	since := ev.agent.Activated(r.Session)
	mark, err := j.findMark(ctx, ev.place, r, since)
	var h *detect.History
	if err == nil {
		h, err = j.read(ctx, ev.place, r)
	}
	if err == nil {
		err = j.states.Update(ctx, ev.place, r.Now, func(m detect.Memory) {
			st := j.state(m, r)
			if mark.needed && m.Note.Marked.Before(since) {
				mark.put(st, m.Note, h, r, since)
			}
			st.Mark = m.Note.Mark
			j.judgeCall(ev, st, h, m)
		})
	}
	if err != nil {
		j.log.Warn("call not judged by the detectors", "agent", r.Agent, "error", err)
		ev.decision.decide()
		return
	}
	if mark.made != nil {
		if err := j.marks.SaveMark(context.WithoutCancel(ctx), *mark.made); err != nil {
			j.log.Warn("mark not written: after a restart old rounds may be left out for longer", "agent", r.Agent, "error", err)
		}
	}
}

// read reads the request outside of every lock: however long it is, other
// calls of its agent do not wait for it. What a request without a history goes
// on from is asked for first.
func (j *Judge) read(ctx context.Context, p detect.Place, r *Request) (*detect.History, error) {
	var before *detect.Pending
	if len(r.Call.Rounds) == 0 {
		if err := j.states.Update(ctx, p, r.Now, func(m detect.Memory) { before = m.Session.Pending() }); err != nil {
			return nil, err
		}
	}
	return detect.Read(j.cache, r.Call, before), nil
}

func (j *Judge) state(m detect.Memory, r *Request) detect.State {
	return detect.State{Window: m.Window, Session: m.Session, SessionID: r.sessionID(), Mark: m.Note.Mark}
}

func (j *Judge) judgeCall(ev *evaluation, st detect.State, h *detect.History, m detect.Memory) {
	r, set := ev.request, ev.settings
	set.Stateless = set.Stateless || r.Retry // the retry of a call is like that call
	ev.decision.Detected = detect.Judge(set, st, h, r.Now)
	if ev.forgive(m, h) {
		st.Mark = m.Note.Mark
		ev.decision.Detected = detect.Judge(set, st, h, r.Now)
	}
	ev.findDetected()
	ev.decision.decide()
	switch {
	case ev.decision.Action.Stops():
		ev.noteRejection(m)
	case !r.Retry && !r.reported:
		ev.entry = detect.Admit(ev.settings, st, ev.decision.Detected, r.Now)
	}
	if ev.decision.Detected.Level > m.Note.Told {
		m.Note.Told, ev.decision.NewLevel = ev.decision.Detected.Level, true
	}
}

// forgive ends rejections after the agent has been quiet for as long as it was
// asked to: what it did before no longer counts. It reports whether it did.
func (ev *evaluation) forgive(m detect.Memory, h *detect.History) (did bool) {
	r := ev.request
	quiet := func(d detect.Detector, past *detect.Rejections) bool {
		wait := time.Duration(ev.agent.Policy.KillSwitch.RetryAfter) * time.Second
		if !ev.rejects(d) || past.Last.IsZero() || r.Now.Sub(past.Last) < wait {
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
func (ev *evaluation) noteRejection(m detect.Memory) {
	now := ev.request.Now
	for d, past := range map[detect.Detector]*detect.Rejections{detect.Similarity: m.Similar, detect.Stall: &m.Note.Stalled} {
		if !ev.rejects(d) {
			continue
		}
		past.Last = now
		if ev.decision.Action != haltd.Reject || ev.decision.Check != string(d) {
			continue
		}
		if past.Incident == "" || now.Sub(past.Began) >= rejectOnce {
			past.Incident, past.Began, ev.rejected = haltd.NewName("inc_"), now, true
		}
		ev.decision.Incident = past.Incident
	}
}

// The detectors' names as checks.
const (
	checkSimilarity = string(detect.Similarity)
	checkStall      = string(detect.Stall)
)

// rejects reports whether a detector is certain and its action is to reject.
func (ev *evaluation) rejects(d detect.Detector) bool {
	k := &ev.agent.Policy.KillSwitch
	return k.Enabled && actionOf(k, d) == haltd.Reject &&
		slices.ContainsFunc(ev.decision.Detected.Signals, func(s detect.Signal) bool { return s.Detector == d && s.Level == detect.Kill })
}

func actionOf(k *haltd.KillSwitch, d detect.Detector) haltd.Action {
	if d == detect.Similarity {
		return k.Similarity
	}
	return k.Stall
}

// findDetected turns signals into findings. A detector that is certain does
// what its agent's policy says; in a time of grace it only warns.
func (ev *evaluation) findDetected() {
	r, k := ev.request, &ev.agent.Policy.KillSwitch
	for i := range ev.decision.Detected.Signals {
		s := &ev.decision.Detected.Signals[i]
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
		if f.Action > haltd.Warn && ev.agent.InGrace(r.Session, r.Now) {
			f.Action, f.RetryAfter = haltd.Warn, 0
			ev.decision.Grace = true
		}
		ev.decision.add(f)
	}
}

func (ev *evaluation) placeOf() detect.Place {
	r, k := ev.request, &ev.agent.Policy.KillSwitch
	p := detect.Place{Agent: r.Agent, Session: r.Session, Shadow: !k.Enabled, Since: ev.agent.Emptied}
	if r.Shared || k.WindowScope == haltd.ScopeSession {
		p.WindowPerSession = true
	}
	return p
}

// settings is what a policy says to the detectors.
func settings(p *haltd.Policy) detect.Settings {
	k := &p.KillSwitch
	return detect.Settings{
		WindowSize: k.WindowSize, Threshold: k.Threshold, RequireCorroboration: k.RequireCorroboration,
		Stateless: k.Stateless, WarnAt: k.WarnAt, KillAt: k.KillAt, MinPromptTokens: p.Growth.MinPromptTokens,
	}
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
	err := j.states.Update(ctx, p, r.Now, func(mem detect.Memory) { m.needed = mem.Note.Marked.Before(since) })
	if err != nil || !m.needed {
		return m, err
	}
	mark, ok, err := j.marks.Mark(ctx, r.Agent, r.Session)
	if err != nil {
		return m, err
	}
	if ok && mark.ActivatedAt.Equal(since) {
		m.known = &detect.Mark{Round: mark.Round, Count: mark.Count}
		return m, nil
	}
	s, err := j.sessions.Session(ctx, r.Agent, r.Session)
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
