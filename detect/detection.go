package detect

import (
	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/detection"
)

// Detection is what the detectors make of one call.
type Detection struct {
	Level   Level    // what to do: Pass, Warn or Kill
	Signals []Signal // why, the strictest first; none where the level is Pass
	// Certainty is how sure stall is, in percent, fired or not.
	Certainty float64
	// Parts is the similarity score, fired or not, and Unmet what it lacks to be
	// corroborated; "" when nothing.
	Parts ScoreParts
	Unmet string
	// Basis is what there was to go by.
	Basis haltd.Basis
}

func detectionOf(d detection.Detection) Detection {
	return Detection{Level: d.Level, Signals: d.Signals, Certainty: d.Certainty, Parts: d.Parts, Unmet: d.Unmet, Basis: d.Basis}
}

// Sentence says in one sentence why a detection asks for more than to pass; ""
// where it does not.
func (d *Detection) Sentence(agent string) string {
	if len(d.Signals) == 0 {
		return ""
	}
	return d.Signals[0].Sentence(agent)
}

// What the detectors report are words of package haltd, under the names that
// this package calls them by.
type (
	// Level is how much a signal asks for.
	Level = haltd.Level
	// Detector names a detector.
	Detector = haltd.Detector
	// Family is the pattern that a detector saw.
	Family = haltd.Family
	// Signal is one firing of a detector with its evidence.
	Signal = haltd.Signal
	// Reason is one thing that speaks for a stall, or against it.
	Reason = haltd.Contribution
	// RoundEvidence is one round that speaks for a stall.
	RoundEvidence = haltd.RoundEvidence
	// Match is an earlier call of the window that is like the newest.
	Match = haltd.Match
	// ScoreParts is how a similarity score came about.
	ScoreParts = haltd.ScoreParts
)

// The levels, in order.
const (
	Pass = haltd.LevelPass
	Warn = haltd.LevelWarn
	Kill = haltd.LevelKill
)

// The detectors of a guard.
const (
	Similarity = haltd.DetectorSimilarity
	Stall      = haltd.DetectorStall
	Growth     = haltd.DetectorGrowth
)

// The families of stall, and Streak, which is similarity's.
const (
	Repeat  = haltd.FamilyRepeat
	Cycle   = haltd.FamilyCycle
	Futile  = haltd.FamilyFutile
	Chatter = haltd.FamilyChatter
	Refusal = haltd.FamilyRefusal
	Waiting = haltd.FamilyWaiting
	Streak  = haltd.FamilyStreak
)
