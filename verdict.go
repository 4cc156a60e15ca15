package haltd

import (
	"fmt"
	"slices"
	"time"
)

// Action is what a verdict does to a request, the mildest first.
type Action uint8

// The actions, in order of strictness. Steer changes the request and lets it
// pass. Block, Halt and Kill answer with the standard inactive answer; Halt
// stops a session until a person writes to it, Kill an agent or session until
// somebody resumes it.
const (
	Allow Action = iota
	Warn
	Throttle
	Steer
	Reject
	Block
	Halt
	Kill
)

var actionNames = []string{"allow", "warn", "throttle", "steer", "reject", "block", "halt", "kill"}

func (a Action) String() string { return actionNames[a] }

// Stops reports whether the request is not forwarded.
func (a Action) Stops() bool { return a >= Reject }

// MarshalText makes an action a word in JSON and YAML.
func (a Action) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (a *Action) UnmarshalText(b []byte) error {
	i := slices.Index(actionNames, string(b))
	if i < 0 {
		return fmt.Errorf("action %q is none of %v", b, actionNames)
	}
	*a = Action(i)
	return nil
}

// Reason is the stable word for why a request was not simply allowed. It is
// the X-Haltd-Reason of the answer and the block_reason of the event.
type Reason string

// The reasons of verdicts.
const (
	ReasonKilled  Reason = "kill_switch"     // the agent or session was killed earlier
	ReasonHalted  Reason = "halted"          // the turn was ended; a message of a person goes on
	ReasonManual  Reason = "manual"          // a person switched the agent off
	ReasonBudget  Reason = "budget_exceeded" // a hard budget is spent
	ReasonSoft    Reason = "budget_soft"     // a soft budget is spent; only told
	ReasonHours   Reason = "outside_hours"
	ReasonRate    Reason = "rate_limited"
	ReasonRule    Reason = "rule"
	ReasonLoop    Reason = "loop_detected"    // similarity, stall or exact
	ReasonSession Reason = "session_exceeded" // a limit of one session or turn is reached
	ReasonGrowth  Reason = "growth"           // only told
	ReasonUnsaved Reason = "not_durable"      // what had to be written first could not be
)

// Finding is what one check says to a request.
type Finding struct {
	Check    Check  `json:"check" enum:"inactive,budget,hours,rate,rule,exact,session,similarity,stall,growth"`
	Action   Action `json:"action" enum:"allow,warn,throttle,steer,reject,block,halt,kill"`
	Reason   Reason `json:"reason"`
	Sentence string `json:"sentence"`
	// Name is the rule, the policy, the rate limit or the session limit that the
	// check went by. That of a budget is its period, which readers of the API
	// know from there.
	Name   string `json:"name,omitempty"`
	Period Period `json:"period,omitempty" enum:"day,month" doc:"Of a budget: day or month."`
	// Shadow says that nothing is done: the check only tells what it would
	// have done.
	Shadow     bool     `json:"shadow,omitempty"`
	RetryAfter int      `json:"retry_after_seconds,omitempty"` // reject
	Delay      Duration `json:"delay_ms,omitempty"`            // throttle
	Tag        string   `json:"tag,omitempty"`                 // of a rule that tags
	Note       string   `json:"note,omitempty" doc:"Of a steer: what was added to the request."`
	// Spent is how much was spent when a budget was reached.
	Spent *Spending `json:"spent,omitempty" doc:"Of a budget that was reached: what had been spent."`
	// Left and Asked are of a budget that is not spent, but has too little
	// left for the call.
	Left  *Spending `json:"left,omitempty" doc:"Of a budget that has too little left for the call: what is left."`
	Asked *Spending `json:"asked,omitempty" doc:"Of a budget that has too little left for the call: what the call would have reserved."`
	Key   string    `json:"key,omitempty" doc:"Of the budget of a gateway key: the name of the key."`
}

// Strictest is the finding that decides: the strictest that is no shadow, the
// first of equals. ok is false when nothing but shadows was found.
func Strictest(findings []Finding) (f Finding, ok bool) {
	for _, g := range findings {
		if !g.Shadow && (!ok || g.Action > f.Action) {
			f, ok = g, true
		}
	}
	return f, ok
}

// VerdictVersion is that of the verdicts made now. It grows when a field
// changes its meaning, not when one is added; what was recorded before verdicts
// had one is version 0. Of a newer version, which a later haltd wrote, only the
// sentence is read: the rest may mean something else there.
const VerdictVersion = 1

// Verdict is what was decided about a request and why, as the record keeps it
// and everybody reads it. It is a value: nothing is settled or released by it.
type Verdict struct {
	Version int `json:"version" doc:"Of this shape; 0 in what was recorded before it had one."`

	// Action, Check, Reason and Sentence are the decision: those of the
	// finding that counts. Where nothing was found the action is allow, and
	// the sentence is that of the strictest signal, if there is one.
	Action   Action `json:"action" enum:"allow,warn,throttle,steer,reject,block,halt,kill"`
	Check    Check  `json:"check,omitempty" enum:"inactive,budget,hours,rate,rule,exact,session,similarity,stall,growth" doc:"The check that decided."`
	Reason   Reason `json:"reason,omitempty"`
	Sentence string `json:"sentence,omitempty"`

	// Level is what the detectors ask for, whatever the policy makes of it.
	Level Level      `json:"level" enum:"pass,warn,kill" doc:"What the detectors ask for."`
	Score float64    `json:"score" doc:"Of similarity."`
	Parts ScoreParts `json:"parts"`
	// Certainty is how sure stall is, in percent, whether it fired or not.
	Certainty float64 `json:"certainty" doc:"How sure stall is, in percent."`
	Unmet     string  `json:"unmet,omitempty" doc:"What the score lacks to be corroborated."`

	Grace    bool      `json:"grace,omitempty" doc:"A detector would have stopped the request, but the agent had been resumed with a time of grace."`
	Bypass   bool      `json:"bypass,omitempty" doc:"Nothing was enforced: the bypass was on."`
	Findings []Finding `json:"findings,omitempty" doc:"Of all checks, in their order."`

	// Signals and Basis stand in the event that tells of a verdict and in its
	// incident, not in the event of every call.
	Rungs   []Rung   `json:"rungs,omitempty" doc:"What was done before, rung by rung, this one last."`
	Signals []Signal `json:"signals,omitempty" doc:"The evidence, by detector and family, the strictest first."`
	Basis   *Basis   `json:"basis,omitempty" doc:"What the detectors had to go by."`
}

// Rung is a step of a ladder that was climbed.
type Rung struct {
	Action Action    `json:"action" enum:"warn,steer,reject,halt,kill"`
	Time   time.Time `json:"time"`
	Round  int       `json:"round" doc:"How many rounds the conversation had."`
	Shadow bool      `json:"shadow,omitempty" doc:"It was only told, not done."`
}

// Basis is what the detectors had to go by: how much of the past they saw, and
// which weights stall judged with.
type Basis struct {
	Calls    int    `json:"calls" doc:"Calls of the window that similarity compared, this one among them; 0 where it was not asked."`
	Rounds   int    `json:"rounds" doc:"Rounds of the conversation that stall knew."`
	Features int    `json:"features_version" doc:"Version of stall's features."`
	Weights  string `json:"weights" doc:"Date of stall's weights."`
}

// Signal is the strictest signal of a detector; nil where it did not fire, or
// its evidence stands elsewhere. It may be asked of no verdict.
func (v *Verdict) Signal(d Detector) *Signal {
	if v == nil {
		return nil
	}
	for i := range v.Signals {
		if v.Signals[i].Detector == d {
			return &v.Signals[i]
		}
	}
	return nil
}

// Budget is the finding about a budget; nil where none was reached. It may be
// asked of no verdict.
func (v *Verdict) Budget() *Finding {
	if v == nil {
		return nil
	}
	for i := range v.Findings {
		if v.Findings[i].Check == CheckBudget {
			return &v.Findings[i]
		}
	}
	return nil
}

// Decisive is the signal of the detector that decided an incident, else the
// strictest; nil without evidence.
func (v *Verdict) Decisive(by Check) *Signal {
	if s := v.Signal(Detector(by)); s != nil || v == nil || len(v.Signals) == 0 {
		return s
	}
	return &v.Signals[0]
}
