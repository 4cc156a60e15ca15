package gateway

import (
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/judge"
	"github.com/haltd/haltd/internal/wire"
	"github.com/haltd/haltd/internal/wire/eventstream"
	"github.com/haltd/haltd/internal/wire/metered"
)

// meters reports whether the body of a request that is no LLM call says what it
// may cost. A route that nobody knows is looked at where its body is short
// enough and could name a model, whatever it says that it is: a server may not
// care.
func (x *exchange) meters() bool {
	switch x.route.kind {
	case metered.Free:
		return false
	case metered.Unknown:
		kind, _, _ := mime.ParseMediaType(x.r.Header.Get("Content-Type"))
		family, _, _ := strings.Cut(kind, "/")
		return x.r.ContentLength <= x.settings.maxBody && family != "audio" && family != "image" && family != "video" && kind != "application/octet-stream"
	}
	return true
}

// readAsk reads what a request asks for that generates without being an LLM
// call.
func (g *Gateway) readAsk(x *exchange, plain []byte) error {
	ask, err := metered.Read(x.route.kind, x.route.path, x.r.Header.Get("Content-Type"), plain, x.textShare.take)
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
	if a.Kind == metered.Media {
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
		return metered.Format{Errors: x.route.dialect.Formats()[0]}
	case x.poll != nil:
		return x.poll.format
	}
	return nil
}

// isMedia reports a reply to a metered request that holds no text to read: a
// sound, an image.
func (x *exchange) isMedia(h http.Header) bool {
	if x.ask == nil {
		return false
	}
	kind, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	return kind != "" && !strings.HasPrefix(kind, "text/") && !strings.Contains(kind, "json") && kind != eventstream.MediaType
}

// bedrockCounts are the headers in which Bedrock counts tokens.
var bedrockCounts = [...]string{"X-Amzn-Bedrock-Input-Token-Count", "X-Amzn-Bedrock-Output-Token-Count"}

// headerCounts takes the counts of a reply that are in its header.
func headerCounts(h http.Header, reply *haltd.Reply) {
	if h.Get(bedrockCounts[0]) == "" {
		return
	}
	input, err := strconv.ParseInt(h.Get(bedrockCounts[0]), 10, 32)
	output, err2 := strconv.ParseInt(h.Get(bedrockCounts[1]), 10, 32)
	if err != nil || err2 != nil || input < 0 || output < 0 {
		return
	}
	reply.Usage.Input, reply.Usage.Output = max(reply.Usage.Input, input), max(reply.Usage.Output, output)
	reply.Counted = true
}

// usedByAsk is what a reply to a metered request has used.
func (x *exchange) usedByAsk() (u haltd.Usage, estimated bool) {
	r := x.reply
	switch {
	case r.Counted && (r.Complete || x.failure == "" && !x.event.Stream):
		return r.Usage, false
	case x.ask.Kind == metered.Text:
		return x.used()
	}
	u = haltd.Usage{Input: max(x.ask.PromptTokens, r.Usage.Input), Output: r.Usage.Output}
	return u, true
}
