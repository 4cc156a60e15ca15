package economics

import (
	"slices"
	"time"

	"github.com/haltd/haltd"
)

// lookBack is how many days of other sessions a threshold is tried on.
const lookBack = 30

// LookBack is since when other sessions are looked at.
func LookBack(now time.Time) time.Time { return now.AddDate(0, 0, -lookBack) }

// Fired is where another threshold would have fired in the session of an
// incident.
type Fired struct {
	First haltd.ScorePoint
	// Earlier is how many calls before the one of the incident that is; the
	// calls from First up to it would have been saved.
	Earlier int
}

// Try finds the first call of an incident's session that the threshold would
// have stopped, by the rules that held for the incident: a score that nothing
// corroborated stops nobody. ok is false where there is none. scores are those of the session,
// oldest first, and resumes when somebody let it go on: what came before the
// last of them, and what came after the next one, is another story.
func Try(i *haltd.Incident, scores []haltd.ScorePoint, resumes []time.Time, threshold float64) (f Fired, ok bool) {
	scores = slices.DeleteFunc(slices.Clone(scores), func(p haltd.ScorePoint) bool {
		return slices.ContainsFunc(resumes, func(at time.Time) bool { return p.Time.Before(at) != i.Time.Before(at) })
	})
	at := slices.IndexFunc(scores, func(p haltd.ScorePoint) bool {
		return p.Fires(threshold, i.Settings.KillSwitch.RequireCorroboration)
	})
	if at < 0 {
		return f, false
	}
	f.First = scores[at]
	// The last call that had arrived by then is the incident's own; its event
	// may have been written before or after that of the incident.
	arrived := 0
	for _, p := range scores[at:] {
		if !p.Time.After(i.Time) {
			arrived++
		}
	}
	f.Earlier = max(arrived-1, 0)
	return f, true
}

// Others leaves the session of the incident out of where a threshold would
// have fired, and keeps the first most.
func Others(i *haltd.Incident, peaks []haltd.ScorePoint, most int) []haltd.ScorePoint {
	others := []haltd.ScorePoint{}
	for _, p := range peaks {
		if (p.Agent != i.Agent || p.Session != i.Session) && len(others) < most {
			others = append(others, p)
		}
	}
	return others
}
