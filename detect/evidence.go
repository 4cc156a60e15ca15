package detect

import (
	"fmt"
	"strconv"
	"strings"
)

// Level is how much a signal asks for.
type Level uint8

// The levels, in order.
const (
	Pass Level = iota
	Warn
	Kill
)

var levelNames = [...]string{"pass", "warn", "kill"}

func (l Level) String() string { return levelNames[l] }

// MarshalText makes a level a word in JSON.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (l *Level) UnmarshalText(b []byte) error {
	for i, name := range levelNames {
		if string(b) == name {
			*l = Level(i)
			return nil
		}
	}
	return fmt.Errorf("level %q is none of pass, warn, kill", b)
}

// Detector names a detector.
type Detector string

// The detectors.
const (
	Similarity Detector = "similarity"
	Stall      Detector = "stall"
	Exact      Detector = "exact"
	Growth     Detector = "growth"
)

// Family is the pattern that stall saw.
type Family string

// The families of stall.
const (
	Repeat  Family = "repeat"  // the same round again and again
	Cycle   Family = "cycle"   // several rounds, again and again
	Futile  Family = "futile"  // different calls, the same failure or the same result
	Chatter Family = "chatter" // words without an act that say nothing new
	Refusal Family = "refusal" // one call refused with the same message, whatever happens between
	Waiting Family = "waiting" // polls whose answer does not change
)

// Streak is the family of similarity that counts equal calls whose users or
// sessions change.
const Streak Family = "streak"

// Signal is one firing of a detector with its evidence, as data that a page
// can draw; Sentence says it in words.
type Signal struct {
	Detector Detector `json:"detector"`
	Family   Family   `json:"family,omitempty"`
	Level    Level    `json:"level"`

	// Score exceeds (similarity) or reaches (stall) Threshold.
	Score     float64 `json:"score"`
	Threshold float64 `json:"threshold"`

	// Certainty is how sure stall is, in percent, with its lines; Reasons are
	// what it rests on, in points that add up to it.
	Certainty float64  `json:"certainty,omitempty"`
	WarnAt    float64  `json:"warn_at,omitempty"`
	KillAt    float64  `json:"kill_at,omitempty"`
	Reasons   []Reason `json:"reasons,omitempty"`

	Tools []string `json:"tools,omitempty"` // the tools that repeat, in order
	Count int      `json:"count,omitempty"` // how often
	// Outcome is what each of them got: error, result or empty result;
	// empty where the answers differ.
	Outcome string `json:"outcome,omitempty"`
	Session string `json:"session,omitempty"`

	Rounds  []RoundEvidence `json:"rounds,omitempty"`  // stall
	Matches []Match         `json:"matches,omitempty"` // similarity
	Parts   *ScoreParts     `json:"parts,omitempty"`   // similarity
	Window  int             `json:"window,omitempty"`  // similarity: calls compared
	Tokens  []int64         `json:"tokens,omitempty"`  // growth
	// Unmet says why what reaches the threshold does not kill.
	Unmet string `json:"unmet,omitempty"`
}

// RoundEvidence is one round that speaks for a stall, or that such a round
// repeats. Rounds with the same letter are equal in what was done and what
// came back.
type RoundEvidence struct {
	Index   int    `json:"index"` // in the conversation, from 0
	Letter  string `json:"letter"`
	Tool    string `json:"tool,omitempty"`
	Outcome string `json:"outcome,omitempty"`
	Act     string `json:"act"`    // digest of tool and arguments
	Result  string `json:"result"` // digest of what came back, volatile tokens masked
	// Certainty is how sure stall was after this round, in percent.
	Certainty float64 `json:"certainty"`
	Family    Family  `json:"family,omitempty"`
}

// Sentence tells a person what happened.
func (s *Signal) Sentence(agent string) string {
	switch s.Detector {
	case Growth:
		return fmt.Sprintf("Prompt tokens of %s grew 1.4 times or more, 3 calls in a row.", s.Session)
	case Exact:
		return fmt.Sprintf("%s sent the same request %d times.", agent, s.Count)
	case Similarity:
		if s.Family == Streak {
			return fmt.Sprintf("%s sent the same prompt %d times in a row and got the same answer, under changing users or sessions.", agent, s.Count)
		}
		return fmt.Sprintf("%s repeats itself: score %s exceeds the threshold of %s in a window of %d calls.",
			agent, figure(s.Score), figure(s.Threshold), s.Window)
	}
	return s.stallSentence(agent)
}

func (s *Signal) stallSentence(agent string) string {
	tool := strings.Join(s.Tools, ", ")
	switch s.Family {
	case Repeat:
		if s.Outcome == "" {
			return fmt.Sprintf("%s called %s %d times with the same arguments, and each call did the same thing again.", agent, tool, s.Count)
		}
		return fmt.Sprintf("%s called %s %d times with the same arguments and got the same %s.", agent, tool, s.Count, s.Outcome)
	case Cycle:
		return fmt.Sprintf("%s repeats %s and nothing changes.", agent, tool)
	case Futile:
		return fmt.Sprintf("%s tried %d different calls and got the same %s.", agent, s.Count, s.Outcome)
	case Chatter:
		return fmt.Sprintf("%s said the same thing %d times without a tool call.", agent, s.Count)
	case Refusal:
		return fmt.Sprintf("%s was refused by %s with the same message %d times, whatever it tried between.", agent, tool, s.Count)
	case Waiting:
		return fmt.Sprintf("%s asked %s %d times and got the same answer; only the clock moved.", agent, tool, s.Count)
	}
	return agent + " makes no progress."
}

// figure writes a score the way the dashboard does: 12.0, 2.5.
func figure(f float64) string { return strconv.FormatFloat(f, 'f', 1, 64) }
