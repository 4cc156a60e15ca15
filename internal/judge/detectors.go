package judge

import (
	"context"
	"slices"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/detection"
	"github.com/haltd/haltd/internal/state"
)

// detect runs the detectors and, in the same step, admits the request to the
// window when nothing stops it. While the kill switch is off, detectors run on
// a state of their own and stop nothing. What takes long or needs the store is
// done between two tries, while no other call waits for it: the
// features of the request, its mark, the reply that it goes on from.
func (j *Judge) detect(ctx context.Context, ev *evaluation) {
	r := ev.request
	lease := ev.lease
	if lease == nil || ev.history == nil {
		return
	}
	ev.lease = nil // it ends with the first try
	t := detectionTry{evaluation: ev, start: ev.judgement, since: ev.agent.Activated(r.Session), lease: lease}
	if s, ok := ev.agent.Halted(r.Session); ok && !ev.decision.Bypass && !r.ingested {
		t.halted = &s
	}
	err := t.run(ctx, j)
	if err != nil {
		ev.judgement = t.start
		j.log.Warn("call not judged by the detectors", "agent", r.Agent, "error", err)
		return
	}
	if m := t.mark; m != nil && m.made != nil {
		if err := j.marks.SaveMark(lasting(ctx), *m.made); err != nil {
			j.log.Warn("mark not written: after a restart old rounds may be left out for longer", "agent", r.Agent, "error", err)
		}
	}
}

// detectionTry is what detect needs before it can judge, as far as it has it.
type detectionTry struct {
	*evaluation
	start   judgement          // as it was before the first try
	since   time.Time          // of the newest activation
	mark    *sessionMark       // nil where none is needed, or none was loaded yet
	pending *detection.Pending // what a request without a history goes on from
	waited  bool               // for the reply before it
	version uint64             // of the state that it waits with
	missing need
	halted  *haltd.Standing  // where the session is
	halt    *detection.Mark  // where it was; nil until it is loaded
	lease   state.Lease      // for the first try
	tally   *detection.Tally // what is recorded of the session; nil until it was read
}

// need is what a try found missing.
type need uint8

const (
	nothing     need = iota // the request is judged
	needMark                // since when its rounds count
	needPending             // what the request goes on from
	needReply               // the observation of the reply before it
	needHalt                // where its session was halted
	needLift                // that a person goes on is to be written
	needTally               // what its session has used before
)

func (t *detectionTry) run(ctx context.Context, j *Judge) (err error) {
	r := t.request
	for {
		lease := t.lease
		t.lease = nil
		if err = j.updateFrom(ctx, lease, t.place, r.Now, func(m detection.Memory) bool { return t.judgeBy(j, m) }); err != nil {
			return err
		}
		switch t.missing {
		case nothing:
			return nil
		case needMark:
			if t.mark, err = j.loadMark(ctx, r, t.since); err != nil {
				return err
			}
		case needPending:
			t.history.Follow(r.Call, t.pending)
		case needHalt:
			if t.halt, err = j.haltedAt(ctx, r, t.halted); err != nil {
				return err
			}
		case needLift:
			j.lift(ctx, t)
		case needTally:
			t.tally = j.loadTally(ctx, r)
		case needReply:
			j.awaitReply(ctx, t.place, t.version)
			t.waited = true
		}
	}
}

// judgeBy judges by the state where nothing is missing, and reports
// whether it has.
func (t *detectionTry) judgeBy(j *Judge, m detection.Memory) (judged bool) {
	// The mark of a halt is not yet one of an activation.
	unmarked := t.halted == nil && !t.since.IsZero() && m.Progress.Marked.Before(t.since)
	pending := m.Session.Pending()
	follows := !t.loose || t.history.Follows(pending)
	if !follows && j.later != nil {
		// To try again is dearer than to let others wait.
		t.history.Follow(t.request.Call, pending)
		follows = true
	}
	switch {
	case unmarked && t.mark == nil:
		t.missing = needMark
	case !follows:
		// A request without a history goes on from what is pending in its
		// session.
		t.missing, t.pending = needPending, pending
	case !t.waited && (m.Session.Awaits(t.history) || j.later != nil && m.Session.AwaitsEqual(t.history)):
		t.missing, t.version = needReply, m.Version
	case t.limitsSession() && m.Progress.Tally.Began.IsZero() && t.tally == nil:
		t.missing = needTally
	case t.halted != nil && t.halt == nil:
		t.missing = needHalt
	default:
		if t.halted != nil {
			held, byPerson := t.staysHalted(j, m)
			if byPerson {
				t.missing = needLift
				return false
			}
			if held {
				t.missing = nothing
				t.judgement = t.start
				t.haltedFinding(t.halted)
				return false
			}
		}
		t.missing = nothing
		t.judgement = t.start // an earlier try may have judged in vain
		if j.later != nil {
			// What was observed on another node until now came before this
			// call: it must not seem to overlap with it.
			t.request.Now = after(j.clock(), m.LastReply())
		}
		st := j.state(m, t.request)
		if unmarked {
			t.mark.apply(st, m.Progress, t.history, t.request, t.since)
		}
		st.Mark = m.Progress.Mark
		j.runDetectors(t.evaluation, st, t.history, m, t.tally)
		return true
	}
	return false
}

// clockDoubt is by how much the clocks of nodes differ at most, which are set to
// that of their store.
const clockDoubt = time.Second

// after is now, or the time of what came before by the clock of another node,
// where that is a little ahead.
func after(now, before time.Time) time.Time {
	if before.After(now) && before.Sub(now) <= clockDoubt {
		return before
	}
	return now
}

func (j *Judge) state(m detection.Memory, r *Request) detection.State {
	return detection.State{Window: m.Window, Agent: m.Agent, Session: m.Session, SessionID: r.sessionID(), Mark: m.Progress.Mark}
}

// runDetectors judges the call by the state of its session and window.
func (j *Judge) runDetectors(ev *evaluation, st detection.State, h *detection.History, m detection.Memory, recorded *detection.Tally) {
	r, set := ev.request, ev.settings
	set.Stateless = set.Stateless || r.Retry // the retry of a call is like that call
	ev.decision.Detected = detection.Judge(set, st, h, r.Now)
	if ev.resetAfterQuiet(m, h) {
		st.Mark = m.Progress.Mark
		ev.decision.Detected = detection.Judge(set, st, h, r.Now)
	}
	ev.checkSession(m, recorded)
	ev.addDetected(m)
	ev.decision.decide()
	ev.climbed(m)
	if ev.decision.Action == haltd.Halt {
		ev.haltMark = m.Session.Newest()
	}
	if ev.decision.Action.Stops() {
		ev.recordRejection(m)
	} else {
		ev.admitSession(m)
		if !r.Retry && !r.ingested {
			ev.entry = detection.Admit(ev.settings, st, ev.decision.Detected, r.Now)
		}
	}
	if ev.decision.Detected.Level > m.Progress.ReportedLevel && !ev.warnedOf(m) {
		m.Progress.ReportedLevel, ev.decision.NewLevel = ev.decision.Detected.Level, true
	}
}

// warnedOf reports that a person was warned of the window within warningSpan, and
// notes that one is where nobody was. It is asked about calls without a history whose
// session is a guess alone: each may be the only one of its session, while what is
// alike in them is the evidence of the window. Of all others each session tells.
func (ev *evaluation) warnedOf(m detection.Memory) bool {
	r, found := ev.request, &ev.decision.Detected
	if r.Named || !ev.loose || found.Level != haltd.LevelWarn ||
		slices.ContainsFunc(found.Signals, func(s haltd.Signal) bool { return s.Detector != haltd.DetectorSimilarity }) {
		return false
	}
	if !m.Warned.IsZero() && r.Now.Sub(*m.Warned) < warningSpan {
		return true
	}
	*m.Warned = r.Now
	return false
}

// resetAfterQuiet resets the evidence of a detector that rejects, once the
// agent has been quiet for the time it was asked to wait. It reports whether it
// did.
func (ev *evaluation) resetAfterQuiet(m detection.Memory, h *detection.History) (did bool) {
	r := ev.request
	quiet := func(d haltd.Detector, past *detection.Rejections) bool {
		wait := time.Duration(ev.agent.Policy.KillSwitch.RetryAfter) * time.Second
		if !ev.rejects(d) || past.Last.IsZero() || r.Now.Sub(past.Last) < wait {
			return false
		}
		past.Last = time.Time{}
		return true
	}
	if quiet(haltd.DetectorSimilarity, m.Similar) {
		m.Window.Clear()
		did = true
	}
	if quiet(haltd.DetectorStall, &m.Progress.Stalled) {
		m.Progress.Mark = m.Session.MarkHere(h, r.Now)
		did = true
	}
	return did
}

// recordRejection saves when a request was last rejected, and puts rejections
// within rejectionSpan under one incident.
func (ev *evaluation) recordRejection(m detection.Memory) {
	now := ev.request.Now
	for d, past := range map[haltd.Detector]*detection.Rejections{haltd.DetectorSimilarity: m.Similar, haltd.DetectorStall: &m.Progress.Stalled} {
		if !ev.rejects(d) {
			continue
		}
		past.Last = now
		if ev.decision.Action != haltd.Reject || ev.decision.Check != haltd.Check(d) {
			continue
		}
		if past.Incident == "" || now.Sub(past.Began) >= rejectionSpan {
			past.Incident, past.Began, ev.rejected = haltd.NewName("inc_"), now, true
		}
		ev.decision.Incident = past.Incident
	}
}

// rejects reports whether a detector is certain and its action is to reject.
func (ev *evaluation) rejects(d haltd.Detector) bool {
	k := &ev.agent.Policy.KillSwitch
	return k.Enabled && ladderOf(k, d).Has(haltd.Reject) &&
		slices.ContainsFunc(ev.decision.Detected.Signals, func(s haltd.Signal) bool { return s.Detector == d && s.Level == haltd.LevelKill })
}

// addDetected turns signals into findings. A detector that is certain takes the
// action of the agent's policy; during a grace it only warns.
func (ev *evaluation) addDetected(m detection.Memory) {
	r, k, milder := ev.request, &ev.agent.Policy.KillSwitch, haltd.Kill
	for i := range ev.decision.Detected.Signals {
		s := &ev.decision.Detected.Signals[i]
		f := haltd.Finding{
			Check: haltd.Check(s.Detector), Action: haltd.Warn, Reason: haltd.ReasonLoop,
			Shadow: !k.Enabled, Sentence: s.Sentence(r.Agent),
		}
		if s.Level == haltd.LevelKill {
			f.Action = ev.climb(&m.Progress.Climb, s.Detector)
			if s.Detector == haltd.DetectorStall && f.Action <= haltd.Steer && k.Stall.Has(haltd.Steer) {
				milder = f.Action // what is steered for its rounds is not stopped for being alike
			}
			f.Action = min(f.Action, milder)
		}
		if f.Action == haltd.Steer {
			f.Note = s.Advice()
		}
		if f.Action == haltd.Reject {
			f.RetryAfter = k.RetryAfter
		}
		if f.Action > haltd.Warn && ev.agent.InGrace(r.Session, r.Now) {
			f.Action, f.RetryAfter, f.Note = haltd.Warn, 0, ""
			ev.decision.Grace = true
		}
		ev.decision.add(f)
	}
}

// statePlace says which state the detectors use for the request.
func (ev *evaluation) statePlace() state.Place {
	r, k := ev.request, &ev.agent.Policy.KillSwitch
	p := state.Place{Agent: r.Agent, Session: r.Session, OneAgent: !r.Shared, Shadow: !k.Enabled, Since: ev.agent.WindowResetAt}
	if r.Shared {
		p.Caller = r.Caller
	}
	if r.Shared || k.WindowScope == haltd.ScopeSession {
		p.WindowPerSession = true
	}
	return p
}
