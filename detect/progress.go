package detect

import (
	"slices"
	"sync"
	"time"
)

// seenRound is a round and when a request first showed it.
type seenRound struct {
	*features
	key   uint64        // tells it from an equal round
	at    time.Time     // zero where the clock is unknown
	pause time.Duration // between the reply and that request; zero where unknown
}

// standing is a round compared with those before it. What it repeats is
// looked for since a person last spoke, or since the mark; what is new is new
// to the whole conversation.
type standing struct {
	seenRound
	index int

	// How many rounds ago the same was seen, 0 where it never was: act and
	// result together, the act, the result, the residue of the same tools,
	// and the result before a remark was put under it.
	pairAgo, actAgo, resultAgo, residueAgo, remarkedAgo int

	// How many words were never seen before.
	newDoes, newTells, newSays, newClaims, newFacts int

	given   bool // it acts for the first time on something the conversation had named
	changed bool // something was written since the pair was last seen
	poll    bool // it waits, or rested since the pair was last seen
	onward  bool // it moves on from where the same move, or one that showed something new, had led
	nextOne bool // it asks the question before about something new
	slow    bool // the client took its time, as patient polling does
	human   bool // what came in after it is a person's word
}

// patience is the pause above which equal results only warn: who asks once a
// minute is waiting, not spinning. The pause is the client's own, from the
// reply to the next request, so that a slow model does not look patient; where
// only the times of requests are known, they count for polls alone.
const patience = time.Minute

type pairKey struct{ a, b uint64 }

// places remembers where things were last seen, as an index plus one.
type places struct {
	pairs, residues map[pairKey]int
	acts, results   map[uint64]int
	written         int // the last round that wrote something
}

func (p *places) forget() {
	clear(p.pairs)
	clear(p.residues)
	clear(p.acts)
	clear(p.results)
	p.written = 0
}

// swap notes that k is at round i and tells how many rounds ago it was last.
func swap[K comparable](m map[K]int, k K, i int) (ago int) {
	if last := m[k]; last > 0 {
		ago = i + 1 - last
	}
	m[k] = i + 1
	return ago
}

// comparison is what comparing the rounds of a conversation takes. It is used
// again: a new one for every request would keep the garbage collector busy.
type comparison struct {
	filter wordFilter
	acted  wordFilter // what acts were about
	at     places
	rounds []standing
}

var comparisons = sync.Pool{New: func() any {
	return &comparison{at: places{
		pairs: map[pairKey]int{}, residues: map[pairKey]int{},
		acts: map[uint64]int{}, results: map[uint64]int{},
	}}
}}

// manyRounds is how long a conversation may be for its comparison to be used
// again.
const manyRounds = 1 << 12

// free lets the comparison be used again; its rounds are gone.
func (c *comparison) free() {
	if cap(c.rounds) > manyRounds {
		return
	}
	clear(c.rounds)
	c.rounds = c.rounds[:0]
	c.at.forget()
	comparisons.Put(c)
}

// compare walks the rounds once, oldest first. Rounds before from lie behind
// the mark: their words are known, but repeating them is no repetition. The
// caller frees the comparison.
func compare(opening []uint32, rounds []seenRound, from int) *comparison {
	c := comparisons.Get().(*comparison)
	if len(rounds) == 0 {
		return c
	}
	filter, at := &c.filter, &c.at
	clear(filter[:])
	clear(c.acted[:])
	filter.add(opening)
	automatic := repeatedInputs(rounds)
	c.rounds = slices.Grow(c.rounds, len(rounds))[:len(rounds)]
	for i, r := range rounds {
		s := &c.rounds[i]
		s.seenRound, s.index = r, i
		s.newDoes = filter.count(r.does)
		s.newSays = filter.count(r.says)
		s.newClaims = filter.count(r.claims)
		s.newFacts = filter.count(r.facts)
		s.given = c.acted.add(r.items) > 0 && s.newDoes == 0
		filter.add(r.does)
		s.newTells = filter.add(r.tells)
		filter.add(r.says)
		if i < from {
			continue
		}
		s.place(at, rounds)
		s.onward = s.moves && (s.pairAgo == 1 || s.pairAgo > 1 && c.rounds[i-1].weighNews() == news)
		s.nextOne = i > 0 && s.asked && s.newSays > 0 && mostlySame(r.says, rounds[i-1].says)
		if s.byPerson(automatic) {
			s.human = true
			at.forget()
		}
	}
	return c
}

// A person needs a moment to type, and types little when there is nothing
// new to say: "continue", "try again".
const (
	typing   = 5 * time.Second
	fewWords = 5
)

// byPerson reports whether a person spoke after the round: in a conversation
// with native tools whoever says something for the first time; elsewhere, and
// when the words come again, who took the time to type a few words after the
// agent had spoken.
func (s *standing) byPerson(automatic map[uint64]bool) bool {
	switch {
	case s.scripted:
		return false
	case s.input != 0 && !automatic[s.input]:
		return true
	}
	return s.manner == spoken && s.answered && s.pause >= typing && len(s.tells) <= fewWords && s.outcome == neutral
}

// place finds what a round repeats.
func (s *standing) place(at *places, rounds []seenRound) {
	i := s.index
	if s.act != 0 {
		s.actAgo = swap(at.acts, s.act, i)
	}
	if s.answered {
		s.pairAgo = swap(at.pairs, pairKey{s.act, s.result}, i)
		s.resultAgo = swap(at.results, s.result, i)
		if last := at.results[s.body]; s.resultAgo == 0 && s.body != 0 && last > 0 {
			s.remarkedAgo = i + 1 - last
		}
		s.residueAgo = swap(at.residues, pairKey{s.tools, s.residue}, i)
	}
	if s.pairAgo > 0 {
		last := i - s.pairAgo
		s.changed = at.written > last+1
		s.poll = s.waiting || s.outcome != failed && rested(rounds[last:i])
		every := patience
		if s.waiting {
			every *= time.Duration(s.pairAgo)
		}
		s.slow = s.pause > patience || s.poll && !rounds[last].at.IsZero() && s.at.Sub(rounds[last].at) > every
	}
	if s.wrote() {
		at.written = i + 1
	}
}

// rest is how long a call that says it waits must have taken, where the clock
// is known, for the client to have rested.
const rest = 10 * time.Second

// rested reports whether the client rested after the first of some rounds: a
// question asked again after a rest is a poll, whatever its answer says.
func rested(rounds []seenRound) bool {
	for i := 1; i < len(rounds) && i <= near; i++ {
		took := rounds[i].at.Sub(rounds[i-1].at) // 0 where unknown: one request showed both
		if rounds[i].rests && (took == 0 || took >= rest) {
			return true
		}
	}
	return false
}

// repeatedInputs are the user messages that came more than once. A person
// does not say the same thing twice word for word; a harness does.
func repeatedInputs(rounds []seenRound) map[uint64]bool {
	times := make(map[uint64]bool)
	for _, r := range rounds {
		if r.input == 0 {
			continue
		}
		_, seen := times[r.input]
		times[r.input] = seen
	}
	return times
}

// shortAnswer is the number of distinct words up to which a result is an
// acknowledgement ("File created successfully at: …") rather than data.
const shortAnswer = 12

// nod is the number of words up to which a result cannot be anything but an
// acknowledgement: "ok", "sent".
const nod = 2

// wrote reports an act that was not done before and that was accepted in
// silence, or with an acknowledgement of something new: that is how writing
// looks from outside.
func (s *standing) wrote() bool {
	if s.manner < commanded || s.actAgo > 0 || !s.answered {
		return false
	}
	return s.outcome == acknowledged || s.outcome == neutral && !s.figures &&
		(len(s.tells) <= shortAnswer && s.newDoes > 0 || len(s.tells) <= nod)
}

// onlyWarns reports a repetition that is no proof: the client waits, or it
// has only just been told.
func (s *standing) onlyWarns() bool { return s.slow || s.remarkedAgo > 0 }

// stale reports a round whose answer holds nothing that was not known.
func (s *standing) stale() bool {
	return s.answered && (s.resultAgo > 0 || s.newTells == 0)
}

// wordFilter tells words that were seen from words that were not, in one bit
// each. With the ten to twenty thousand words of a long conversation about
// one word in thirty is taken for seen although it is new, which only makes
// news a little rarer.
type wordFilter [filterBits / 64]uint64

const filterBits = 1 << 19

// add adds words and says how many were new.
func (f *wordFilter) add(ws []uint32) (fresh int) {
	for _, w := range ws {
		i := w & (filterBits - 1)
		bit := uint64(1) << (i & 63)
		if f[i>>6]&bit == 0 {
			f[i>>6] |= bit
			fresh++
		}
	}
	return fresh
}

// count says how many words are new.
func (f *wordFilter) count(ws []uint32) (fresh int) {
	for _, w := range ws {
		i := w & (filterBits - 1)
		if f[i>>6]&(1<<(i&63)) == 0 {
			fresh++
		}
	}
	return fresh
}

// mostlySame reports whether two texts share two thirds of their words, as the
// questions of a survey do.
func mostlySame(a, b []uint32) bool {
	common := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			common++
			i++
			j++
		case a[i] < b[j]:
			i++
		default:
			j++
		}
	}
	return 3*common >= 2*max(len(a), len(b))
}
