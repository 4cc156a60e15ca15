package gateway

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/haltd/haltd/test/harness"
)

// seen is a request or a reply as one side got it.
type seen struct {
	Method, URI string
	Status      int
	Header      http.Header
	Trailer     http.Header
	Body        string
	Cut         bool // the body ended in an error
}

// mirror is an upstream that keeps the last request and gives a set reply.
type mirror struct {
	mu    sync.Mutex
	got   seen
	reply func(http.ResponseWriter)
}

func (m *mirror) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	m.mu.Lock()
	m.got = seen{Method: r.Method, URI: r.RequestURI, Header: r.Header.Clone(), Body: string(body)}
	m.mu.Unlock()
	m.reply(w)
}

func (m *mirror) last() seen {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.got
}

// roundTrip sends a request with exactly these headers.
func roundTrip(t testing.TB, rt http.RoundTripper, method, url string, header http.Header, body string) seen {
	t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if header != nil {
		req.Header = header.Clone()
	}
	res, err := rt.RoundTrip(req)
	if err != nil {
		t.Fatalf("%s %s: %v", method, url, err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return seen{Status: res.StatusCode, Header: res.Header, Trailer: res.Trailer, Body: string(b), Cut: err != nil}
}

// sameDirectAndThrough sends one request to the upstream directly and through
// the gateway and compares what each side saw.
func sameDirectAndThrough(t testing.TB, f *fixture, up *httptest.Server, m *mirror, method, uri string, header http.Header, body string) {
	t.Helper()
	// One connection for each, and no decompression by the test's client.
	rt := &http.Transport{DisableCompression: true}
	defer rt.CloseIdleConnections()
	directReply := roundTrip(t, rt, method, up.URL+uri, header, body)
	direct := m.last()
	throughReply := roundTrip(t, rt, method, f.url+"/openai"+uri, header, body)
	through := m.last()
	direct.Header.Del("X-Agent-Id")
	direct.Header.Del("Te")
	if diff := cmp.Diff(direct, through); diff != "" {
		t.Errorf("the upstream saw another request (-direct +through):\n%s", diff)
	}
	for _, h := range []http.Header{directReply.Header, throughReply.Header} {
		if h.Get("Date") != "" && !strings.Contains(h.Get("Date"), "1999") {
			h.Set("Date", "now")
		}
		h.Del("Keep-Alive")
	}
	if diff := cmp.Diff(directReply, throughReply); diff != "" {
		t.Errorf("the client saw another reply (-direct +through):\n%s", diff)
	}
}

func gzipped(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, s)
	_ = w.Close()
	return b.String()
}

func zstded(s string) string {
	w, _ := zstd.NewWriter(nil)
	return string(w.EncodeAll([]byte(s), nil))
}

const sseReply = "data: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hel\"}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"lo\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"

func TestBytesAreTheSameDirectAndThrough(t *testing.T) {
	reply := func(status int, header map[string]string, chunks ...string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			for k, v := range header {
				w.Header().Set(k, v)
			}
			w.WriteHeader(status)
			for _, c := range chunks {
				_, _ = io.WriteString(w, c)
				if len(chunks) > 1 {
					w.(http.Flusher).Flush()
				}
			}
		}
	}
	jsonType := map[string]string{"Content-Type": "application/json"}
	for _, tc := range []struct {
		name   string
		method string
		uri    string
		header http.Header
		body   string
		reply  func(http.ResponseWriter)
	}{
		{"chat", "POST", "/v1/chat/completions", http.Header{"Authorization": {"Bearer sk-x"}}, chatBody, reply(200, jsonType, chatReply)},
		{"responses", "POST", "/v1/responses", nil, responsesBody, reply(200, jsonType, `{"id":"r"}`)},
		{"messages", "POST", "/v1/messages?beta=true", http.Header{"X-Api-Key": {"k"}, "Anthropic-Version": {"2023-06-01"}}, messagesBody, reply(200, jsonType, messagesReply)},
		{"gemini", "POST", "/v1beta/models/g:generateContent?key=k", nil, geminiBody, reply(200, jsonType, `{}`)},
		{"white space and key order of the body stay", "POST", "/v1/chat/completions", nil, "{ \"messages\" : [ ] ,\n\t\"model\":\"m\" }\n", reply(200, jsonType, chatReply)},
		{"stream", "POST", "/v1/chat/completions", nil, chatBody, reply(200, map[string]string{"Content-Type": "text/event-stream"}, strings.SplitAfter(sseReply, "\n")...)},
		{"stream without content type", "POST", "/v1/chat/completions", nil, chatBody, reply(200, nil, "data: a\n\n", "data: b\n\n")},
		{"gzip request and reply", "POST", "/v1/chat/completions", http.Header{"Content-Encoding": {"gzip"}, "Accept-Encoding": {"gzip"}}, gzipped(chatBody),
			reply(200, map[string]string{"Content-Type": "application/json", "Content-Encoding": "gzip"}, gzipped(chatReply))},
		{"zstd request", "POST", "/v1/responses", http.Header{"Content-Encoding": {"zstd"}}, zstded(responsesBody), reply(200, jsonType, `{"id":"r"}`)},
		{"no accept-encoding", "POST", "/v1/chat/completions", nil, chatBody, reply(200, jsonType, chatReply)},
		{"own user agent", "POST", "/v1/chat/completions", http.Header{"User-Agent": {"mine/1"}}, chatBody, reply(200, jsonType, chatReply)},
		{"repeated and odd headers", "POST", "/v1/chat/completions", http.Header{"X-A": {"1", "2", ""}, "Cookie": {"a=b"}, "X-Forwarded-For": {"1.2.3.4"}, "Via": {"1.1 x"}}, chatBody,
			reply(200, map[string]string{"Content-Type": "application/json", "Set-Cookie": "c=d", "Date": "Fri, 31 Dec 1999 23:59:59 GMT", "Server": "x"}, chatReply)},
		{"X-Agent-Id is not sent on", "POST", "/v1/chat/completions", http.Header{"X-Agent-Id": {"bot"}}, chatBody, reply(200, jsonType, chatReply)},
		{"provider error with retry-after", "POST", "/v1/chat/completions", nil, chatBody, reply(429, map[string]string{"Content-Type": "application/json", "Retry-After": "7", "X-Should-Retry": "true"}, `{"error":{"message":"Rate limit"}}`)},
		{"provider error that is HTML", "POST", "/v1/messages", nil, messagesBody, reply(529, map[string]string{"Content-Type": "text/html"}, "<html>overloaded")},
		{"redirect is not followed", "POST", "/v1/chat/completions", nil, chatBody, reply(307, map[string]string{"Location": "http://192.0.2.1/"}, "")},
		{"empty reply", "POST", "/v1/chat/completions", nil, chatBody, reply(204, nil)},
		{"trailers", "POST", "/v1/chat/completions", nil, chatBody, func(w http.ResponseWriter) {
			w.Header().Set("Trailer", "X-Sum")
			_, _ = io.WriteString(w, "abc")
			w.(http.Flusher).Flush()
			w.Header().Set("X-Sum", "6")
		}},
		{"pass-through GET", "GET", "/v1/models?limit=2&after=a%20b", nil, "", reply(200, jsonType, `{"data":[]}`)},
		{"pass-through HEAD", "HEAD", "/v1/models", nil, "", reply(200, map[string]string{"Content-Length": "12"})},
		{"pass-through DELETE", "DELETE", "/v1/files/f1", nil, "", reply(200, jsonType, `{}`)},
		{"pass-through upload that is no JSON", "POST", "/v1/files", http.Header{"Content-Type": {"multipart/form-data; boundary=x"}}, "--x\r\n\x00\xff\r\n--x--", reply(200, jsonType, `{}`)},
		{"count_tokens", "POST", "/v1/messages/count_tokens", nil, "not even json", reply(200, jsonType, `{"input_tokens":1}`)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := &mirror{reply: tc.reply}
			up := httptest.NewServer(m)
			defer up.Close()
			f := startFixture(t, "providers: {openai: {base_url: '"+up.URL+"'}}")
			sameDirectAndThrough(t, f, up, m, tc.method, tc.uri, tc.header, tc.body)
		})
	}
}

// Whatever headers, body and reply come by, both sides see what the other
// sent.
func FuzzBytesAreTheSame(f *testing.F) {
	f.Add("/v1/chat/completions", "a=b&c", "X-Test", "value", chatBody, 200, "application/json", chatReply, uint8(1))
	f.Add("/v1/chat/completions", "", "Content-Encoding", "gzip", gzipped(chatBody), 200, "text/event-stream", sseReply, uint8(7))
	f.Add("/v1/models/%7e", "key=%zz", "Accept", "", "", 404, "", "\x00\xff", uint8(3))
	f.Add("/v1/messages", "beta=true", "Connection", "x-a", messagesBody, 529, "text/html", "<html>", uint8(0))
	m := &mirror{}
	up := httptest.NewServer(m)
	f.Cleanup(up.Close)
	fx := startFixture(f, "providers: {openai: {base_url: '"+up.URL+"'}}")
	f.Fuzz(func(t *testing.T, path, query, name, value, body string, status int, contentType, reply string, pieces uint8) {
		uri, header, ok := fuzzRequest(path, query, name, value)
		if !ok || status < 200 || status > 599 || !fuzzable(contentType) {
			t.Skip()
		}
		m.reply = func(w http.ResponseWriter) {
			if contentType != "" {
				w.Header().Set("Content-Type", contentType)
			}
			w.WriteHeader(status)
			step := max(1, len(reply)/max(1, int(pieces)))
			for rest := reply; rest != ""; {
				n := min(step, len(rest))
				_, _ = io.WriteString(w, rest[:n])
				w.(http.Flusher).Flush()
				rest = rest[n:]
			}
		}
		method := "POST"
		before := m.last()
		rt := &http.Transport{DisableCompression: true}
		defer rt.CloseIdleConnections()
		through := roundTrip(t, rt, method, fx.url+"/openai"+uri, header, body)
		if through.Header.Get("X-Haltd-Reason") != "" {
			if after := m.last(); cmp.Diff(before, after) != "" {
				t.Fatalf("a refused request reached the upstream: %+v", after)
			}
			return
		}
		sameDirectAndThrough(t, fx, up, m, method, uri, header, body)
	})
}

// fuzzRequest makes a request that net/http's client would send as it is.
func fuzzRequest(path, query, name, value string) (uri string, header http.Header, ok bool) {
	uri = path
	if query != "" {
		uri += "?" + query
	}
	req, err := http.NewRequest("POST", "http://h"+uri, nil)
	if err != nil || !strings.HasPrefix(path, "/") || strings.Contains(uri, "#") || strings.Contains(path, "?") || req.URL.RequestURI() != uri {
		return "", nil, false
	}
	header = http.Header{}
	switch canonical := http.CanonicalHeaderKey(name); canonical {
	case "Connection", "Upgrade", "Transfer-Encoding", "Content-Length", "Trailer", "Host", "Expect", "Keep-Alive",
		"Proxy-Connection", "Proxy-Authorization", "Proxy-Authenticate", "Te", "X-Agent-Id":
		// removed by design, or not the client's to choose
	default:
		if !fuzzable(name) || !fuzzable(value) || name == "" || strings.ContainsAny(name, " \t\":;,()<>@[]{}?=/\\") || strings.HasPrefix(value, "haltd_") {
			return "", nil, false
		}
		header.Set(name, strings.TrimSpace(value))
	}
	return uri, header, true
}

func fuzzable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return strings.TrimSpace(s) == s
}

func TestUpstreamOverHTTP2(t *testing.T) {
	protocol := make(chan string, 1)
	up := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		protocol <- r.Proto
		w.Header().Set("Content-Type", "text/event-stream")
		for _, piece := range strings.SplitAfter(sseReply, "\n") {
			_, _ = io.WriteString(w, piece)
			w.(http.Flusher).Flush()
		}
	}))
	up.EnableHTTP2 = true
	up.StartTLS()
	defer up.Close()
	f := startFixture(t, "providers: {openai: {base_url: '"+up.URL+"'}}")
	f.Settings().upstream("openai").transport.TLSClientConfig = up.Client().Transport.(*http.Transport).TLSClientConfig
	res, body := f.send(t, "POST", "/v1/chat/completions", nil, chatBody)
	if got := <-protocol; got != "HTTP/2.0" {
		t.Errorf("upstream saw %s, want HTTP/2.0", got)
	}
	if res.StatusCode != 200 || body != sseReply {
		t.Errorf("%d %q, want the stream unchanged", res.StatusCode, body)
	}
}

// Each piece of a stream reaches the client before the next one is sent.
func TestStreamIsNotHeldBack(t *testing.T) {
	const piece = "data: {}\n\n"
	for name, length := range map[string]int{"chunked": -1, "of a known length": 3 * len(piece)} {
		t.Run(name, func(t *testing.T) {
			next := make(chan struct{})
			f := newFixture(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				if length >= 0 {
					w.Header().Set("Content-Length", strconv.Itoa(length))
				}
				w.(http.Flusher).Flush()
				for range 3 {
					<-next
					_, _ = io.WriteString(w, piece)
					w.(http.Flusher).Flush()
				}
			}), "")
			res, err := http.Post(f.url+"/v1/chat/completions", "application/json", strings.NewReader(chatBody))
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			// The headers are here before the first event was written.
			for range 3 {
				next <- struct{}{}
				if _, err := io.ReadFull(res.Body, make([]byte, len(piece))); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func TestClientThatLeavesCancelsTheUpstream(t *testing.T) {
	cancelled := make(chan struct{})
	f := newFixture(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"some words\"}}]}\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(cancelled)
	}), "")
	ctx, leave := context.WithCancel(context.Background())
	req, _ := http.NewRequestWithContext(ctx, "POST", f.url+"/v1/chat/completions", strings.NewReader(chatBody))
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = res.Body.Read(make([]byte, 10))
	leave()
	res.Body.Close()
	<-cancelled
	e := f.last(t)
	if e.Error != "client_left" || e.Status != 200 || !e.Estimated || e.Tokens.Output == 0 {
		t.Errorf("event: error %q, status %d, estimated %v, output %d; want client_left, 200 and estimated tokens", e.Error, e.Status, e.Estimated, e.Tokens.Output)
	}
}

// A client that ends its side too soon, or sends no valid chunks, may read on.
func TestAnUploadThatBreaksOffIsNoSuccess(t *testing.T) {
	f := newFixture(t, answer(200, "application/json", chatReply), "")
	for name, request := range map[string]string{
		"cut short":  "POST /v1/chat/completions HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\n{",
		"bad chunks": "POST /v1/chat/completions HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{",
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(f.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, request)
		_ = conn.(*net.TCPConn).CloseWrite()
		got, _ := io.ReadAll(conn) // a reset is an answer, too
		conn.Close()
		if len(got) > 0 {
			t.Errorf("%s: answered %q, want the connection to end", name, got)
		}
	}
}

func TestUpstreamThatCutsIsNotACleanEnd(t *testing.T) {
	f := newFixture(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"choices\":[]}\n\n")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}), "")
	got := roundTrip(t, http.DefaultTransport, "POST", f.url+"/v1/chat/completions", nil, chatBody)
	if !got.Cut {
		t.Errorf("the client read a clean end after %q", got.Body)
	}
	if e := f.last(t); e.Error != "upstream_cut" {
		t.Errorf("event error %q, want upstream_cut", e.Error)
	}
}

func TestUpstreamUnreachable(t *testing.T) {
	f := startFixture(t, "providers: {anthropic: {base_url: '"+harness.Refusing(t)+"'}}")
	res, body := f.send(t, "POST", "/v1/messages", nil, messagesBody)
	if res.StatusCode != 502 || res.Header.Get("X-Haltd-Reason") != "upstream_unreachable" || res.Header.Get("X-Should-Retry") != "" {
		t.Errorf("%d %v; want 502 upstream_unreachable that SDKs retry", res.StatusCode, res.Header)
	}
	if !strings.Contains(body, `"type":"error"`) || !strings.Contains(body, "providers.anthropic.base_url") {
		t.Errorf("body %s; want Anthropic's shape and the setting to check", body)
	}
	if e := f.last(t); e.Type != "error" || e.Error != "upstream_unreachable" {
		t.Errorf("event %s %q, want error upstream_unreachable", e.Type, e.Error)
	}
}

// What follows such an answer would be read without end, client or not.
func TestUpstreamThatSwitchesProtocols(t *testing.T) {
	f := newFixture(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "Upgrade")
		w.Header().Set("Upgrade", "telegraph")
		w.WriteHeader(http.StatusSwitchingProtocols)
	}), "")
	if res, body := f.send(t, "POST", "/v1/chat/completions", nil, chatBody); res.StatusCode != 502 || res.Header.Get("X-Haltd-Reason") != "upstream_unreachable" {
		t.Errorf("%d %s; want 502 upstream_unreachable", res.StatusCode, body)
	}
	if e := f.last(t); e.Error != "upstream_unreachable" {
		t.Errorf("event error %q, want upstream_unreachable", e.Error)
	}
}

func TestWebSocketIsAnswered426(t *testing.T) {
	f := newFixture(t, answer(500, "", "not reached"), "")
	res, body := f.send(t, "GET", "/v1/responses", map[string]string{"Originator": "codex_cli_rs", "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "x"}, "")
	if res.StatusCode != 426 || res.Header.Get("X-Haltd-Reason") != "upgrade_required" {
		t.Errorf("%d %s, want 426 upgrade_required", res.StatusCode, body)
	}
	if e := f.last(t); e.Agent != "codex" || e.Error != "upgrade_required" {
		t.Errorf("event of agent %q, error %q; want codex, upgrade_required", e.Agent, e.Error)
	}
}

func TestTwoConnectionsSurviveFiftyDisconnects(t *testing.T) {
	f := newFixture(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {}\n\n")
		w.(http.Flusher).Flush()
		if r.Header.Get("X-Hang") != "" {
			<-r.Context().Done()
		}
	}), "providers: {openai: {base_url: UPSTREAM, max_connections: 2}}")
	for range 50 {
		ctx, leave := context.WithTimeout(context.Background(), 30*time.Second)
		req, _ := http.NewRequestWithContext(ctx, "POST", f.url+"/v1/chat/completions", strings.NewReader(chatBody))
		req.Header.Set("X-Hang", "1")
		res, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = res.Body.Read(make([]byte, 4))
		leave()
		res.Body.Close()
	}
	if res, body := f.send(t, "POST", "/v1/chat/completions", nil, chatBody); res.StatusCode != 200 {
		t.Errorf("after the disconnects: %d %s", res.StatusCode, body)
	}
}

func TestBodiesThatAreRefused(t *testing.T) {
	reached := false
	f := newFixture(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }),
		"gateway: {max_body: 1MiB}\nproviders: {openai: {base_url: UPSTREAM}, anthropic: {base_url: UPSTREAM}, gemini: {base_url: UPSTREAM}}")
	big := `{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat("x", 1<<20) + `"}]}`
	for _, tc := range []struct {
		name, path string
		header     map[string]string
		body       string
		status     int
		shape      string
	}{
		{"empty", "/v1/chat/completions", nil, "", 400, `{"error":{"message":"haltd: `},
		{"not JSON", "/v1/chat/completions", nil, "model=x", 400, `"code":"malformed_body"`},
		{"cut short", "/v1/messages", nil, messagesBody[:30], 400, `{"type":"error","error":{"type":"invalid_request_error"`},
		{"two values", "/v1/chat/completions", nil, chatBody + chatBody, 400, `"code":"malformed_body"`},
		{"duplicate key", "/v1/chat/completions", nil, `{"model":"a","model":"b","messages":[]}`, 400, `"code":"malformed_body"`},
		{"duplicate key, escaped", "/v1/chat/completions", nil, `{"messages":[],"m\u0065ssages":[]}`, 400, `"code":"malformed_body"`},
		{"duplicate key deep inside", "/v1beta/models/g:generateContent", nil, `{"contents":[{"parts":[{"text":"a","text":"b"}]}]}`, 400, `"status":"FAILED_PRECONDITION"`},
		{"not UTF-8", "/v1/chat/completions", nil, "{\"model\":\"\xff\",\"messages\":[]}", 400, `"code":"malformed_body"`},
		{"array", "/v1/responses", nil, `[]`, 400, `"code":"malformed_body"`},
		{"broken gzip", "/v1/chat/completions", map[string]string{"Content-Encoding": "gzip"}, "no gzip", 400, `"code":"malformed_body"`},
		{"unknown encoding", "/v1/chat/completions", map[string]string{"Content-Encoding": "rot13"}, chatBody, 400, `"code":"malformed_body"`},
		{"too large", "/v1/chat/completions", nil, big, 413, `"code":"body_too_large"`},
		{"too large once unpacked", "/v1/chat/completions", map[string]string{"Content-Encoding": "gzip"}, gzipped(big), 413, `"code":"body_too_large"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			res, body := f.send(t, "POST", tc.path, tc.header, tc.body)
			if res.StatusCode != tc.status || !strings.Contains(body, tc.shape) {
				t.Errorf("%d %s; want %d with %s", res.StatusCode, body, tc.status, tc.shape)
			}
			if res.Header.Get("X-Should-Retry") != "false" || res.Header.Get("X-Haltd-Reason") == "" {
				t.Errorf("headers %v; want x-should-retry: false and a reason", res.Header)
			}
			if e := f.last(t); e.Type != "error" || e.Status != tc.status || e.Error == "" {
				t.Errorf("event %s %d %q; want an error event", e.Type, e.Status, e.Error)
			}
		})
	}
	if reached {
		t.Error("a refused body reached the upstream")
	}
}

func TestReloadKeepsConnectionsOfUnchangedUpstreams(t *testing.T) {
	a := NewSettings(loadConfig(t, "providers: {lab: {base_url: 'http://a'}}"), nil)
	b := NewSettings(loadConfig(t, "providers: {lab: {base_url: 'http://b'}}"), a)
	if a.upstream("openai").transport != b.upstream("openai").transport {
		t.Error("an unchanged upstream lost its connections")
	}
	if a.upstream("lab").transport == b.upstream("lab").transport {
		t.Error("a changed upstream kept its connections")
	}
}

// While a provider thinks, a request costs no more than its connections.
func TestStreamsDoNotHoldTheirRequests(t *testing.T) {
	const streams, size = 20, 1 << 20
	release := make(chan struct{})
	f := newFixture(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		<-release
	}), "")
	body := `{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat("word ", size/5) + `"}]}`
	heap := func() uint64 {
		runtime.GC()
		runtime.GC() // the second empties what pools kept through the first
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	for range streams {
		res, err := http.Post(f.url+"/v1/chat/completions", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
	}
	if grown := int64(heap()) - int64(before); grown > streams*size/4 {
		t.Errorf("%d open streams with %d MiB of requests hold %d MiB", streams, streams*size>>20, grown>>20)
	}
	close(release)
}
