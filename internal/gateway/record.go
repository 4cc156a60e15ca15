package gateway

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/wire/formats"
)

// record ends an exchange: it completes the event, ends the ticket, remembers
// what later requests need to know, and queues the event. Each of them is done
// though the one before it panics. What may wait for the disk comes last: a
// crash meanwhile must not cost the event.
func (g *Gateway) record(x *exchange) {
	if x.probe {
		return
	}
	now := x.delivered
	if now.IsZero() {
		now = g.clock()
	}
	defer g.finishing.remove(x)
	defer x.releaseMemory()
	defer x.flushMoney()
	defer g.write(x)
	defer g.trace(x)
	defer g.count(x)
	defer g.untrack(x)
	defer g.remember(x)
	defer g.endTicket(x, now)
	g.observe(x)
	g.describe(x, now)
}

// lasting is the context of what is done also when the client is gone.
func (x *exchange) lasting() context.Context {
	if x.detached == nil {
		x.detached = context.WithoutCancel(x.r.Context())
	}
	return x.detached
}

// releaseMemory returns what the bodies of an exchange took that ended before
// its time.
func (x *exchange) releaseMemory() {
	x.bodyShare.release()
	x.textShare.release()
	x.replyShare.release()
}

// describe completes the event.
func (g *Gateway) describe(x *exchange, now time.Time) {
	e := &x.event
	if !x.handled {
		x.fail(haltd.CodeInternal)
	}
	e.Time, e.Type = x.start.UTC(), x.eventType()
	e.Latency = haltd.Duration(now.Sub(x.start))
	switch {
	case x.poll != nil:
	case x.reply != nil:
		x.describeReply()
	case !x.forwarded || x.format == nil && x.ask == nil:
	case !x.handled, x.failure == clientLeft, x.failure == operatorCut:
		// Nobody waited for the reply; the provider may write it all the same.
		// After a fault, too, all that was reserved is charged.
		e.Estimated, e.Tokens = true, x.ticket.MaxUsage()
	}
	g.priceEvent(x)
	x.described = true
}

// priceEvent says what the tokens of an event cost. Where the request named
// several models, or none, the reply tells which it was; where it does not, the
// dearest is paid for. It also tells where the price of what was asked for is not
// known, or lower: servers have other names, and fallbacks of their own.
func (g *Gateway) priceEvent(x *exchange) {
	e := &x.event
	if e.Tokens == (haltd.Usage{}) && (x.ask == nil || x.reply == nil && !e.Estimated) {
		return
	}
	if x.reply != nil && x.reply.Model != "" && (len(x.models) > 0 || e.Model == "") {
		e.Model, x.models = truncate(x.reply.Model, 200), nil
	}
	cost, known := g.prices.Cost(e.Provider, e.Model, e.Tokens)
	for _, model := range x.models {
		c, k := g.prices.Cost(e.Provider, model, e.Tokens)
		cost, known = max(cost, c), known && k
	}
	if x.reply != nil && x.reply.Model != "" {
		switch c, k := g.prices.Cost(e.Provider, x.reply.Model, e.Tokens); {
		case !k:
		case !known: // a name of its own for a model with a price, such as that of a deployment
			cost, known = c, true
		case c > cost:
			cost, e.Model = c, truncate(x.reply.Model, 200)
		}
	}
	if x.ask != nil && x.ask.Kind == formats.MeteredMedia && e.Estimated {
		cost, known = max(cost, x.flat()), false
	}
	e.Cost, e.Unpriced = cost, !known
}

// endTicket releases what a request holds that was not forwarded, and settles
// what one that was has really cost. What it cost is not known after a panic:
// then all that is reserved is charged, as it is after a crash.
func (g *Gateway) endTicket(x *exchange, now time.Time) {
	t, ctx := x.ticket, x.lasting()
	switch {
	case t == nil:
	case !x.forwarded:
		t.Release(ctx)
	case !x.handled || !x.described:
		t.SettleInFull()
	case x.poll != nil:
		g.settlePoll(x, now)
	default:
		defer t.Settle(ctx, x.event.Tokens, x.event.Cost, now)
		t.Spend(haltd.Spending{Cost: x.event.Cost, Tokens: x.event.Tokens.Input + x.event.Tokens.Output})
		if x.reply != nil {
			t.Observe(ctx, x.reply, x.replyEnd(now))
		}
	}
}

// flushMoney has what the call cost beyond its reservation on disk.
func (x *exchange) flushMoney() {
	if x.ticket != nil {
		x.ticket.Flush()
	}
}

// replyEnd is when the client had the reply, or as much of it as it wanted: a
// client that hangs up may ask again before haltd notices.
func (x *exchange) replyEnd(now time.Time) time.Time {
	if x.failure == clientLeft && !x.lastByte.IsZero() {
		return x.lastByte
	}
	return now
}

// write hands the event to the recorder, unless it was written with a kill.
func (g *Gateway) write(x *exchange) {
	if x.decision.Recorded {
		return
	}
	defer func() { g.recorder.Record(x.event) }()
	x.event.Excerpt = x.excerpt()
}

// excerpt is what was said so far, without any key that haltd knows; nil where
// excerpts are off.
func (x *exchange) excerpt() *haltd.Excerpt {
	if x.draft == nil {
		return nil
	}
	return x.draft.Finish(x.reply, x.secrets())
}

// secrets are all keys that haltd knows of, that of the call among them.
func (x *exchange) secrets() []string {
	return slices.AppendSeq(slices.Clone(x.settings.secrets), credentials(x.r))
}

func (x *exchange) eventType() haltd.EventType {
	switch {
	case x.event.Blocked:
		return haltd.EventBlocked
	case x.refused || x.event.Status == 0:
		return haltd.EventError
	case x.format == nil:
		return haltd.EventPass
	}
	return haltd.EventCall
}

// maxTools is how many tools of a reply an event names.
const maxTools = 100

// describeReply adds what a 2xx reply says.
func (x *exchange) describeReply() {
	e, r := &x.event, x.reply
	e.Finish = truncate(r.Finish, 60)
	e.ReplyHash, e.ReplyLen = digest(r.Text).hex(), len(r.Text)
	for i := range min(len(r.Calls), maxTools) {
		e.ToolCalls = append(e.ToolCalls, truncate(r.Calls[i].Name, 100))
	}
	if r.Complete && x.failure == clientLeft {
		x.fail("") // it had the whole reply, and did not wait for the connection to say so
	}
	if r.Err != "" && (x.failure == "" || x.failure == clientLeft) { // a client leaves because of it
		x.failInStream(r.Err)
	}
	if x.ask != nil {
		e.Tokens, e.Estimated = x.usedByAsk()
		return
	}
	e.Tokens, e.Estimated = x.used()
}

// atOnce is how many tokens of a reply must have come before what came counts
// for what was written. Who leaves earlier may have left a provider that goes
// on writing.
const atOnce = 64

// thinkingPace is how many tokens of thoughts a model may have written in a
// second without showing them.
const thinkingPace = 250

// used is what a 2xx reply has used. A reply that was cut short or could not
// be read has still cost tokens: they are estimated. The counts at the start of
// a stream say nothing of what followed.
func (x *exchange) used() (u haltd.Usage, estimated bool) {
	r := x.reply
	if r.Counted && r.Complete {
		return r.Usage, false
	}
	u = haltd.Usage{Input: int64(x.estimate), Output: x.replyTokens()}
	if r.Counted {
		u = haltd.Usage{Input: max(u.Input, r.Usage.Input), Output: max(u.Output, r.Usage.Output), CacheRead: r.Usage.CacheRead, CacheWrite: r.Usage.CacheWrite}
	}
	hides := x.reasons && r.Thinking == ""
	switch {
	case r.Working || x.ask != nil && x.ask.Later: // what it will cost is not known
		u.Output = max(u.Output, x.ticket.MaxUsage().Output)
	case r.Complete && hides && !r.Counted: // nor what it has thought
		u.Output = max(u.Output, x.ticket.MaxUsage().Output)
	case r.Complete || r.Err != "":
	case x.failure == budgetCut: // all that there was
		u.Output = max(u.Output, x.ticket.MaxUsage().Output+1)
	case x.failure == "" && x.event.Unread != "": // it came to its end
	case u.Output < atOnce:
		u.Output = max(u.Output, x.ticket.MaxUsage().Output)
	case hides:
		unseen := int64(time.Duration(x.event.Latency).Seconds() * thinkingPace)
		u.Output = max(u.Output, min(u.Output+unseen, x.ticket.MaxUsage().Output))
	}
	return u, true
}

// replyTokens estimates the tokens of what has been read of a reply, or of its
// bytes where it could not be read.
func (x *exchange) replyTokens() int64 {
	r := x.reply
	length := len(r.Text) + len(r.Thinking) + int(r.Beside)
	for i := range r.Calls {
		length += len(r.Calls[i].Name) + len(r.Calls[i].Arguments)
	}
	if x.event.Unread != "" || x.ask != nil && length == 0 { // or it says it in words of its own
		length = int(x.sent)
	}
	return int64(length+3)/4 + int64(x.predicted)
}

// remember keeps how the request ended, so that its retry is known as one,
// and which session the reply belongs to.
func (g *Gateway) remember(x *exchange) {
	e := &x.event
	if e.Format == "" {
		return
	}
	g.rememberUnsettled(x)
	ctx := x.lasting()
	err := g.attempts.Ended(ctx, x.attempt, x.ending())
	if x.forwarded && x.reply != nil {
		past := haltd.PastReply{Session: e.Session, Tokens: e.Tokens.Input + e.Tokens.Output}
		if x.reply.ID != "" {
			err = errors.Join(err, g.replies.SaveReply(ctx, e.Agent, x.reply.ID, past))
		}
		if x.newest != "" {
			err = errors.Join(err, g.replies.SaveReply(ctx, e.Agent, x.newest, past))
		}
	}
	g.rememberRetold(x)
	g.rememberTurn(x)
	if x.guess != 0 { // a long reply is no pause
		_, used := g.guesses.Use(ctx, x.guess, g.clock())
		err = errors.Join(err, used)
	}
	if err != nil {
		g.log.Warn("a call is not remembered: the state cannot be had", "agent", e.Agent, "error", err)
	}
}

// ending is how the request ended, as far as its retry is concerned. Who hangs
// up on a reply that is coming has no failure to show for it.
func (x *exchange) ending() haltd.Ending {
	e := &x.event
	answered := e.Status != 0 && !x.refused // by the upstream
	left := x.failure == clientLeft
	switch {
	case !x.forwarded || x.wasCut():
		return haltd.EndedAnswered
	case answered && (e.Status == http.StatusTooManyRequests || e.Status >= http.StatusInternalServerError):
		return haltd.EndedRefused
	case left && !answered:
		return haltd.EndedTimedOut
	case x.reply != nil && (left || !e.Failed() && (x.reply.Complete || e.Unread != "")):
		return haltd.EndedAnswered
	}
	return haltd.EndedLost
}

// outcome is what became of a request, as it is counted.
func (x *exchange) outcome() string {
	e := &x.event
	switch {
	case x.decision.Action != haltd.Allow:
		return x.decision.Action.String()
	case x.refused && e.Status < http.StatusInternalServerError:
		return decisionRefuse
	case e.Type == haltd.EventError:
		return decisionError
	case e.Type == haltd.EventPass:
		return decisionPassed
	}
	return decisionAllow
}

func (g *Gateway) count(x *exchange) {
	e := &x.event
	g.meter.Request(e.Provider, x.outcome())
	g.usage.Usage(e.Provider, e.Tokens, e.Cost)
	if !x.answered.IsZero() && !x.delivered.IsZero() {
		g.usage.Upstream(e.Provider, x.answered.Sub(x.sentAt), x.delivered.Sub(x.sentAt))
	}
	if e.Unread != "" {
		g.meter.Count(countUnread)
		g.log.Debug("reply unread", "provider", e.Provider, "reason", e.Unread)
	}
}

// countOverhead counts the time that haltd added to a call that was answered:
// before it was forwarded, and between the pieces of its reply. For what comes
// after the last of them the client does not wait.
func (g *Gateway) countOverhead(x *exchange) {
	if x.delivered.IsZero() {
		return
	}
	g.meter.Overhead(x.overhead)
}

// digested is a text with its digest.
type digested struct {
	text   string
	digest uint64
}

func digest(text string) digested { return digested{text, xxhash.Sum64String(text)} }

// of is the digest of a text, which mostly is this one.
func (d digested) of(text string) uint64 {
	if text == d.text {
		return d.digest
	}
	return xxhash.Sum64String(text)
}

// hex is the digest as events have it; "" of no text.
func (d digested) hex() string {
	if d.text == "" {
		return ""
	}
	const width = 16
	h := strconv.FormatUint(d.digest, 16)
	return "0000000000000000"[:width-len(h)] + h
}

// truncate bounds a text that a client or provider chose, at a rune.
func truncate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xc0 == 0x80 {
		n--
	}
	return s[:n]
}
