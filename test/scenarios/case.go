package scenarios

import (
	"time"

	"github.com/haltd/haltd"
)

// Case is one conversation, or several of one agent, and what detection must
// make of it.
type Case struct {
	Name     string
	Evidence string // the line it stands for, shortly quoted
	Want     Want
	Moves    Moves

	System string // standing instructions; the same for all sessions
	// Unnamed sends no session id, as bare SDKs do.
	Unnamed bool
	// Retold says that the history is told anew in the only message: without an id
	// it is known by what that quotes.
	Retold bool
	// Users names the user of each conversation in the body, by what it is
	// called here, where the format has a member for it.
	Users bool
	// Chained sends only what is new and names the reply it continues
	// (previous_response_id): the provider keeps the history.
	Chained bool
	// Ledger says that no single request shows what the case is about: only
	// what haltd remembers does, which a restart takes away.
	Ledger bool
	// Missed says why a case that must fire does not yet. It is a blind spot
	// to be told of, and the tests say so when it is one no longer.
	Missed string
}

// Want is what must come of a case. The zero Want is silence.
type Want struct {
	Level haltd.Level // that must be reached; Pass when nothing may fire
	// Within is how many rounds after the start of the loop that may take.
	Within int
	// Detector and Family, where they are set, must be among the signals.
	Detector haltd.Detector
	Family   haltd.Family
	// MayWarn lets a case that must not be killed warn.
	MayWarn bool
}

// Fires reports a case that must fire.
func (w Want) Fires() bool { return w.Level > haltd.LevelPass }

func kill(within int) Want { return Want{Level: haltd.LevelKill, Within: within} }

func warn(within int) Want { return Want{Level: haltd.LevelWarn, Within: within} }

func (w Want) by(d haltd.Detector) Want {
	w.Detector = d
	return w
}

func (w Want) as(f haltd.Family) Want {
	w.Detector, w.Family = haltd.DetectorStall, f
	return w
}

// quiet lets nothing fire; mayWarn lets a warning stand.
var quiet, mayWarn = Want{}, Want{MayWarn: true}

// Corpus is all cases: those that must fire, then those that must not.
func Corpus() []Case { return append(MustFire(), MustNotFire()...) }

// MustFire are the runaways.
func MustFire() []Case {
	return join(fireRepeats(), fireCycles(), fireFutile(), fireRefusals(), fireWaiting(), fireCommands(), fireMemory(), fireChatter(), fireWindow(), fireLive(), fireHarnesses())
}

// MustNotFire are the healthy.
func MustNotFire() []Case {
	return join(quietPolling(), quietPaging(), quietEditing(), quietBatches(), quietExploration(), quietHabits(),
		quietTransport(), quietContent(), quietPeople(), quietSessions(), quietRecoveries(), quietLive(), quietHarnesses())
}

func join[S ~[]T, T any](lists ...S) S {
	var all S
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

// Moves is what happens in a case, in order.
type Moves []Move

// Move is something the client does: it adds to its history, and mostly makes
// a call.
type Move struct {
	Session string        // which of the agent's conversations; most have one
	Wait    time.Duration // since the last reply; 0 is the usual pace
	Forget  bool          // the history so far is dropped first
	Keep    int           // above 0: only the first and the last Keep entries of the history stay
	Resend  bool          // the history so far is appended to itself, ids and all
	Inputs  []haltd.Message
	Turn    *Turn // the call's reply; nil where none is made
	Aside   bool  // the call leaves no trace in the history
	Count   bool  // the call only asks how many tokens the history has
	Loop    bool  // here the loop begins
}

// Turn is one reply of the assistant and what comes back for it.
type Turn struct {
	Text    string
	Calls   []haltd.ToolCall
	Results []haltd.ToolResult // one for each call, in order
	Usage   *haltd.Usage
	Faults  []Fault // what happens to the call before it succeeds
}

// Fault is a call that fails in transport; the client sends it again.
type Fault struct {
	Status int  // the provider's answer; 0 cuts the connection
	Marked bool // the client says that the next attempt is a retry
}

// pace is how long an agent usually takes from a reply to its next call.
const pace = 4 * time.Second
