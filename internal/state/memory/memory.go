// Package memory keeps the short-lived state of one node in memory: which
// requests failed (so that their retries are known as retries), which session
// a reply belongs to, and the windows and ledgers of the detectors. It is bounded and forgets the oldest first. It
// touches no disk and no network.
package memory

import "hash/maphash"

// Attempts remembers how requests ended.
type Attempts struct {
	seed    maphash.Seed
	outcome *recent[uint64, outcome]
}

// outcome is how a request ended.
type outcome uint8

const (
	failed    outcome = iota
	succeeded         // with a complete 2xx reply
	stopped           // by haltd: to send it again is no retry
)

// NewAttempts remembers at least the last keep requests.
func NewAttempts(keep int) *Attempts {
	return &Attempts{seed: maphash.MakeSeed(), outcome: newRecent[uint64, outcome](keep)}
}

// Digest names a request of an agent. It is seeded per process: an agent
// cannot make another request look like its own.
func (a *Attempts) Digest(agent, path string, bodyHash uint64) uint64 {
	var h maphash.Hash
	h.SetSeed(a.seed)
	h.WriteString(agent)
	h.WriteByte(0)
	h.WriteString(path)
	h.WriteByte(0)
	maphash.WriteComparable(&h, bodyHash)
	return h.Sum64()
}

// Retry reports whether a request is the transport's retry of one before:
// its predecessor got no complete 2xx reply, or the client says so and no
// identical request has succeeded. After a 2xx the same request always
// counts, whatever its headers claim, and so does one that haltd stopped.
func (a *Attempts) Retry(digest uint64, claimed bool) bool {
	before, known := a.outcome.get(digest)
	if known {
		return before == failed
	}
	return claimed
}

// Ended notes how a request ended.
func (a *Attempts) Ended(digest uint64, complete bool) {
	o := failed
	if complete {
		o = succeeded
	}
	a.outcome.set(digest, o)
}

// Stopped notes that haltd did not forward a request.
func (a *Attempts) Stopped(digest uint64) { a.outcome.set(digest, stopped) }

// Replies remembers the session of each reply id, for clients that send
// previous_response_id instead of the history.
type Replies struct {
	seed     maphash.Seed
	sessions *recent[uint64, string] // by a seeded hash, because they are many
}

type replyKey struct{ agent, reply string }

// NewReplies remembers at least the last keep replies.
func NewReplies(keep int) *Replies {
	return &Replies{seed: maphash.MakeSeed(), sessions: newRecent[uint64, string](keep)}
}

// Session is the session in which agent got the reply with that id; "" when
// it is not known.
func (r *Replies) Session(agent, reply string) string {
	s, _ := r.sessions.get(maphash.Comparable(r.seed, replyKey{agent, reply}))
	return s
}

// Got notes that agent got a reply in session.
func (r *Replies) Got(agent, reply, session string) {
	r.sessions.set(maphash.Comparable(r.seed, replyKey{agent, reply}), session)
}
