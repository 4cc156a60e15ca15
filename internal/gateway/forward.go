package gateway

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/wire"
	"github.com/haltd/haltd/internal/wire/formats"
)

// hopByHop are the headers that belong to one connection, not to the
// message (RFC 9110, 7.6.1).
var hopByHop = [...]string{
	"Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization",
	"Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

func dropHopByHop(h http.Header) {
	for _, list := range h["Connection"] {
		for name := range strings.SplitSeq(list, ",") {
			delete(h, http.CanonicalHeaderKey(strings.TrimSpace(name)))
		}
	}
	for _, name := range hopByHop {
		delete(h, name)
	}
}

// forward sends the request to its upstream and the reply back, byte for byte,
// and keeps in x what the tap observed. While a stream waits for its next word
// it holds this stack: what is done before and after is done in functions that
// are not part of it, which //go:noinline sees to.
func (g *Gateway) forward(x *exchange) error {
	res, err := g.send(x)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	g.begin(x, res)
	x.complete = g.copyReply(x, res.Body)
	g.delivered(x, res)
	return nil
}

// send sends the request and waits until its reply begins.
//
//go:noinline
func (g *Gateway) send(x *exchange) (*http.Response, error) {
	up := x.route.upstream
	// A provider may think for minutes, for many agents at once: the texts
	// are released now, the body as soon as it is sent.
	body := &payload{bytes: x.body, share: x.bodyShare}
	x.body, x.call, x.bodyShare.taken = nil, nil, 0
	x.ticket.DropTexts()
	releaseBuffer(x.texts)
	x.texts = nil
	x.textShare.release()
	out := x.upstreamRequest(up, body)
	sent := g.clock()
	x.sentAt = sent
	x.overhead = sent.Sub(x.start) - x.waited
	x.forwarded = true
	res, err := up.roundTrip(out)
	body.answer()
	if err != nil {
		return nil, g.unanswered(x, err)
	}
	if res.StatusCode < http.StatusOK {
		// Either it switched protocols, for which nobody asked, and what follows
		// is no reply: reading it would not even end when the client leaves. Or
		// its status is none.
		res.Body.Close()
		up.health.failed(noValidAnswer, g.clock())
		return nil, refuse(http.StatusBadGateway, noHTTP(up))
	}
	up.health.answered(res.StatusCode, sent, g.clock())
	return res, nil
}

// unanswered is the answer to a client whose upstream began no reply.
func (g *Gateway) unanswered(x *exchange, err error) error {
	switch {
	case x.wasCut():
		return x.cutDenial()
	case x.incoming.hasStalled(): // net/http takes it for one that left
		return stalled(x.settings.stall)
	case x.r.Context().Err() != nil:
		return errClientLeft
	}
	up := x.route.upstream
	up.health.failed(failureText(err), g.clock())
	if isLate(err) {
		return refuse(http.StatusGatewayTimeout, haltd.Errorf(haltd.CodeUpstream, "%s at %s began no reply within %v", up.Name, up.BaseURL.Host, up.FirstByteTimeout).
			WithFix("Send it again, or raise providers.%s.first_byte_timeout in haltd's configuration.", up.Name))
	}
	g.log.Warn("upstream unreachable", "provider", up.Name, "error", failureText(err))
	return refuse(http.StatusBadGateway, unreachable(up, err))
}

// upstreamRequest is the client's request, addressed to the upstream.
func (x *exchange) upstreamRequest(up *upstream, body *payload) *http.Request {
	h := x.r.Header
	dropHopByHop(h)
	delete(h, "X-Agent-Id")
	dropAdminCookie(h)
	if _, ok := h["User-Agent"]; !ok {
		h["User-Agent"] = nil // or net/http would add its own
	}
	out := &http.Request{
		Method:        x.r.Method,
		URL:           up.target(x.route.rest, x.r.URL.RawQuery, x.r.URL.ForceQuery),
		Host:          up.BaseURL.Host,
		Header:        h,
		Body:          &x.incoming,
		ContentLength: x.r.ContentLength,
		Proto:         "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	if body.bytes != nil {
		delete(h, "Expect") // answered when the body was read
		out.ContentLength = int64(len(body.bytes))
		out.Body, _ = body.open()
		out.GetBody = body.open
	}
	if out.ContentLength == 0 {
		out.Body, out.GetBody = http.NoBody, nil // or net/http would say that it is chunked
	}
	return out.WithContext(x.ctx)
}

// plainCause is the innermost reason, without addresses and urls around it.
func plainCause(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err.Error()
		}
		err = inner
	}
}

// begin passes on the head of a reply and lays the tap of its body.
//
//go:noinline
func (g *Gateway) begin(x *exchange, res *http.Response) {
	x.answered = g.clock()
	x.copyHeader(res)
	x.explainFinding(x.w.Header())
	x.event.Status, x.length, x.piecewise = res.StatusCode, res.ContentLength, isStream(res)
	x.w.WriteHeader(res.StatusCode)
	if first, ok := res.Body.(interface{ HasPiece() bool }); x.piecewise && !(ok && first.HasPiece()) {
		x.w.flush() // a client waits for the headers of a stream, too
	}
	isOK := res.StatusCode >= 200 && res.StatusCode <= 299
	if f := x.tapFormat(); f != nil && isOK && (x.ask == nil || wire.HoldsText(res.Header)) {
		x.tap = wire.NewTap(f, res.StatusCode, res.Header, x.settings.maxBody, x.replyShare.take)
	}
	x.overhead += g.clock().Sub(x.answered)
}

// delivered ends a reply of which no more comes.
//
//go:noinline
func (g *Gateway) delivered(x *exchange, res *http.Response) {
	if x.complete {
		copyTrailer(x.w.Header(), res.Trailer)
	}
	if x.complete && !x.piecewise {
		// All is written: the client does not wait for what follows.
		x.w.flush()
		x.whole = true
	}
	if !x.broken {
		g.finishing.add(x)
	}
	x.response, x.delivered = res, g.clock()
}

// observe reads what the tap has kept of the reply.
func (g *Gateway) observe(x *exchange) {
	if x.response == nil {
		return
	}
	isOK := x.response.StatusCode >= 200 && x.response.StatusCode <= 299
	switch {
	case x.tap != nil:
		x.reply, x.event.Unread = x.tap.Close(x.complete)
		x.replyShare.release()
		if err := x.tap.Fault(); err != nil {
			g.meter.Panic("tap")
			g.log.Error("a reply passed unread because of a fault of haltd; please report it", "agent", x.event.Agent, "format", x.event.Format, "error", err)
		}
		wire.ReadHeaderCounts(x.response.Header, x.reply)
		if x.poll == nil && x.reply.Usage == (haltd.Usage{}) {
			x.reply.Counted = false // some servers say 0 where they do not count
		}
	case x.ask != nil && isOK:
		x.reply = &haltd.Reply{}
		wire.ReadHeaderCounts(x.response.Header, x.reply)
		if x.ask.Kind == formats.MeteredText {
			x.event.Unread = "neither JSON nor events"
		}
	}
}

// isStream reports a reply that comes piece by piece. Some gateways know the
// length of a stream of events beforehand.
func isStream(res *http.Response) bool {
	const events = "text/event-stream"
	kind := field(res.Header, "Content-Type")
	return res.ContentLength < 0 || len(kind) >= len(events) && strings.EqualFold(kind[:len(events)], events)
}

// copyReply copies the body until its end, until one side fails, or until the
// money for it is gone, and reports whether it got to the end. Thousands of
// streams may wait for their next word at once: where the connection can wait
// without a buffer, there is none meanwhile.
func (g *Gateway) copyReply(x *exchange, from io.Reader) bool {
	size := x.firstPiece()
	waits, _ := from.(interface{ Await() })
	idle := x.watchIdle()
	for {
		idle.begin()
		if waits != nil {
			waits.Await()
		}
		buf := acquireBuffer(size)
		n, err := from.Read(buf)
		idle.stop()
		goesOn := n == 0 || g.pass(x, buf[:n])
		size = x.nextPiece(size, n)
		releaseBuffer(buf)
		switch {
		case !goesOn:
			return false
		case err != nil:
			return g.endReply(x, err)
		}
	}
}

// pass passes a piece of a reply on and gives the tap a copy: the client has it
// before anything else looks at it. It reports whether more may follow.
//
//go:noinline
func (g *Gateway) pass(x *exchange, piece []byte) bool {
	if x.sent == 0 {
		x.event.FirstByte = haltd.Duration(g.clock().Sub(x.start))
		g.inFlight.begin(x)
	}
	cut := false
	if x.spent { // the event that had begun is passed on to its end
		if end := eventEnd(piece); end > 0 {
			piece, cut = piece[:end], true
		}
	}
	if x.length >= 0 && x.sent+int64(len(piece)) >= x.length {
		g.finishing.add(x) // the client may see the end from here on
	}
	if _, err := x.w.Write(piece); err != nil {
		x.breakOff(clientLeft)
		return false
	}
	if x.piecewise {
		x.w.flush()
	}
	x.sent += int64(len(piece))
	x.lastByte = g.clock()
	if x.tap != nil {
		x.tap.Write(piece)
	}
	if !x.spent && !x.ticket.Extend(x.tokensSoFar()) {
		x.spent, cut = true, !x.isEventStream() || bytes.HasSuffix(piece, []byte("\n\n")) || bytes.HasSuffix(piece, []byte("\n\r\n"))
	}
	x.overhead += g.clock().Sub(x.lastByte) // before the next piece is read
	if cut {
		x.fail(budgetCut)
		x.endStream(x.ticket.Spent())
	}
	return !cut
}

// A reply is copied in pieces of longPiece bytes, or of shortPiece where it comes bit by
// bit.
const shortPiece, longPiece = 2 << 10, 16 << 10

// firstPiece is how long the first piece of a reply is at most.
func (x *exchange) firstPiece() int {
	if x.length > shortPiece {
		return longPiece
	}
	return shortPiece
}

// nextPiece is how long the next piece is at most: longer where the last one took
// all of its room, shorter where a stream has come to a few words at a time.
func (x *exchange) nextPiece(size, last int) int {
	switch {
	case last == size:
		return longPiece
	case last < shortPiece && x.length < 0:
		return shortPiece
	}
	return size
}

// endReply notes why no more of a reply comes, and reports whether that was its
// end.
func (g *Gateway) endReply(x *exchange, err error) (complete bool) {
	switch {
	case x.wasCut():
		x.fail(operatorCut)
		x.endStream(x.ticket.Cut())
	case x.wasIdle():
		x.breakOff(upstreamIdle)
		x.route.upstream.health.failed("sent nothing for too long", g.clock())
	case err == io.EOF:
		// Not before: a provider that is told of a cut over TLS may end its
		// reply in good order before the connection is gone.
		return true
	case errors.Is(err, context.Canceled) || x.r.Context().Err() != nil:
		x.breakOff(clientLeft)
	default:
		x.breakOff(upstreamCut)
		x.route.upstream.health.failed("cut its reply short", g.clock())
	}
	return false
}

// eventEnd is where the first event in a piece of a stream ends; 0 when none
// does.
func eventEnd(p []byte) int {
	for _, blank := range [...]string{"\n\n", "\n\r\n"} {
		if at := bytes.Index(p, []byte(blank)); at >= 0 {
			return at + len(blank)
		}
	}
	return 0
}

// tokensSoFar estimates how many tokens of the reply have come. A stream that the tap
// cannot follow, because it is encoded, is taken by its bytes.
func (x *exchange) tokensSoFar() int64 {
	switch {
	case x.tap != nil && x.tap.Follows():
		return x.tap.Kept() / 4
	case x.event.Stream:
		return x.sent / 4
	}
	return 0
}

// copyHeader passes the reply's headers on and keeps net/http from adding
// its own.
func (x *exchange) copyHeader(res *http.Response) {
	h := x.w.Header()
	dropHopByHop(res.Header)
	for name, values := range res.Header {
		h[name] = values
	}
	for _, name := range [...]string{"Date", "Content-Type"} {
		if _, ok := h[name]; !ok {
			h[name] = nil
		}
	}
	for name := range res.Trailer {
		h.Add("Trailer", name)
	}
}

func copyTrailer(h, trailer http.Header) {
	for name, values := range trailer {
		h[name] = values
	}
}
