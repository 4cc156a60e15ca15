package judge

import (
	"context"
	"slices"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/detect"
)

// detect runs the detectors and, under the same lock, admits the request to
// the window when nothing stops it. While the kill switch is off, detectors run
// on a state of their own and stop nothing.
func (j *Judge) detect(ctx context.Context, ev *evaluation) {
	r := ev.request
	ev.place = ev.statePlace()
	ev.settings = detect.SettingsOf(&ev.agent.Policy)
	since := ev.agent.Activated(r.Session)
	mark, err := j.loadMark(ctx, ev.place, r, since)
	var h *detect.History
	if err == nil {
		h, err = j.read(ctx, ev.place, r)
	}
	if err == nil {
		err = j.states.Update(ctx, ev.place, r.Now, func(m detect.Memory) {
			st := j.state(m, r)
			if mark.needed && m.Note.Marked.Before(since) {
				mark.apply(st, m.Note, h, r, since)
			}
			st.Mark = m.Note.Mark
			j.runDetectors(ev, st, h, m)
		})
	}
	if err != nil {
		j.log.Warn("call not judged by the detectors", "agent", r.Agent, "error", err)
		return
	}
	if mark.made != nil {
		if err := j.marks.SaveMark(context.WithoutCancel(ctx), *mark.made); err != nil {
			j.log.Warn("mark not written: after a restart old rounds may be left out for longer", "agent", r.Agent, "error", err)
		}
	}
}

// read extracts the features of the request outside of every lock: however
// long it is, other calls of its agent do not wait for it. A request without a
// history goes on from the pending round of its session, which is loaded
// first.
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
	return detect.State{Window: m.Window, Agent: m.Agent, Session: m.Session, SessionID: r.sessionID(), Mark: m.Note.Mark}
}

// runDetectors judges the call by the state of its session and window.
func (j *Judge) runDetectors(ev *evaluation, st detect.State, h *detect.History, m detect.Memory) {
	r, set := ev.request, ev.settings
	set.Stateless = set.Stateless || r.Retry // the retry of a call is like that call
	ev.decision.Detected = detect.Judge(set, st, h, r.Now)
	if ev.resetAfterQuiet(m, h) {
		st.Mark = m.Note.Mark
		ev.decision.Detected = detect.Judge(set, st, h, r.Now)
	}
	ev.addDetected()
	ev.decision.decide()
	switch {
	case ev.decision.Action.Stops():
		ev.recordRejection(m)
	case !r.Retry && !r.ingested:
		ev.entry = detect.Admit(ev.settings, st, ev.decision.Detected, r.Now)
	}
	if ev.decision.Detected.Level > m.Note.Told {
		m.Note.Told, ev.decision.NewLevel = ev.decision.Detected.Level, true
	}
}

// resetAfterQuiet resets the evidence of a detector that rejects, once the
// agent has been quiet for the time it was asked to wait. It reports whether it
// did.
func (ev *evaluation) resetAfterQuiet(m detect.Memory, h *detect.History) (did bool) {
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

// recordRejection saves when a request was last rejected, and puts rejections
// within rejectionSpan under one incident.
func (ev *evaluation) recordRejection(m detect.Memory) {
	now := ev.request.Now
	for d, past := range map[detect.Detector]*detect.Rejections{detect.Similarity: m.Similar, detect.Stall: &m.Note.Stalled} {
		if !ev.rejects(d) {
			continue
		}
		past.Last = now
		if ev.decision.Action != haltd.Reject || ev.decision.Check != string(d) {
			continue
		}
		if past.Incident == "" || now.Sub(past.Began) >= rejectionSpan {
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

// addDetected turns signals into findings. A detector that is certain takes the
// action of the agent's policy; during a grace it only warns.
func (ev *evaluation) addDetected() {
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

// statePlace says which state the detectors use for the request.
func (ev *evaluation) statePlace() detect.Place {
	r, k := ev.request, &ev.agent.Policy.KillSwitch
	p := detect.Place{Agent: r.Agent, Session: r.Session, OneAgent: !r.Shared, Shadow: !k.Enabled, Since: ev.agent.WindowResetAt}
	if r.Shared || k.WindowScope == haltd.ScopeSession {
		p.WindowPerSession = true
	}
	return p
}
