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
	longWord = 3
	// askedBytes is how much of it is read, of so many tasks of one reply.
	askedBytes, mostTasks = 4 << 10, 8
	// openingWithTask is how long a beginning is at most that is read for one.
	openingWithTask = 32 << 10
)

// BoundedRounds is for how many rounds a session that was given its task must have been
// as certain as a kill needs.
const BoundedRounds = 14

// unescaped takes the escapes of JSON apart that would stick to a word.
var unescaped = strings.NewReplacer(`\n`, " ", `\t`, " ", `\r`, " ", `\"`, `"`)

// task is a sample of the words of what a reply asks a tool for.
type task []uint32

// tasksOf are the tasks in a reply: of each call the longest text that it is given. acts
// says that a reply without calls has a command in its text: then it is the last line that
// says so much, which is what the command is given.
func tasksOf(reply *haltd.Reply, acts bool) (all []task) {
	for i := range reply.Calls[:min(len(reply.Calls), mostTasks)] {
		text := longestText(reply.Calls[i].Arguments)
		if text = text[:min(len(text), askedBytes)]; strings.Contains(text, `\`) {
			text = unescaped.Replace(text)
		}
		if t := taskOf(text); t != nil {
			all = append(all, t)
		}
	}
	if len(reply.Calls) > 0 || !acts {
		return all
	}
	for text := reply.Text[max(0, len(reply.Text)-askedBytes):]; text != ""; {
		last := strings.LastIndexByte(text, '\n')
		if t := taskOf(text[last+1:]); t != nil {
			return []task{t}
		}
		text = text[:max(0, last)]
	}
	return nil
}

// taskOf is the sample of a text; nil where it has too few words.
func taskOf(text string) task {
	l := newWordList()
	defer l.free()
	l.addAll(text, func(_ string, t token) bool { return t.class == word && t.end-t.start >= longWord })
	words := l.smallest(askedWords)
	if len(words) < leastAsked {
		return nil
	}
	return slices.Clone(words)
}

// isIn reports whether words have nearly all of a task, or all of a short one.
func (t task) isIn(words []uint32) bool {
	in := contained(t, words)
	return in == 1 && len(t) > 0 || in >= .75 && len(t) == askedWords
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

// receive notes of a conversation that has just begun whether a reply of the same agent
// asked for it: what that asked for stands in what the conversation begins with.
func (s *Session) receive(st State, h *History) {
	if !s.fresh {
		return
	}
	s.fresh = false
	if len(h.opening.words) == 0 && size(h.texts) > openingWithTask {
		return // others wait for the state meanwhile
	}
	w := st.counter()
	for i := len(w.entries) - 1; i >= 0; i-- { // the newest that asked for it
		if w.wentOn(i) {
			continue // what began as that session did does the same, and is no worker of its
		}
		for _, t := range w.entries[i].tasks {
			h.opening.readTexts(h.texts)
			if t.isIn(h.opening.words) {
				s.delegated, w.entries[i].given = true, true
				return
			}
		}
	}
}

// wentOn reports whether a session made another call after one of the window: a leader
// waits for the worker that it has just started.
func (w *Window) wentOn(i int) bool {
	return slices.ContainsFunc(w.entries[i+1:], func(e entry) bool { return e.session == w.entries[i].session })
}

// awaitWorkers reports that others did what the newest reply of a session asked for. It
// takes the time for no pause in which they did, and failed, where an earlier one had asked
// for nearly that: who has one worker after the other try the same in vain does not wait.
func (s *Session) awaitWorkers(st State, h *History) (passedOn bool) {
	n := len(h.rounds)
	if n == 0 {
		return false
	}
	es := st.counter().entries
	own := slices.IndexFunc(es, func(e entry) bool { return e.id == s.entry && e.given })
	if own < 0 {
		return false
	}
	if h.rounds[n-1].outcome != failed || !slices.ContainsFunc(es[:own], es[own].asksAlike) {
		return true
	}
	for i := own + 1; i < len(es); i++ {
		if es[i].ended.After(s.replied) {
			s.replied = es[i].ended
		}
	}
	return true
}

// overhear notes whether the newest round ends with the words of another session of the
// agent: its leader gave it the next task, or another member of the group has spoken. They
// are no person's, and nobody waited while the other was at work.
func (s *Session) overhear(st State) {
	n := len(s.past)
	if n == 0 || s.past[n-1].relayed {
		return
	}
	r := &s.past[n-1]
	if e := r.speaker(st); e != nil {
		r.relayed = true
		if r.at.After(e.ended) && !e.ended.IsZero() {
			r.pause = min(r.pause, r.at.Sub(e.ended))
		}
	}
}

// speaker is the newest call of another session whose reply said what a round ends with,
// or asked for it; nil where none did.
func (r *seenRound) speaker(st State) *entry {
	heard := r.hears
	if r.manner < called {
		heard = r.tells
	}
	if len(heard) < leastAsked {
		return nil
	}
	es := st.counter().entries
	for i := len(es) - 1; i >= 0; i-- {
		e := &es[i]
		if e.session != st.SessionID && (e.said.isIn(heard) || slices.ContainsFunc(e.tasks, func(t task) bool { return t.isIn(heard) })) {
			return e
		}
	}
	return nil
}

// isNewTask reports words between two sessions that are as good as a person's: one of them
// has named something that nobody had.
func (c *comparison) isNewTask(i int) bool {
	const some, share = 3, .4
	r, s := &c.rounds[i], &c.all[i]
	if !r.relayed || r.polite || r.manner >= commanded && r.input == 0 {
		return false
	}
	return s.newClaims > 0 || s.named || s.newTells >= some && s.news >= share
}

// retells reports words of another member of the team that say what was said before, in
// another order, or thanks for thanks.
func (c *comparison) retells(i int) bool {
	r, s := &c.rounds[i], &c.all[i]
	return r.relayed && (r.thanked || r.manner < called && s.newTells == 0 && s.newSays == 0 && !s.named)
}

// asksAlike reports a call of the same session whose reply asks for as much, half of it in
// the same words.
func (e *entry) asksAlike(other entry) bool {
	return e.session == other.session && slices.EqualFunc(e.tasks, other.tasks, func(a, b task) bool { return contained(a, b) >= .5 })
}

// failsInOtherWords is how many rounds ago another worker was given nearly the same task
// and failed, where one has failed now: how it says so is no news. It is 0 where none was,
// and where the task is about something new.
func (c *comparison) failsInOtherWords(i int) int {
	r, s := &c.rounds[i], &c.all[i]
	if !r.passedOn || !r.denied() || s.given || s.newDeeds > 1 || s.payload < .4 && s.coreAgo == 0 {
		return 0
	}
	for j := i - 1; j >= c.since && i-j <= near; j-- {
		if o := &c.rounds[j]; o.passedOn && o.tools == r.tools {
			if o.denied() {
				return i - j
			}
			break
		}
	}
	return 0
}

// bounded reports a worker that has one task. One that its leader speaks to again and
// again is not given up.
func (c *comparison) bounded() bool {
	const often = 3
	n := 0
	for i := range c.rounds {
		if c.rounds[i].relayed {
			n++
		}
	}
	return c.delegated && n < often
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
