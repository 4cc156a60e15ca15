package gateway

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/harness"
)

func exactYAML(action string, threshold int) string {
	return providersYAML + fmt.Sprintf("defaults:\n  loop_detection: {enabled: true, window_seconds: 60, threshold_identical_requests: %d, action: %s}\n", threshold, action)
}

func TestExactRejects(t *testing.T) {
	for name, path := range map[string]string{"a call": chatPath, "what passes through": "/agents/bot/v1/embeddings"} {
		t.Run(name, func(t *testing.T) {
			var forwarded atomic.Int64
			f := newFixture(t, counting(&forwarded, answer(200, "application/json", chatReply)), exactYAML("reject", 3))
			for i := range 5 {
				res, body := f.send(t, "POST", path, nil, chatBody)
				f.Gateway.Wait()
				if i < 2 && res.StatusCode != 200 {
					t.Fatalf("request %d: %d %s", i, res.StatusCode, body)
				}
				if i >= 2 && (res.StatusCode != 429 || res.Header.Get("Retry-After") != "60" || res.Header.Get("X-Haltd-Reason") != "loop_detected") {
					t.Fatalf("request %d: %d %v %s; want a rejection for the window", i, res.StatusCode, res.Header, body)
				}
			}
			if res, _ := f.send(t, "POST", path, nil, chat("another", 5)); res.StatusCode != 200 {
				t.Errorf("another body: %d", res.StatusCode)
			}
			f.clock.advance(59 * time.Second)
			if res, _ := f.send(t, "POST", path, nil, chatBody); res.StatusCode != 429 {
				t.Errorf("within the window that the last hit renewed: %d", res.StatusCode)
			}
			f.clock.advance(60 * time.Second)
			if res, _ := f.send(t, "POST", path, nil, chatBody); res.StatusCode != 200 {
				t.Errorf("after the window: %d", res.StatusCode)
			}
			if forwarded.Load() != 4 {
				t.Errorf("%d forwarded, want 4", forwarded.Load())
			}
		})
	}
}

func TestExactThrottles(t *testing.T) {
	f := newFixture(t, answer(200, "application/json", chatReply), exactYAML("throttle", 2))
	f.send(t, "POST", chatPath, nil, chatBody)
	f.Gateway.Wait()
	began := time.Now()
	res, _ := f.send(t, "POST", chatPath, nil, chatBody)
	if took := time.Since(began); res.StatusCode != 200 || res.Header.Get("X-Haltd-Loop-Delay") != "200" || took < 200*time.Millisecond {
		t.Errorf("%d after %v, delay %q; want 200 ms", res.StatusCode, took, res.Header.Get("X-Haltd-Loop-Delay"))
	}
	if res.Header.Get("X-Haltd-Reason") != "loop_detected" {
		t.Errorf("reason %q", res.Header.Get("X-Haltd-Reason"))
	}
}

// A client that leaves while it waits is not forwarded, gets back what it had
// taken, and does not come in as a retry.
func TestAThrottledClientThatLeaves(t *testing.T) {
	var forwarded atomic.Int64
	f := newFixture(t, counting(&forwarded, answer(200, "application/json", chatReply)),
		exactYAML("throttle", 20)+"agents:\n  bot: {rate_limits: {requests_per_minute: 21}, budgets: {day: {hard_tokens: 1000000}}}\n")
	for range 19 {
		f.send(t, "POST", chatPath, nil, chatBody)
		f.Gateway.Wait()
	}
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	go func() {
		f.awaitHeld(t)
		leave() // in the two seconds that it has to wait
	}()
	req, _ := http.NewRequestWithContext(ctx, "POST", f.url+chatPath, strings.NewReader(chatBody))
	if _, err := http.DefaultTransport.RoundTrip(req); err == nil {
		t.Fatal("the client did not leave")
	}
	left := f.events.wait(t, haltd.EventError, 1)
	if len(left) != 1 {
		t.Fatal("no event tells of the client that left")
	}
	e := left[0]
	if e.Error != "client_left" || e.Status != 0 || forwarded.Load() != 19 {
		t.Errorf("event %s %q, %d forwarded; want it gone with its client", e.Type, e.Error, forwarded.Load())
	}
	if s, _ := f.judge.Spending(t.Context(), "bot"); s[0].Held != (haltd.Spending{}) || s[0].Spent.Tokens != 19*9 {
		t.Errorf("spent %+v, held %+v; want the 9 tokens of each call before", s[0].Spent, s[0].Held)
	}
	res, _ := f.send(t, "POST", chatPath, nil, chatBody)
	if e := f.last(t); e.Retry || res.Header.Get("X-Haltd-Loop-Delay") != "2100" {
		t.Errorf("retry %v, delay %q: whoever hangs up slips past the delay", e.Retry, res.Header.Get("X-Haltd-Loop-Delay"))
	}
	// The one that left took nothing: this is the last of those allowed.
	if res, _ := f.send(t, "POST", chatPath, nil, chat("other", 5)); res.StatusCode != 200 {
		t.Errorf("the last of 21 requests a minute: %d", res.StatusCode)
	}
}

// awaitHeld waits until a call of the bot holds tokens back.
func (f *fixture) awaitHeld(t *testing.T) {
	t.Helper()
	if err := harness.Until(t.Context(), func() bool {
		s, _ := f.judge.Spending(t.Context(), "bot")
		return len(s) > 0 && s[0].Held.Tokens != 0
	}); err != nil {
		t.Errorf("no call holds tokens back: %v", err)
	}
}

// An agent that is switched off during the wait does not get through.
func TestTheWaitEndsInAnotherLook(t *testing.T) {
	var forwarded atomic.Int64
	f := newFixture(t, counting(&forwarded, answer(200, "application/json", chatReply)),
		exactYAML("throttle", 2)+"agents:\n  bot: {rate_limits: {requests_per_minute: 2}, budgets: {day: {hard_tokens: 1000000}}}\n")
	f.send(t, "POST", chatPath, nil, chatBody)
	f.Gateway.Wait()
	done := make(chan *http.Response)
	go func() {
		res, _ := f.send(t, "POST", chatPath, nil, chatBody)
		done <- res
	}()
	f.awaitHeld(t)
	if _, err := f.control.Deactivate(t.Context(), haltd.Target{Agent: "bot"}, false, "ann", ""); err != nil {
		t.Fatal(err)
	}
	if res := <-done; res.StatusCode != 400 || res.Header.Get("X-Haltd-Reason") != "manual" || forwarded.Load() != 1 {
		t.Errorf("%d %v, %d forwarded; want the inactive answer", res.StatusCode, res.Header, forwarded.Load())
	}
	f.Gateway.Wait()
	if s, _ := f.judge.Spending(t.Context(), "bot"); s[0].Held != (haltd.Spending{}) {
		t.Errorf("%+v is still held", s[0].Held)
	}
	f.activate(t, haltd.Target{Agent: "bot"})
	if res, _ := f.send(t, "POST", chatPath, nil, chat("other", 5)); res.StatusCode != 200 {
		t.Errorf("its rate token was not given back: %d", res.StatusCode)
	}
}

func TestExactWarns(t *testing.T) {
	f := newFixture(t, answer(200, "application/json", chatReply), exactYAML("warn", 2))
	f.send(t, "POST", chatPath, nil, chatBody)
	f.Gateway.Wait()
	res, _ := f.send(t, "POST", chatPath, nil, chatBody)
	if res.StatusCode != 200 || res.Header.Get("X-Haltd-Reason") != "loop_detected" {
		t.Errorf("%d %v, want it flagged", res.StatusCode, res.Header)
	}
	if e := f.last(t); e.Blocked || len(e.Verdict.Findings) != 1 || e.Verdict.Findings[0].Check != "exact" {
		t.Errorf("blocked %v, verdict %+v", e.Blocked, e.Verdict)
	}
}

const toolsYAML = `
policies:
  - id: tools
    spec:
      selector: {pathPrefix: /tools/, methods: [POST]}
      upstream: TOOLS
      loop_detection: {enabled: true, window_seconds: 30, threshold_identical_requests: 2}
`

func TestAPolicyLeadsToItsOwnService(t *testing.T) {
	var toProvider atomic.Int64
	m := &mirror{reply: func(w http.ResponseWriter) { _, _ = io.WriteString(w, "found\x00\xff") }}
	yaml := providersYAML + strings.Replace(toolsYAML, "TOOLS", newUpstream(t, m)+"/base", 1)
	f := newFixture(t, counting(&toProvider, answer(200, "application/json", chatReply)), yaml)
	const odd = "{ \"q\" :  \"a\\u0062\" }\n\x00\xff"
	res, body := f.send(t, "POST", "/agents/bot/tools/search?b=2&a=1", map[string]string{"Content-Type": "application/x-odd"}, odd)
	if res.StatusCode != 200 || body != "found\x00\xff" {
		t.Errorf("%d %q", res.StatusCode, body)
	}
	if got := m.last(); got.URI != "/base/tools/search?b=2&a=1" || got.Body != odd || got.Header.Get("Content-Type") != "application/x-odd" {
		t.Errorf("the service saw %s %q %v", got.URI, got.Body, got.Header)
	}
	if res, _ := f.send(t, "POST", "/agents/bot/tools/search?a=1&b=2", nil, odd); res.StatusCode != 429 || res.Header.Get("Retry-After") != "30" {
		t.Errorf("the same again: %d %v", res.StatusCode, res.Header)
	}
	if res, _ := f.send(t, "POST", "/agents/other/tools/search?a=1&b=2", nil, odd); res.StatusCode != 200 {
		t.Errorf("the same of another agent: %d", res.StatusCode)
	}
	if e := f.last(t); e.Provider != "tools" || e.Type != haltd.EventPass || toProvider.Load() != 0 {
		t.Errorf("recorded under %q as %s; %d went to the provider", e.Provider, e.Type, toProvider.Load())
	}
}

// Bodies that are compared go on as they came, empty ones included.
func TestComparedBodiesAreTheSame(t *testing.T) {
	m := &mirror{reply: func(w http.ResponseWriter) { _, _ = io.WriteString(w, "{}") }}
	var length atomic.Int64
	var encoding atomic.Value
	up := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		length.Store(r.ContentLength)
		encoding.Store(strings.Join(r.TransferEncoding, ","))
		m.ServeHTTP(w, r)
	})
	f := newFixture(t, up, exactYAML("reject", 50))
	for _, tc := range []struct{ method, body string }{
		{"POST", ""}, {"GET", ""}, {"DELETE", ""}, {"PUT", "\x00\x01\xff"}, {"POST", strings.Repeat("x", 3<<20)},
	} {
		f.send(t, tc.method, "/v1/files", nil, tc.body)
		if got := m.last(); got.Method != tc.method || got.Body != tc.body || length.Load() != int64(len(tc.body)) || encoding.Load() != "" {
			t.Errorf("%s of %d bytes arrived as %s of %d, length %d, encoding %q", tc.method, len(tc.body), got.Method, len(got.Body), length.Load(), encoding.Load())
		}
	}
}
