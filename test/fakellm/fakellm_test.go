package fakellm_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
)

// start serves choose and answers the server with its address.
func start(t *testing.T, choose func(fakellm.Request) fakellm.Script) (*fakellm.Server, string) {
	t.Helper()
	fake := fakellm.New(choose)
	ts := httptest.NewServer(fake)
	t.Cleanup(ts.Close)
	return fake, ts.URL
}

func always(s fakellm.Script) func(fakellm.Request) fakellm.Script {
	return func(fakellm.Request) fakellm.Script { return s }
}

// send makes one request and reads the whole reply; err is what reading the
// body ended with.
func send(t *testing.T, method, url, body string, header ...string) (resp *http.Response, reply []byte, err error) {
	t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err = http.DefaultClient.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	reply, err = io.ReadAll(resp.Body)
	return resp, reply, err
}

func mustSend(t *testing.T, method, url, body string, header ...string) (*http.Response, []byte) {
	t.Helper()
	resp, reply, err := send(t, method, url, body, header...)
	if err != nil {
		t.Fatalf("%s %s: %v", method, url, err)
	}
	return resp, reply
}

func (w *wire) ask(t *testing.T, base, model string, stream bool) content {
	t.Helper()
	resp, body := mustSend(t, "POST", base+w.path(model, stream), w.body(model, stream, "say hi"))
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("status %d: %s", resp.StatusCode, body)
	}
	if stream {
		return w.stream(t, body)
	}
	return w.whole(t, body)
}

func TestStreamAndJSONGiveTheSameContent(t *testing.T) {
	usage := &haltd.Usage{Input: 100, Output: 30, CacheRead: 40}
	calls := []fakellm.ToolCall{{Name: "read", Arguments: `{"path":"a.txt"}`}, {Name: "write", Arguments: `{"text":"<&>"}`}}
	scripts := map[string]fakellm.Script{
		"text":           {Text: "Grüße <b>&amp;</b> 你好, a longer text that is cut in pieces", Usage: usage},
		"thinking":       {Text: "Yes.", Thinking: "Let me see whether that holds.", Usage: usage},
		"tool calls":     {ToolCalls: calls, Usage: usage},
		"text and calls": {Text: "I read it.", Thinking: "Hm.", ToolCalls: calls, Usage: usage},
		"empty":          {Usage: usage},
		"no usage":       {Text: "Free of charge", NoUsage: true},
		"one chunk":      {Text: "All of it at once", Chunks: 1, Usage: usage},
		"single runes":   {Text: "Grüße", ChunkSize: 1, Usage: usage},
		"ragged writes":  {Text: "across borders", WriteSize: 7, Usage: usage},
	}
	for name, script := range scripts {
		for _, w := range wires {
			t.Run(name+"/"+w.name, func(t *testing.T) {
				_, base := start(t, always(script))
				want := content{Text: script.Text, Thinking: script.Thinking, Calls: script.ToolCalls, Finish: w.finish[0], Usage: script.Usage}
				if len(script.ToolCalls) > 0 {
					want.Finish = w.finish[1]
				}
				for _, stream := range []bool{false, true} {
					if diff := cmp.Diff(want, w.ask(t, base, "m", stream)); diff != "" {
						t.Errorf("stream=%v: reply differs from the script (-script +reply):\n%s", stream, diff)
					}
				}
			})
		}
	}
}

func TestAnthropicCountsCacheApart(t *testing.T) {
	usage := haltd.Usage{Input: 100, Output: 5, CacheRead: 60, CacheWrite: 30}
	_, base := start(t, always(fakellm.Script{Text: "hi", Usage: &usage}))
	_, body := mustSend(t, "POST", base+"/v1/messages", `{"model":"m","messages":[]}`)
	got := decode[struct{ Usage anthropicUsage }](t, body).Usage
	if want := (anthropicUsage{InputTokens: 10, CacheWrite: 30, CacheRead: 60, OutputTokens: 5}); got != want {
		t.Errorf("usage %+v, want %+v", got, want)
	}
}

func TestChatStreamHasUsageOnlyWhenAsked(t *testing.T) {
	_, base := start(t, nil)
	_, body := mustSend(t, "POST", base+"/v1/chat/completions", `{"model":"m","stream":true,"messages":[]}`)
	if strings.Contains(string(body), `"usage"`) {
		t.Errorf("usage in a stream that did not ask for it:\n%s", body)
	}
}

func TestHeadersOfEachFamily(t *testing.T) {
	_, base := start(t, nil)
	tests := []struct {
		path, body, contentType, id string
	}{
		{"/v1/chat/completions", `{"model":"m"}`, "application/json", "X-Request-Id"},
		{"/v1/chat/completions", `{"model":"m","stream":true}`, "text/event-stream; charset=utf-8", "X-Request-Id"},
		{"/v1/messages", `{"model":"m"}`, "application/json", "Request-Id"},
		{"/v1/messages", `{"model":"m","stream":true}`, "text/event-stream; charset=utf-8", "Request-Id"},
		{"/v1beta/models/m:generateContent", `{}`, "application/json; charset=UTF-8", "Server-Timing"},
		{"/v1beta/models/m:streamGenerateContent", `{}`, "application/json; charset=UTF-8", "Server-Timing"},
		{"/v1beta/models/m:streamGenerateContent?alt=sse", `{}`, "text/event-stream", "Server-Timing"},
	}
	for _, tt := range tests {
		resp, _ := mustSend(t, "POST", base+tt.path, tt.body)
		if got := resp.Header.Get("Content-Type"); got != tt.contentType {
			t.Errorf("%s %s: content type %q, want %q", tt.path, tt.body, got, tt.contentType)
		}
		if resp.Header.Get(tt.id) == "" {
			t.Errorf("%s %s: no %s header", tt.path, tt.body, tt.id)
		}
	}
}

func TestRequestsAreKeptAsTheyCame(t *testing.T) {
	fake, base := start(t, nil)
	const body = " {\"model\" : \"m\",\n\"messages\":[]} "
	mustSend(t, "POST", base+"/x/v1/chat/completions?a=1&b=%2F", body, "X-Agent-Id", "Billing")
	// The client has the reply before the log knows how it ended.
	got, err := fake.Await(t.Context(), 1)
	if err != nil || len(got) != 1 {
		t.Fatalf("%d requests in the log, %v; want 1", len(got), err)
	}
	r := got[0]
	want := fakellm.Request{N: 1, Method: "POST", Path: "/x/v1/chat/completions", Query: "a=1&b=%2F", Proto: "HTTP/1.1",
		Host: strings.TrimPrefix(base, "http://"), Header: r.Header, Body: []byte(body), Outcome: fakellm.OutcomeComplete}
	if diff := cmp.Diff(want, r, cmp.AllowUnexported(fakellm.Request{}, fakellm.Ask{})); diff != "" {
		t.Errorf("request differs (-sent +logged):\n%s", diff)
	}
	if r.Header.Get("X-Agent-Id") != "Billing" {
		t.Errorf("header X-Agent-Id is %q", r.Header.Get("X-Agent-Id"))
	}
}

func TestLogIsBounded(t *testing.T) {
	fake := fakellm.New(nil)
	const sent = 5000
	for range sent {
		fake.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/v1/models", nil))
	}
	got := fake.Requests()
	if len(got) >= sent || got[len(got)-1].N != sent {
		t.Errorf("log holds %d requests, the last is %d; want fewer than %d and the last %d", len(got), got[len(got)-1].N, sent, sent)
	}
}

func TestClearMakesRepliesRepeat(t *testing.T) {
	fake, base := start(t, nil)
	ask := func() string {
		_, body := mustSend(t, "POST", base+"/v1/responses", `{"model":"m","stream":true,"input":"hi"}`)
		return string(body)
	}
	first, second := ask(), ask()
	fake.Clear()
	if first == second {
		t.Error("two replies have the same ids")
	}
	if again := ask(); again != first {
		t.Errorf("after Clear the first reply differs:\n%s", cmp.Diff(first, again))
	}
}

func TestAwaitSeesAClientLeave(t *testing.T) {
	fake, base := start(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, "POST", base+"/v1/messages", strings.NewReader(`{"model":"drip-1h","stream":true,"messages":[]}`))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := resp.Body.Read(make([]byte, 1)); err != nil {
		t.Fatalf("first byte: %v", err)
	}
	if got := fake.Requests()[0].Outcome; got != "" {
		t.Errorf("outcome is %q while the reply is still being sent", got)
	}
	cancel()
	done, err := fake.Await(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if got := done[0].Outcome; got != fakellm.OutcomeClientLeft {
		t.Errorf("outcome %q, want %q", got, fakellm.OutcomeClientLeft)
	}
}

func TestAwaitEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := fakellm.New(nil).Await(ctx, 1); err == nil {
		t.Error("Await with nothing to wait for came back without an error")
	}
}
