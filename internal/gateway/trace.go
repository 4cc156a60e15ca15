package gateway

import (
	"time"

	"github.com/haltd/haltd"
)

// Tracer tells a collector of calls. It must not block.
type Tracer interface {
	// NewTrace makes the id of a trace, for a call that belongs to none.
	NewTrace() string
	// Call tells of a call that has ended; the event names its trace.
	Call(e *haltd.Event, t haltd.Traced)
}

// findTrace notes the trace that a request belongs to. What the client said of
// it goes to the provider as it came.
func (g *Gateway) findTrace(x *exchange) {
	if parent := x.r.Header["Traceparent"]; len(parent) == 1 {
		if x.event.Trace = haltd.TraceID(parent[0]); x.event.Trace != "" {
			x.parent = parent[0]
			return
		}
	}
	if g.tracer != nil {
		x.event.Trace = g.tracer.NewTrace()
	}
}

// trace tells the collector of a call that has ended.
func (g *Gateway) trace(x *exchange) {
	if g.tracer == nil {
		return
	}
	t := haltd.Traced{
		Parent: x.parent, Began: x.start, Judging: x.judging, Judged: x.judged,
		Ended: x.start.Add(time.Duration(x.event.Latency)), Decision: x.outcome(), Operation: x.operation(),
		ErrorType: x.errorType(),
	}
	if x.route.upstream != nil {
		t.Server = x.route.upstream.BaseURL.Hostname()
	}
	if state := x.r.Header["Tracestate"]; x.parent != "" && len(state) == 1 {
		t.State = state[0]
	}
	g.tracer.Call(&x.event, t)
}

// operation is what the request asks for, in the words of gen_ai.
func (x *exchange) operation() string {
	switch {
	case x.event.Format != "":
		return x.dialect().Operation()
	case x.ask != nil:
		return "generate"
	}
	return "pass_through"
}
