package haltd

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Ladder is what a detector does when it is certain, rung by rung: the next one
// needs the kill line again after the one before. It is a set: a rung is never
// milder than the one before it. Warn is on every ladder.
type Ladder uint16

// ladderRungs are the actions that can stand on a ladder.
const ladderRungs = 1<<Warn | 1<<Steer | 1<<Reject | 1<<Halt | 1<<Kill

const (
	// MostSteers is how often one stall is steered before the next rung.
	MostSteers = 2
	// RecoveryRounds is how many rounds in a row must bring something new before
	// a steered session counts as recovered though stall still warns.
	RecoveryRounds = 2
)

// LadderOf makes a ladder of rungs.
func LadderOf(rungs ...Action) Ladder {
	l := Ladder(1 << Warn)
	for _, a := range rungs {
		l |= 1 << a
	}
	return l
}

// Has reports whether an action is one of the rungs.
func (l Ladder) Has(a Action) bool { return l&(1<<a) != 0 }

// Rungs are those of the ladder, the mildest first.
func (l Ladder) Rungs() (rungs []Action) {
	for a := Warn; a <= Kill; a++ {
		if l.Has(a) {
			rungs = append(rungs, a)
		}
	}
	return rungs
}

// After is the first rung above an action, or the last of all.
func (l Ladder) After(a Action) Action {
	last := Warn
	for next := Warn; next <= Kill; next++ {
		if l.Has(next) {
			last = next
			if next > a {
				break
			}
		}
	}
	return last
}

// words are the rungs; one alone stands for itself and warn.
func (l Ladder) words() []string {
	rungs := l.Rungs()
	if len(rungs) == 2 {
		rungs = rungs[1:]
	}
	words := make([]string, len(rungs))
	for i, a := range rungs {
		words[i] = a.String()
	}
	return words
}

// String writes a ladder as the file does: kill, or [warn, steer, kill].
func (l Ladder) String() string {
	words := l.words()
	if len(words) == 1 {
		return words[0]
	}
	return "[" + strings.Join(words, ", ") + "]"
}

// MarshalJSON writes one rung as a word and several as a list.
func (l Ladder) MarshalJSON() ([]byte, error) {
	words := l.words()
	if len(words) == 1 {
		return json.Marshal(words[0])
	}
	return json.Marshal(words)
}

// UnmarshalJSON reads what MarshalJSON wrote; the record of what had no ladder
// has an empty one.
func (l *Ladder) UnmarshalJSON(b []byte) error {
	var list []string
	if err := json.Unmarshal(b, &list); err != nil {
		var word string
		if err := json.Unmarshal(b, &word); err != nil {
			return fmt.Errorf("a ladder is a rung or a list of rungs, not %.40s", b)
		}
		list = []string{word}
	}
	if list != nil && len(list) == 0 {
		*l = 0
		return nil
	}
	return l.Set(list)
}

// Set makes the ladder one of these rungs, which have to grow stricter.
func (l *Ladder) Set(words []string) error {
	next, last := Ladder(1<<Warn), Allow
	for _, word := range words {
		var a Action
		if err := a.UnmarshalText([]byte(word)); err != nil || ladderRungs&(1<<a) == 0 {
			return fmt.Errorf("%q is no rung: use warn, steer, reject, halt and kill, the mildest first", word)
		}
		if a <= last {
			return fmt.Errorf("%s stands behind %s, which is stricter or the same", a, last)
		}
		next, last = next|1<<a, a
	}
	if len(words) == 0 {
		return fmt.Errorf("a ladder needs a rung: warn, steer, reject, halt or kill")
	}
	*l = next
	return nil
}
