package gateway

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/detection"
	"github.com/haltd/haltd/internal/judge"
	"github.com/haltd/haltd/internal/policy"
	"github.com/haltd/haltd/internal/state"
	"github.com/haltd/haltd/internal/wire"
)

// faultyStates panic in the hands of a detector, at the given use.
type faultyStates struct {
	judge.States
	at   int
	uses int
}

func (s *faultyStates) Acquire(ctx context.Context, p state.Place, now time.Time) (state.Lease, error) {
	l, err := s.States.Acquire(ctx, p, now)
	return faultyLease{l, s}, err
}

func (s *faultyStates) Open(ctx context.Context, q state.Question, now time.Time) (state.Answer, error) {
	a, err := s.States.Open(ctx, q, now)
	a.Lease = faultyLease{a.Lease, s}
	return a, err
}

type faultyLease struct {
	state.Lease
	of *faultyStates
}

func (l faultyLease) Memory() detection.Memory {
	if l.of.uses++; l.of.uses == l.of.at {
		panic("on purpose")
	}
	return l.Lease.Memory()
}

// faultyRules panic when they are matched.
type faultyRules struct{ judge.Agents }

func (faultyRules) MatchRule(policy.RuleQuery) (haltd.Rule, bool) { panic("on purpose") }

// A fault of haltd in a check lets the call pass without that check: it is
// answered, charged what it cost, recorded once, and leaves nothing behind. The
// same state serves the next call.
func TestAFaultInACheckLetsTheCallPass(t *testing.T) {
	for _, tc := range []struct {
		name, where string
		judge       func(*judge.Options)
	}{
		{"in a detector, while it judges", "detector", func(o *judge.Options) { o.States = &faultyStates{States: o.States, at: 1} }},
		{"in a detector, after the reply", "detector", func(o *judge.Options) { o.States = &faultyStates{States: o.States, at: 2} }},
		{"in a rule", "rule", func(o *judge.Options) { o.Agents = faultyRules{o.Agents} }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := startOver(t, answer(200, "application/json", chatReply), setup{yaml: ticketYAML, judge: tc.judge})
			if res, body := f.send(t, "POST", chatPath, nil, chatBody); res.StatusCode != 200 || body != chatReply {
				t.Errorf("%d %s; want the reply", res.StatusCode, body)
			}
			if e := f.ended(t, haltd.EventCall, ""); e.Tokens.Input != 7 {
				t.Errorf("tokens %+v, want those of the reply", e.Tokens)
			}
			if got := f.spent(t); got != 9 {
				t.Errorf("%d tokens are charged, want the 9 that were used", got)
			}
			if got := f.limits.charges.Load(); got != 1 {
				t.Errorf("the ticket was ended %d times", got)
			}
			if f.meter.get("panic "+tc.where) != 1 {
				t.Errorf("counted %v; want one fault in a %s", f.meter.counts, tc.where)
			}
			if res, _ := f.send(t, "POST", chatPath, nil, chatBody); res.StatusCode != 200 {
				t.Errorf("the next call: %d", res.StatusCode)
			}
		})
	}
}

// faultyFormat panics when it reads a reply.
type faultyFormat struct{ wire.Format }

func (faultyFormat) ReadReply([]byte) (*haltd.Reply, error) { panic("on purpose") }
func (faultyFormat) NewStream(int64) wire.Stream            { return faultyStream{} }

type faultyStream struct{ wire.Stream }

func (faultyStream) Event(_, _ []byte) error { panic("on purpose") }
func (faultyStream) Kept() int64             { return 0 }

// A fault of haltd in the tap lets the reply pass unread, charged by its
// length.
func TestAFaultInTheTapLetsTheReplyPass(t *testing.T) {
	for kind, reply := range map[string]string{"application/json": chatReply, "text/event-stream": firstPiece + "data: [DONE]\n\n"} {
		t.Run(kind, func(t *testing.T) {
			f := startOver(t, answer(200, kind, reply), setup{yaml: ticketYAML})
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				x := f.newExchange(w, r)
				defer f.record(x)
				for _, step := range []func(*exchange) error{f.identify, f.read, f.Gateway.judge} {
					if err := step(x); err != nil {
						t.Error(err)
					}
				}
				x.format = faultyFormat{x.format}
				if err := f.forward(x); err != nil {
					t.Error(err)
				}
				x.handled = true
			}))
			defer server.Close()
			res, err := http.Post(server.URL+chatPath, "application/json", strings.NewReader(chatBody))
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(res.Body)
			res.Body.Close()
			if err != nil || string(body) != reply {
				t.Errorf("%q, %v; want the reply as it is", body, err)
			}
			server.Close()
			if e := f.ended(t, haltd.EventCall, ""); e.Unread != haltd.CodeInternal || !e.Estimated || e.Tokens.Output < int64(len(reply))/4 {
				t.Errorf("event %+v; want it unread, with an estimate", e)
			}
			if f.spent(t) == 0 || f.meter.get("panic tap") != 1 || f.meter.get(countUnread) != 1 {
				t.Errorf("%d tokens charged, counted %v; want some, and a fault", f.spent(t), f.meter.counts)
			}
		})
	}
}

// slowAttempts remember a request only when they are let.
type slowAttempts struct {
	Attempts
	let chan struct{}
}

func (a slowAttempts) Ended(ctx context.Context, digest uint64, how haltd.Ending) error {
	<-a.let
	return a.Attempts.Ended(ctx, digest, how)
}

// The client has the whole answer before haltd does its bookkeeping.
func TestTheReplyDoesNotWaitForTheBookkeeping(t *testing.T) {
	for _, tc := range []struct {
		name       string
		reply      http.Handler
		unmeasured bool
		action     haltd.RuleAction
	}{
		{name: "a reply", reply: answer(200, "application/json", chatReply)},
		{name: "a reply without a length", unmeasured: true, reply: unmeasured("application/json", chatReply)},
		{name: "a stream", unmeasured: true, reply: unmeasured("text/event-stream", "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"}}]}\n\ndata: [DONE]\n\n")},
		{name: "a denial", reply: answer(200, "application/json", chatReply), action: haltd.RuleBlock},
	} {
		t.Run(tc.name, func(t *testing.T) {
			let := make(chan struct{})
			f := startOver(t, tc.reply, setup{
				yaml: killYAML, attempts: func(a Attempts) Attempts { return slowAttempts{a, let} },
			})
			if tc.action != "" {
				f.rule(t, tc.action)
			}
			before := f.events.count()
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			defer close(let)
			req, _ := http.NewRequestWithContext(ctx, "POST", f.url+chatPath, strings.NewReader(chatBody))
			res, err := http.DefaultTransport.RoundTrip(req)
			if err != nil {
				t.Fatalf("no answer while the bookkeeping waits: %v", err)
			}
			defer res.Body.Close()
			if body, err := io.ReadAll(res.Body); err != nil || len(body) == 0 || res.ContentLength < 0 != tc.unmeasured {
				t.Errorf("%q of %d bytes, %v; want all of it", body, res.ContentLength, err)
			}
			if n := f.events.count() - before; n != 0 {
				t.Errorf("%d events are recorded before the client has its answer", n)
			}
		})
	}
}

// unmeasured answers without saying how long the answer is.
func unmeasured(kind, body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.(http.Flusher).Flush()
		_, _ = io.WriteString(w, body)
	})
}

// What haltd adds while a reply passes counts as overhead.
func TestOverheadCoversTheReply(t *testing.T) {
	var f *fixture
	long := `data: {"choices":[{"index":0,"delta":{"content":"` + strings.Repeat("word ", 8000) + `"}}]}` + "\n\n"
	f = startOver(t, answer(200, "text/event-stream", long+"data: [DONE]\n\n"), setup{
		yaml: ticketYAML, price: func(_, _ string, u haltd.Usage) (haltd.Money, bool) {
			if u.Input == 0 && u.Output > 0 { // for a reply that outgrows its reservation
				f.clock.advance(3 * time.Second)
			}
			return haltd.Money(u.Input + u.Output), true
		},
	})
	f.send(t, "POST", chatPath, nil, `{"model":"gpt-x","max_tokens":1,"stream":true,"messages":[{"role":"user","content":"hi"}]}`)
	f.Gateway.Wait()
	if got := time.Duration(f.meter.overhead.Load()); got < 3*time.Second || f.meter.get("overhead") != 1 {
		t.Errorf("%d overheads, the last %v; want one of 3 s at least", f.meter.get("overhead"), got)
	}
}
