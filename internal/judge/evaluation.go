package judge

import (
	"context"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/control"
	"github.com/haltd/haltd/internal/detection"
	"github.com/haltd/haltd/internal/policy"
	"github.com/haltd/haltd/internal/state"
)

// evaluation is one request under judgement, and what it takes when it passes.
type evaluation struct {
	_ noCopy
	judgement
	judge   *Judge
	request *Request
	agent   *control.Agent

	settings  detection.Settings
	place     state.Place        // of its state; empty where that cannot be had
	history   *detection.History // of an LLM call; nil where it cannot be read
	lease     state.Lease        // of its state, until it is judged
	spent     haltd.Spending     // what it has cost its session, until that is counted
	turnEnded bool               // by the reply

	// How its reply is read, by its texts, which are gone by then.
	loose, first bool

	asked   asked
	drawn   bool           // all draws were taken
	tokens  policy.Draw    // of the limit in tokens
	most    haltd.Spending // that the call can cost; zero until booking asks
	holding holding
}

// noCopy lets go vet find copies of an evaluation, and so of a ticket: two of
// them would both hold what is there once.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// judgement is what the checks decide by the state of a session. It is a value:
// a check that was in vain, because another call changed that state meanwhile,
// begins anew with the judgement as it was before.
type judgement struct {
	decision    Decision
	entry       uint64         // in the window; 0 when it is not there
	rejected    bool           // the first rejection of its session
	counted     bool           // as a call of its session
	haltMark    detection.Mark // where a halt ends the turn
	newRung     bool           // a rung is climbed that was not before
	firstSteer  bool           // of this stall
	steered     string         // the incident of steers that ended with steerEnd
	steerEnd    haltd.IncidentStatus
	killSession bool // a kill stops the session alone, whatever the policy says
}

// inactive blocks an agent or session that may not call. The bypass lets all
// call but those that a person has switched off.
func (ev *evaluation) inactive() bool {
	s, stopped := ev.agent.Stopped(ev.request.Session)
	if !stopped {
		return false
	}
	who, scope := ev.request.Agent, haltd.ScopeAgent
	if s.Session != "" {
		who, scope = "This session of "+who, haltd.ScopeSession
	}
	f := switchedOff(who)
	if s.DeactivatedBy != nil && *s.DeactivatedBy == haltd.ByKillSwitch {
		if ev.decision.Bypass {
			return false
		}
		f.Reason, f.Sentence = haltd.ReasonKilled, who+" was stopped by the kill switch. "+s.Why
	}
	ev.decision.Incident, ev.decision.Scope = s.Incident, scope
	ev.decision.Findings = append(ev.decision.Findings, f)
	ev.decision.Finding = f
	return true
}

// switchedOff is the finding about an agent that a person has stopped.
func switchedOff(who string) haltd.Finding {
	return haltd.Finding{
		Check: haltd.CheckInactive, Action: haltd.Block, Reason: haltd.ReasonManual,
		Sentence: who + " was stopped by a person.",
	}
}

// observe gives the reply to the detectors and raises what only it shows.
func (ev *evaluation) observe(ctx context.Context, reply *haltd.Reply, now time.Time) (found []haltd.Finding) {
	if ev.request.Call == nil || ev.place.Agent == "" {
		return nil
	}
	ev.judge.guard(ev, "detector", func() { found = ev.observeReply(ctx, reply, now) })
	return found
}

func (ev *evaluation) readReply(reply *haltd.Reply) *detection.Answer {
	if ev.first {
		return detection.ReadFirstReply(reply)
	}
	return detection.ReadReply(reply, ev.loose)
}

func (ev *evaluation) observeReply(ctx context.Context, reply *haltd.Reply, now time.Time) (found []haltd.Finding) {
	j, r := ev.judge, ev.request
	var signals []haltd.Signal
	answer := ev.readReply(reply)
	// A reply counts, also when the client is gone.
	err := j.update(lasting(ctx), ev.place, now, func(m detection.Memory) bool {
		signals = detection.Observe(ev.settings, j.state(m, r), ev.entry, detection.Source{Model: r.Call.Model, System: r.Call.System}, answer, now)
		ev.tallySpent(m)
		ev.endsTurn(m, reply)
		return true
	})
	ev.spent = haltd.Spending{}
	if err != nil {
		signals = nil
		j.log.Warn("reply not observed", "agent", r.Agent, "error", err)
	}
	j.endSteer(ev, now)
	for i := range signals {
		if signals[i].Detector == haltd.DetectorGrowth {
			signals[i].Session = r.Session
			found = append(found, j.raiseGrowth(ev, signals[i], now))
		}
	}
	return found
}
