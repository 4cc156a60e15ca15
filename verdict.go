package haltd

import (
	"fmt"
	"slices"
)

// Action is what a verdict does to a request, the mildest first.
type Action uint8

// The actions, in order of strictness. Block and Kill answer with the
// standard inactive answer; only Kill changes the agent.
const (
	Allow Action = iota
	Warn
	Throttle
	Reject
	Block
	Kill
)

var actionNames = []string{"allow", "warn", "throttle", "reject", "block", "kill"}

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
	ReasonManual  Reason = "manual"          // a person switched the agent off
	ReasonBudget  Reason = "budget_exceeded" // a hard budget is spent
	ReasonSoft    Reason = "budget_soft"     // a soft budget is spent; only told
	ReasonHours   Reason = "outside_hours"
	ReasonRate    Reason = "rate_limited"
	ReasonRule    Reason = "rule"
	ReasonLoop    Reason = "loop_detected" // similarity, stall or exact
	ReasonGrowth  Reason = "growth"        // only told
	ReasonUnsaved Reason = "not_durable"   // what had to be written first could not be
)

// Finding is what one check says to a request.
type Finding struct {
	Check    string `json:"check"` // inactive, budget, hours, rate, rule, policy, exact, similarity, stall
	Action   Action `json:"action"`
	Reason   Reason `json:"reason"`
	Sentence string `json:"sentence"`
	// Name is the rule, the policy or the period that the check went by.
	Name string `json:"name,omitempty"`
	// Shadow says that nothing is done: the check only tells what it would
	// have done.
	Shadow     bool     `json:"shadow,omitempty"`
	RetryAfter int      `json:"retry_after_seconds,omitempty"` // reject
	Delay      Duration `json:"delay_ms,omitempty"`            // throttle
	Tag        string   `json:"tag,omitempty"`                 // of a rule that tags
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
