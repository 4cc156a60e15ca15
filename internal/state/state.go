// Package state says what calls ask of the short-lived state of haltd: what the
// detectors remember, buckets and counters, how requests ended, which session a
// reply belongs to. The adapters below it keep it. What is here may be lost:
// then it starts empty. It opens nothing itself.
package state

import (
	"context"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/policy"
)

// Question is all that one call asks of the state before it is judged. It is
// answered in one step: a state that is shared is asked once.
type Question struct {
	// Attempt is the digest of the request, 0 for one that is no retry of
	// anything.
	Attempt uint64
	// Claim is what it draws and counts.
	Claim policy.Claim
	// Place is whose memory it needs; nil for none.
	Place *Place
}

// Answer is what became of a question.
type Answer struct {
	Attempt haltd.Attempt // the last one
	Limits  policy.Answer
	Lease   Lease // of the memory at Place; nil where none was asked for
}

// Port is what an adapter implements, as one node has it.
type Port interface {
	States
	Attempts
	Replies
	Unsettled
	Guesses
}

// States is the port of that name of package judge.
type States interface {
	Open(ctx context.Context, q Question, now time.Time) (Answer, error)
	Acquire(ctx context.Context, p Place, now time.Time) (Lease, error)
	Await(ctx context.Context, p Place, version uint64) error
	Charge(ctx context.Context, draws []policy.Draw, now time.Time) error
}

// Attempts is the port of that name of package gateway.
type Attempts interface {
	Ended(ctx context.Context, digest uint64, how haltd.Ending) error
}

// Replies is, with Unsettled, the port of that name of package gateway.
type Replies interface {
	Reply(ctx context.Context, agent, reply string) (haltd.PastReply, error)
	SaveReply(ctx context.Context, agent, reply string, past haltd.PastReply) error
}

// Unsettled is what replies were charged by estimate.
type Unsettled interface {
	Unsettled(ctx context.Context, agent, reply string) (haltd.Unsettled, bool, error)
	TakeUnsettled(ctx context.Context, agent, reply string) (haltd.Unsettled, bool, error)
	SaveUnsettled(ctx context.Context, agent, reply string, u haltd.Unsettled) error
}

// Guesses is the port of that name of package gateway.
type Guesses interface {
	Use(ctx context.Context, digest uint64, now time.Time) (began time.Time, err error)
}
