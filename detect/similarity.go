package detect

import (
	"fmt"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/haltd/haltd"
)

// The weights of the score, as the kill switch was specified.
const (
	promptWeight   = 1.0
	responseWeight = 2.0
	toolWeight     = 1.5
)

// windowAge is how long a call stays in a window.
const windowAge = 24 * time.Hour

// corroborating is how many matches a signal needs to support another.
const corroborating = 2

// Prompt is what a request newly says, hashed for the window.
type Prompt struct {
	Hash uint64 // 0 when there is no text
}

// PromptOf hashes what the client newly said: the last user message, or the
// tool results where the request ends with those.
func PromptOf(call *haltd.Call) Prompt {
	text, _ := call.Newest()
	return Prompt{SimHash(text)}
}

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
	return max(d.Sum64(), 1)
}

// Window is the last calls of an agent, or of a session. The zero value is
// ready. The caller owns and guards it.
type Window struct {
	entries []entry // oldest first
	last    uint64  // the id given out last
}

// entry is one call. Its reply arrives later, or never.
type entry struct {
	id       uint64
	session  uint64
	at       time.Time
	prompt   uint64
	replied  uint64 // order in which replies came; 0 before
	response uint64
	tools    uint64
}

// ScoreParts is how a similarity score came about.
type ScoreParts struct {
	Prompts   int `json:"similar_prompts"`
	Responses int `json:"similar_responses"`
	ToolCalls int `json:"repeated_tool_calls"`
}

// Score is similar_prompts × 1.0 + similar_responses × 2.0 +
// repeated_tool_calls × 1.5.
func (p ScoreParts) Score() float64 {
	return promptWeight*float64(p.Prompts) + responseWeight*float64(p.Responses) + toolWeight*float64(p.ToolCalls)
}

// Corroborated reports whether two of the three signals have two matches or
// more: repeated prompts alone may be retries, equal answers alone may be a
// classifier at work.
func (p ScoreParts) Corroborated() bool {
	n := 0
	for _, matches := range [...]int{p.Prompts, p.Responses, p.ToolCalls} {
		if matches >= corroborating {
			n++
		}
	}
	return n >= 2
}

// Match is an earlier call of the window that is like the newest: its prompt
// like the prompt of this request, its reply like the latest reply. A
// distance is -1 where that part does not match.
type Match struct {
	Entry            uint64    `json:"entry"`
	Time             time.Time `json:"time"`
	PromptDistance   int       `json:"prompt_distance"`
	ResponseDistance int       `json:"response_distance"`
	SameTools        bool      `json:"same_tools"`
}

// Score compares a request with the last size-1 calls of the window: size
// counts the request itself, which is never counted against itself.
func (w *Window) Score(p Prompt, size int, now time.Time) (ScoreParts, []Match) {
	var parts ScoreParts
	var matches []Match
	es := w.recent(size-1, now)
	latest := latestReply(es)
	for i := range es {
		e := &es[i]
		m := Match{Entry: e.id, Time: e.at, PromptDistance: -1, ResponseDistance: -1}
		if Similar(p.Hash, e.prompt) {
			parts.Prompts++
			m.PromptDistance = Distance(p.Hash, e.prompt)
		}
		if latest != nil && e != latest && e.replied > 0 {
			if Similar(latest.response, e.response) {
				parts.Responses++
				m.ResponseDistance = Distance(latest.response, e.response)
			}
			if latest.tools != 0 && latest.tools == e.tools {
				parts.ToolCalls++
				m.SameTools = true
			}
		}
		if m.PromptDistance >= 0 || m.ResponseDistance >= 0 || m.SameTools {
			matches = append(matches, m)
		}
	}
	return parts, matches
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
	w.last++
	w.entries = append(w.recent(size-1, now), entry{id: w.last, at: now, prompt: p.Hash})
	return w.last
}

// Attach puts the reply to its own request, whatever arrived in between. A
// request that has left the window takes no reply.
func (w *Window) Attach(id uint64, reply *haltd.Reply) {
	for i := range w.entries {
		if e := &w.entries[i]; e.id == id {
			w.last++
			e.replied = w.last
			e.response, e.tools = SimHash(reply.Text), toolSignature(reply.Calls)
			return
		}
	}
}

// Remove takes a request that was not forwarded after all out of the window.
func (w *Window) Remove(id uint64) {
	w.entries = slices.DeleteFunc(w.entries, func(e entry) bool { return e.id == id })
}

// of counts the matches that are calls of a session.
func (w *Window) of(session uint64, matches []Match) (n int) {
	for i := range w.entries {
		e := &w.entries[i]
		if e.session == session && slices.ContainsFunc(matches, func(m Match) bool { return m.Entry == e.id }) {
			n++
		}
	}
	return n
}

// View shows the calls of the window.
func (w *Window) View() []haltd.WindowEntry {
	out := make([]haltd.WindowEntry, len(w.entries))
	for i, e := range w.entries {
		out[i] = haltd.WindowEntry{Time: e.at.UTC(), PromptHash: hashText(e.prompt), ResponseHash: hashText(e.response), Tools: hashText(e.tools)}
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
