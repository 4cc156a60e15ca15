package gateway

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/config"
	"github.com/haltd/haltd/internal/excerpt"
	"github.com/haltd/haltd/internal/policy"
	"github.com/haltd/haltd/internal/wire"
)

var errClientLeft = errors.New("client left")

// read reads the body of an LLM call and parses it. What cannot be
// read is refused: passing it on unseen would be a way around the gateway.
// Other requests pass through and their bodies are not touched.
func (g *Gateway) read(x *exchange) error {
	isCall := x.route.format != nil && (x.r.ContentLength != 0 || x.r.Method == http.MethodPost)
	meters := !isCall && x.meters()
	g.findPoll(x)
	if !isCall && !meters && !x.countsIdentical() {
		return nil
	}
	arriving := g.clock()
	var err error
	if x.body, err = g.readBody(x); err != nil {
		return err
	}
	x.waited = g.clock().Sub(arriving)
	x.pieces = g.hasher.body(&x.bodyHash, x.pieces, x.body)
	if !isCall && !meters {
		return nil
	}
	plain := x.body
	if encoding := strings.Join(x.r.Header["Content-Encoding"], ","); encoding != "" {
		decoded := &memoryShare{memory: &g.memory, limit: x.settings.bodyMemory}
		defer decoded.release() // when it was read
		plain, err = wire.DecodeRequest(encoding, x.body, x.settings.maxBody, decoded.take)
		if err != nil {
			return g.unreadable(x, err)
		}
	}
	if meters {
		return g.readAsk(x, plain)
	}
	x.format = x.route.format
	if !x.textShare.take(int64(len(plain))) {
		return g.busy(x.settings.bodyMemory)
	}
	if err = g.readCall(x, plain); err != nil {
		return g.unreadable(x, err)
	}
	g.describeCall(x)
	return nil
}

// countsIdentical reports whether a policy looks for identical requests, bodies
// included.
func (x *exchange) countsIdentical() bool {
	return slices.ContainsFunc(x.policies, func(p *policy.RequestPolicy) bool { return p.Loop != nil })
}

// describeCall puts what the call says of itself into the event.
func (g *Gateway) describeCall(x *exchange) {
	e, c := &x.event, x.call
	x.estimate, x.models, x.predicted = c.PromptTokens, c.Models, c.Predicted
	x.reasons = c.Reasons || g.prices.HidesThoughts(e.Provider, c.Model)
	e.Format, e.Model, e.Stream = c.Format, truncate(c.Model, 200), c.Stream
	newest, _ := c.Newest()
	prompt := digest(newest)
	e.PromptHash, e.PromptLen = prompt.hex(), len(newest)
	if n := len(c.Opening); n > 0 && c.Opening[n-1].Text == newest { // the detectors need it, too
		c.Opening[n-1].Digest = prompt.digest
	}
	if x.settings.excerpts == config.ExcerptsOn {
		x.draft = excerpt.New(newest)
	}
	g.findPast(x)
	if e.Session == "" {
		e.Session, x.named = g.sessionOf(x, prompt)
	}
	x.attempt = g.hasher.request(e.Agent, x.route.path, &x.bodyHash)
	g.awaitIdentical(x)
}

func claimsRetry(h http.Header) bool {
	count := field(h, "X-Stainless-Retry-Count")
	if count == "" {
		return false
	}
	n, err := strconv.Atoi(count)
	return err == nil && n > 0
}

// readBody reads a whole body within the limit. Memory is taken as it arrives:
// a large Content-Length alone reserves little. A client that has sent that much is
// granted all of what it announced while there is plenty, so that little is copied.
func (g *Gateway) readBody(x *exchange) ([]byte, error) {
	const first = 64 << 10
	limit, announced := x.settings.maxBody, x.r.ContentLength
	if announced > limit {
		return nil, tooLarge(limit)
	}
	most := limit + 1
	if announced >= 0 {
		most = announced
	}
	size := min(most, first)
	if !x.bodyShare.take(size) {
		return nil, g.busy(x.settings.bodyMemory)
	}
	body := acquireBuffer(int(size))[:0]
	for int64(len(body)) < most {
		if int64(len(body)) == size {
			more := most - size
			if announced < 0 || !x.bodyShare.takeSpare(more) {
				if more = min(3*size, more); !x.bodyShare.take(more) {
					return nil, g.busy(x.settings.bodyMemory)
				}
			}
			size += more
			body = enlarge(body, int(size))
		}
		n, err := x.incoming.Read(body[len(body):size])
		body = body[:len(body)+n]
		switch {
		case err == io.EOF && (announced < 0 || int64(len(body)) == announced):
			return body, nil
		case x.incoming.hasStalled():
			return nil, stalled(x.settings.stall)
		case err != nil:
			return nil, fmt.Errorf("%w: %v", errClientLeft, err)
		}
	}
	if announced < 0 {
		return nil, tooLarge(limit)
	}
	return body, nil
}

func tooLarge(limit int64) error {
	return refuse(http.StatusRequestEntityTooLarge, haltd.Errorf(haltd.CodeTooLarge, "The request body is larger than this gateway takes (%d MiB)", limit>>20).
		WithFix("Raise gateway.max_body in haltd's configuration, or send less."))
}

// unreadable answers a body that cannot be read, or for which there is no memory
// now.
func (g *Gateway) unreadable(x *exchange, err error) error {
	if haltd.ErrorCode(err) == haltd.CodeUnavailable {
		return g.busy(x.settings.bodyMemory)
	}
	var e *haltd.Error
	if !errors.As(err, &e) {
		e = haltd.Errorf(haltd.CodeMalformed, "The request body cannot be read: %v", err)
	}
	if e.Code == haltd.CodeTooLarge {
		return refuse(http.StatusRequestEntityTooLarge, e)
	}
	return refuse(http.StatusBadRequest, e)
}
