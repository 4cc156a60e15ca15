package gateway

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/judge"
)

// errCut is why a call ends whose agent was stopped at once.
var errCut = errors.New("cut by an operator")

// observationWait is how long a call waits at most for what is to be known of
// the one before it.
const observationWait = 50 * time.Millisecond

// inFlightCalls are the calls that can be cut, by agent, and those whose reply
// is on its way.
type inFlightCalls struct {
	mu       sync.Mutex
	calls    map[string]*exchange // the newest of each agent, which leads to the others
	replying map[uint64]*exchange // the newest of each attempt
}

func (f *inFlightCalls) add(x *exchange) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.calls == nil {
		f.calls = map[string]*exchange{}
	}
	x.older = f.calls[x.event.Agent]
	if x.older != nil {
		x.older.newer = x
	}
	f.calls[x.event.Agent] = x
}

func (f *inFlightCalls) remove(x *exchange) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if x.older != nil {
		x.older.newer = x.newer
	}
	switch {
	case x.newer != nil:
		x.newer.older = x.older
	case x.older != nil:
		f.calls[x.event.Agent] = x.older
	default:
		delete(f.calls, x.event.Agent)
	}
	x.older, x.newer = nil, nil
	if f.replying[x.attempt] == x {
		delete(f.replying, x.attempt)
	}
	close(x.recorded)
}

// begin notes that the reply to a call has begun.
func (f *inFlightCalls) begin(x *exchange) {
	if x.format == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.replying == nil {
		f.replying = map[uint64]*exchange{}
	}
	f.replying[x.attempt] = x
}

// awaitIdentical waits for the record of an identical call whose reply is on
// its way. Who hangs up just before the end of a reply and asks again may be
// faster than the news of it, and must not seem to ask for both at once.
func (g *Gateway) awaitIdentical(x *exchange) {
	f := &g.inFlight
	f.mu.Lock()
	before := f.replying[x.attempt]
	f.mu.Unlock()
	if before != nil {
		g.await(x, before)
	}
}

// awaitReplies waits for the record of the agent's calls whose replies are on
// their way: a client that has all of a reply may continue it before haltd
// knows its id. It reports whether there were any.
func (g *Gateway) awaitReplies(x *exchange) bool {
	f := &g.inFlight
	f.mu.Lock()
	var before []*exchange
	for y := f.calls[x.event.Agent]; y != nil; y = y.older {
		if f.replying[y.attempt] == y {
			before = append(before, y)
		}
	}
	f.mu.Unlock()
	if len(before) > 0 {
		g.await(x, before...)
	}
	return len(before) > 0
}

// await waits until other calls are recorded, observationWait at most.
func (g *Gateway) await(x *exchange, others ...*exchange) {
	began := g.clock()
	timer := time.NewTimer(observationWait)
	defer timer.Stop()
	for _, y := range others {
		select {
		case <-y.recorded:
			continue
		case <-timer.C:
		case <-x.r.Context().Done():
		}
		break
	}
	x.waited += g.clock().Sub(began)
}

// Cut ends the calls of a target that are in flight.
func (g *Gateway) Cut(t haltd.Target) {
	f := &g.inFlight
	f.mu.Lock()
	defer f.mu.Unlock()
	for x := f.calls[t.Agent]; x != nil; x = x.older {
		if t.Session == "" || t.Session == x.event.Session {
			x.cut(errCut)
		}
	}
}

// Calling reports whether an agent has a call in flight. Its first one is not
// in the record yet.
func (g *Gateway) Calling(agent string) bool {
	f := &g.inFlight
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[agent] != nil
}

// track makes a call one that can be cut. Between the decision and now,
// perhaps after a wait, its agent may have been stopped: then it is denied.
func (g *Gateway) track(x *exchange) error {
	x.ctx, x.cut = context.WithCancelCause(x.r.Context())
	x.recorded = make(chan struct{})
	g.inFlight.add(x)
	var ok bool
	if x.decision, ok = x.ticket.Recheck(x.ctx); !ok {
		x.decision.Describe(&x.event)
		return x.denial()
	}
	return nil
}

// untrack undoes track, once all is known of the call.
func (g *Gateway) untrack(x *exchange) {
	if x.cut != nil {
		g.inFlight.remove(x)
		x.cut(nil)
	}
}

func (x *exchange) wasCut() bool { return x.ctx != nil && errors.Is(context.Cause(x.ctx), errCut) }

// cutDenial answers a call that was cut before its reply began.
func (x *exchange) cutDenial() error {
	x.fail(operatorCut)
	x.decision = x.ticket.Cut()
	x.decision.Describe(&x.event)
	return x.denial()
}

// endStream ends an event stream that haltd cuts, for the reason that the
// decision says: to most clients a stream that merely ends is a whole reply.
// Where the error cannot be told in band, the connection breaks.
func (x *exchange) endStream(d judge.Decision) {
	x.decision, x.broken = d, true
	if !x.isEventStream() {
		return
	}
	var ref refusal
	if errors.As(x.denial(), &ref) {
		_, _ = x.w.Write(append([]byte("\n\n"), x.tapFormat().StreamError(ref.Denied)...))
		x.w.flush()
		x.broken = false
	}
}

// isEventStream reports whether the client is being sent plain events, to which
// one can be added.
func (x *exchange) isEventStream() bool {
	h := x.w.Header()
	return x.tapFormat() != nil && strings.HasPrefix(field(h, "Content-Type"), "text/event-stream") && field(h, "Content-Encoding") == "" && field(h, "Content-Length") == ""
}
