package detection

import (
	"hash/maphash"
	"slices"

	"github.com/haltd/haltd"
)

// sent is the rounds of a request, by digests under which a cache keeps what was
// read of each. Texts are at hand of the newest of them, mostly of all.
type sent struct {
	native bool // see isNative
	keys   []uint64
	turns  []turn
	rounds []haltd.Round // the newest
}

// add adds rounds behind those that are known by their digests alone.
func (s *sent) add(c *Cache, rounds []haltd.Round) {
	s.keys = slices.Grow(s.keys, len(rounds))
	s.rounds = rounds
	var digest maphash.Hash
	for i := range rounds {
		s.keys = append(s.keys, c.key(&digest, &rounds[i], s.native))
	}
}

// round is the text of round i; nil where it is not at hand.
func (s *sent) round(i int) *haltd.Round {
	if i -= len(s.keys) - len(s.rounds); i < 0 {
		return nil
	}
	return &s.rounds[i]
}

// Known is what is known of the first rounds of a conversation: digests, under
// which a cache may still have their features. It never changes.
type Known struct {
	native bool
	keys   []uint64
	turns  []turn
}

// Weight is about how many bytes it takes.
func (k *Known) Weight() int {
	const perRound = 8 + 40
	n := perRound * len(k.keys)
	for i := range k.turns {
		n += 8 * len(k.turns[i].ids)
	}
	return n
}

// Known is what is known of the first n rounds of the request; nil where it is not
// enough to read on from them.
func (h *History) Known(n int) *Known {
	if h == nil || h.sent == nil || n > len(h.sent.keys) {
		return nil
	}
	return &Known{h.sent.native, h.sent.keys[:n:n], h.sent.turns[:n:n]}
}

// Read reads a request of which call has the opening and the rounds behind those
// that are known, as Read does with all of it. ok is false where all of it must be
// read: what follows changes how the first rounds are read, or the cache no longer
// has them.
func (k *Known) Read(cache *Cache, call *haltd.Call) (h *History, ok bool) {
	n := len(k.keys)
	if len(call.Rounds) == 0 || n+len(call.Rounds) > maxRounds || !k.native && isNative(call) || call.Hints.PreviousID != "" {
		return nil, false
	}
	s := &sent{native: k.native, keys: k.keys[:n:n], turns: append(k.turns[:n:n], turnsOf(call.Rounds)...)}
	if withoutResent(s.turns) != nil {
		return nil, false
	}
	s.add(cache, call.Rounds)
	return readHistory(cache, call, s)
}

// readHistory reads a request with a history.
func readHistory(cache *Cache, call *haltd.Call, s *sent) (h *History, ok bool) {
	notes, ok := cache.notesOf(s)
	if !ok {
		return nil, false
	}
	h = &History{rounds: make([]readOnce, len(s.keys))}
	if !cache.readAll(s, notes, h.rounds) {
		return nil, false
	}
	h.prompt, h.model, h.system = promptOf(call, nil), call.Model, call.System
	h.opening, h.texts = *cache.readOpening(call.Opening), call.Opening
	s.rounds = nil // the texts stay with the call
	if h.sent = s; len(call.Rounds) > len(s.keys) {
		h.sent = nil // of some only
	}
	return h, true
}
