package sqlite

import (
	"math"

	"github.com/haltd/haltd"
)

// tally is what a batch of events adds to the rows above them, summed before
// any row is touched: a batch writes each row once.
type tally struct {
	agents   map[string]*agentSum
	sessions map[sessionKey]*sessionSum
	hours    map[int64]*span
	usage    map[usageKey]*haltd.Totals
}

type sessionKey struct{ agent, id string }

type usageKey struct {
	hour                   int64
	agent, provider, model string
}

type agentSum struct {
	no     int64 // of the row, once it is written
	shared bool
	seen   span // by requests: what a person changes is no sign of life
	events span // times of all events
	totals haltd.Totals
}

type sessionSum struct {
	no            int64
	client, model string
	seen, times   span // as in agentSum
	events        span
	peak          float64
	totals        haltd.Totals
}

// span is the smallest and the largest of some numbers.
type span struct{ first, last int64 }

// nothing is the span of no number; to include it changes no other.
var nothing = span{math.MaxInt64, 0}

// isRequest tells requests from what people and haltd itself do.
func isRequest(e *haltd.Event) bool { return e.Type != haltd.EventPolicy && e.Type != haltd.EventAlert }

func (s *span) include(n int64) {
	s.first = min(s.first, n)
	s.last = max(s.last, n)
}

func newTally() *tally {
	return &tally{
		agents:   map[string]*agentSum{},
		sessions: map[sessionKey]*sessionSum{},
		hours:    map[int64]*span{},
		usage:    map[usageKey]*haltd.Totals{},
	}
}

// add counts e. Without an agent an event belongs to its hour alone.
func (t *tally) add(e *haltd.Event) {
	at, id, hour, sums := micros(e.Time), int64(e.ID), hourOf(e.Time), totalsOf(e)

	h := t.hours[hour]
	if h == nil {
		h = &span{id, id}
		t.hours[hour] = h
	}
	h.include(id)

	if sums != (haltd.Totals{}) { // else whoever made it did not call
		key := usageKey{hour, e.Agent, e.Provider, e.Model}
		u := t.usage[key]
		if u == nil {
			u = &haltd.Totals{}
			t.usage[key] = u
		}
		addTotals(u, sums)
	}

	if e.Agent == "" {
		return
	}
	a := t.agents[e.Agent]
	if a == nil {
		a = &agentSum{seen: nothing, events: nothing}
		t.agents[e.Agent] = a
	}
	a.shared = a.shared || e.Agent == e.Client
	a.events.include(at)
	if isRequest(e) {
		a.seen.include(at)
	}
	addTotals(&a.totals, sums)

	if e.Session != "" {
		t.addSession(e, at, sums)
	}
}

func (t *tally) addSession(e *haltd.Event, at int64, sums haltd.Totals) {
	key := sessionKey{e.Agent, e.Session}
	s := t.sessions[key]
	if s == nil {
		s = &sessionSum{seen: nothing, times: nothing, events: nothing}
		t.sessions[key] = s
	}
	newest := at >= s.seen.last
	if e.Client != "" && (newest || s.client == "") {
		s.client = e.Client
	}
	if e.Model != "" && (newest || s.model == "") {
		s.model = e.Model
	}
	s.times.include(at)
	if isRequest(e) {
		s.seen.include(at)
	}
	s.events.include(int64(e.ID))
	s.peak = max(s.peak, e.Score)
	addTotals(&s.totals, sums)
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

func addTotals(sum *haltd.Totals, t haltd.Totals) {
	sum.Calls += t.Calls
	sum.Blocked += t.Blocked
	sum.Errors += t.Errors
	sum.Tokens = sum.Tokens.Add(t.Tokens)
	sum.Cost += t.Cost
}
