// Package memory keeps the short-lived state of one node in memory: which
// requests failed, so that their retries are known as retries, which session a
// reply belongs to, the state of the detectors, and buckets and counters. It is
// bounded and evicts the oldest first. It touches no disk and no network.
package memory

import (
	"context"
	"hash/maphash"

	"github.com/haltd/haltd"
)

// Attempts remembers how requests ended. It never fails.
type Attempts struct{ outcome *recent[uint64, outcome] }

// outcome is how a request ended.
type outcome uint8

const (
	failed    outcome = iota
	succeeded         // with a complete 2xx reply
	stopped           // by haltd: to send it again is no retry
)

// NewAttempts remembers at least the last keep requests.
func NewAttempts(keep int) *Attempts {
	return &Attempts{outcome: newRecent[uint64, outcome](keep)}
}

// Retry reports whether a request is the transport's retry of one before:
// its predecessor got no complete 2xx reply, or the client says so and no
// identical request has succeeded. After a 2xx the same request always
// counts, whatever its headers claim, and so does one that haltd stopped.
func (a *Attempts) Retry(_ context.Context, digest uint64, claimed bool) (bool, error) {
	before, known := a.outcome.get(digest)
	if known {
		return before == failed, nil
	}
	return claimed, nil
}

// Ended notes how a request ended.
func (a *Attempts) Ended(_ context.Context, digest uint64, complete bool) error {
	o := failed
	if complete {
		o = succeeded
	}
	a.outcome.set(digest, o)
	return nil
}

// Stopped notes that haltd did not forward a request.
func (a *Attempts) Stopped(_ context.Context, digest uint64) error {
	a.outcome.set(digest, stopped)
	return nil
}

// Replies remembers the session of each reply id, for clients that send
// previous_response_id instead of the history. It never fails.
type Replies struct {
	seed      maphash.Seed
	sessions  *recent[uint64, string] // by a seeded hash, because they are many
	unsettled *recent[uint64, haltd.Unsettled]
}

type replyKey struct{ agent, reply string }

// NewReplies remembers at least the last keep replies.
func NewReplies(keep int) *Replies {
	return &Replies{seed: maphash.MakeSeed(), sessions: newRecent[uint64, string](keep), unsettled: newRecent[uint64, haltd.Unsettled](keep)}
}

// Session is the session in which agent got the reply with that id; "" when
// it is not known.
func (r *Replies) Session(_ context.Context, agent, reply string) (string, error) {
	s, _ := r.sessions.get(maphash.Comparable(r.seed, replyKey{agent, reply}))
	return s, nil
}

// SaveReply notes that agent got a reply in session.
func (r *Replies) SaveReply(_ context.Context, agent, reply, session string) error {
	r.sessions.set(maphash.Comparable(r.seed, replyKey{agent, reply}), session)
	return nil
}

// Unsettled is what agent was charged by estimate for a reply.
func (r *Replies) Unsettled(_ context.Context, agent, reply string) (haltd.Unsettled, bool, error) {
	u, ok := r.unsettled.get(maphash.Comparable(r.seed, replyKey{agent, reply}))
	return u, ok, nil
}

// TakeUnsettled is Unsettled, once.
func (r *Replies) TakeUnsettled(_ context.Context, agent, reply string) (haltd.Unsettled, bool, error) {
	u, ok := r.unsettled.take(maphash.Comparable(r.seed, replyKey{agent, reply}))
	return u, ok, nil
}

// SaveUnsettled notes what agent was charged by estimate for a reply.
func (r *Replies) SaveUnsettled(_ context.Context, agent, reply string, u haltd.Unsettled) error {
	r.unsettled.set(maphash.Comparable(r.seed, replyKey{agent, reply}), u)
	return nil
}
