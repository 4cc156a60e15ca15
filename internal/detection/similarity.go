package detection

import (
	"fmt"
	"slices"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/xxhash"
)

// windowAge is how long a call stays in a window.
const windowAge = 24 * time.Hour

// corroborating is how many matches a signal needs to support another.
const corroborating = 2

// Prompt is what a request newly says, hashed for the window.
type Prompt struct {
	Hash  uint64 // SimHash; 0 when there is no text
	Exact uint64 // digest of the text, numbers and ids included; of one that is not long, but for case and white space
	Loose bool   // the request carries no history
	// Chained says that of its history it carries the newest tool results
	// alone: the provider keeps the rest.
	Chained bool
	User    uint64 // digest of the user that the body names; 0 when it names none
}

// promptOf hashes what the client newly said: the last user message, or the
// tool results where the request ends with those. messages are digests of the
// opening's, where they are there.
func promptOf(call *haltd.Call, messages []uint64) Prompt {
	text, _ := call.Newest()
	p := Prompt{Hash: SimHash(text), Loose: len(call.Rounds) == 0, Chained: call.Hints.PreviousID != "" && isContinuation(call)}
	switch last := len(messages) - 1; {
	case len(text) > readWhole && last >= 0 && text == call.Opening[last].Text:
		p.Exact = messages[last]
	case len(text) > readWhole:
		p.Exact = xxhash.Sum64String(text)
	case text != "":
		p.Exact = foldedDigest(text)
	}
	if call.Hints.User != "" {
		p.User = xxhash.Sum64String(call.Hints.User)
	}
	return p
}

// isContinuation reports a call without a turn of the assistant.
func isContinuation(call *haltd.Call) bool {
	return len(call.Rounds) == 1 && call.Rounds[0].Text == "" && len(call.Rounds[0].Calls) == 0
}

// inText marks the signature of a command that stands in the text of a reply. Where
// the whole text is alike, it counts as that alone.
const inText = 1 << 63

// toolSignature is a digest of the calls a reply made, names and canonical
// arguments, in any order; 0 when it made none.
func toolSignature(calls []haltd.ToolCall) uint64 {
	if len(calls) == 0 {
		return 0
	}
	acts := make([]string, len(calls))
	for i := range calls {
		acts[i] = actText(&calls[i])
	}
	slices.Sort(acts)
	var d xxhash.Digest
	d.Reset()
	for _, a := range acts {
		d.WriteString(a)
		d.Write([]byte{0})
	}
	return max(d.Sum64()&^inText, 1)
}

// Window is the last calls of an agent, or of a session. The zero value is
// ready. The caller owns and guards it.
type Window struct {
	entries []entry // oldest first
	last    uint64  // the id given out last
	streak  streak
}

// entry is one call. Its reply arrives later, or never.
type entry struct {
	id       uint64
	session  uint64
	at       time.Time
	prompt   Prompt
	replied  uint64    // order in which replies came; 0 before
	ended    time.Time // when the reply was complete, or haltd saw that it was cut; zero where unknown
	cut      bool      // the client hung up on it, or its end did not come
	response uint64
	tools    uint64
	tasks    []task // what the reply asks its tools for
	said     task   // what it says instead
	given    bool   // a session has begun with them
}

// corroborated reports whether two of the three signals have two matches or
// more: repeated prompts alone may be retries, equal answers alone may be a
// classifier at work.
func corroborated(p haltd.ScoreParts) bool {
	n := 0
	for _, matches := range [...]int{p.Prompts, p.Responses, p.ToolCalls} {
		if matches >= corroborating {
			n++
		}
	}
	return n >= 2
}

// Score compares a request with the last size-1 calls of the window: size
// counts the request itself, which is never counted against itself.
func (w *Window) Score(p Prompt, size int, now time.Time) (haltd.ScoreParts, []haltd.Match) {
	all := func(int) bool { return true }
	var matches []haltd.Match
	parts := score(w.recent(size-1, now), p, all, all, &matches)
	return parts, matches
}

// score compares a request with the calls that count as asked alike, and the
// latest reply with those of calls that count as answered alike. Which of them
// match it adds to matches, unless that is nil.
func score(es []entry, p Prompt, asked, answered func(i int) bool, matches *[]haltd.Match) (parts haltd.ScoreParts) {
	latest := latestReply(es)
	for i := range es {
		e := &es[i]
		m := haltd.Match{Entry: e.id, Time: e.at, PromptDistance: -1, ResponseDistance: -1}
		if asked(i) && similar(p.Hash, e.prompt.Hash) {
			parts.Prompts++
			m.PromptDistance = distance(p.Hash, e.prompt.Hash)
		}
		if latest != nil && e != latest && e.replied > 0 && answered(i) {
			alike := similar(latest.response, e.response)
			if alike {
				parts.Responses++
				m.ResponseDistance = distance(latest.response, e.response)
			}
			if latest.tools != 0 && latest.tools == e.tools && !(alike && latest.tools&inText != 0) {
				parts.ToolCalls++
				m.SameTools = true
			}
		}
		if matches != nil && (m.PromptDistance >= 0 || m.ResponseDistance >= 0 || m.SameTools) {
			if *matches == nil { // where one matches, mostly all that follow do
				*matches = make([]haltd.Match, 0, len(es)-i)
			}
			*matches = append(*matches, m)
		}
	}
	return parts
}

// certain is the score of those calls alone that match for a kill. Calls with
// a history match as they are: stall has seen their rounds. A call without
// one matches another only when both say the same to the letter for the same
// user and session, and when all calls since came at the pace of a loop.
func (w *Window) certain(p Prompt, session uint64, size int, now time.Time) haltd.ScoreParts {
	es := w.recent(size-1, now)
	paced := make([]bool, len(es))
	next, unbroken := now, true
	for i := len(es) - 1; i >= 0; i-- {
		if es[i].replied > 0 { // who hangs up may be back before that is seen
			unbroken = unbroken && atPace(&es[i], next)
			paced[i] = unbroken
		}
		next = es[i].at
	}
	like := func(p Prompt, session uint64) func(i int) bool {
		return func(i int) bool {
			e := &es[i]
			if !p.Loose && !e.prompt.Loose {
				return true
			}
			return paced[i] && p.Exact == e.prompt.Exact && p.User == e.prompt.User && session == e.session
		}
	}
	asked := like(p, session)
	answered := asked
	if latest := latestReply(es); latest != nil {
		answered = like(latest.prompt, latest.session)
	}
	return score(es, p, asked, answered, nil)
}

// lately is the score of the calls since the last silence, as between two runs of a job.
func (w *Window) lately(p Prompt, size int, now time.Time) haltd.ScoreParts {
	es, next := w.recent(size-1, now), now
	for i := len(es) - 1; i >= 0; i-- {
		if e := &es[i]; !next.IsZero() && !e.ended.IsZero() && next.Sub(e.ended) > loopPace {
			es = es[i+1:]
			break
		}
		next = es[i].at
	}
	all := func(int) bool { return true }
	return score(es, p, all, all, nil)
}

// loopPace is the pause between a reply and the next call above which calls
// do not make a loop.
const loopPace = time.Minute

// atPace reports whether a call that starts at next follows e as in a loop:
// soon after its reply, and not before it, unless its client hung up: that may be seen
// late. Where the time is unknown, it does.
func atPace(e *entry, next time.Time) bool {
	if next.IsZero() || e.at.IsZero() {
		return true
	}
	if e.replied == 0 {
		return false
	}
	return e.ended.IsZero() || (e.cut || !next.Before(e.ended)) && next.Sub(e.ended) <= loopPace
}

// longStreak is how many equal calls in a row stop an agent whose users or
// sessions change with every call.
const longStreak = 36

// streak counts equal calls without a history, or with one that the provider
// keeps, whoever makes them.
type streak struct {
	entry  uint64 // the newest call of it
	prompt uint64
	answer uint64 // digest of the answer that all of them got; 0 before
	n      int
}

// next is the streak as this request continues it.
func (w *Window) next(p Prompt, now time.Time) streak {
	s := w.streak
	if !p.Loose && !p.Chained || p.Hash == 0 {
		return streak{}
	}
	last := len(w.entries) - 1
	if s.n == 0 || s.prompt != p.Exact || s.answer == 0 || last < 0 || w.entries[last].id != s.entry || !atPace(&w.entries[last], now) {
		return streak{prompt: p.Exact, n: 1}
	}
	s.n++
	return s
}

// recent are the newest n entries that are not too old.
func (w *Window) recent(n int, now time.Time) []entry {
	es := w.entries
	for len(es) > 0 && now.Sub(es[0].at) > windowAge {
		es = es[1:]
	}
	return es[max(0, len(es)-max(n, 0)):]
}

func latestReply(es []entry) *entry {
	var latest *entry
	for i := range es {
		if es[i].replied > 0 && (latest == nil || es[i].replied > latest.replied) {
			latest = &es[i]
		}
	}
	return latest
}

// Add puts a request that is forwarded into the window and returns the id by
// which its reply finds it. Only the last size calls stay.
func (w *Window) Add(p Prompt, size int, now time.Time) (id uint64) {
	next := w.next(p, now)
	w.last++
	next.entry = w.last
	w.streak = next
	w.entries = append(w.recent(size-1, now), entry{id: w.last, at: now, prompt: p})
	return w.last
}

// Attach puts the reply to its own request, whatever arrived in between. A
// request that has left the window takes no reply.
func (w *Window) Attach(id uint64, a *Answer, now time.Time) {
	for i := range w.entries {
		if e := &w.entries[i]; e.id == id {
			w.last++
			e.replied, e.ended, e.cut = w.last, now, a.cut
			e.response, e.tools, e.tasks, e.said = a.response, a.tools, a.tasks, a.said
			w.streak.take(id, a)
			return
		}
	}
}

// take takes the answer to the newest call of the streak.
func (s *streak) take(id uint64, a *Answer) {
	answer := max(fold(a.exact, a.tools), 1)
	switch {
	case s.n == 0 || s.entry != id:
	case s.answer == 0 || s.answer == answer:
		s.answer = answer
	default:
		*s = streak{entry: id, prompt: s.prompt, answer: answer, n: 1}
	}
}

// remove takes a request that was not forwarded after all out of the window.
func (w *Window) remove(id uint64) {
	w.entries = slices.DeleteFunc(w.entries, func(e entry) bool { return e.id == id })
}

// of counts the matches that are calls of a session.
func (w *Window) of(session uint64, matches []haltd.Match) (n int) {
	for i := range w.entries {
		e := &w.entries[i]
		if e.session == session && slices.ContainsFunc(matches, func(m haltd.Match) bool { return m.Entry == e.id }) {
			n++
		}
	}
	return n
}

// others is which share of the calls is not of a session.
func (w *Window) others(session uint64) float32 {
	n := 0
	for i := range w.entries {
		if w.entries[i].session != session {
			n++
		}
	}
	return ratio(n, len(w.entries))
}

// View shows the calls of the window.
func (w *Window) View() []haltd.WindowEntry {
	out := make([]haltd.WindowEntry, len(w.entries))
	for i, e := range w.entries {
		out[i] = haltd.WindowEntry{Time: e.at.UTC(), PromptHash: hashText(e.prompt.Hash), ResponseHash: hashText(e.response), Tools: hashText(e.tools)}
	}
	return out
}

func hashText(h uint64) string {
	if h == 0 {
		return ""
	}
	return fmt.Sprintf("%016x", h)
}

// Len is the number of calls in the window.
func (w *Window) Len() int { return len(w.entries) }

// Clear empties the window; ids go on, so that a reply to an old request
// finds nothing.
func (w *Window) Clear() { w.entries = nil }
