package gateway

import (
	"context"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/judge"
)

// Judge decides about requests. It does not fail: what it cannot find out
// lets a request pass or refuses it, as the decision says.
type Judge interface {
	// Judge decides about a request that is to be forwarded. The ticket is
	// never nil and must be ended.
	Judge(ctx context.Context, r *judge.Request) (judge.Decision, *judge.Ticket)
	// Ingest decides about a call that was made without the gateway, and says
	// whether its agent may go on.
	Ingest(ctx context.Context, r *judge.Request, reply *haltd.Reply, cost haltd.Money) (d judge.Decision, active bool)
}

// Keys finds the gateway keys in force. It answers from memory.
type Keys interface {
	// Find looks a whole key up.
	Find(secret string) (haltd.Key, bool)
}

// Recorder takes the event of each exchange. It must not block and does not
// fail: what it cannot keep it counts.
type Recorder interface {
	Record(haltd.Event)
	// Stamp gives an event its id before it is recorded.
	Stamp(*haltd.Event)
}

// Attempts tells a transport's retry from a request made again. Requests are
// named by a keyed digest. An error means that the state cannot be had: then
// no request is a retry.
type Attempts interface {
	Retry(ctx context.Context, digest uint64, claimed bool) (bool, error)
	// Ended notes whether a request got a complete reply.
	Ended(ctx context.Context, digest uint64, complete bool) error
	// Stopped notes that haltd did not forward a request.
	Stopped(ctx context.Context, digest uint64) error
}

// Replies knows in which session a reply was given, and what was charged for
// it by estimate. An error means that the state cannot be had.
type Replies interface {
	// Session is "" for a reply that is not known.
	Session(ctx context.Context, agent, reply string) (string, error)
	SaveReply(ctx context.Context, agent, reply, session string) error
	// Unsettled is what a reply was charged that is not settled yet; ok is
	// false for any other. TakeUnsettled answers it once and forgets it.
	Unsettled(ctx context.Context, agent, reply string) (u haltd.Unsettled, ok bool, err error)
	TakeUnsettled(ctx context.Context, agent, reply string) (u haltd.Unsettled, ok bool, err error)
	SaveUnsettled(ctx context.Context, agent, reply string, u haltd.Unsettled) error
}

// Meter counts what the gateway does.
type Meter interface {
	Request(provider, decision string)
	Overhead(time.Duration)
	Unread()
	InvalidAgentID()
	InFlight(delta int)
}
