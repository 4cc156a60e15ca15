package gateway

import (
	"context"
	"encoding/json"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/detect"
	"github.com/haltd/haltd/internal/judge"
)

// judge asks the detectors about an LLM call. Nothing is blocked: what they
// say stands in the record. A transport's retry is no evidence, and a judge
// that fails lets the call pass.
func (g *Gateway) judge(x *exchange) {
	if x.call == nil || x.event.Retry {
		return
	}
	e := &x.event
	began := g.Clock()
	verdict, err := g.Judge.Judge(x.r.Context(), judge.Subject{
		Agent: e.Agent, Session: e.Session, Shared: e.Agent == e.Client, Named: x.named,
	}, x.call, began)
	g.Meter.Detect(g.Clock().Sub(began))
	if err != nil {
		g.Logger.Warn("call not judged", "agent", e.Agent, "error", err)
		return
	}
	x.verdict = verdict
	e.Verdict = verdict.Brief()
	if verdict.News {
		g.tell(x, haltd.EventWarning, verdict.Full())
	}
}

// observe gives the judge the reply, whole or as far as it came.
func (g *Gateway) observe(x *exchange, now time.Time) {
	if x.verdict == nil || x.reply == nil {
		return
	}
	// The client may be gone; what it said still counts.
	signals, err := x.verdict.Observe(context.WithoutCancel(x.r.Context()), x.reply, now)
	if err != nil {
		g.Logger.Warn("reply not observed", "agent", x.event.Agent, "error", err)
	}
	for _, s := range signals {
		if s.Detector == detect.Growth {
			g.tell(x, haltd.EventGrowth, x.verdict.FullOf(s))
		}
	}
}

// tell records what the detectors found as an event of its own.
func (g *Gateway) tell(x *exchange, kind haltd.EventType, verdict json.RawMessage) {
	e, now := &x.event, g.Clock()
	g.Recorder.Record(haltd.Event{
		Time: now.UTC(), Type: kind,
		Agent: e.Agent, Label: e.Label, Session: e.Session, Client: e.Client,
		Provider: e.Provider, Format: e.Format, Path: e.Path, Model: e.Model,
		Shadow: true, Verdict: verdict,
	})
}
