package judge

import (
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/detection"
)

func ladderOf(k *haltd.KillSwitch, d haltd.Detector) haltd.Ladder {
	if d == haltd.DetectorSimilarity {
		return k.Similarity
	}
	return k.Stall
}

// climb decides a kill, or what comes before it: the rung that a detector which is
// certain takes is the first of its ladder above what was done before. A session that was steered and whose
// newest round brought something new is only warned about.
func (ev *evaluation) climb(c *detection.Climb, d haltd.Detector) haltd.Action {
	l, r, rounds := ladderOf(&ev.agent.Policy.KillSwitch, d), ev.request, ev.decision.Detected.Basis.Rounds
	switch {
	case c.Rung == haltd.Steer && rounds > c.Round && !ev.newestRepeats():
		return haltd.Warn
	case c.Rung == haltd.Halt && c.News == 0 && !ev.agent.Policy.KillSwitch.Enabled:
		return haltd.Halt // in shadow it goes on, and a halt would have kept it until a person writes
	}
	again := c.Rung == haltd.Steer && rounds == c.Round // the same request once more
	if l.Has(haltd.Steer) && (c.Rung < haltd.Steer || c.Rung == haltd.Steer && (again || c.Steers < haltd.MostSteers)) && r.TakesNote != nil && r.TakesNote() {
		return haltd.Steer
	}
	a := l.After(max(c.Rung, haltd.Steer))
	switch {
	case a == haltd.Steer: // the last rung, and it was taken
		return haltd.Warn
	case rounds == 0 && a == haltd.Halt: // there is no turn that could be ended
		ev.killSession = true
		return haltd.Kill
	case a == haltd.Kill && r.Interactive && rounds > 0 && !l.Has(haltd.Halt):
		return haltd.Halt
	}
	return a
}

// newestRepeats reports whether the newest round repeats something, as far as
// stall says.
func (ev *evaluation) newestRepeats() bool {
	d := &ev.decision.Detected
	for i := range d.Signals {
		if s := &d.Signals[i]; s.Detector == haltd.DetectorStall && len(s.Rounds) > 0 {
			return s.Rounds[len(s.Rounds)-1].Index == d.Basis.Rounds-1 && s.LastRoundRepeats()
		}
	}
	return d.Level == haltd.LevelKill && d.Basis.Rounds == 0
}

// climbed keeps what was decided about a session whose detectors are certain,
// and what came of the steers before.
func (ev *evaluation) climbed(m detection.Memory) {
	c, d, now := &m.Progress.Climb, &ev.decision, ev.request.Now
	f, ok := d.rung()
	shadow := ok && f.Shadow
	if c.Rung == haltd.Halt && d.Detected.Turn != 0 {
		c.News = 1 // a person wrote, who would have lifted it
	}
	switch {
	case ok && f.Action == haltd.Steer:
		if c.Steers > 0 && d.Detected.Basis.Rounds == c.Round {
			break // the same request once more
		}
		if c.Incident == "" && !shadow {
			c.Incident, ev.firstSteer = haltd.NewName("inc_"), true
		}
		c.Steers, c.Round, c.News = c.Steers+1, d.Detected.Basis.Rounds, 0
		c.Step(haltd.Rung{Action: f.Action, Time: now.UTC(), Round: c.Round, Shadow: shadow})
		ev.newRung = true
	case ok && (f.Action > c.Rung || c.Rung == haltd.Steer):
		ev.newRung = f.Action > c.Rung
		c.Step(haltd.Rung{Action: f.Action, Time: now.UTC(), Round: d.Detected.Basis.Rounds, Shadow: shadow})
		if c.Steers > 0 && c.Incident != "" && !shadow {
			ev.steerEnd, ev.steered = haltd.IncidentUnmoved, c.Incident
			c.Incident = ""
		}
	case c.Steers > 0 && c.Rung != haltd.Halt && d.Detected.Basis.Rounds != c.Round:
		if d.Detected.Level == haltd.LevelPass {
			ev.recovers(c)
		} else if !ev.newestRepeats() {
			if c.News++; c.News >= haltd.RecoveryRounds {
				ev.recovers(c)
			}
		}
	}
	if d.Action == haltd.Steer {
		d.Incident = c.Incident
	}
	d.Rungs = c.Steps
}

func (ev *evaluation) recovers(c *detection.Climb) {
	if c.Incident != "" && c.Rung == haltd.Steer {
		ev.steerEnd, ev.steered = haltd.IncidentRecovered, c.Incident
	}
	*c = detection.Climb{}
}

// rung is the finding of a detector that is more than a warning, and that is
// what becomes of the request; in shadow, what would.
func (d *Decision) rung() (best haltd.Finding, ok bool) {
	for _, f := range d.Findings {
		if (f.Check == haltd.CheckSimilarity || f.Check == haltd.CheckStall) && f.Action > haltd.Warn && (!ok || f.Action > best.Action) {
			best, ok = f, true
		}
	}
	return best, ok && (best.Shadow || d.Action == best.Action)
}

// reportSteer tells of a steer, and of what came of the ones before.
func (j *Judge) reportSteer(ev *evaluation) {
	d := &ev.decision
	f, ok := d.rung()
	if ok && f.Action == haltd.Steer && ev.newRung {
		e := ev.event(d, haltd.EventSteer, d.Incident)
		e.Shadow = f.Shadow
		if ev.request.Excerpt != nil {
			e.Excerpt = ev.request.Excerpt()
		}
		if !f.Shadow {
			j.meter.Rung(haltd.Steer, f.Check)
		}
		if ev.firstSteer && !f.Shadow {
			i := ev.incident(d, haltd.IncidentSteer, ev.request.Now)
			i.ID = d.Incident
			i.Excerpt = ev.quote(&i)
			j.incidents.Raise(i, e)
		} else {
			j.record(e)
		}
	}
	j.endSteer(ev, ev.request.Now)
}

// endSteer closes the incident of a steer.
func (j *Judge) endSteer(ev *evaluation, now time.Time) {
	if ev.steered == "" {
		return
	}
	note := "The rounds after the note brought something new."
	switch {
	case ev.steerEnd == haltd.IncidentUnmoved:
		note = "It went on repeating itself, and the next rung followed: " + ev.decision.Action.String() + "."
		if ev.decision.Incident != "" && ev.decision.Incident != ev.steered {
			note += " See incident " + ev.decision.Incident + "."
		}
	case ev.turnEnded:
		note = "It ended its turn after the note."
	}
	j.meter.Outcome(ev.steerEnd)
	j.incidents.CloseLater(haltd.Closing{
		ID: ev.steered, Agent: ev.request.Agent, Session: ev.request.Session, Status: ev.steerEnd, By: "haltd", Note: note, At: now.UTC(),
	})
	ev.steered = ""
}

// endsTurn notes a reply without a tool call, after which a steered session
// repeats nothing any more.
func (ev *evaluation) endsTurn(m detection.Memory, reply *haltd.Reply) {
	c := &m.Progress.Climb
	if c.Steers > 0 && c.Rung == haltd.Steer && reply.Complete && reply.Err == "" && len(reply.Calls) == 0 && reply.Text != "" {
		ev.turnEnded = true
		ev.recovers(c)
	}
}

// afterHalt is what is left of a climb when a session was resumed: who was
// halted a short while ago takes the next rung.
func afterHalt(c detection.Climb, now time.Time) detection.Climb {
	if n := len(c.Steps); c.Rung == haltd.Halt && n > 0 && now.Sub(c.Steps[n-1].Time) < haltSpan {
		return detection.Climb{Rung: c.Rung, Steps: c.Steps}
	}
	return detection.Climb{}
}
