// Package memory keeps the short-lived state of one node in memory: which
// requests failed (so that their retries are known as retries), which session
// a reply belongs to, and the windows and ledgers of the detectors. It is bounded and forgets the oldest first. It
// touches no disk and no network.
package memory

import "hash/maphash"

// Attempts remembers how requests ended.
type Attempts struct {
	seed    maphash.Seed
	outcome *recent[uint64, bool] // digest → a complete 2xx reply came
}

// NewAttempts remembers at least the last keep requests.
func NewAttempts(keep int) *Attempts {
	return &Attempts{seed: maphash.MakeSeed(), outcome: newRecent[uint64, bool](keep)}
}

// Digest names a request of an agent. It is seeded per process: an agent
// cannot make another request look like its own.
func (a *Attempts) Digest(agent, path string, body []byte) uint64 {
	var h maphash.Hash
	h.SetSeed(a.seed)
	h.WriteString(agent)
	h.WriteByte(0)
	h.WriteString(path)
	h.WriteByte(0)
	h.Write(body)
	return h.Sum64()
}

// Retry reports whether a request is the transport's retry of one before:
// its predecessor got no complete 2xx reply, or the client says so and no
// identical request has succeeded. After a 2xx the same request always
// counts, whatever its headers claim.
func (a *Attempts) Retry(digest uint64, claimed bool) bool {
	succeeded, known := a.outcome.get(digest)
	if known {
		return !succeeded
	}
	return claimed
}

// Ended notes how a request ended.
func (a *Attempts) Ended(digest uint64, succeeded bool) { a.outcome.set(digest, succeeded) }

// Replies remembers the session of each reply id, for clients that send
// previous_response_id instead of the history.
type Replies struct {
	sessions *recent[replyKey, string]
}

type replyKey struct{ agent, reply string }

// NewReplies remembers at least the last keep replies.
func NewReplies(keep int) *Replies {
	return &Replies{sessions: newRecent[replyKey, string](keep)}
}

// Session is the session in which agent got the reply with that id; "" when
// it is not known.
func (r *Replies) Session(agent, reply string) string {
	s, _ := r.sessions.get(replyKey{agent, reply})
	return s
}

// Got notes that agent got a reply in session.
func (r *Replies) Got(agent, reply, session string) {
	r.sessions.set(replyKey{agent, reply}, session)
}
