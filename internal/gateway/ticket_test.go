package gateway

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/policy"
	"github.com/haltd/haltd/internal/state/memory"
	"github.com/haltd/haltd/test/harness"
)

// countedLimits counts how often the limit in tokens was charged or given
// back, which each end of a ticket does once.
type countedLimits struct {
	*memory.State
	charges atomic.Int64
}

func (l *countedLimits) Charge(ctx context.Context, draws []policy.Draw, now time.Time) error {
	for _, d := range draws {
		if strings.HasPrefix(d.Key, "tpm:") {
			l.charges.Add(1)
		}
	}
	return l.State.Charge(ctx, draws, now)
}

const ticketYAML = killYAML + "agents:\n  bot: {rate_limits: {requests_per_minute: 100, tokens_per_minute: 1000000}, budgets: {day: {hard_tokens: 1000000}}}\n"

// ended checks that nothing of a call is left over: one event, no reservation,
// nothing in flight.
func (f *fixture) ended(t *testing.T, kind haltd.EventType, err string) haltd.Event {
	t.Helper()
	f.Gateway.Wait()
	if n := f.meter.inFlight.Load(); n != 0 {
		t.Errorf("%d requests are in flight", n)
	}
	f.inFlight.mu.Lock()
	if n := len(f.inFlight.calls); n != 0 {
		t.Errorf("%d agents have calls that can be cut", n)
	}
	f.inFlight.mu.Unlock()
	s, readErr := f.judge.Spending(t.Context(), "bot")
	if readErr != nil || s[0].Held != (haltd.Spending{}) {
		t.Errorf("%+v is still reserved, %v", s[0].Held, readErr)
	}
	var own []haltd.Event
	for _, e := range f.events.all {
		if e.Path != "" && e.Agent == "bot" {
			own = append(own, e)
		}
	}
	if len(own) != 1 {
		t.Fatalf("%d events, want one: %+v", len(own), own)
	}
	if e := own[0]; e.Type != kind || e.Error != err {
		t.Errorf("event %s with error %q, want %s with %q", e.Type, e.Error, kind, err)
	}
	return own[0]
}

// rule makes one for all calls.
func (f *fixture) rule(t *testing.T, action haltd.RuleAction) {
	t.Helper()
	r := haltd.Rule{Name: "all", Enabled: true, Action: action}
	if action == haltd.RuleThrottle {
		r.Config.DelayMS = 20_000
	}
	if _, err := f.control.SaveRule(t.Context(), r, "ann"); err != nil {
		t.Fatal(err)
	}
}

func (f *fixture) spent(t *testing.T) int64 {
	t.Helper()
	s, err := f.judge.Spending(t.Context(), "bot")
	if err != nil {
		t.Fatal(err)
	}
	return s[0].Spent.Tokens
}

// begun is an upstream that begins a stream and goes on until its client or
// the test ends it.
func begun(first string, then func(w http.ResponseWriter)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, first)
		w.(http.Flusher).Flush()
		if then != nil {
			then(w)
			return
		}
		<-r.Context().Done()
	})
}

const firstPiece = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hello there\"}}]}\n\n"

// Each way in which a call can end ends its ticket once.
func TestEveryEndEndsTheTicketOnce(t *testing.T) {
	whole := func(t *testing.T, f *fixture) { f.send(t, "POST", chatPath, nil, chatBody) }
	// leaving hangs up once the condition holds.
	leaving := func(ready func(f *fixture) bool) func(*testing.T, *fixture) {
		return func(t *testing.T, f *fixture) {
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			go func() {
				_ = harness.Until(ctx, func() bool { return ready(f) }) // or the call has ended by itself
				leave()
			}()
			req, _ := http.NewRequestWithContext(ctx, "POST", f.url+chatPath, strings.NewReader(chatBody))
			if res, err := http.DefaultTransport.RoundTrip(req); err == nil {
				_, _ = io.Copy(io.Discard, res.Body)
				res.Body.Close()
			}
		}
	}
	// cutting stops the agent at once, when the condition holds.
	cutting := func(ready func(f *fixture) bool) func(*testing.T, *fixture) {
		return func(t *testing.T, f *fixture) {
			go func() {
				if err := harness.Until(t.Context(), func() bool { return ready(f) }); err != nil {
					t.Errorf("nothing to cut: %v", err)
				}
				_, _ = f.control.Deactivate(context.Background(), haltd.Target{Agent: "bot"}, true, "ann", "")
			}()
			f.send(t, "POST", chatPath, nil, chatBody)
		}
	}
	reserved := func(f *fixture) bool { return f.spending(t).Held.Tokens > 0 }
	answered := func(f *fixture) bool {
		return slices.ContainsFunc(f.Upstreams(), func(u haltd.Upstream) bool { return u.State == haltd.UpstreamOK })
	}
	never := func(*fixture) bool { return false }
	var arrived atomic.Bool // at the upstream
	waiting := func(*fixture) bool { return arrived.Load() }
	silent := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		arrived.Store(true)
		<-r.Context().Done()
	})
	for _, tc := range []struct {
		name     string
		upstream http.Handler
		rule     haltd.RuleAction
		do       func(*testing.T, *fixture)
		kind     haltd.EventType
		err      string
		charges  int64 // of the limit in tokens: 1 where a ticket ended
		spends   bool
	}{
		{"a reply", answer(200, "application/json", chatReply), "", whole, haltd.EventCall, "", 1, true},
		{"an error of the upstream", answer(500, "application/json", `{}`), "", whole, haltd.EventCall, "", 1, false},
		{"an unreachable upstream", nil, "", whole, haltd.EventError, haltd.CodeUpstream, 1, false},
		{"a reply that is cut short", begun(firstPiece, func(http.ResponseWriter) { panic(http.ErrAbortHandler) }), "", leaving(never), haltd.EventCall, "upstream_cut", 1, true},
		{"a client that leaves before the reply", silent, "", leaving(waiting), haltd.EventError, "client_left", 1, true},
		{"a client that leaves in the middle", begun(firstPiece, nil), "", leaving(answered), haltd.EventCall, "client_left", 1, true},
		{"a call that is cut before its reply", silent, "", cutting(waiting), haltd.EventBlocked, "operator_cut", 1, true},
		{"a stream that is cut", begun(firstPiece, nil), "", cutting(answered), haltd.EventCall, "operator_cut", 1, true},
		{"a client that leaves while it is slowed down", silent, haltd.RuleThrottle, leaving(reserved), haltd.EventError, "client_left", 1, false},
		{"a call that is stopped", silent, haltd.RuleBlock, whole, haltd.EventBlocked, "", 1, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			yaml, upstream := ticketYAML, tc.upstream
			if upstream == nil {
				upstream = http.NotFoundHandler()
				yaml = strings.ReplaceAll(yaml, "UPSTREAM", "http://127.0.0.1:1")
			}
			f := newFixture(t, upstream, yaml)
			if tc.rule != "" {
				f.rule(t, tc.rule)
			}
			arrived.Store(false)
			tc.do(t, f)
			f.ended(t, tc.kind, tc.err)
			if got := f.limits.charges.Load(); got != tc.charges {
				t.Errorf("the ticket was ended %d times, want %d", got, tc.charges)
			}
			if got := f.spent(t); (got > 0) != tc.spends {
				t.Errorf("%d tokens are spent, want some: %v", got, tc.spends)
			}
		})
	}
}

func (f *fixture) spending(t *testing.T) haltd.PeriodSpending {
	s, err := f.judge.Spending(context.Background(), "bot")
	if err != nil {
		t.Error(err)
		return haltd.PeriodSpending{}
	}
	return s[0]
}

// panicWriter panics where it is told to.
type panicWriter struct {
	*httptest.ResponseRecorder
	at string
}

func (w panicWriter) WriteHeader(status int) {
	if w.at == "header" {
		panic("on purpose")
	}
	w.ResponseRecorder.WriteHeader(status)
}

func (w panicWriter) Write(b []byte) (int, error) {
	if w.at == "body" {
		panic("on purpose")
	}
	return w.ResponseRecorder.Write(b)
}

// A panic anywhere on the path leaves nothing reserved and nothing in flight,
// and is recorded once. What had been forwarded is charged in full, as it is
// after a crash; what had not costs nothing.
func TestAPanicEndsTheTicket(t *testing.T) {
	const most = 32768 // what a call without a maximum reserves, besides its prompt
	for _, tc := range []struct {
		name    string
		at      string // of the writer
		price   int32  // the call of the price list that panics
		denied  bool
		kind    haltd.EventType
		forward bool
		spends  bool
	}{
		{name: "while the call is judged", price: 1, kind: haltd.EventError},
		{name: "while it is denied", at: "header", denied: true, kind: haltd.EventBlocked},
		{name: "before the reply", at: "header", kind: haltd.EventCall, forward: true, spends: true},
		{name: "in the middle of the reply", at: "body", kind: haltd.EventCall, forward: true, spends: true},
		{name: "while it is recorded", price: 2, kind: haltd.EventCall, forward: true, spends: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var priced atomic.Int32
			var forwarded atomic.Int64
			f := startOver(t, counting(&forwarded, answer(200, "application/json", chatReply)), setup{
				yaml: ticketYAML, price: func(_, _ string, u haltd.Usage) (haltd.Money, bool) {
					if priced.Add(1) == tc.price {
						panic("on purpose")
					}
					return haltd.Money(u.Input + u.Output), true
				},
			})
			if tc.denied {
				f.rule(t, haltd.RuleBlock)
			}
			func() {
				defer func() {
					if p := recover(); fmt.Sprint(p) != "on purpose" {
						t.Errorf("recovered %v, want the panic to go on to the server", p)
					}
				}()
				r := httptest.NewRequest("POST", chatPath, strings.NewReader(chatBody))
				f.Gateway.ServeHTTP(panicWriter{httptest.NewRecorder(), tc.at}, r)
			}()
			err := haltd.CodeInternal
			if tc.price == 2 {
				err = "" // the exchange itself went well
			}
			e := f.ended(t, tc.kind, err)
			if got := forwarded.Load() == 1; got != tc.forward {
				t.Fatalf("forwarded: %v, want %v", got, tc.forward)
			}
			if got := f.spent(t); tc.spends != (got >= most) || !tc.spends && got != 0 {
				t.Errorf("%d tokens are charged; want the whole reservation: %v", got, tc.spends)
			}
			if tc.spends && e.Tokens.Input == 0 {
				t.Errorf("tokens %+v, want those that were used", e.Tokens)
			}
		})
	}
}
