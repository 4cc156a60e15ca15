package detection

import (
	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/xxhash"
)

// SentRounds are the rounds of a request that the detectors look at: the last
// of those that a session knows after the request was judged.
func SentRounds(call *haltd.Call) []haltd.Round {
	sent, _ := sentRounds(call)
	return sent
}

func sentRounds(call *haltd.Call) ([]haltd.Round, []turn) {
	rounds := call.Rounds[max(0, len(call.Rounds)-2*maxRounds):]
	turns := turnsOf(rounds)
	if kept := withoutResent(turns); kept != nil {
		less, lessTurns := make([]haltd.Round, len(kept)), make([]turn, len(kept))
		for k, i := range kept {
			less[k], lessTurns[k] = rounds[i], turns[i]
		}
		rounds, turns = less, lessTurns
	}
	from := max(0, len(rounds)-maxRounds)
	return rounds[from:], turns[from:]
}

// turn is the assistant's part of a round, by its digests.
type turn struct {
	digest uint64   // of what was said and done, ids included
	ids    []uint64 // of the ids of its calls; 0 of those without one
	spoke  bool     // a user message came after it
}

// turnsOf digests what the assistant said and did in each round, ids
// included. Results and inputs may differ at the seam, where the copy ends and
// the client goes on.
func turnsOf(rounds []haltd.Round) []turn {
	calls := 0
	for i := range rounds {
		calls += len(rounds[i].Calls)
	}
	turns, ids := make([]turn, len(rounds)), make([]uint64, 0, calls)
	for i := range rounds {
		d, first := xxhash.Sum64String(rounds[i].Text), len(ids)
		for _, c := range rounds[i].Calls {
			id := xxhash.Sum64String(c.ID)
			d = fold(fold(fold(d, id), xxhash.Sum64String(c.Name)), xxhash.Sum64String(c.Arguments))
			if c.ID == "" {
				id = 0
			}
			ids = append(ids, id)
		}
		turns[i] = turn{d, ids[first:len(ids):len(ids)], hasUserInput(&rounds[i])}
	}
	return turns
}

// withoutResent leaves out a block of rounds that a client sent twice, as
// some do when they resume a session: the same rounds in the same order, user
// turns included, with the very call ids of the first time. A loop makes new
// ids; a client whose ids are not unique is taken at its word. It returns the
// indexes of the others; nil when nothing was sent twice.
func withoutResent(turns []turn) (kept []int) {
	if !anyIDTwice(turns) {
		return nil
	}
	ids := make(map[uint64]int, len(turns)) // where a call id was first used
	for i := 0; i < len(turns); {
		n, resent := resentFrom(turns, ids, i)
		if resent && kept == nil {
			kept = make([]int, i, len(turns))
			for k := range kept {
				kept[k] = k
			}
		}
		if resent {
			i += n
			continue
		}
		// Nobody spoke in the whole block, so that no part of it was sent
		// again, either.
		for end := i + max(1, n); i < end; i++ {
			for _, id := range turns[i].ids {
				if _, ok := ids[id]; !ok && id != 0 {
					ids[id] = i
				}
			}
			if kept != nil {
				kept = append(kept, i)
			}
		}
	}
	return kept
}

// anyIDTwice reports whether a turn may begin with the id of a call before it, which
// hardly ever is so: one in a hundred thousand does by chance where there are a hundred.
func anyIDTwice(turns []turn) bool {
	var seen [1 << 10]uint64 // two bits for each id
	for i := range turns {
		for k, id := range turns[i].ids {
			if id == 0 {
				continue // it has none
			}
			a, b := &seen[id>>6%uint64(len(seen))], &seen[id>>38%uint64(len(seen))]
			if k == 0 && *a>>(id&63)&1 == 1 && *b>>(id>>32&63)&1 == 1 {
				return true
			}
			*a |= 1 << (id & 63)
			*b |= 1 << (id >> 32 & 63)
		}
	}
	return false
}

// resentFrom is the length of the block that starts at turn i and is like
// one before it, and whether it was sent again.
func resentFrom(turns []turn, ids map[uint64]int, i int) (n int, resent bool) {
	if len(turns[i].ids) == 0 {
		return 0, false
	}
	first, ok := ids[turns[i].ids[0]]
	if !ok {
		return 0, false
	}
	spoke := i > 0 && turns[i-1].spoke
	used := map[uint64]bool{}
	for i+n < len(turns) && first+n < i && turns[first+n].digest == turns[i+n].digest && useOnce(used, turns[i+n].ids) {
		spoke = spoke || turns[i+n].spoke
		n++
	}
	return n, n >= 2 && spoke
}

// useOnce notes the ids of calls and reports whether all are new to the
// block: ids that come again within it say nothing about who is who.
func useOnce(used map[uint64]bool, ids []uint64) bool {
	for _, id := range ids {
		if id == 0 || used[id] {
			return false
		}
		used[id] = true
	}
	return true
}

func hasUserInput(r *haltd.Round) bool {
	for i := range r.Inputs {
		if r.Inputs[i].Role == haltd.RoleUser {
			return true
		}
	}
	return false
}
