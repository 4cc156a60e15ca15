package replay

import (
	"slices"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/detection"
	"github.com/haltd/haltd/internal/economics"
)

// firing is a signal and what it says to a person.
type firing struct {
	haltd.Signal
	sentence string
}

// exportJudge judges the calls of one recorded session, one after the other.
type exportJudge struct {
	set     detection.Settings
	session *recordedSession
	growing detection.Session
}

// replayExports judges every session of the exports.
func replayExports(sessions []*recordedSession, set detection.Settings) []followed {
	outcomes := make([]followed, len(sessions))
	for i, s := range sessions {
		j := exportJudge{set: set, session: s}
		o := &outcomes[i]
		o.Run, o.Source, o.Steps = s.run(), "export", len(s.calls)
		var use economics.Run
		stopped := false
		for n := range s.calls {
			// Who is resumed begins anew, and what it costs is not saved.
			stopped = stopped && !s.resumedBefore(n)
			signals := j.call(n)
			killed := o.KillStep != nil
			var plain []haltd.Signal
			for k := range signals {
				o.take(n+1, &signals[k].Signal, signals[k].sentence)
				stopped = stopped || signals[k].Level >= haltd.LevelKill
				plain = append(plain, signals[k].Signal)
			}
			switch {
			case killed && !o.after.ends():
				o.after.look(plain)
			case !killed && o.KillStep != nil:
				o.after.certain = 1
			}
			use.Add(s.calls[n].tokens.Input+s.calls[n].tokens.Output, stopped)
		}
		o.Tokens, o.Saved = use.Tokens, use.Saved
	}
	return outcomes
}

// call is what the detectors say to the n-th call, the strictest first.
func (j *exportJudge) call(n int) []firing {
	c := &j.session.calls[n]
	if j.session.resumedBefore(n) {
		j.growing = detection.Session{}
	}
	var signals []firing
	if stall, ok := c.finding(haltd.DetectorStall, j.session.agent); ok {
		signals = append(signals, stall)
	}
	if s, ok := j.similarity(c); ok {
		signals = append(signals, s)
	}
	slices.SortStableFunc(signals, func(a, b firing) int { return int(b.Level) - int(a.Level) })
	return append(signals, j.growth(c)...)
}

// similarity compares the recorded score with the threshold.
func (j *exportJudge) similarity(c *recordedCall) (firing, bool) {
	point := haltd.ScorePoint{Score: c.score, Unmet: c.verdict.Unmet}
	if j.set.Stateless || !point.Fires(j.set.Threshold, false) {
		return firing{}, false
	}
	s := haltd.Signal{
		Detector: haltd.DetectorSimilarity, Level: haltd.LevelKill, Score: c.score, Threshold: j.set.Threshold, Parts: &c.verdict.Parts,
	}
	if !point.Fires(j.set.Threshold, j.set.RequireCorroboration) {
		s.Level, s.Unmet = haltd.LevelWarn, c.verdict.Unmet
	}
	if s.Unmet == detection.Advancing {
		return firing{}, false
	}
	return firing{s, s.Sentence(j.session.agent)}, true
}

// growth looks at the tokens that the provider counted.
func (j *exportJudge) growth(c *recordedCall) (signals []firing) {
	reply := detection.ReadReply(&haltd.Reply{Usage: c.tokens, Counted: !c.estimated && c.tokens.Input > 0}, false)
	st := detection.State{Window: &detection.Window{}, Session: &j.growing}
	for _, s := range detection.Observe(j.set, st, 0, detection.Source{Model: c.model}, reply, c.at) {
		s.Session = j.session.session
		signals = append(signals, firing{s, s.Sentence(j.session.agent)})
	}
	return signals
}

// finding is what a detector said to the call when it was recorded: the evidence
// where there is some, else the finding. The findings of the detectors stand
// in the order of their strictness, so that the first has the verdict's level,
// also where a policy only warned of it.
func (c *recordedCall) finding(d haltd.Detector, agent string) (firing, bool) {
	for _, s := range c.verdict.Signals {
		if s.Detector == d {
			return firing{s, s.Sentence(agent)}, true
		}
	}
	first := true
	for _, f := range c.verdict.Findings {
		if f.Check != haltd.CheckStall && f.Check != haltd.CheckSimilarity {
			continue
		}
		level := haltd.LevelWarn
		if f.Action > haltd.Warn || first {
			level = max(level, c.verdict.Level)
		}
		first = false
		if f.Check == haltd.Check(d) {
			return firing{haltd.Signal{Detector: d, Level: level}, f.Sentence}, true
		}
	}
	return firing{}, false
}
