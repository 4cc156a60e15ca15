package judge

import (
	"slices"

	"github.com/haltd/haltd"
)

// Brief is the verdict for the event of its call, without the evidence; nil
// when there is nothing to say.
func (d *Decision) Brief() *haltd.Verdict {
	if len(d.Findings) == 0 && d.Detected.Level == haltd.LevelPass && d.Detected.Parts.Score() == 0 && d.Detected.Certainty < 5 {
		return nil
	}
	return d.value()
}

// Full is the verdict with its evidence and what it rests on.
func (d *Decision) Full() *haltd.Verdict {
	out := d.value()
	out.Signals, out.Rungs = d.Detected.Signals, d.Rungs
	if b := d.Detected.Basis; b != (haltd.Basis{}) {
		out.Basis = &b
	}
	return out
}

func (d *Decision) value() *haltd.Verdict {
	v := &d.Detected
	out := &haltd.Verdict{
		Version: haltd.VerdictVersion,
		Action:  d.Action, Check: d.Check, Reason: d.Reason, Sentence: d.Sentence,
		Level: v.Level, Score: v.Parts.Score(), Parts: v.Parts, Certainty: v.Certainty, Unmet: v.Unmet,
		Grace: d.Grace, Bypass: d.Bypass, Findings: slices.Clip(d.Findings), // more may be found later
	}
	if out.Sentence == "" && len(v.Signals) > 0 {
		out.Sentence = v.Signals[0].Sentence(d.Agent)
	}
	return out
}

// Describe puts the verdict into the event of its request.
func (d *Decision) Describe(e *haltd.Event) {
	e.Verdict, e.Score, e.Incident = d.Brief(), d.Detected.Parts.Score(), d.Incident
	if d.Action.Stops() {
		e.Blocked, e.BlockReason = true, d.Reason
	}
	e.Tags = nil
	for _, f := range d.Findings {
		if f.Check == haltd.CheckRule {
			e.Rule = f.Name
		}
		if f.Tag != "" {
			e.Tags = append(e.Tags, f.Tag)
		}
	}
}
