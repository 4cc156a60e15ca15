package judge

import (
	"encoding/json"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/detect"
)

// Record is a verdict as it stands in an event.
type Record struct {
	Action   haltd.Action      `json:"action"`
	Level    detect.Level      `json:"level"`
	Sentence string            `json:"sentence,omitempty"`
	Score    float64           `json:"score"`
	Parts    detect.ScoreParts `json:"parts"`
	// Certainty is how sure stall is, in percent.
	Certainty float64         `json:"certainty"`
	Unmet     string          `json:"unmet,omitempty"` // what the score lacks to be corroborated
	Grace     bool            `json:"grace,omitempty"`
	Bypass    bool            `json:"bypass,omitempty"`
	Findings  []haltd.Finding `json:"findings,omitempty"`
	// Signals is the evidence. It stands in the event that tells of a
	// verdict, not in that of every call.
	Signals []detect.Signal `json:"signals,omitempty"`
}

// Brief is the verdict for the event of its call; nil when there is nothing
// to say.
func (d *Decision) Brief() json.RawMessage {
	if len(d.Findings) == 0 && d.Detected.Level == detect.Pass && d.Detected.Parts.Score() == 0 && d.Detected.Certainty < 5 {
		return nil
	}
	r := d.record()
	r.Signals = nil
	return encode(r)
}

// Full is the verdict with its evidence.
func (d *Decision) Full() json.RawMessage { return encode(d.record()) }

func (d *Decision) record() Record {
	v := &d.Detected
	r := Record{
		Action: d.Action, Level: v.Level, Score: v.Parts.Score(), Parts: v.Parts, Certainty: v.Certainty, Unmet: v.Unmet,
		Grace: d.Grace, Bypass: d.Bypass, Findings: d.Findings, Signals: v.Signals, Sentence: d.Sentence,
	}
	if r.Sentence == "" && len(v.Signals) > 0 {
		r.Sentence = v.Signals[0].Sentence(d.Agent)
	}
	return r
}

func encode(r Record) json.RawMessage {
	b, err := json.Marshal(r)
	if err != nil { // only a NaN could, and none is ever computed
		return nil
	}
	return b
}

// Describe puts the verdict into the event of its request.
func (d *Decision) Describe(e *haltd.Event) {
	e.Verdict, e.Score, e.Incident = d.Brief(), d.Detected.Parts.Score(), d.Incident
	if d.Action.Stops() {
		e.Blocked, e.BlockReason = true, d.Reason
	}
	e.Tags = nil
	for _, f := range d.Findings {
		if f.Check == "rule" {
			e.Rule = f.Name
		}
		if f.Tag != "" {
			e.Tags = append(e.Tags, f.Tag)
		}
	}
}
