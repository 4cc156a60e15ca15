package judge

import (
	"context"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/detect"
	"github.com/haltd/haltd/internal/control"
	"github.com/haltd/haltd/internal/ledger"
	"github.com/haltd/haltd/internal/policy"
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
	// an error nothing has changed; CodeUnavailable where the store does not
	// answer. killed is false when somebody else was faster.
	Kill(ctx context.Context, t haltd.Target, i haltd.Incident, e haltd.Event) (killed bool, err error)
	// Raise writes an incident that stops nobody, in the background.
	Raise(i haltd.Incident, e haltd.Event, notices ...haltd.Notice)
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

// States keeps what the detectors know of agents and sessions.
type States interface {
	// Update runs f while nobody else uses the state of a session. It fails
	// only when the state cannot be had; then f has not run.
	Update(ctx context.Context, p detect.Place, now time.Time, f func(detect.Memory)) error
}

// Limits keeps buckets and counters. An error means that they cannot be had.
type Limits interface {
	// Check reports the first draw that would be refused, -1 for none, and
	// how long to wait for it. Take does the same and draws from all or
	// none.
	Check(ctx context.Context, draws []policy.Draw, now time.Time) (refused int, wait time.Duration, err error)
	Take(ctx context.Context, draws []policy.Draw, now time.Time) (refused int, wait time.Duration, err error)
	// Charge takes more, into debt if need be; a negative cost returns tokens.
	Charge(ctx context.Context, d policy.Draw, now time.Time) error
	// Hit counts a request and renews its window.
	Hit(ctx context.Context, key string, window time.Duration, now time.Time) (int, error)
}

// Sessions finds when a session was first seen. An unknown one is
// CodeNotFound.
type Sessions interface {
	Session(ctx context.Context, agent, id string) (haltd.Session, error)
}

// Meter counts what the judge does.
type Meter interface {
	Detect(time.Duration)
	Kill(detector string)
	// Panic counts a fault of haltd that the call survived.
	Panic(where string)
}
