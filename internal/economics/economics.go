// Package economics says what a runaway cost, what stopping it saved, and what
// another threshold or a stop would have saved. It is pure: whoever asks reads
// the record and hands over calls and sums, and times and zones are arguments.
package economics

import (
	"slices"
	"time"

	"github.com/haltd/haltd"
)

// Burned is what the calls cost that speak for an incident.
type Burned struct {
	Cost  haltd.Money
	Calls int
}

// arrival is how long before it was judged a call may have arrived: a long
// body takes its time, and so does a throttle.
const arrival = time.Minute

// Repeats reports whether the evidence of an incident names or counts calls;
// without, Burn finds nothing.
func Repeats(i *haltd.Incident) bool {
	s := i.Verdict.Decisive(i.Detector)
	return s != nil && (s.Count > 0 || len(s.Matches) > 0)
}

// Burn sums the calls that speak for an incident: those its evidence names,
// else as many of the last calls as it counts; of a streak, which is longer than
// the window that its evidence is from, always the count. calls are those of its
// session, or of its agent where OfAgent says so, up to the incident, the newest
// first.
func Burn(i *haltd.Incident, calls []haltd.Event) Burned {
	if !Repeats(i) {
		return Burned{}
	}
	s := i.Verdict.Decisive(i.Detector)
	repeating := calls[:min(s.Count, len(calls))]
	if len(s.Matches) > 0 && s.Family != haltd.FamilyStreak {
		repeating = matched(calls, s.Matches)
	}
	return Burned{Cost: Cost(repeating), Calls: len(repeating)}
}

// OfAgent reports whether the calls that speak for an incident may be of other
// sessions of its agent: similarity compares them where the window is the
// agent's, and counts a streak under changing sessions.
func OfAgent(i *haltd.Incident) bool {
	s := i.Verdict.Decisive(i.Detector)
	return s != nil && s.Detector == haltd.DetectorSimilarity && (s.Family == haltd.FamilyStreak || i.Settings.KillSwitch.WindowScope == haltd.ScopeAgent)
}

// Cost sums what events cost.
func Cost(events []haltd.Event) (sum haltd.Money) {
	for i := range events {
		sum += events[i].Cost
	}
	return sum
}

// matched finds the calls that evidence names by the time at which they were
// judged: each is the last that had arrived by then.
func matched(calls []haltd.Event, matches []haltd.Match) []haltd.Event {
	var found []haltd.Event
	taken := map[haltd.EventID]bool{}
	for _, m := range slices.Backward(matches) {
		for _, c := range calls {
			if c.Time.After(m.Time) || taken[c.ID] {
				continue
			}
			if m.Time.Sub(c.Time) <= arrival {
				taken[c.ID] = true
				found = append(found, c)
			}
			break
		}
	}
	return found
}

// Run adds up the tokens of a run, and those that a stop would have saved: the
// tokens of the stopped call and of all after it.
type Run struct {
	Tokens, Saved int64
}

// Add takes the next call of the run; stopped says that the run would have
// ended with it or before.
func (r *Run) Add(tokens int64, stopped bool) {
	r.Tokens += tokens
	if stopped {
		r.Saved += tokens
	}
}

// Plus is what two runs add up to.
func (r Run) Plus(other Run) Run { return Run{r.Tokens + other.Tokens, r.Saved + other.Saved} }

// Share is how much of the tokens would have been saved, from 0 to 1.
func (r Run) Share() float64 {
	if r.Tokens == 0 {
		return 0
	}
	return float64(r.Saved) / float64(r.Tokens)
}
