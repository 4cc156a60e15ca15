package detection

import "github.com/haltd/haltd"

// What the detectors report are words of the whole house, under the names
// that this package calls them by.
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

// The detectors.
const (
	Similarity = haltd.DetectorSimilarity
	Stall      = haltd.DetectorStall
	Exact      = haltd.DetectorExact
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
