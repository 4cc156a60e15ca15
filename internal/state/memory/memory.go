// Package memory keeps the short-lived state of one node in memory: which
// requests failed, so that their retries are known as retries, which session a
// reply belongs to, when guessed sessions began, the state of the detectors, and buckets and counters. It is
// bounded and evicts the oldest first. It touches no disk and no network.
package memory

import (
	"context"
	"hash/maphash"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/recent"
)

// Attempts remembers how requests ended. It never fails.
type Attempts struct {
	last *recent.Cache[uint64, haltd.Attempt]
}

// NewAttempts remembers at least the last keep requests.
func NewAttempts(keep int) *Attempts {
	return &Attempts{last: recent.New[uint64, haltd.Attempt](keep)}
}

// Last is the last attempt of a request.
func (a *Attempts) Last(digest uint64) haltd.Attempt {
	last, _ := a.last.Get(digest)
	return last
}

// Ended notes how an attempt ended. One that was answered is like none, which most are.
func (a *Attempts) Ended(_ context.Context, digest uint64, e haltd.Ending) error {
	if e == haltd.EndedAnswered {
		a.last.Take(digest)
		return nil
	}
	a.last.Update(digest, func(last haltd.Attempt) haltd.Attempt { return last.Next(e) })
	return nil
}

// Replies remembers the session and the length of each reply, for clients that send
// previous_response_id instead of the history. It never fails.
type Replies struct {
	seed      maphash.Seed
	past      *recent.Cache[uint64, haltd.PastReply] // by a seeded hash, because they are many
	unsettled *recent.Cache[uint64, haltd.Unsettled]
}

type replyKey struct{ agent, reply string }

// NewReplies remembers at least the last keep replies.
func NewReplies(keep int) *Replies {
	return &Replies{seed: maphash.MakeSeed(), past: recent.New[uint64, haltd.PastReply](keep), unsettled: recent.New[uint64, haltd.Unsettled](keep)}
}

// Reply is what is known of the reply with that id that agent got.
func (r *Replies) Reply(_ context.Context, agent, reply string) (haltd.PastReply, error) {
	past, _ := r.past.Get(maphash.Comparable(r.seed, replyKey{agent, reply}))
	return past, nil
}

// SaveReply notes that agent got a reply.
func (r *Replies) SaveReply(_ context.Context, agent, reply string, past haltd.PastReply) error {
	r.past.Set(maphash.Comparable(r.seed, replyKey{agent, reply}), past)
	return nil
}

// Guesses remembers when sessions that no client names began. It never fails.
type Guesses struct {
	last  *recent.Cache[uint64, guess]
	times instants
}

// guess is a haltd.Guess: nearly every call without a session has one.
type guess struct{ began, last instant }

// NewGuesses remembers at least the last keep conversations.
func NewGuesses(keep int) *Guesses {
	return &Guesses{last: recent.New[uint64, guess](keep)}
}

// Use notes that a session is used now and says when it began.
func (g *Guesses) Use(_ context.Context, digest uint64, now time.Time) (began time.Time, _ error) {
	g.last.Update(digest, func(before guess) guess {
		next := haltd.Guess{Began: g.times.time(before.began), Last: g.times.time(before.last)}.Next(now)
		after := guess{g.times.keep(next.Began), g.times.keep(next.Last)}
		began = g.times.time(after.began) // the same whenever it is asked for
		return after
	})
	return began, nil
}

// Unsettled is what agent was charged by estimate for a reply.
func (r *Replies) Unsettled(_ context.Context, agent, reply string) (haltd.Unsettled, bool, error) {
	u, ok := r.unsettled.Get(maphash.Comparable(r.seed, replyKey{agent, reply}))
	return u, ok, nil
}

// TakeUnsettled is Unsettled, once.
func (r *Replies) TakeUnsettled(_ context.Context, agent, reply string) (haltd.Unsettled, bool, error) {
	u, ok := r.unsettled.Take(maphash.Comparable(r.seed, replyKey{agent, reply}))
	return u, ok, nil
}

// SaveUnsettled notes what agent was charged by estimate for a reply.
func (r *Replies) SaveUnsettled(_ context.Context, agent, reply string, u haltd.Unsettled) error {
	r.unsettled.Set(maphash.Comparable(r.seed, replyKey{agent, reply}), u)
	return nil
}
