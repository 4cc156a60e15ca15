package detection

import (
	"slices"
	"strings"

	"github.com/haltd/haltd"
)

// A team of agents is one agent here: a leader starts workers, each in a session of
// its own, and gives each a task that stands in the arguments of a call. Who gave the
// task bounds the worker: most give up after some twenty rounds, and the leader goes on
// with something else. A kill would take the whole team down for it, so that it needs
// more certainty of such a session than of others: one that stays.

const (
	// askedWords is how many words are kept of what a reply asks for: the smallest by
	// their hashes, a fair sample. What has those has nearly all.
	askedWords = 8
	// leastAsked is how many of them it takes to recognise a task.
	leastAsked = 5
	// longWord is how many bytes a word has at least that tells one text from another.
	longWord = 5
	// askedBytes is how much of a call's arguments is read.
	askedBytes = 4 << 10
)

// BoundedRounds is for how many rounds a session that was given its task must have been
// as certain as a kill needs, where it tries one thing after the other.
const BoundedRounds = 10

// unescaped takes the escapes of JSON apart that would stick to a word.
var unescaped = strings.NewReplacer(`\n`, " ", `\t`, " ", `\r`, " ", `\"`, `"`)

// asksOf are words of what a reply asks its tools for. acts says that a reply without
// calls has a command in its text: then they are of the last line that says so much,
// which is what the command is given.
func asksOf(reply *haltd.Reply, acts bool) []uint32 {
	if len(reply.Calls) == 0 && !acts {
		return nil
	}
	l := newWordList()
	defer l.free()
	left := askedBytes
	for i := range reply.Calls {
		text := reply.Calls[i].Arguments
		text = text[:min(len(text), left)]
		if left -= len(text); strings.Contains(text, `\`) {
			text = unescaped.Replace(text)
		}
		l.addAll(text, isLong)
	}
	text := reply.Text[max(0, len(reply.Text)-askedBytes):]
	for len(reply.Calls) == 0 && text != "" {
		last := strings.LastIndexByte(text, '\n')
		l.n = 0
		l.addAll(text[last+1:], isLong)
		if len(l.smallest(leastAsked)) == leastAsked {
			break
		}
		text = text[:max(0, last)]
	}
	words := l.smallest(askedWords)
	if len(words) < leastAsked {
		return nil
	}
	return slices.Clone(words)
}

func isLong(_ string, t token) bool { return t.class == word && t.end-t.start >= longWord }

// receive notes of a conversation that has just begun whether a reply of the same agent
// asked for it: what that asked for stands in what the conversation begins with.
func (s *Session) receive(st State, h *History) {
	if !s.fresh {
		return
	}
	s.fresh = false
	w := st.counter()
	for i := range w.entries {
		asks := w.entries[i].asks
		if len(asks) == 0 {
			continue
		}
		h.opening.readTexts(h.texts)
		if contained(asks, h.opening.words) >= .75 {
			s.delegated = true
			return
		}
	}
}

// isBounded reports whether a session was given its task and tries one thing after the
// other. Who does the same again and again gets no patience for that.
func (c *comparison) isBounded(repeated []int) bool {
	if !c.delegated {
		return false
	}
	switch c.familyOf(repeated) {
	case haltd.FamilyRepeat, haltd.FamilyCycle, haltd.FamilyWaiting:
		return false
	}
	return true
}

// certainRounds is how many rounds were certain enough for a kill, the newest among them.
func (c *comparison) certainRounds(at lines) int {
	n := 1
	for j := c.since; j < len(c.all)-1; j++ {
		if c.all[j].certainty >= at.kill {
			n++
		}
	}
	return n
}
