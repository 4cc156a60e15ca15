package gateway

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/harness"
)

// known is what the gateway tells of one upstream, once no call is on its way.
func (f *fixture) known(t *testing.T, name string) haltd.Upstream {
	t.Helper()
	f.Gateway.Wait()
	all := f.Upstreams()
	i := slices.IndexFunc(all, func(u haltd.Upstream) bool { return u.Name == name })
	if i < 0 {
		t.Fatalf("there is no upstream %s in %+v", name, all)
	}
	return all[i]
}

// withoutTimes compares upstreams by what is known, not by when.
var withoutTimes = cmpopts.IgnoreFields(haltd.Upstream{}, "Kind", "BaseURL", "LastSuccess", "LastFailure", "FirstByte")

func TestUpstreamsAreAllThatAreConfigured(t *testing.T) {
	f := startFixture(t, "providers: {lab: {base_url: 'http://10.0.0.5:8000/v1/'}}\n"+
		"policies: [{id: search, spec: {selector: {pathPrefix: /search}, upstream: 'http://127.0.0.1:9'}}]\n")
	all := f.Upstreams()
	if len(all) != 13 || !slices.IsSortedFunc(all, func(a, b haltd.Upstream) int { return strings.Compare(a.Name, b.Name) }) {
		t.Errorf("%d upstreams %+v; want the built-in ones, lab and search by name", len(all), all)
	}
	want := map[string]haltd.Upstream{
		"lab":    {Name: "lab", Kind: haltd.UpstreamProvider, BaseURL: "http://10.0.0.5:8000/v1", State: haltd.UpstreamUnused},
		"search": {Name: "search", Kind: haltd.UpstreamService, BaseURL: "http://127.0.0.1:9", State: haltd.UpstreamUnused},
	}
	for name, want := range want {
		if diff := cmp.Diff(want, f.known(t, name)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestWhatAnAnswerTellsOfItsUpstream(t *testing.T) {
	for _, tc := range []struct {
		status int
		want   haltd.Upstream
	}{
		{200, haltd.Upstream{State: haltd.UpstreamOK, Status: 200}},
		{307, haltd.Upstream{State: haltd.UpstreamOK, Status: 307}},
		{401, haltd.Upstream{State: haltd.UpstreamOK, Status: 401}},
		{429, haltd.Upstream{State: haltd.UpstreamOK, Status: 429}},
		{500, haltd.Upstream{State: haltd.UpstreamFailing, Failures: 1, Error: "answered 500 Internal Server Error"}},
		{529, haltd.Upstream{State: haltd.UpstreamFailing, Failures: 1, Error: "answered 529"}},
	} {
		t.Run(fmt.Sprint(tc.status), func(t *testing.T) {
			f := newFixture(t, answer(tc.status, "application/json", "{}"), "")
			f.send(t, "POST", "/v1/chat/completions", nil, chatBody)
			got := f.known(t, "openai")
			tc.want.Name = "openai"
			if diff := cmp.Diff(tc.want, got, withoutTimes); diff != "" {
				t.Errorf("openai (-want +got):\n%s", diff)
			}
			at, other := got.LastSuccess, got.LastFailure
			if tc.want.State == haltd.UpstreamFailing {
				at, other = other, at
			}
			if at.Before(noon) || at.After(f.clock.now()) || at.Location() != time.UTC || !other.IsZero() {
				t.Errorf("last success %v, last failure %v; want one of them, in the time of the call", got.LastSuccess, got.LastFailure)
			}
			if (got.FirstByte > 0) != got.LastFailure.IsZero() {
				t.Errorf("the first byte took %v with status %d", got.FirstByte, tc.status)
			}
		})
	}
}

func TestAnUpstreamRecovers(t *testing.T) {
	statuses := make(chan int, 1)
	f := newFixture(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(<-statuses) }), "")
	for _, step := range []struct {
		status int
		want   haltd.Upstream
	}{
		{200, haltd.Upstream{State: haltd.UpstreamOK, Status: 200}},
		{503, haltd.Upstream{State: haltd.UpstreamFailing, Failures: 1, Status: 200, Error: "answered 503 Service Unavailable"}},
		{429, haltd.Upstream{State: haltd.UpstreamOK, Status: 429, Error: "answered 503 Service Unavailable"}},
	} {
		statuses <- step.status
		f.send(t, "GET", "/openai/v1/models", nil, "")
		step.want.Name = "openai"
		if diff := cmp.Diff(step.want, f.known(t, "openai"), withoutTimes); diff != "" {
			t.Errorf("after %d (-want +got):\n%s", step.status, diff)
		}
	}
	if other := f.known(t, "anthropic"); other.State != haltd.UpstreamUnused {
		t.Errorf("anthropic, which nobody called, is %s", other.State)
	}
}

// raw is an upstream that does with each connection as it likes, after it has
// the request.
func raw(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { defer c.Close(); serve(c) }()
		}
	}()
	return l.Addr().String()
}

func TestWhyAnUpstreamFails(t *testing.T) {
	untrusted := httptest.NewUnstartedServer(http.NotFoundHandler())
	untrusted.Config.ErrorLog = log.New(io.Discard, "", 0) // of the certificate, which is the point
	untrusted.StartTLS()
	defer untrusted.Close()
	afterRequest := func(serve func(net.Conn, *http.Request)) func(net.Conn) {
		return func(c net.Conn) {
			if r, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
				_, _ = io.Copy(io.Discard, r.Body)
				serve(c, r)
			}
		}
	}
	hangsUp := raw(t, afterRequest(func(net.Conn, *http.Request) {}))
	echoes := raw(t, afterRequest(func(c net.Conn, r *http.Request) {
		fmt.Fprintf(c, "%s %s\r\n\r\n", r.RequestURI, r.Header.Get("Authorization"))
	}))
	cuts := raw(t, afterRequest(func(c net.Conn, _ *http.Request) {
		fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf a")
	}))
	for _, tc := range []struct{ name, address, want string }{
		{"nobody listens", harness.Refusing(t), "connection refused"},
		{"certificate", untrusted.URL, "TLS certificate not accepted"},
		{"no TLS", strings.Replace(newUpstream(t, http.NotFoundHandler()), "http:", "https:", 1), "TLS handshake failed"},
		{"hangs up", "http://" + hangsUp, "closed the connection without an answer"},
		{"no HTTP, and it repeats the request", "http://" + echoes, "gave no valid answer"},
		{"stops in mid-reply", "http://" + cuts, "cut its reply short"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := startFixture(t, "providers: {openai: {base_url: '"+tc.address+"'}}")
			req, _ := http.NewRequest("POST", f.url+"/v1/chat/completions?key=secret", strings.NewReader(chatBody))
			req.Header.Set("Authorization", "Bearer secret")
			if res, err := http.DefaultTransport.RoundTrip(req); err == nil { // half a reply is an error
				res.Body.Close()
			}
			got := f.known(t, "openai")
			if got.State != haltd.UpstreamFailing || got.Error != tc.want || got.LastFailure.IsZero() {
				t.Errorf("openai is %s since %v: %q; want failing, %q", got.State, got.LastFailure, got.Error, tc.want)
			}
		})
	}
}

func TestFailureWords(t *testing.T) {
	dial := func(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	for _, tc := range []struct {
		err  error
		want string
	}{
		{dial(&net.DNSError{Err: "no such host", Name: "api.example.com", IsNotFound: true}), "host name not found"},
		{dial(&net.DNSError{Err: "i/o timeout", Name: "api.example.com", IsTimeout: true}), "timed out"},
		{dial(context.DeadlineExceeded), "timed out"},
		{dial(syscall.ENETUNREACH), "no route to the host"},
		{&net.OpError{Op: "proxyconnect", Net: "tcp", Err: dial(syscall.ECONNREFUSED)}, "proxy: connection refused"},
		{&net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}, "closed the connection without an answer"},
		{errors.New("http: server closed idle connection"), "closed the connection without an answer"},
		{&net.OpError{Op: "remote error", Err: tls.AlertError(40)}, "TLS handshake failed"},
		{errors.New("something about sk-secret"), "gave no valid answer"},
	} {
		if got := failureText(fmt.Errorf("forward: %w", tc.err)); got != tc.want {
			t.Errorf("%v reads %q, want %q", tc.err, got, tc.want)
		}
	}
}

// What the client or haltd itself ends is no failure of the upstream.
func TestWhoLeavesIsNotTheUpstream(t *testing.T) {
	for _, cut := range []bool{false, true} {
		for _, begun := range []bool{false, true} {
			t.Run(fmt.Sprintf("cut %v, reply begun %v", cut, begun), func(t *testing.T) {
				hangs := make(chan struct{})
				f := newFixture(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					_, _ = io.Copy(io.Discard, r.Body)
					if begun {
						w.Header().Set("Content-Type", "text/event-stream")
						w.(http.Flusher).Flush()
					} else {
						close(hangs)
					}
					<-r.Context().Done()
				}), "")
				ctx, leave := context.WithCancel(t.Context())
				defer leave()
				req, _ := http.NewRequestWithContext(ctx, "POST", f.url+"/v1/chat/completions", strings.NewReader(chatBody))
				req.Header.Set("X-Agent-Id", "a")
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					res, err := http.DefaultTransport.RoundTrip(req)
					if err != nil {
						return
					}
					if begun {
						close(hangs)
					}
					_, _ = io.Copy(io.Discard, res.Body)
					res.Body.Close()
				}()
				<-hangs
				if cut {
					f.Cut(haltd.Target{Agent: "a"})
				} else {
					leave()
				}
				<-ended
				want := map[bool]haltd.UpstreamState{false: haltd.UpstreamUnused, true: haltd.UpstreamOK}[begun]
				if got := f.known(t, "openai"); got.State != want || got.Error != "" {
					t.Errorf("openai is %s: %q; want %s", got.State, got.Error, want)
				}
			})
		}
	}
}

func TestAnUploadThatBreaksOffIsNotTheUpstream(t *testing.T) {
	arrives := make(chan struct{})
	f := newFixture(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadFull(r.Body, make([]byte, 4))
		close(arrives)
		_, _ = io.Copy(io.Discard, r.Body)
	}), "")
	to, _ := url.Parse(f.url)
	c, err := net.Dial("tcp", to.Host)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(c, "POST /openai/v1/files HTTP/1.1\r\nHost: haltd\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n")
	<-arrives
	c.Close()
	if e := f.last(t); e.Error != "client_left" {
		t.Errorf("event error %q, want client_left", e.Error)
	}
	if got := f.known(t, "openai"); got.State != haltd.UpstreamUnused {
		t.Errorf("openai is %s: %q; want unused", got.State, got.Error)
	}
}

func TestReloadKeepsWhatIsKnownOfUpstreamsThatStay(t *testing.T) {
	up := newUpstream(t, answer(200, "application/json", chatReply))
	tools := newUpstream(t, answer(500, "text/plain", "broken"))
	yaml := "providers: {openai: {base_url: '" + up + "'}, lab: {base_url: '" + up + "'}}\n" +
		"policies: [{id: tools, spec: {selector: {pathPrefix: /tools}, upstream: '" + tools + "'}}]\n"
	f := startFixture(t, yaml)
	for _, path := range []string{"/openai/v1/models", "/lab/v1/models", "/tools/search"} {
		f.send(t, "GET", path, nil, "")
	}
	moved := strings.Replace(yaml, "lab: {base_url: '"+up, "lab: {base_url: '"+up+"/elsewhere", 1)
	moved = strings.Replace(moved, "openai: {", "openai: {max_connections: 3, ", 1)
	f.Gateway.Wait()
	f.Configure(NewSettings(loadConfig(t, moved), f.Settings()))
	for name, want := range map[string]haltd.UpstreamState{"openai": haltd.UpstreamOK, "tools": haltd.UpstreamFailing, "lab": haltd.UpstreamUnused} {
		if got := f.known(t, name); got.State != want {
			t.Errorf("%s is %s after the reload, want %s", name, got.State, want)
		}
	}
}

// A client that hangs up when it has read the end of a stream did not leave early,
// though the provider has not closed it yet; one that hangs up before did.
func TestWhoLeavesAfterTheEndOfAStreamHasNotLeft(t *testing.T) {
	const chunk = `data: {"id":"c","object":"chat.completion.chunk","model":"gpt-4.1-mini","choices":[{"index":0,"delta":{"content":"hello"},"finish_reason":null}]}` + "\n\n"
	const end = `data: {"id":"c","object":"chat.completion.chunk","model":"gpt-4.1-mini","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
	for text, want := range map[string]string{chunk: "client_left", chunk + end: ""} {
		f := newFixture(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, text)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}), "")
		ctx, leave := context.WithCancel(t.Context())
		req, _ := http.NewRequestWithContext(ctx, "POST", f.url+"/v1/chat/completions", strings.NewReader(strings.Replace(chatBody, "{", `{"stream":true,`, 1)))
		res, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(res.Body, make([]byte, len(text))); err != nil {
			t.Fatal(err)
		}
		leave()
		res.Body.Close()
		if err := harness.Until(t.Context(), func() bool { return f.events.count() > 0 }); err != nil {
			t.Fatalf("no event tells of the call: %v", err)
		}
		if got := f.last(t); got.Error != want || got.Status != http.StatusOK {
			t.Errorf("after %d bytes: %d %q, want %q", len(text), got.Status, got.Error, want)
		}
	}
}
