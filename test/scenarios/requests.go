package scenarios

import (
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"github.com/haltd/haltd"
)

// Request is one call of a case as its client makes it.
type Request struct {
	At      time.Duration // since the case began
	Session string
	History []Entry
	New     []Entry // the end of History that the provider has not seen
	Turn    *Turn   // the reply
	Count   bool    // asks for a number of tokens only
	Number  int     // of the call, from 1; 0 where it is none
}

// Entry is one message of a history: what was said, an assistant's turn, or
// the results of one.
type Entry struct {
	Message *haltd.Message
	Turn    *Turn
	Results bool // what came back for Turn, rather than Turn itself
}

// Requests are the calls of a case, and the number of the last call before
// the loop begins.
func (c *Case) Requests() (requests []Request, before int) {
	u := unrolling{name: c.Name, sessions: map[string]*history{}}
	for i := range c.Moves {
		u.move(&c.Moves[i])
	}
	return u.requests, u.before
}

type history struct {
	entries []Entry
	seen    int // by the provider
}

type unrolling struct {
	name     string
	sessions map[string]*history
	now      time.Duration
	calls    int
	before   int
	toolCall int
	requests []Request
}

func (u *unrolling) move(m *Move) {
	h := u.sessions[m.Session]
	if h == nil {
		h = &history{}
		u.sessions[m.Session] = h
	}
	switch {
	case m.Loop:
		u.before = u.calls
		return
	case m.Forget:
		h.entries, h.seen = nil, 0
	case m.Keep > 0:
		h.entries = slices.Concat(h.entries[:1], h.entries[max(1, len(h.entries)-m.Keep):])
		h.seen = len(h.entries)
	case m.Resend:
		h.entries = slices.Concat(h.entries, h.entries)
	}
	if m.Aside {
		h = &history{}
	}
	for j := range m.Inputs {
		h.entries = append(h.entries, Entry{Message: &m.Inputs[j]})
	}
	if m.Turn != nil {
		u.request(m, h)
	}
}

// request makes the call of a move and puts its reply into the history.
func (u *unrolling) request(m *Move, h *history) {
	wait := m.Wait
	if wait == 0 {
		wait = pace
	}
	u.now += wait
	r := Request{At: u.now, Session: m.Session, History: slices.Clip(h.entries), New: slices.Clip(h.entries[h.seen:]), Count: m.Count}
	if m.Count {
		u.requests = append(u.requests, r)
		return
	}
	u.calls++
	r.Number, r.Turn = u.calls, u.identified(m.Turn)
	u.requests = append(u.requests, r)
	h.entries = append(h.entries, Entry{Turn: r.Turn})
	h.seen = len(h.entries)
	if len(r.Turn.Calls) > 0 {
		h.entries = append(h.entries, Entry{Turn: r.Turn, Results: true})
	}
}

// identified gives the calls of a turn ids of their own, as a provider does.
func (u *unrolling) identified(t *Turn) *Turn {
	own := *t
	own.Calls, own.Results = slices.Clone(t.Calls), slices.Clone(t.Results)
	for i := range own.Calls {
		u.toolCall++
		sum := fnv.New128a()
		fmt.Fprint(sum, u.name, u.toolCall)
		id := fmt.Sprintf("%x", sum.Sum(nil))[:24]
		own.Calls[i].ID, own.Results[i].CallID, own.Results[i].Name = id, id, own.Calls[i].Name
	}
	return &own
}

// Tools are the names of the tools that a case calls.
func (c *Case) Tools() []string {
	var names []string
	for i := range c.Moves {
		if t := c.Moves[i].Turn; t != nil {
			for _, tc := range t.Calls {
				if !slices.Contains(names, tc.Name) {
					names = append(names, tc.Name)
				}
			}
		}
	}
	return names
}
