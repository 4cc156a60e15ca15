package judge

import (
	"strings"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/detection"
)

const (
	// maxQuoted bounds the rounds that an incident quotes; the newest stay.
	maxQuoted = 24
	// lastQuoted is how many rounds are quoted where the evidence names calls
	// of a window, which the request does not hold, and no rounds.
	lastQuoted = 6
	// maxQuotedCalls bounds the tool calls of one round.
	maxQuotedCalls = 8
)

// quote is what proves an incident, in the words of the request; nil where
// nothing is kept.
func (ev *evaluation) quote(i *haltd.Incident) *haltd.IncidentExcerpt {
	r := ev.request
	if r.Quote == nil || r.Call == nil || i.Verdict == nil {
		return nil
	}
	r.readWhole()
	prompt, _ := r.Call.Newest()
	e := &haltd.IncidentExcerpt{Prompt: prompt, Rounds: []haltd.RoundExcerpt{}}
	sent := detection.SentRounds(r.Call)
	known := max(len(sent), ev.decision.Detected.Basis.Rounds)
	for _, index := range provingRounds(i, known) {
		// The rounds of the request are the newest of those that are known.
		if at := index - (known - len(sent)); at >= 0 && at < len(sent) {
			e.Rounds = append(e.Rounds, quoteRound(&sent[at], index))
		}
	}
	r.Quote(e)
	return e
}

// provingRounds are the indexes of the rounds that the evidence of an incident
// names, oldest first; the last ones where it names none.
func provingRounds(i *haltd.Incident, known int) (indexes []int) {
	if s := i.Verdict.Decisive(i.Detector); s != nil && len(s.Rounds) > 0 {
		for _, round := range s.Rounds[max(0, len(s.Rounds)-maxQuoted):] {
			indexes = append(indexes, round.Index)
		}
		return indexes
	}
	for at := max(0, known-lastQuoted); at < known; at++ {
		indexes = append(indexes, at)
	}
	return indexes
}

func quoteRound(r *haltd.Round, index int) haltd.RoundExcerpt {
	q := haltd.RoundExcerpt{Index: index, Said: r.Text}
	for k := range r.Calls[:min(len(r.Calls), maxQuotedCalls)] {
		c := &r.Calls[k]
		quoted := haltd.CallExcerpt{Tool: c.Name, Arguments: c.Arguments}
		if result := resultOf(r, k); result != nil {
			quoted.Result, quoted.Error = result.Text, result.Error
		}
		q.Calls = append(q.Calls, quoted)
	}
	var texts []string
	for k := range r.Inputs {
		texts = append(texts, r.Inputs[k].Text)
	}
	q.Answer = strings.Join(texts, "\n")
	return q
}

// resultOf is the result of the k-th call of a round, by its id, else by its
// place.
func resultOf(r *haltd.Round, k int) *haltd.ToolResult {
	for n := range r.Results {
		if id := r.Results[n].CallID; id != "" && id == r.Calls[k].ID {
			return &r.Results[n]
		}
	}
	if k < len(r.Results) && (r.Results[k].CallID == "" || r.Calls[k].ID == "") {
		return &r.Results[k]
	}
	return nil
}
