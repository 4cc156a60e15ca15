package table

import (
	"encoding/json"

	"github.com/haltd/haltd"
)

// recorded is what stands as the verdict in a row, for reading it. Rows from before verdicts
// were typed hold them without a version, and those of policy_change events an
// audit in their place.
type recorded struct {
	verdict *haltd.Verdict
	audit   *haltd.Audit
}

// UnmarshalJSON reads every shape that was ever written. A field that this
// haltd cannot read, or a version that it does not know, must not hide the row
// that has it: then the words are kept.
func (r *recorded) UnmarshalJSON(b []byte) error {
	var read struct {
		haltd.Verdict
		Change string `json:"change"`
	}
	err := json.Unmarshal(b, &read)
	switch {
	case string(b) == "null":
	case err == nil && read.Change == "" && read.Version > haltd.VerdictVersion:
		return r.readWords(b)
	case err == nil && read.Change == "":
		r.verdict = &read.Verdict
		// Findings of budgets had a period when they had no place for it yet.
		for i := range r.verdict.Findings {
			if f := &r.verdict.Findings[i]; f.Check == haltd.CheckBudget && f.Period == "" {
				f.Period = haltd.Period(f.Name)
			}
		}
	case err == nil:
		r.audit = &haltd.Audit{}
		if json.Unmarshal(b, r.audit) == nil {
			return nil
		}
		fallthrough
	default:
		return r.readWords(b)
	}
	return nil
}

// readWords reads what a person needs most.
func (r *recorded) readWords(b []byte) error {
	var words struct{ Sentence, Change, By, Why, Subject string }
	if json.Unmarshal(b, &words) != nil {
		return nil
	}
	if words.Change != "" {
		r.audit = &haltd.Audit{Change: words.Change, By: words.By, Why: words.Why, Subject: words.Subject}
	} else {
		r.verdict = &haltd.Verdict{Sentence: words.Sentence}
	}
	return nil
}

// ReadVerdict reads the verdict of an incident; nil where it has none.
func ReadVerdict(text string) *haltd.Verdict {
	var r recorded
	_ = r.UnmarshalJSON([]byte(text)) // what cannot be read is left out
	return r.verdict
}
