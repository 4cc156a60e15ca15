// Package gateway is the path of a request: identify, read, judge, forward,
// observe, record. It stands between agents and their providers, understands every
// call and changes no byte of it. Where a request goes is decided by the
// configuration alone; what the bytes mean is decided in wire.
package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/excerpt"
	"github.com/haltd/haltd/internal/judge"
	"github.com/haltd/haltd/internal/policy"
	"github.com/haltd/haltd/internal/wire"
	"github.com/haltd/haltd/internal/wire/formats"
)

// The decisions that Meter counts, besides the actions of verdicts.
const (
	decisionAllow  = "allow"  // forwarded as an LLM call
	decisionPassed = "passed" // forwarded, but no LLM call
	decisionRefuse = "refuse" // answered by haltd
	decisionError  = "error"  // could not be forwarded
)

// Options are the gateway's neighbours. All are needed.
type Options struct {
	Keys Keys
	// AdminToken opens the admin API. Whatever carries it is refused: it would
	// reach a provider as if it were the client's key. May be empty.
	AdminToken string

	Judge    Judge
	Recorder Recorder
	Prices   Prices
	Attempts Attempts
	Replies  Replies
	Guesses  Guesses
	// Key keys the digests of requests; all nodes have the same.
	Key    []byte
	Meter  Meter
	Usage  UsageMeter
	Tracer Tracer // nil where nobody collects traces
	Clock  haltd.Clock
	Logger *slog.Logger
}

// Gateway serves agents. Configure it before the first request.
type Gateway struct {
	keys     Keys
	guard    *tokenGuard
	judging  Judge
	recorder Recorder
	prices   Prices
	attempts Attempts
	replies  Replies
	guesses  Guesses
	meter    Meter
	usage    UsageMeter
	tracer   Tracer
	clock    haltd.Clock
	log      *slog.Logger

	requests   sync.WaitGroup // being served
	open       atomic.Int64   // those that were admitted
	inFlight   inFlightCalls
	finishing  finishingCalls
	memory     bodyMemory
	hasher     hasher
	prefixes   prefixes
	retellings retellings
	turns      turns
	settings   atomic.Pointer[Settings]
}

// New makes a gateway that forwards by settings.
func New(o Options, s *Settings) *Gateway {
	g := &Gateway{
		keys: o.Keys, guard: newTokenGuard(o.AdminToken), judging: o.Judge, recorder: o.Recorder, prices: o.Prices,
		attempts: o.Attempts, replies: o.Replies, guesses: o.Guesses, meter: o.Meter, usage: o.Usage, tracer: o.Tracer, clock: o.Clock, log: o.Logger,
		hasher: newHasher(o.Key), prefixes: prefixes{limit: prefixMemory}, turns: newTurns(),
	}
	g.settings.Store(s)
	return g
}

// Configure makes settings effective for the next request. Requests in
// flight finish under the old ones.
func (g *Gateway) Configure(s *Settings) {
	old := g.settings.Swap(s)
	old.closeIdle(s)
}

// Settings are those in force.
func (g *Gateway) Settings() *Settings { return g.settings.Load() }

// Wait returns when no request is in flight any more. Call it after the
// server stopped taking new ones.
func (g *Gateway) Wait() { g.requests.Wait() }

// Close frees idle connections to upstreams.
func (g *Gateway) Close() { g.settings.Load().closeIdle(nil) }

// ServeHTTP takes one request along the path.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/" && (r.Method == http.MethodHead || r.Method == http.MethodGet) {
		g.answerProbe(w)
		return
	}
	if g.isHealthCheck(r) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte("{\"status\":\"ok\"}\n"))
		return
	}
	x := g.newExchange(w, r)
	g.meter.InFlight(1)
	g.requests.Add(1)
	// Whatever happens on the path, also a panic, ends here: the ticket is
	// settled or released and the event recorded, each once.
	defer g.end(x)
	g.handle(x)
	if x.broken {
		// The client must not take half a reply for a whole one.
		panic(http.ErrAbortHandler)
	}
}

// end does the bookkeeping of an exchange. The client of a reply without a
// length waits until the handler returns, and one of HTTP/2 whatever the
// length, so that is not kept waiting for it.
func (g *Gateway) end(x *exchange) {
	x.endConnection()
	hasAll := !x.w.streams && (x.whole || x.delivered.IsZero())
	if !x.handled || x.broken || hasAll {
		g.finish(x)
		return
	}
	go func() {
		defer func() {
			if p := recover(); p != nil { // nobody is left who would survive it
				g.meter.Panic("record")
				g.log.Error("a call was not recorded as a whole because of a fault of haltd; please report it", "agent", x.event.Agent, "error", fmt.Sprintf("%v\n%s", p, debug.Stack()))
			}
		}()
		g.finish(x)
	}()
}

// finish records an exchange and lets go of it.
func (g *Gateway) finish(x *exchange) {
	defer g.requests.Done() // last: Wait returns when all is counted
	defer g.meter.InFlight(-1)
	if x.admitted {
		defer g.open.Add(-1)
	}
	defer g.countOverhead(x)
	g.record(x)
}

func (g *Gateway) newExchange(w http.ResponseWriter, r *http.Request) *exchange {
	x := &exchange{r: r, settings: g.settings.Load(), start: g.clock()}
	control, stall := http.NewResponseController(w), x.settings.stall
	x.w = clientWriter{ResponseWriter: w, control: control, stall: stall, streams: r.ProtoMajor >= 2}
	if !x.w.streams {
		x.w.extend() // that of the last request on this connection may be over
	}
	if r.ContentLength != 0 {
		x.incoming = clientBody{ReadCloser: r.Body, control: control, stall: stall, streams: x.w.streams}
	}
	for _, s := range []*memoryShare{&x.bodyShare, &x.textShare, &x.replyShare} {
		s.memory, s.limit = &g.memory, x.settings.bodyMemory
	}
	return x
}

// endConnection leaves the connection to the server: what it still has to read
// and to write has its time, too.
func (x *exchange) endConnection() {
	waits := x.incoming.ReadCloser != nil && x.incoming.end()
	x.w.end(waits)
}

// handle takes a request from identify to observe, and answers it itself where
// one of them refuses it.
func (g *Gateway) handle(x *exchange) {
	err := g.prepare(x)
	if err == nil && !x.probe {
		err = g.forward(x)
	}
	if err != nil {
		g.refuse(x, err)
	}
	x.handled = true
}

// prepare takes a request up to where it may be forwarded, on a stack that a
// stream does not hold.
//
//go:noinline
func (g *Gateway) prepare(x *exchange) error {
	if err := g.identify(x); err != nil {
		return err
	}
	if x.isProbe() {
		g.answerProbe(&x.w)
		x.probe = true
		return nil
	}
	if err := g.admit(x); err != nil {
		return err
	}
	g.awaitObservation(x)
	if err := g.read(x); err != nil {
		return err
	}
	if err := x.checkModels(); err != nil {
		return err
	}
	return g.judge(x)
}

// exchange is one request and its reply. Each step adds what it finds out to
// the event that is recorded in the end.
type exchange struct {
	w        clientWriter
	r        *http.Request
	incoming clientBody // in place of r.Body, which stays the server's; empty where there is none
	settings *Settings
	start    time.Time
	event    haltd.Event

	admitted bool // to those in flight

	// What its bodies take: the request as it was sent, its texts until it is
	// forwarded, and what is kept of the reply.
	bodyShare, textShare, replyShare memoryShare

	// identify
	route   route
	address string    // of the client; "" until it is asked for
	key     haltd.Key // the gateway key; zero without one
	// keyDigest stands for the caller's key in the name of a session that
	// has no id of its own.
	keyDigest uint64
	named     bool   // the client named the session; set by read at the latest
	shared    bool   // nobody named the agent: it is that of the client family
	caller    string // who shares it
	parent    string // traceparent of the client, where it is valid

	// read; format is nil for a path that passes through
	format    wire.Format
	body      []byte // as sent
	bodyHash  bodyDigest
	pieces    []bodyDigest // digests of its first bytes, in whole pieces
	call      *haltd.Call
	known     *prefix      // of which call has not the rounds; nil where it has all
	next      *wire.Prefix // that the next call may begin with; nil where nothing new
	ask       *formats.Ask // where it generates and is no LLM call
	poll      *poll        // where it fetches a reply that was made before
	models    []string     // that may answer, where the request names several
	predicted int          // tokens of its prediction
	reasons   bool         // the model may think without showing it
	texts     []byte       // the memory of call
	estimate  int          // prompt tokens
	attempt   uint64
	past      haltd.PastReply // that the call continues
	newest    string          // under which its reply is the newest of a conversation; "" outside of one
	guess     uint64          // names the conversation whose session is guessed; 0 when it is named
	retold    *retold         // where the request may tell a history in its only message
	waited    time.Duration   // for the client to send its body
	draft     *excerpt.Draft  // where excerpts are on

	// judge
	policies []*policy.RequestPolicy // that select the request
	values   []map[string]string     // of their keys
	decision judge.Decision
	ticket   *judge.Ticket // nil for what did not come so far
	judging  time.Time     // zero before it began
	judged   time.Time

	// forward and observe
	ctx       context.Context // ends when the client leaves or the call is cut
	cut       context.CancelCauseFunc
	older     *exchange // of the same agent, in flight as well; nil where there is none
	newer     *exchange // likewise
	forwarded bool
	sentAt    time.Time       // to the upstream
	answered  time.Time       // when it began to answer; zero where it did not
	response  *http.Response  // nil unless the upstream answered; its body is read
	piecewise bool            // it is passed on piece by piece, each at once
	tap       *wire.Tap       // of its body; nil where it is not read
	spent     bool            // the money for the rest of it is gone
	complete  bool            // all of it came
	reply     *haltd.Reply    // nil unless a 2xx reply to an LLM call began
	recorded  chan struct{}   // closed when later calls may know of this one; nil before it is in flight
	length    int64           // of the reply's body; -1 when it is not known
	sent      int64           // bytes of the reply's body
	lastByte  time.Time       // when the newest of them went to the client
	overhead  time.Duration   // that haltd added so far, without waits for client and upstream
	delivered time.Time       // when all that came of the reply was written; zero without one
	whole     bool            // the client has all of the reply, and waits for nothing
	refused   bool            // answered by haltd
	failure   failure         // "" where nothing has failed so far
	broken    bool            // the reply stopped before its end
	probe     bool            // a request for the base URL, which is not recorded
	detached  context.Context // see lasting
	handled   bool            // the path was walked to its end; false after a panic
	described bool            // the event says what the exchange cost; likewise
}

// isProbe reports a request for the base URL itself, as Claude Code sends
// before its first call.
func (x *exchange) isProbe() bool {
	return (x.route.rest == "" || x.route.rest == "/") && (x.r.Method == http.MethodHead || x.r.Method == http.MethodGet)
}

// isHealthCheck reports the question of a load balancer, which no upstream is
// there to answer: one that headers or a policy name has the path for itself.
func (g *Gateway) isHealthCheck(r *http.Request) bool {
	if r.URL.Path != "/healthz" || r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	_, noRoute := findRoute(r, g.settings.Load())
	return noRoute != nil
}

func (g *Gateway) answerProbe(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte("haltd gateway. Point a client's base URL here; docs/clients.md lists the settings.\n"))
}

// refusal is an error that the gateway answers itself.
type refusal struct{ wire.Denied }

func (r refusal) Error() string { return r.Message }

func refuse(status int, why *haltd.Error) refusal {
	return refusal{wire.Denied{Status: status, Code: why.Code, Message: "haltd: " + why.Error()}}
}

// refuseForNow refuses what may be sent again in a second.
func refuseForNow(status int, why *haltd.Error) refusal {
	r := refuse(status, why)
	r.RetryAfter = 1
	return r
}

// busy refuses a body for which there is no memory now.
func (g *Gateway) busy(limit int64) error {
	g.meter.Count(countBodyRefused)
	return refuseForNow(http.StatusServiceUnavailable, haltd.Errorf(haltd.CodeBusy, "The bodies of calls in flight take all the memory they may (%d MiB)", limit>>20).
		WithFix("Send it again, or raise gateway.body_memory in haltd's configuration."))
}

// admit refuses a call beyond what haltd may serve at once, before anything of
// it is read. What is refused takes nobody's place.
func (g *Gateway) admit(x *exchange) error {
	limit := x.settings.maxCalls
	if g.open.Add(1) <= limit {
		x.admitted = true
		return nil
	}
	g.open.Add(-1)
	return refuseForNow(http.StatusServiceUnavailable, haltd.Errorf(haltd.CodeBusy, "The limit of calls in flight is reached (%d)", limit).
		WithFix("Send it again, or raise gateway.max_calls in haltd's configuration."))
}

// refuse answers a request that is not forwarded, in the provider's own
// shape, and says why in a header too.
func (g *Gateway) refuse(x *exchange, err error) {
	if errors.Is(err, errClientLeft) {
		// Where somebody still listens, an empty 200 would be wrong.
		x.breakOff(clientLeft)
		return
	}
	var ref refusal
	if !errors.As(err, &ref) {
		ref = refuse(http.StatusInternalServerError, haltd.Errorf(haltd.CodeInternal, "haltd could not handle this request: %v", err))
	}
	x.refused = true
	x.event.Status = ref.Status
	if !ref.Blocked {
		x.fail(failure(ref.Code))
	}
	h := x.w.Header()
	h.Set("Content-Type", "application/json")
	x.explain(h, ref.Code, ref.Incident)
	switch {
	case ref.RetryAfter > 0:
		h.Set("Retry-After", strconv.Itoa(ref.RetryAfter))
	case ref.Status < 500:
		h.Set("X-Should-Retry", "false")
	}
	if ref.Status == http.StatusUpgradeRequired {
		h.Set("Upgrade", "HTTP/1.1")
		h.Set("Connection", "Upgrade")
	}
	body := x.dialect().Denial(ref.Denied)
	g.finishing.add(x)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	x.w.WriteHeader(ref.Status)
	_, _ = x.w.Write(body)
	// The client does not wait for the bookkeeping. The server first reads
	// what is left of a body that nobody wanted: that has a deadline.
	x.endConnection()
	_ = x.w.control.Flush()
}

// dialect is how to answer this client: that of the format it speaks, else of
// the provider it calls.
func (x *exchange) dialect() wire.Dialect {
	if x.route.dialect != nil {
		return x.route.dialect
	}
	return x.settings.fallback
}
