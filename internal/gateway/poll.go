package gateway

import (
	"net/http"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/wire"
	"github.com/haltd/haltd/internal/wire/formats"
)

// poll is a request for a reply of which something is unsettled.
type poll struct {
	id     string
	format wire.ReplyFormat
	haltd.Unsettled
}

// findPoll finds out whether a request fetches an unsettled reply.
func (g *Gateway) findPoll(x *exchange) {
	if x.r.Method != http.MethodGet {
		return
	}
	id, format := formats.Fetched(x.route.path)
	if id == "" {
		return
	}
	before, ok, err := g.replies.Unsettled(x.r.Context(), x.event.Agent, id)
	if err != nil {
		g.log.Warn("a reply is not settled: the state cannot be had", "agent", x.event.Agent, "error", err)
	}
	if ok {
		x.poll = &poll{id: id, format: format, Unsettled: before}
		x.event.Model = before.Model
	}
}

// isKept reports a call whose provider keeps what was said.
func (x *exchange) isKept() bool {
	_, ok := x.format.(wire.Keeper)
	return ok
}

// rememberUnsettled keeps what a reply was charged by estimate, until a poll
// tells what it cost.
func (g *Gateway) rememberUnsettled(x *exchange) {
	e, r := &x.event, x.reply
	if r == nil || r.ID == "" || !e.Estimated || !r.Working && r.Complete || !x.isKept() {
		return
	}
	u := haltd.Unsettled{Model: e.Model, Time: x.start, Tokens: e.Tokens, Cost: e.Cost}
	if err := g.replies.SaveUnsettled(x.lasting(), e.Agent, r.ID, u); err != nil {
		g.log.Warn("a reply stays charged by estimate: the state cannot be had", "agent", e.Agent, "error", err)
	}
}

// settlePoll charges the difference between what a reply was charged and what
// it cost, once, when the provider is done with it. The event of the poll has
// the difference, so that sums of events are right.
func (g *Gateway) settlePoll(x *exchange, now time.Time) {
	r, t, ctx := x.reply, x.ticket, x.lasting()
	if r == nil || !r.Counted || r.Working || !r.Complete {
		t.Settle(ctx, haltd.Usage{}, 0, now)
		return
	}
	before, ok, err := g.replies.TakeUnsettled(ctx, x.event.Agent, x.poll.id)
	if err != nil || !ok || !t.SamePeriods(before.Time, now) {
		t.Settle(ctx, haltd.Usage{}, 0, now)
		return
	}
	e := &x.event
	cost, known := g.prices.Cost(e.Provider, before.Model, r.Usage)
	e.Unpriced, e.Cost = !known, cost-before.Cost
	e.Tokens = haltd.Usage{
		Input: r.Usage.Input - before.Tokens.Input, Output: r.Usage.Output - before.Tokens.Output,
		CacheRead: r.Usage.CacheRead - before.Tokens.CacheRead, CacheWrite: r.Usage.CacheWrite - before.Tokens.CacheWrite,
	}
	t.Settle(ctx, e.Tokens, e.Cost, now)
}
