package detect

import "github.com/haltd/haltd"

// withoutResent leaves out a block of rounds that a client sent twice, as
// some do when they resume a session: the same rounds in the same order, user
// turns included, with the very call ids of the first time. A loop makes new
// ids; a client whose ids are not unique is taken at its word. The rounds are
// returned as they are when nothing was sent twice.
func withoutResent(rounds []haltd.Round) []haltd.Round {
	ids := make(map[string]int, len(rounds)) // where a call id was first used
	var out []haltd.Round                    // nil until something is left out
	for i := 0; i < len(rounds); {
		n := resentFrom(rounds, ids, i)
		if n > 0 {
			if out == nil {
				out = append(out, rounds[:i]...)
			}
			i += n
			continue
		}
		for _, c := range rounds[i].Calls {
			if _, ok := ids[c.ID]; !ok && c.ID != "" {
				ids[c.ID] = i
			}
		}
		if out != nil {
			out = append(out, rounds[i])
		}
		i++
	}
	if out == nil {
		return rounds
	}
	return out
}

// resentFrom is the length of the block that starts at round i and was sent
// before, or 0.
func resentFrom(rounds []haltd.Round, ids map[string]int, i int) int {
	if len(rounds[i].Calls) == 0 {
		return 0
	}
	first, ok := ids[rounds[i].Calls[0].ID]
	if !ok {
		return 0
	}
	n, spoke := 0, i > 0 && hasUserInput(&rounds[i-1])
	used := map[string]bool{}
	for i+n < len(rounds) && first+n < i && sameCalls(&rounds[first+n], &rounds[i+n]) && useOnce(used, rounds[i+n].Calls) {
		spoke = spoke || hasUserInput(&rounds[i+n])
		n++
	}
	if n < 2 || !spoke {
		return 0
	}
	return n
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

// sameCalls reports whether two rounds are one round sent twice. Results and
// inputs may differ at the seam, where the copy ends and the client goes on.
func sameCalls(a, b *haltd.Round) bool {
	if a.Text != b.Text || len(a.Calls) != len(b.Calls) {
		return false
	}
	for i := range a.Calls {
		if a.Calls[i] != b.Calls[i] {
			return false
		}
	}
	return true
}
