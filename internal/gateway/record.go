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
)

// record ends an exchange: it completes the event, ends the ticket, remembers
// what later requests need to know, and writes the event. Each of them is done
// though the one before it panics.
func (g *Gateway) record(x *exchange) {
	if x.probe {
		return
	}
	now := g.clock()
	defer g.finishing.remove(x)
	defer x.releaseMemory()
	defer g.write(x)
	defer g.count(x)
	defer g.untrack(x)
	defer g.remember(x)
	defer g.endTicket(x, now)
	g.describe(x, now)
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
		e.Error = haltd.CodeInternal
	}
	e.Time, e.Type = x.start.UTC(), x.eventType()
	e.Latency = haltd.Duration(now.Sub(x.start))
	switch {
	case x.reply != nil:
		describeReply(e, x)
	case x.forwarded && x.format != nil && !x.handled:
		e.Estimated, e.Tokens = true, haltd.Usage{Input: int64(x.estimate), Output: (x.sent + 3) / 4}
	case x.forwarded && x.format != nil && (e.Error == "client_left" || e.Error == errorCut):
		// Nobody waited for the reply; the prompt was sent all the same.
		e.Estimated, e.Tokens = true, haltd.Usage{Input: int64(x.estimate)}
	}
	if e.Tokens != (haltd.Usage{}) {
		cost, known := g.price(e.Provider, e.Model, e.Tokens)
		e.Cost, e.Unpriced = cost, !known
	}
	x.described = true
}

// endTicket releases what a request holds that was not forwarded, and settles
// what one that was has really cost. What it cost is not known after a panic:
// then all that is reserved is charged, as it is after a crash.
func (g *Gateway) endTicket(x *exchange, now time.Time) {
	t, ctx := x.ticket, x.r.Context()
	switch {
	case t == nil:
	case !x.forwarded:
		t.Release(ctx)
	case !x.handled || !x.described:
		t.SettleInFull()
	default:
		defer t.Settle(ctx, x.event.Tokens, x.event.Cost, now)
		if x.reply != nil {
			t.Observe(ctx, x.reply, x.replyEnd(now))
		}
	}
}

// replyEnd is when the client had the reply, or as much of it as it wanted: a
// client that hangs up may ask again before haltd notices.
func (x *exchange) replyEnd(now time.Time) time.Time {
	if x.event.Error == "client_left" && !x.lastByte.IsZero() {
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
	return x.draft.Finish(x.reply, slices.AppendSeq(slices.Clone(x.settings.secrets), credentials(x.r)))
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

// describeReply adds what a 2xx reply says. A reply that was cut short or
// could not be read has still cost tokens: they are estimated and marked so.
func describeReply(e *haltd.Event, x *exchange) {
	r := x.reply
	e.Finish = truncate(r.Finish, 60)
	e.ReplyHash, e.ReplyLen = textHash(r.Text), len(r.Text)
	said := len(r.Text) + len(r.Thinking)
	for i := range r.Calls {
		e.ToolCalls = append(e.ToolCalls, truncate(r.Calls[i].Name, 100))
		said += len(r.Calls[i].Name) + len(r.Calls[i].Arguments)
	}
	if r.Err != "" && (e.Error == "" || e.Error == "client_left") { // a client leaves because of it
		e.Error = "in_stream: " + truncate(r.Err, 200)
	}
	if r.Counted {
		e.Tokens = r.Usage
		return
	}
	e.Estimated = true
	if r.Working { // what it will cost is not known
		e.Tokens = x.ticket.MaxUsage()
		return
	}
	if e.Unread != "" {
		said = int(x.sent)
	}
	e.Tokens = haltd.Usage{Input: int64(x.estimate), Output: int64(said+3) / 4}
}

// remember keeps how the request ended, so that its retry is known as one,
// and which session the reply belongs to.
func (g *Gateway) remember(x *exchange) {
	e := &x.event
	if e.Format == "" {
		return
	}
	ctx := x.r.Context()
	if ctx.Err() != nil { // a client that is gone is remembered all the same
		ctx = context.WithoutCancel(ctx)
	}
	err := g.attempts.Ended(ctx, x.attempt, x.ending())
	if x.forwarded && x.reply != nil && x.reply.ID != "" {
		err = errors.Join(err, g.replies.SaveReply(ctx, e.Agent, x.reply.ID, e.Session))
	}
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
	left := e.Error == "client_left"
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

func (g *Gateway) count(x *exchange) {
	e := &x.event
	decision := decisionAllow
	switch {
	case x.decision.Action != haltd.Allow:
		decision = x.decision.Action.String()
	case x.refused && e.Status < http.StatusInternalServerError:
		decision = decisionRefuse
	case e.Type == haltd.EventError:
		decision = decisionError
	case e.Type == haltd.EventPass:
		decision = decisionPassed
	}
	g.meter.Request(e.Provider, decision)
	if e.Unread != "" {
		g.meter.Count(countUnread)
		g.log.Debug("reply unread", "provider", e.Provider, "reason", e.Unread)
	}
}

// countOverhead counts the time that haltd added to a call that was answered:
// before it was forwarded, between the pieces of its reply, and after the last
// of them as far as the client waits for the end.
func (g *Gateway) countOverhead(x *exchange) {
	if x.delivered.IsZero() {
		return
	}
	if !x.whole && !x.broken {
		x.overhead += g.clock().Sub(x.delivered)
	}
	g.meter.Overhead(x.overhead)
}

func textHash(s string) string {
	if s == "" {
		return ""
	}
	const width = 16
	h := strconv.FormatUint(xxhash.Sum64String(s), 16)
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
