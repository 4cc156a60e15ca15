package gateway

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/judge"
)

// errCut is why a call ends whose agent was stopped at once.
var errCut = errors.New("cut by an operator")

// How the events of calls that haltd cuts say so.
const (
	errorCut   = "operator_cut"
	errorSpent = "budget_cut" // a stream, because the money is gone
)

// inFlightCalls are the calls that can be cut, by agent.
type inFlightCalls struct {
	mu    sync.Mutex
	calls map[string]map[*exchange]bool
}

func (f *inFlightCalls) add(x *exchange) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.calls == nil {
		f.calls = map[string]map[*exchange]bool{}
	}
	of := f.calls[x.event.Agent]
	if of == nil {
		of = map[*exchange]bool{}
		f.calls[x.event.Agent] = of
	}
	of[x] = true
}

func (f *inFlightCalls) remove(x *exchange) {
	f.mu.Lock()
	defer f.mu.Unlock()
	of := f.calls[x.event.Agent]
	delete(of, x)
	if len(of) == 0 {
		delete(f.calls, x.event.Agent)
	}
}

// Cut ends the calls of a target that are in flight.
func (g *Gateway) Cut(t haltd.Target) {
	f := &g.inFlight
	f.mu.Lock()
	defer f.mu.Unlock()
	for x := range f.calls[t.Agent] {
		if t.Session == "" || t.Session == x.event.Session {
			x.cut(errCut)
		}
	}
}

// track makes a call one that can be cut. Between the decision and now,
// perhaps after a wait, its agent may have been stopped: then it is denied.
func (g *Gateway) track(x *exchange) error {
	x.ctx, x.cut = context.WithCancelCause(x.r.Context())
	g.inFlight.add(x)
	var ok bool
	if x.decision, ok = x.ticket.Recheck(x.ctx); !ok {
		x.decision.Describe(&x.event)
		return x.denial()
	}
	return nil
}

// untrack undoes track.
func (g *Gateway) untrack(x *exchange) {
	if x.cut != nil {
		g.inFlight.remove(x)
		x.cut(nil)
	}
}

func (x *exchange) wasCut() bool { return x.ctx != nil && errors.Is(context.Cause(x.ctx), errCut) }

// cutDenial answers a call that was cut before its reply began.
func (x *exchange) cutDenial() error {
	x.event.Error = errorCut
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
		flusher(x.w)()
		x.broken = false
	}
}

// isEventStream reports whether the client is being sent plain events, to which
// one can be added.
func (x *exchange) isEventStream() bool {
	h := x.w.Header()
	return x.tapFormat() != nil && strings.HasPrefix(h.Get("Content-Type"), "text/event-stream") && h.Get("Content-Encoding") == "" && h.Get("Content-Length") == ""
}
