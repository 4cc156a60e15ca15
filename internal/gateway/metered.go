package gateway

import (
	"mime"
	"strings"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/judge"
	"github.com/haltd/haltd/internal/wire"
	"github.com/haltd/haltd/internal/wire/formats"
)

// meters reports whether the body of a request that is no LLM call says what it
// may cost. A route that nobody knows is looked at where its body is short
// enough and could name a model, whatever it says that it is: a server may not
// care.
func (x *exchange) meters() bool {
	switch x.route.kind {
	case formats.NotMetered:
		return false
	case formats.MaybeMetered:
		kind, _, _ := mime.ParseMediaType(x.r.Header.Get("Content-Type"))
		family, _, _ := strings.Cut(kind, "/")
		return x.r.ContentLength <= x.settings.maxBody && family != "audio" && family != "image" && family != "video" && kind != "application/octet-stream"
	}
	return true
}

// readAsk reads what a request asks for that generates without being an LLM
// call.
func (g *Gateway) readAsk(x *exchange, plain []byte) error {
	ask, err := formats.ReadAsk(x.route.kind, x.route.path, x.r.Header.Get("Content-Type"), plain, x.textShare.take)
	if err != nil {
		return g.unreadable(x, err)
	}
	if ask == nil {
		return nil
	}
	x.ask, x.estimate = ask, int(ask.PromptTokens)
	x.event.Stream = ask.Stream
	if len(ask.Models) > 1 {
		x.models = ask.Models
	}
	if len(ask.Models) > 0 {
		x.event.Model = truncate(ask.Models[0], 200)
	}
	return nil
}

// describeAsk tells the judge what the request may cost.
func (x *exchange) describeAsk(r *judge.Request) {
	a := x.ask
	r.Generates, r.Stream = true, a.Stream
	r.PromptTokens, r.MaxTokens, r.Open = a.PromptTokens, a.MaxTokens, a.Open
	r.Models, r.Names = a.Models, a.Names
	if a.Kind == formats.MeteredMedia {
		r.Flat = x.flat()
	}
}

// flat is what a reply is charged that tells of no tokens.
func (x *exchange) flat() haltd.Money {
	return x.settings.unreadCall * haltd.Money(max(x.ask.Replies, 1))
}

// tapFormat is how the reply is read; nil when it is not.
func (x *exchange) tapFormat() wire.ReplyFormat {
	switch {
	case x.format != nil:
		return x.format
	case x.ask != nil:
		return formats.Metered{Errors: x.route.dialect.Formats()[0]}
	case x.poll != nil:
		return x.poll.format
	}
	return nil
}

// usedByAsk is what a reply to a metered request has used.
func (x *exchange) usedByAsk() (u haltd.Usage, estimated bool) {
	r := x.reply
	switch {
	case r.Counted && (r.Complete || x.failure == "" && !x.event.Stream):
		return r.Usage, false
	case x.ask.Kind == formats.MeteredText:
		return x.used()
	}
	u = haltd.Usage{Input: max(x.ask.PromptTokens, r.Usage.Input), Output: r.Usage.Output}
	return u, true
}
