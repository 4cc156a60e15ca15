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
	leastAsked = 4
	// longWord is how many bytes a word has at least that tells one text from another.
	longWord = 5
	// askedBytes is how much of it is read.
	askedBytes = 4 << 10
)

// BoundedRounds is for how many rounds a session that was given its task must have been
// as certain as a kill needs, where it tries one thing after the other.
const BoundedRounds = 10

// unescaped takes the escapes of JSON apart that would stick to a word.
var unescaped = strings.NewReplacer(`\n`, " ", `\t`, " ", `\r`, " ", `\"`, `"`)

// asksOf are words of what a reply asks its tools for: the longest text that it gives
// them. acts says that a reply without
// calls has a command in its text: then they are of the last line that says so much,
// which is what the command is given.
func asksOf(reply *haltd.Reply, acts bool) []uint32 {
	if len(reply.Calls) == 0 && !acts {
		return nil
	}
	l := newWordList()
	defer l.free()
	longest := ""
	for i := range reply.Calls {
		if text := longestText(reply.Calls[i].Arguments); len(text) > len(longest) {
			longest = text
		}
	}
	if longest = longest[:min(len(longest), askedBytes)]; strings.Contains(longest, `\`) {
		longest = unescaped.Replace(longest)
	}
	l.addAll(longest, isLong)
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

// longestText is the longest text in the arguments of a call, which is what it is given to
// do; the arguments themselves where they are no JSON.
func longestText(arguments string) (longest string) {
	text := arguments[:min(len(arguments), 16*askedBytes)]
	for {
		start := strings.IndexByte(text, '"') + 1
		if start == 0 {
			break
		}
		end := start
		for end < len(text) && text[end] != '"' {
			if text[end] == '\\' {
				end++
			}
			end++
		}
		end = min(end, len(text))
		value := text[start:end]
		text = strings.TrimLeft(text[min(end+1, len(text)):], " \t\r\n")
		if !strings.HasPrefix(text, ":") && len(value) > len(longest) {
			longest = value
		}
	}
	if longest == "" && !strings.HasPrefix(arguments, "{") {
		return arguments
	}
	return longest
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
	for i := len(w.entries) - 1; i >= 0; i-- { // the newest that asked for it
		asks := w.entries[i].asks
		if len(asks) == 0 {
			continue
		}
		h.opening.readTexts(h.texts)
		if in := contained(asks, h.opening.words); in >= .75 && in*float32(len(asks)) >= leastAsked {
			s.delegated, w.entries[i].given = true, true
			return
		}
	}
}

// awaitWorkers takes the time for no pause in which others did what the newest reply of
// a session asked for, where an earlier one had asked for just that: who has one worker
// after the other try the same does not wait.
func (s *Session) awaitWorkers(st State) {
	es := st.counter().entries
	own := slices.IndexFunc(es, func(e entry) bool { return e.id == s.entry && e.given })
	if own < 0 || !slices.ContainsFunc(es[:own], func(e entry) bool { return slices.Equal(e.asks, es[own].asks) }) {
		return
	}
	for i := own + 1; i < len(es); i++ {
		if es[i].ended.After(s.replied) {
			s.replied = es[i].ended
		}
	}
}

// isBounded reports whether a session was given its task and tries one thing after the
// other. Who mostly does the same again, to the letter and with the same result, gets no
// patience for that.
func (c *comparison) isBounded(repeated []int) bool {
	if !c.delegated {
		return false
	}
	same := 0
	for _, i := range repeated {
		if c.all[i].pairAgo > 0 {
			same++
		}
	}
	switch c.familyOf(repeated) {
	case haltd.FamilyRepeat, haltd.FamilyCycle, haltd.FamilyWaiting:
		return same < leastRepeated
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
