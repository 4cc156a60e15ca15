package haltd

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Level is how much a signal asks for.
type Level uint8

// The levels, in order.
const (
	LevelPass Level = iota
	LevelWarn
	LevelKill
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
	DetectorSimilarity Detector = "similarity"
	DetectorStall      Detector = "stall"
	DetectorExact      Detector = "exact"
	DetectorGrowth     Detector = "growth"
)

// Family is the pattern that a detector saw.
type Family string

// The families: the first six are stall's, the last is similarity's.
const (
	FamilyRepeat  Family = "repeat"  // the same round again and again
	FamilyCycle   Family = "cycle"   // several rounds, again and again
	FamilyFutile  Family = "futile"  // different calls, the same failure or the same result
	FamilyChatter Family = "chatter" // words without an act that say nothing new
	FamilyRefusal Family = "refusal" // one call refused with the same message, whatever happens between
	FamilyWaiting Family = "waiting" // polls whose answer does not change
	FamilyStreak  Family = "streak"  // equal calls whose users or sessions change
)

// Signal is one firing of a detector with its evidence, as data that a page
// can draw; Sentence says it in words.
type Signal struct {
	Detector Detector `json:"detector"`
	Family   Family   `json:"family,omitempty"`
	Level    Level    `json:"level" enum:"pass,warn,kill"`

	// Score exceeds (similarity) or reaches (stall) Threshold.
	Score     float64 `json:"score"`
	Threshold float64 `json:"threshold"`

	// Certainty is how sure stall is, in percent, with its lines; Reasons are
	// what it rests on, in points that add up to it.
	Certainty float64        `json:"certainty,omitempty" doc:"How sure stall is, in percent."`
	WarnAt    float64        `json:"warn_at,omitempty"`
	KillAt    float64        `json:"kill_at,omitempty"`
	Reasons   []Contribution `json:"reasons,omitempty" doc:"What the certainty rests on, in points that add up to it."`

	Tools []string `json:"tools,omitempty" doc:"The tools that repeat, in order."`
	Count int      `json:"count,omitempty" doc:"How often."`
	// Outcome is what each of them got: error, result or empty result;
	// empty where the answers differ.
	Outcome string `json:"outcome,omitempty"`
	Session string `json:"session,omitempty"`

	Rounds  []RoundEvidence `json:"rounds,omitempty" doc:"Of stall."`
	Matches []Match         `json:"matches,omitempty" doc:"Of similarity."`
	Parts   *ScoreParts     `json:"parts,omitempty" doc:"Of similarity."`
	Window  int             `json:"window,omitempty" doc:"Of similarity: how many calls were compared."`
	Tokens  []int64         `json:"tokens,omitempty" doc:"Of growth: the prompt tokens that were compared."`
	// Unmet says why what reaches the threshold does not kill.
	Unmet string `json:"unmet,omitempty" doc:"Why what reaches the threshold does not kill."`
}

// Contribution is one thing that speaks for a stall, or against it, and how
// much.
type Contribution struct {
	Name   string `json:"name"`
	Family Family `json:"family,omitempty"`
	Text   string `json:"text"`
	Points int    `json:"points" doc:"Below zero where it speaks against."`
}

// RoundEvidence is one round that speaks for a stall, or that such a round
// repeats. Rounds with the same letter are equal in what was done and what
// came back.
type RoundEvidence struct {
	Index   int    `json:"index" doc:"In the conversation, from 0."`
	Letter  string `json:"letter"`
	Tool    string `json:"tool,omitempty"`
	Outcome string `json:"outcome,omitempty"`
	Act     string `json:"act" doc:"Digest of tool and arguments."`
	Result  string `json:"result" doc:"Digest of what came back, volatile tokens masked."`
	// Certainty is how sure stall was after this round, in percent.
	Certainty float64 `json:"certainty"`
	Family    Family  `json:"family,omitempty"`
}

// Match is an earlier call of the window that is like the newest: its prompt
// like the prompt of this request, its reply like the latest reply. A
// distance is -1 where that part does not match.
type Match struct {
	Entry            uint64    `json:"entry"`
	Time             time.Time `json:"time"`
	PromptDistance   int       `json:"prompt_distance"`
	ResponseDistance int       `json:"response_distance"`
	SameTools        bool      `json:"same_tools"`
}

// ScoreParts is how a similarity score came about.
type ScoreParts struct {
	Prompts   int `json:"similar_prompts"`
	Responses int `json:"similar_responses"`
	ToolCalls int `json:"repeated_tool_calls"`
}

// Score is similar_prompts × 1.0 + similar_responses × 2.0 +
// repeated_tool_calls × 1.5, as the kill switch was specified.
func (p ScoreParts) Score() float64 {
	return 1.0*float64(p.Prompts) + 2.0*float64(p.Responses) + 1.5*float64(p.ToolCalls)
}

// counted says what is alike, the newest call among it.
func (p ScoreParts) counted() string {
	var said []string
	for _, c := range [...]struct {
		earlier int
		format  string
	}{{p.Prompts, "%d similar prompts"}, {p.Responses, "%d similar replies"}, {p.ToolCalls, "the same tool call %d times"}} {
		if c.earlier > 0 {
			said = append(said, fmt.Sprintf(c.format, c.earlier+1))
		}
	}
	last := len(said) - 1
	if last == 0 {
		return said[0]
	}
	return strings.Join(said[:last], ", ") + " and " + said[last]
}

// LastRoundRepeats reports whether the newest round that the signal shows
// repeats something. Only stall shows rounds.
func (s *Signal) LastRoundRepeats() bool {
	n := len(s.Rounds)
	return n > 0 && s.Rounds[n-1].Family != ""
}

// Sentence tells a person what happened.
func (s *Signal) Sentence(agent string) string {
	switch s.Detector {
	case DetectorGrowth:
		return fmt.Sprintf("Prompt tokens of %s grew 1.4 times or more, 3 calls in a row.", s.Session)
	case DetectorExact:
		return fmt.Sprintf("%s sent the same request %d times.", agent, s.Count)
	case DetectorSimilarity:
		if s.Family == FamilyStreak {
			return fmt.Sprintf("%s sent the same prompt %d times in a row and got the same answer, under changing users or sessions.", agent, s.Count)
		}
		if s.Parts != nil && *s.Parts != (ScoreParts{}) {
			return agent + " repeats itself: " + s.Parts.counted() + "."
		}
		sentence := fmt.Sprintf("%s repeats itself: score %s exceeds the threshold of %s", agent, figure(s.Score), figure(s.Threshold))
		if s.Window > 0 { // which the verdict of a call does not tell
			sentence += fmt.Sprintf(" in a window of %d calls", s.Window)
		}
		return sentence + "."
	}
	return s.stallSentence(agent)
}

func (s *Signal) stallSentence(agent string) string {
	tool := strings.Join(s.Tools, ", ")
	switch s.Family {
	case FamilyRepeat:
		if s.Outcome == "" {
			return fmt.Sprintf("%s called %s %d times with the same arguments, and each call did the same thing again.", agent, tool, s.Count)
		}
		return fmt.Sprintf("%s called %s %d times with the same arguments and got the same %s.", agent, tool, s.Count, s.Outcome)
	case FamilyCycle:
		return fmt.Sprintf("%s repeats %s and nothing changes.", agent, tool)
	case FamilyFutile:
		return fmt.Sprintf("%s tried %d different calls and got the same %s.", agent, s.Count, s.Outcome)
	case FamilyChatter:
		return fmt.Sprintf("%s said the same thing %d times without a tool call.", agent, s.Count)
	case FamilyRefusal:
		return fmt.Sprintf("%s was refused by %s with the same message %d times, whatever it tried in between.", agent, tool, s.Count)
	case FamilyWaiting:
		return fmt.Sprintf("%s asked %s %d times and got the same answer; only the clock moved.", agent, tool, s.Count)
	}
	return agent + " makes no progress."
}

// Advice tells a model what it repeats and what came of it, and what to do
// instead. Tool names are the model's own words, and are cut short.
func (s *Signal) Advice() string {
	tool := "the same calls"
	if len(s.Tools) > 0 {
		names := slices.Clone(s.Tools[:min(len(s.Tools), 4)])
		for i := range names {
			names[i] = strings.ToValidUTF8(names[i][:min(len(names[i]), 64)], "")
		}
		tool = strings.Join(names, ", ")
	}
	what := "you have repeated " + tool + " and nothing has changed"
	switch {
	case s.Family == FamilyRepeat && s.Outcome != "":
		what = fmt.Sprintf("you have called %s %d times with the same arguments and got the same %s each time", tool, s.Count, s.Outcome)
	case s.Family == FamilyRepeat:
		what = fmt.Sprintf("you have called %s %d times with the same arguments, and it did the same thing each time", tool, s.Count)
	case s.Family == FamilyFutile && s.Outcome != "":
		what = fmt.Sprintf("you have tried %d different calls and got the same %s each time", s.Count, s.Outcome)
	case s.Family == FamilyRefusal:
		what = fmt.Sprintf("%s has refused you with the same message %d times", tool, s.Count)
	case s.Family == FamilyWaiting:
		what = fmt.Sprintf("you have asked %s %d times and got the same answer", tool, s.Count)
	}
	return "[Note by haltd, the gateway of your operator: " + what +
		". Doing it again will not change the result. Try something different, or stop and say what you need.]"
}

// figure writes a score the way the dashboard does: 12.0, 2.5.
func figure(f float64) string { return strconv.FormatFloat(f, 'f', 1, 64) }
