package gateway

import (
	"net/http"
	"strconv"

	"github.com/cespare/xxhash/v2"
	"github.com/haltd/haltd"
)

// record makes the event of an exchange and remembers what later requests
// need to know of it.
func (g *Gateway) record(x *exchange) {
	now := g.Clock()
	e := haltd.Event{
		ID: g.ids.Next(x.start), Time: x.start.UTC(), Type: x.eventType(),
		Agent: x.agent, Label: x.label, Session: x.session, Client: x.client,
		Path: cut(x.route.path, 300), Status: x.status,
		Latency: haltd.Duration(now.Sub(x.start)),
		Retry:   x.retry, Unread: x.unread, Error: x.failure,
	}
	if !x.firstByte.IsZero() {
		e.FirstByte = haltd.Duration(x.firstByte.Sub(x.start))
	}
	if x.route.upstream != nil {
		e.Provider = x.route.upstream.Name
	}
	if x.call != nil {
		describeCall(&e, x.call)
		if x.status >= 200 && x.status <= 299 && !x.refused {
			describeReply(&e, x)
		}
	}
	g.remember(x, &e)
	g.count(x, &e)
	g.Recorder.Record(e)
}

func (x *exchange) eventType() haltd.EventType {
	switch {
	case x.refused || x.status == 0:
		return haltd.EventError
	case x.format == nil:
		return haltd.EventPass
	}
	return haltd.EventCall
}

func describeCall(e *haltd.Event, c *haltd.Call) {
	prompt, _ := c.Newest()
	e.Format, e.Model, e.Stream = c.Format, cut(c.Model, 200), c.Stream
	e.PromptHash, e.PromptLen = textHash(prompt), len(prompt)
}

// describeReply adds what a 2xx reply told. A reply that was cut short or
// could not be read has still cost tokens: they are estimated and marked so.
func describeReply(e *haltd.Event, x *exchange) {
	r := x.reply
	if r == nil {
		r = &haltd.Reply{}
	}
	e.Finish = cut(r.Finish, 60)
	e.ReplyHash, e.ReplyLen = textHash(r.Text), len(r.Text)
	said := len(r.Text) + len(r.Thinking)
	for i := range r.Calls {
		e.ToolCalls = append(e.ToolCalls, cut(r.Calls[i].Name, 100))
		said += len(r.Calls[i].Name) + len(r.Calls[i].Arguments)
	}
	if r.Err != "" && e.Error == "" {
		e.Error = "in_stream: " + cut(r.Err, 200)
	}
	if x.unread != "" {
		said = int(x.sent)
	}
	if r.Counted {
		e.Tokens = r.Usage
		return
	}
	e.Estimated = true
	e.Tokens = haltd.Usage{Input: int64(x.call.PromptTokens), Output: int64(said+3) / 4}
}

// remember keeps how the request ended, so that its retry is known as one,
// and which session the reply belongs to.
func (g *Gateway) remember(x *exchange, e *haltd.Event) {
	if x.call == nil {
		return
	}
	complete := x.unread != "" || x.reply != nil && x.reply.Complete
	g.Attempts.Ended(x.attempt, complete && !e.Failed())
	if x.reply != nil && x.reply.ID != "" {
		g.Replies.Got(x.agent, x.reply.ID, x.session)
	}
}

func (g *Gateway) count(x *exchange, e *haltd.Event) {
	decision := decisionAllow
	switch {
	case x.refused && x.status < http.StatusInternalServerError:
		decision = decisionRefuse
	case e.Type == haltd.EventError:
		decision = decisionError
	case e.Type == haltd.EventPass:
		decision = decisionPassed
	}
	g.Meter.Request(e.Provider, decision)
	if x.unread != "" {
		g.Meter.Unread()
		g.Logger.Debug("reply unread", "provider", e.Provider, "reason", x.unread)
	}
}

func textHash(s string) string {
	if s == "" {
		return ""
	}
	const width = 16
	h := strconv.FormatUint(xxhash.Sum64String(s), 16)
	return "0000000000000000"[:width-len(h)] + h
}

// cut bounds a text that a client or provider chose, at a rune.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xc0 == 0x80 {
		n--
	}
	return s[:n]
}
