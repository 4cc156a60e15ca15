package table

import (
	"math"

	"github.com/haltd/haltd"
)

// Tally is what a batch of events adds to the rows above them, summed before
// any row is touched: a batch writes each row once.
type Tally struct {
	Agents   map[string]*AgentSum
	Sessions map[SessionKey]*SessionSum
	Hours    map[int64]*Span
	Usage    map[UsageKey]*haltd.Totals
}

// SessionKey names a session: their ids are unique per agent only.
type SessionKey struct{ Agent, ID string }

// UsageKey names an hourly sum.
type UsageKey struct {
	Hour                   int64
	Agent, Provider, Model string
}

// AgentSum is what events add to their agent.
type AgentSum struct {
	No     int64 // of the row, once it is written, where rows have numbers
	Shared bool
	Seen   Span // by requests: what a person changes is no sign of life
	Events Span // times of all events
	Totals haltd.Totals
}

type SessionSum struct {
	No            int64
	Client, Model string
	Seen, Times   Span // as in AgentSum
	Events        Span // their ids
	Peak          float64
	Totals        haltd.Totals
}

// Span is the smallest and the largest of some numbers.
type Span struct{ First, Last int64 }

// nothing is the Span of no number; to include it changes no other.
var nothing = Span{math.MaxInt64, 0}

// isRequest tells requests from what people and haltd itself do.
func isRequest(e *haltd.Event) bool { return e.Type != haltd.EventPolicy && e.Type != haltd.EventAlert }

func (s *Span) include(n int64) {
	s.First = min(s.First, n)
	s.Last = max(s.Last, n)
}

// NewTally is one of no events.
func NewTally() *Tally {
	return &Tally{
		Agents:   map[string]*AgentSum{},
		Sessions: map[SessionKey]*SessionSum{},
		Hours:    map[int64]*Span{},
		Usage:    map[UsageKey]*haltd.Totals{},
	}
}

// Add counts e. Without an agent an event belongs to its hour alone.
func (t *Tally) Add(e *haltd.Event) {
	at, id, hour, sums := Micros(e.Time), int64(e.ID), HourOf(e.Time), totalsOf(e)

	h := t.Hours[hour]
	if h == nil {
		h = &Span{id, id}
		t.Hours[hour] = h
	}
	h.include(id)

	if sums != (haltd.Totals{}) { // else whoever made it did not call
		key := UsageKey{hour, e.Agent, e.Provider, e.Model}
		u := t.Usage[key]
		if u == nil {
			u = &haltd.Totals{}
			t.Usage[key] = u
		}
		AddTotals(u, sums)
	}

	if e.Agent == "" {
		return
	}
	a := t.Agents[e.Agent]
	if a == nil {
		a = &AgentSum{Seen: nothing, Events: nothing}
		t.Agents[e.Agent] = a
	}
	a.Shared = a.Shared || e.Agent == e.Client
	a.Events.include(at)
	if isRequest(e) {
		a.Seen.include(at)
	}
	AddTotals(&a.Totals, sums)

	if e.Session != "" {
		t.addSession(e, at, sums)
	}
}

func (t *Tally) addSession(e *haltd.Event, at int64, sums haltd.Totals) {
	key := SessionKey{e.Agent, e.Session}
	s := t.Sessions[key]
	if s == nil {
		s = &SessionSum{Seen: nothing, Times: nothing, Events: nothing}
		t.Sessions[key] = s
	}
	newest := at >= s.Seen.Last
	if e.Client != "" && (newest || s.Client == "") {
		s.Client = e.Client
	}
	if e.Model != "" && (newest || s.Model == "") {
		s.Model = e.Model
	}
	s.Times.include(at)
	if isRequest(e) {
		s.Seen.include(at)
	}
	s.Events.include(int64(e.ID))
	s.Peak = max(s.Peak, e.Score)
	AddTotals(&s.Totals, sums)
}

// totalsOf is what one event counts for. Of the events that are no calls only
// those of a request that could not be forwarded count, as errors.
func totalsOf(e *haltd.Event) haltd.Totals {
	t := haltd.Totals{Tokens: e.Tokens, Cost: e.Cost}
	switch {
	case e.Blocked || e.Type == haltd.EventBlocked:
		t.Calls, t.Blocked = 1, 1
	case e.Type == haltd.EventCall:
		t.Calls = 1
		if e.Failed() {
			t.Errors = 1
		}
	case e.Type == haltd.EventError && e.Failed():
		t.Errors = 1
	}
	return t
}

// AddTotals adds t to sum.
func AddTotals(sum *haltd.Totals, t haltd.Totals) {
	sum.Calls += t.Calls
	sum.Blocked += t.Blocked
	sum.Errors += t.Errors
	sum.Tokens = sum.Tokens.Add(t.Tokens)
	sum.Cost += t.Cost
}
