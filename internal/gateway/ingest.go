package gateway

import (
	"context"
	"crypto/sha256"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/config"
	"github.com/haltd/haltd/internal/excerpt"
	"github.com/haltd/haltd/internal/judge"
)

// ingestClient is the client of calls that agents report themselves.
const ingestClient = "ingest"

// Ingest judges and records a call that an agent made without the gateway.
func (g *Gateway) Ingest(ctx context.Context, in haltd.Ingest) (haltd.IngestAnswer, error) {
	now := g.clock()
	e := ingestEvent(in)
	e.Time = now.UTC()
	e.Cost, _ = g.prices.Cost(e.Provider, e.Model, e.Tokens)
	reply := &haltd.Reply{
		Calls: in.ToolCalls, Text: hashWord(in.ResponseHash), Usage: e.Tokens, Counted: true, Complete: true,
	}
	d, active := g.judging.Ingest(ctx, &judge.Request{
		Agent: in.Agent, Session: in.Session, Named: in.Session != "",
		Call: &haltd.Call{Model: in.Model}, Provider: in.Provider, Model: in.Model, PromptTokens: in.PromptTokens,
		Event: e, Now: now,
	}, reply, e.Cost)
	d.Describe(&e)
	// The call was made: nothing was blocked, whatever comes next.
	e.Blocked, e.BlockReason = false, ""
	if s := g.settings.Load(); s.excerpts == config.ExcerptsOn {
		e.Excerpt = excerpt.New("").Finish(&haltd.Reply{Calls: in.ToolCalls}, s.secrets)
	}
	g.recorder.Stamp(&e) // the answer names the event
	g.recorder.Record(e)
	g.meter.Request(e.Provider, d.Action.String())
	g.usage.Usage(e.Provider, e.Tokens, e.Cost)
	answer := ingestAnswer(&d, active)
	answer.Event = e.ID
	return answer, nil
}

func ingestEvent(in haltd.Ingest) haltd.Event {
	e := haltd.Event{
		Type: haltd.EventCall, Agent: in.Agent, Session: in.Session, Client: ingestClient,
		Provider: in.Provider, Model: truncate(in.Model, 200), Status: 200, Latency: in.Latency,
		Tokens: haltd.Usage{Input: in.PromptTokens, Output: in.CompletionTokens}, ReplyHash: truncate(in.ResponseHash, 64),
	}
	for i := range in.ToolCalls {
		e.ToolCalls = append(e.ToolCalls, truncate(in.ToolCalls[i].Name, 100))
	}
	return e
}

func ingestAnswer(d *judge.Decision, active bool) haltd.IngestAnswer {
	out := haltd.IngestAnswer{
		Action: d.Action, Reason: d.Reason, Sentence: d.Sentence,
		Active: active, Incident: d.Incident, Score: d.Detected.Parts.Score(), Findings: d.Findings,
	}
	if out.Findings == nil {
		out.Findings = []haltd.Finding{}
	}
	return out
}

// hashWord is a text that is alike for equal hashes and for no others, also
// after numbers have been taken out of it.
func hashWord(hash string) string {
	if hash == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(hash))
	word := make([]byte, 0, 2*len(sum))
	for _, b := range sum {
		word = append(word, 'a'+b>>4, 'a'+b&15)
	}
	return string(word)
}
