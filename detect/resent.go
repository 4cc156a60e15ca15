package detect

import (
	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/xxhash"
)

// SentRounds are the rounds of a request that the detectors look at: the last
// of those that a session knows after the request was judged.
func SentRounds(call *haltd.Call) []haltd.Round {
	sent := withoutResent(call.Rounds[max(0, len(call.Rounds)-2*maxRounds):])
	return sent[max(0, len(sent)-maxRounds):]
}

// withoutResent leaves out a block of rounds that a client sent twice, as
// some do when they resume a session: the same rounds in the same order, user
// turns included, with the very call ids of the first time. A loop makes new
// ids; a client whose ids are not unique is taken at its word. The rounds are
// returned as they are when nothing was sent twice.
func withoutResent(rounds []haltd.Round) []haltd.Round {
	ids := make(map[string]int, len(rounds)) // where a call id was first used
	turns := turnsOf(rounds)
	var out []haltd.Round // nil until something is left out
	for i := 0; i < len(rounds); {
		n, resent := resentFrom(rounds, turns, ids, i)
		if resent && out == nil {
			out = append(out, rounds[:i]...)
		}
		if resent {
			i += n
			continue
		}
		// Nobody spoke in the whole block, so that no part of it was sent
		// again, either.
		for end := i + max(1, n); i < end; i++ {
			for _, c := range rounds[i].Calls {
				if _, ok := ids[c.ID]; !ok && c.ID != "" {
					ids[c.ID] = i
				}
			}
			if out != nil {
				out = append(out, rounds[i])
			}
		}
	}
	if out == nil {
		return rounds
	}
	return out
}

// turnsOf digests what the assistant said and did in each round, ids
// included. Results and inputs may differ at the seam, where the copy ends and
// the client goes on.
func turnsOf(rounds []haltd.Round) []uint64 {
	turns := make([]uint64, len(rounds))
	for i := range rounds {
		d := xxhash.Sum64String(rounds[i].Text)
		for _, c := range rounds[i].Calls {
			d = fold(fold(fold(d, xxhash.Sum64String(c.ID)), xxhash.Sum64String(c.Name)), xxhash.Sum64String(c.Arguments))
		}
		turns[i] = d
	}
	return turns
}

// resentFrom is the length of the block that starts at round i and is like
// one before it, and whether it was sent again.
func resentFrom(rounds []haltd.Round, turns []uint64, ids map[string]int, i int) (n int, resent bool) {
	if len(rounds[i].Calls) == 0 {
		return 0, false
	}
	first, ok := ids[rounds[i].Calls[0].ID]
	if !ok {
		return 0, false
	}
	spoke := i > 0 && hasUserInput(&rounds[i-1])
	used := map[string]bool{}
	for i+n < len(rounds) && first+n < i && turns[first+n] == turns[i+n] && useOnce(used, rounds[i+n].Calls) {
		spoke = spoke || hasUserInput(&rounds[i+n])
		n++
	}
	return n, n >= 2 && spoke
}

// useOnce notes the ids of calls and reports whether all are new to the
// block: ids that come again within it say nothing about who is who.
func useOnce(used map[string]bool, calls []haltd.ToolCall) bool {
	for _, c := range calls {
		if c.ID == "" || used[c.ID] {
			return false
		}
		used[c.ID] = true
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
