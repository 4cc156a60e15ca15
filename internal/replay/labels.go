package replay

import (
	"encoding/json"
	"fmt"
)

// Label is what is known about how a run went.
type Label struct {
	Run    string
	Source string
	Group  string // stuck, healthy, wasteful, recovered, capped_chat, failed_norep, …
	Read   bool   // by a reader, not by the rule
	// Confidence is how sure the reader was, from 0 to 1; 0 without one.
	Confidence float64
	// Onset is the step at which useless repetition begins,
	// Confirm the step that proves the repetition by the rule, Stop the
	// step at which a reader would have stopped the run; nil where there is
	// none.
	Onset, Confirm, Stop *int
	Solved               bool // the run reached its goal
}

// LoadLabels reads files of labels, by rule and by reading. The reader's
// label wins wherever a run has one.
func LoadLabels(paths []string) (map[string]Label, error) {
	labels := map[string]Label{}
	for _, path := range paths {
		err := eachLine(path, func(line []byte) error {
			var l struct {
				Run, Source, Label, Verdict string
				Onset, Confirm, Stop        *int
				Confidence                  float64
				Solved                      *bool
			}
			if err := json.Unmarshal(line, &l); err != nil {
				return fmt.Errorf("reading a label: %w", err)
			}
			have := labels[l.Run]
			have.Run = l.Run
			if l.Source != "" {
				have.Source = l.Source
			}
			if l.Verdict != "" {
				have.Group, have.Read, have.Onset, have.Stop, have.Confidence = l.Verdict, true, l.Onset, l.Stop, l.Confidence
			} else {
				have.Confirm, have.Solved = l.Confirm, l.Solved != nil && *l.Solved
				if !have.Read {
					have.Group, have.Onset = l.Label, l.Onset
				}
			}
			labels[l.Run] = have
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return labels, nil
}
