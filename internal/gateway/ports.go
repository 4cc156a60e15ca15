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

// KeyStore is what a Keyring keeps its keys in.
type KeyStore interface {
	haltd.KeyStore
	haltd.KeyUseStore
}

// Keys finds the gateway keys in force. It answers from memory.
type Keys interface {
	// Find looks a whole key up.
	Find(secret string) (haltd.Key, bool)
	// Guards reports whether an agent has a key, without which nobody may
	// call in its name.
	Guards(agent string) bool
}

// Prices know the models.
type Prices interface {
	// Cost is what a call cost; known is false where a default was used.
	Cost(provider, model string, u haltd.Usage) (cost haltd.Money, known bool)
	// HidesThoughts reports a model whose reply may have cost more than it
	// shows.
	HidesThoughts(provider, model string) bool
}

// Recorder takes the event of each exchange. It must not block and does not
// fail: what it cannot keep it counts.
type Recorder interface {
	Record(haltd.Event)
	// Stamp gives an event its id before it is recorded.
	Stamp(*haltd.Event)
}

// Attempts is told how requests ended, so that the judge can tell a transport's
// retry from a request made again. Requests are named by a keyed digest. An
// error means that the state cannot be had: then no request is a retry.
type Attempts interface {
	// Ended notes how another attempt ended.
	Ended(ctx context.Context, digest uint64, how haltd.Ending) error
}

// Replies knows in which session a reply was given, and what was charged for
// it by estimate. An error means that the state cannot be had.
type Replies interface {
	// Reply is the zero value for one that is not known.
	Reply(ctx context.Context, agent, reply string) (haltd.PastReply, error)
	SaveReply(ctx context.Context, agent, reply string, past haltd.PastReply) error
	// Unsettled is what a reply was charged that is not settled yet; ok is
	// false for any other. TakeUnsettled answers it once and forgets it.
	Unsettled(ctx context.Context, agent, reply string) (u haltd.Unsettled, ok bool, err error)
	TakeUnsettled(ctx context.Context, agent, reply string) (u haltd.Unsettled, ok bool, err error)
	SaveUnsettled(ctx context.Context, agent, reply string, u haltd.Unsettled) error
}

// Guesses knows when the session began of those who name none. Conversations
// that begin alike are named by a digest. An error means that the state cannot
// be had: then all of them are one session.
type Guesses interface {
	// Use notes that the session is used now and says when it began: zero for
	// the first one.
	Use(ctx context.Context, digest uint64, now time.Time) (began time.Time, err error)
}

// Meter counts what the gateway does.
type Meter interface {
	Request(provider, decision string)
	Overhead(time.Duration)
	// Count counts one of what the constants below name.
	Count(what string)
	InFlight(delta int)
	// Panic counts a fault of haltd that the call survived.
	Panic(where string)
}

// UsageMeter counts what calls need.
type UsageMeter interface {
	// Usage counts what a call used and cost.
	Usage(provider string, tokens haltd.Usage, cost haltd.Money)
	// Upstream notes how long an upstream took to begin a reply and to end it.
	Upstream(provider string, began, ended time.Duration)
}

// What Meter counts by name.
const (
	countUnread         = "unread"           // a reply that passed unread
	countBodyRefused    = "body_refused"     // a body for which there was no memory
	countInvalidAgentID = "invalid_agent_id" // an agent id that was ignored
)
