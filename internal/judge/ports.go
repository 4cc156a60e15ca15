package judge

import (
	"context"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/control"
	"github.com/haltd/haltd/internal/ledger"
	"github.com/haltd/haltd/internal/policy"
	"github.com/haltd/haltd/internal/state"
)

// Agents knows who may call and under which policy. It answers from memory
// and does not fail.
type Agents interface {
	Agent(id string) *control.Agent
	// MatchRule is the rule that decides about a call.
	MatchRule(q policy.RuleQuery) (haltd.Rule, bool)
	Bypass() haltd.Bypass
}

// Incidents stops agents and raises what a person should look at.
type Incidents interface {
	// Kill stops a target and raises the incident in one durable change. On
	// CodeUnavailable, where the store does not answer in time, killed says
	// that it is stopped in memory and written later; on any other error
	// nothing has changed. Without an error, killed is false when somebody else
	// was faster.
	Kill(ctx context.Context, t haltd.Target, i haltd.Incident, e haltd.Event) (killed bool, err error)
	Turns
	// CloseLater closes an incident, in the background, after what was raised
	// before.
	CloseLater(c haltd.Closing)
	// Raise writes an incident that stops nobody, in the background.
	Raise(i haltd.Incident, e haltd.Event, notices ...haltd.Notice)
}

// Turns ends turns of sessions and lets people go on.
type Turns interface {
	// Halt ends the turn of a session at a mark and raises the incident in one
	// durable change, as Kill does.
	Halt(ctx context.Context, m haltd.Mark, i haltd.Incident, e haltd.Event) (halted bool, err error)
	// Halts counts how often that was done since then.
	Halts(ctx context.Context, t haltd.Target, since time.Time) (n int, err error)
	// Continue lifts it. Of several calls that do so at once, lifted is true for
	// one.
	Continue(ctx context.Context, t haltd.Target) (s haltd.Standing, lifted bool, err error)
}

// Marks keeps from which round on the history of a resumed session counts. An
// error means that the store does not answer.
type Marks interface {
	Mark(ctx context.Context, agent, session string) (m haltd.Mark, ok bool, err error)
	SaveMark(ctx context.Context, m haltd.Mark) error
}

// Budgets keeps what agents spend. An error means that the store does not
// answer: then nothing is reserved or charged.
type Budgets interface {
	// Check reports the hard budgets that would refuse a call: those that are
	// spent or have too little left.
	Check(ctx context.Context, b ledger.Booking) ([]ledger.Over, error)
	// Reserve holds back the most that a call can cost. A budget may refuse:
	// then over is not empty. The reservation is nil for an agent without
	// budgets.
	Reserve(ctx context.Context, b ledger.Booking) (r *ledger.Reservation, over []ledger.Over, err error)
	// Charge books what was spent without a reservation, and reports the
	// budgets that this used up.
	Charge(ctx context.Context, b ledger.Booking) ([]ledger.Over, error)
	Spending(ctx context.Context, agent string, b haltd.Budgets, zone *time.Location) ([]haltd.PeriodSpending, error)
}

// States keeps what the detectors know of agents and sessions, shadow apart,
// buckets and counters, and how requests ended. What nobody has used for a day
// it may forget. now is the caller's clock; limits that are shared go by one of
// their own. CodeUnavailable means that the state cannot be had; the error of
// ctx, that it ended first.
type States interface {
	// Open answers all that a call asks before it is judged, in one step; on
	// an error it has taken nothing.
	Open(ctx context.Context, q state.Question, now time.Time) (state.Answer, error)
	// Acquire is the state of a session and of its window, for one call. It
	// may wait for the lease of another call to end, or else let the slower
	// of two fail at its commit. A state that cannot be read starts empty.
	Acquire(ctx context.Context, p state.Place, now time.Time) (state.Lease, error)
	// Await returns as soon as the session is not of that version any more,
	// on whichever node it was changed, and fails when ctx ends first.
	Await(ctx context.Context, p state.Place, version uint64) error
	// Charge takes more of buckets, into debt if need be; a negative cost
	// returns tokens.
	Charge(ctx context.Context, draws []policy.Draw, now time.Time) error
}

// Sessions finds when a session was first seen. An unknown one is
// CodeNotFound.
type Sessions interface {
	Session(ctx context.Context, agent, id string) (haltd.Session, error)
}

// Prices know the models.
type Prices interface {
	// Cost is what tokens of a model cost; known is false where a default was
	// used.
	Cost(provider, model string, u haltd.Usage) (cost haltd.Money, known bool)
	// MaxOutput is how many tokens a reply of a model can have; 0 where nobody
	// says.
	MaxOutput(provider, model string) int64
}

// Meter counts what the judge does.
type Meter interface {
	Detect(time.Duration)
	// Rung counts a rung that a detector took.
	Rung(a haltd.Action, by haltd.Check)
	// Outcome counts what came of a steer or a halt.
	Outcome(haltd.IncidentStatus)
	// Panic counts a fault of haltd that the call survived.
	Panic(where string)
}
