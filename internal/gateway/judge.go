package gateway

import (
	"net/netip"
	"slices"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/config"
	"github.com/haltd/haltd/internal/excerpt"
	"github.com/haltd/haltd/internal/judge"
	"github.com/haltd/haltd/internal/policy"
)

// judge gets the decision on a request. A stop comes back as the answer to
// give; a throttle waits here.
func (g *Gateway) judge(x *exchange) error {
	e := &x.event
	r := &judge.Request{
		Agent: e.Agent, Session: e.Session, Shared: x.shared, Interactive: x.shared && isInteractive(e.Client), Caller: x.caller, Named: x.named,
		Call: x.call, Attempt: x.attempt, Claimed: claimsRetry(x.r.Header), Provider: e.Provider, Model: e.Model, Path: x.route.path, PromptTokens: int64(x.estimate),
		Policies: x.policies, Descriptors: x.descriptors, Identity: x.identity(),
		Event: *e, Now: g.clock(),
	}
	if x.key.BudgetDay > 0 || x.key.BudgetMonth > 0 {
		r.Key = &x.key
	}
	switch {
	case x.call != nil:
		x.describeReplies(r)
		r.Shown = x.guess != 0 && x.retold == nil && !x.isKept()
		if x.known != nil {
			r.Known, r.Whole = x.known.rounds, x.readWhole
		}
		r.TakesNote = x.takesNote
	case x.ask != nil:
		x.describeAsk(r)
	case x.poll != nil:
		r.FetchesPaidReply = true
	}
	if x.draft != nil {
		r.Excerpt = x.excerpt
	}
	if x.settings.excerpts != config.ExcerptsOff {
		r.Quote = func(e *haltd.IncidentExcerpt) { excerpt.Redact(e, x.secrets()) }
	}
	// This is the event of the request if it is the one that kills.
	r.Event.Time, r.Event.Status = x.start.UTC(), x.settings.blockStatus
	x.judging = r.Now
	x.decision, x.ticket = g.judging.Judge(x.r.Context(), r)
	g.keepPrefix(x)
	if g.tracer != nil {
		x.judged = g.clock()
	}
	e.Retry = r.Retry
	if x.decision.Reason == haltd.ReasonUnsaved && x.r.Context().Err() != nil {
		return errClientLeft // and did not wait for its reservation
	}
	if delay := time.Duration(x.decision.Delay); x.decision.Action == haltd.Throttle {
		if err := g.throttle(x, delay); err != nil {
			return err
		}
	}
	x.decision.Describe(e)
	if x.decision.Action.Stops() {
		return x.denial()
	}
	if x.decision.Action == haltd.Steer {
		g.steer(x)
	}
	return g.track(x)
}

// describeReplies tells the judge how long the replies to a call may be.
func (x *exchange) describeReplies(r *judge.Request) {
	c := x.call
	choices := int64(max(c.Choices, 1))
	r.Generates, r.Stream, r.Models, r.Predicted = true, c.Stream, c.Models, int64(c.Predicted)
	if c.Alias != "" {
		r.Names = []string{c.Alias}
	}
	if r.MaxTokens = int64(c.MaxTokens) * choices; r.MaxTokens == 0 {
		r.Open = choices
	}
}

// throttle delays a request, as long as its client waits.
func (g *Gateway) throttle(x *exchange, delay time.Duration) error {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	x.waited += delay
	select {
	case <-timer.C:
	case <-x.r.Context().Done():
		x.ticket.Release(x.r.Context())
		return errClientLeft
	}
	return nil
}

// selectPolicies finds the policies that select a request and the values of
// their keys, as long as its headers are those that the client sent.
func (g *Gateway) selectPolicies(x *exchange) {
	x.policies = x.settings.policies.Match(x.r.Method, x.r.Host, x.route.path)
	for _, p := range x.policies {
		x.values = append(x.values, p.Descriptors(x.r, x.clientIP(), g.clock()))
	}
}

func (x *exchange) descriptors(p *policy.RequestPolicy) map[string]string {
	return x.values[slices.Index(x.policies, p)]
}

// clientIP is who calls, as far as trusted proxies tell.
func (x *exchange) clientIP() string {
	if x.address == "" {
		x.address = x.r.RemoteAddr
		if peer, err := netip.ParseAddrPort(x.address); err == nil {
			client, _ := haltd.ClientAddress(peer.Addr(), x.r.Header["X-Forwarded-For"], x.settings.trusted)
			x.address = client.String()
		}
	}
	return x.address
}

// identity is what makes two requests the same to exact.
func (x *exchange) identity() policy.Identity {
	r := policy.Identity{Method: x.r.Method, Path: x.route.path, Query: x.r.URL.RawQuery}
	if x.body != nil {
		r.BodyHash = x.bodyHash[:]
	}
	return r
}
