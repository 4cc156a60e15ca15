package replay

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/haltd/haltd"
)

// exportNote says what a replay of an export is worth.
const exportNote = "An export holds no texts. Similarity is judged anew from the recorded scores and growth from the recorded tokens; " +
	"stall is told as it was recorded. Another window_size, and what a stopped session would have done next, cannot be replayed."

// recordedSession is one session of an export.
type recordedSession struct {
	agent, session string
	calls          []recordedCall // as they arrived
	resumes        []time.Time    // when somebody let it go on
}

// run is the session's name as a run.
func (s *recordedSession) run() string { return s.agent + "/" + s.session }

// recordedCall is what an export tells of one call.
type recordedCall struct {
	id        haltd.EventID
	at        time.Time
	model     string
	tokens    haltd.Usage
	estimated bool
	blocked   bool
	score     float64
	// verdict is that of its event. The event of a call has no evidence, but
	// an event beside it has, the first time that its level is reached.
	verdict haltd.Verdict
}

// loadExports reads exports, in which the newest events stand first. An event
// that is in several of them counts once.
func loadExports(paths []string) ([]*recordedSession, error) {
	type name struct{ agent, session string }
	sessions := map[name]*recordedSession{}
	beside := map[name][]recordedCall{}
	resumed := map[string][]haltd.Event{}
	seen := map[haltd.EventID]bool{}
	for _, path := range paths {
		err := eachLine(path, func(line []byte) error {
			var e haltd.Event
			if err := json.Unmarshal(line, &e); err != nil {
				return fmt.Errorf("reading an event: %w", err)
			}
			if e.Audit != nil && e.Audit.Change == haltd.ChangeActivated {
				resumed[e.Agent] = append(resumed[e.Agent], e)
				return nil
			}
			call, tells := isCall(&e), hasEvidence(&e)
			if seen[e.ID] || !call && !tells {
				return nil
			}
			seen[e.ID] = true
			c := recordedCallOf(&e)
			n := name{e.Agent, e.Session}
			if !call {
				beside[n] = append(beside[n], c)
				return nil
			}
			if sessions[n] == nil {
				sessions[n] = &recordedSession{agent: e.Agent, session: e.Session}
			}
			sessions[n].calls = append(sessions[n].calls, c)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	var all []*recordedSession
	for n, s := range sessions {
		slices.SortFunc(s.calls, func(a, b recordedCall) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.id, b.id)) })
		for _, e := range beside[n] {
			s.addEvidence(&e)
		}
		for _, e := range resumed[s.agent] {
			if e.Resumes(s.session) {
				s.resumes = append(s.resumes, e.Time)
			}
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *recordedSession) int { return cmp.Compare(a.run(), b.run()) })
	return all, nil
}

// resumedBefore reports whether somebody let the session go on between the
// n-th call and the one before it.
func (s *recordedSession) resumedBefore(n int) bool {
	return n > 0 && slices.ContainsFunc(s.resumes, func(at time.Time) bool {
		return at.After(s.calls[n-1].at) && !at.After(s.calls[n].at)
	})
}

// isCall reports an event that stands for one LLM request. Paths that pass
// through have no format, and calls that an agent reported itself stand in an
// event of their own beside that of a kill.
func isCall(e *haltd.Event) bool {
	switch e.Type {
	case haltd.EventCall:
		return true
	case haltd.EventBlocked, haltd.EventKillSwitch, haltd.EventHalt:
		return e.Format != ""
	case haltd.EventError: // was it sent at all?
		return e.Tokens != haltd.Usage{}
	}
	return false
}

// hasEvidence reports an event that tells of the verdict on a call.
func hasEvidence(e *haltd.Event) bool {
	return e.Type == haltd.EventWarning || e.Type == haltd.EventKillSwitch || e.Type == haltd.EventHalt
}

func recordedCallOf(e *haltd.Event) recordedCall {
	c := recordedCall{
		id: e.ID, at: e.Time, model: e.Model, tokens: e.Tokens, estimated: e.Estimated, blocked: e.Blocked, score: e.Score,
	}
	if e.Verdict != nil {
		c.verdict = *e.Verdict
	}
	return c
}

// addEvidence gives the evidence of an event to the call that it tells of: the
// last before it with the same verdict.
func (s *recordedSession) addEvidence(e *recordedCall) {
	for i := len(s.calls) - 1; i >= 0; i-- {
		c := &s.calls[i]
		if !c.at.After(e.at) && c.verdict.Level == e.verdict.Level && c.verdict.Parts == e.verdict.Parts {
			if c.verdict.Signals == nil {
				c.verdict.Signals = e.verdict.Signals
			}
			return
		}
	}
}
