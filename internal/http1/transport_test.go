package http1

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

// content is a body that tells whether it was closed.
type content struct {
	*bytes.Reader
	all    []byte
	closed chan struct{}
}

func newContent(b []byte) *content {
	return &content{Reader: bytes.NewReader(b), all: b, closed: make(chan struct{})}
}

func (c *content) Bytes() []byte { return c.all }
func (c *content) Close() error  { close(c.closed); return nil }

// pool is a transport to an address, and how many connections it opened.
func pool(address string) (*Transport, *atomic.Int64) {
	opened := new(atomic.Int64)
	return &Transport{
		Dial: func(ctx context.Context) (net.Conn, error) {
			opened.Add(1)
			return new(net.Dialer).DialContext(ctx, "tcp", address)
		},
		IdleTimeout: time.Minute, MaxIdle: 8, MaxHeader: 64 << 10,
	}, opened
}

func request(t testing.TB, method, address, path string, body []byte) *http.Request {
	t.Helper()
	r := &http.Request{
		Method: method, URL: &url.URL{Scheme: "http", Host: address, Opaque: path}, Host: address,
		Header: http.Header{"Content-Type": {"application/json"}, "X-Two": {"a", "b"}, "User-Agent": {"test/1"}},
	}
	if body != nil {
		r.Body, r.ContentLength = newContent(body), int64(len(body))
		r.GetBody = func() (io.ReadCloser, error) { return newContent(body), nil }
	}
	return r.WithContext(t.Context())
}

// awaited reads a reply as the gateway does.
type awaited struct{ io.Reader }

func (a awaited) Read(p []byte) (int, error) {
	if r, ok := a.Reader.(interface{ Await() }); ok {
		r.Await()
	}
	return a.Reader.Read(p)
}

// What arrives and what comes back is the same as with net/http.
func TestAsNetHTTP(t *testing.T) {
	type seen struct {
		Method, Target, Host, Body string
		Header                     http.Header
		Length                     int64
	}
	arrived := make(chan seen, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		arrived <- seen{r.Method, r.RequestURI, r.Host, string(b), r.Header, r.ContentLength}
		switch r.URL.Path {
		case "/early-hints":
			w.Header().Set("Link", "</a>")
			w.WriteHeader(http.StatusEarlyHints)
		case "/trailer":
			w.Header().Set("Trailer", "X-Sum")
			defer w.Header().Set("X-Sum", "7")
		case "/nothing":
			w.WriteHeader(http.StatusNoContent)
			return
		case "/close":
			w.Header().Set("Connection", "close")
		}
		w.Header().Set("X-Reply", "yes")
		for i := range 3 {
			fmt.Fprintf(w, "piece %d\n", i)
			w.(http.Flusher).Flush()
		}
	}))
	defer server.Close()
	address := server.Listener.Addr().String()
	plain, _ := pool(address)
	library := &http.Transport{DisableCompression: true}
	defer library.CloseIdleConnections()
	defer plain.CloseIdleConnections()
	for _, path := range []string{"/v1/x?a=b%20c", "/early-hints", "/trailer", "/nothing", "/close", "/a%2Fb//c"} {
		for _, method := range []string{"GET", "POST", "HEAD", "DELETE"} {
			for _, size := range []int{-1, 0, 10, 5 << 10, 100 << 10, 3 << 20} {
				if size >= 0 && method != "POST" {
					continue
				}
				var body []byte
				if size >= 0 {
					body = bytes.Repeat([]byte("x"), size)
				}
				name := fmt.Sprintf("%s %s %d", method, path, size)
				type reply struct {
					Status          int
					Header, Trailer http.Header
					Body            string
					Length          int64
					Seen            seen
				}
				ask := func(by http.RoundTripper) reply {
					r := request(t, method, address, path, body)
					if size == 0 {
						r.Body = http.NoBody
					}
					res, err := by.RoundTrip(r)
					if err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					defer res.Body.Close()
					b, err := io.ReadAll(awaited{res.Body})
					if err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					delete(res.Header, "Date")
					return reply{res.StatusCode, res.Header, res.Trailer, string(b), res.ContentLength, <-arrived}
				}
				if diff := cmp.Diff(ask(library), ask(plain)); diff != "" {
					t.Errorf("%s: net/http and http1 differ:\n%s", name, diff)
				}
			}
		}
	}
}

func echo(w http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body) // net/http reads no more of it once it answers
	_, _ = w.Write(b)
}

func TestConnectionsAreKept(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(echo))
	defer server.Close()
	p, opened := pool(server.Listener.Addr().String())
	defer p.CloseIdleConnections()
	for i := range 50 {
		body := bytes.Repeat([]byte("y"), 1+i*2000)
		res, err := p.RoundTrip(request(t, "POST", "host", "/", body))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(res.Body)
		if err != nil || !bytes.Equal(got, body) {
			t.Fatalf("request %d: %d bytes of %d came back, %v", i, len(got), len(body), err)
		}
		res.Body.Close()
	}
	if n := opened.Load(); n != 1 {
		t.Errorf("%d connections for 50 requests one after the other, want 1", n)
	}
}

// A reply of which nobody wants the rest ends its connection, and no other request
// gets what is left of it.
func TestWhatIsLeftOfAReplyIsNobodyElses(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.URL.Path, strings.Repeat(" padding", 10_000))
	}))
	defer server.Close()
	p, _ := pool(server.Listener.Addr().String())
	defer p.CloseIdleConnections()
	for i := range 20 {
		path := fmt.Sprint("/", i)
		res, err := p.RoundTrip(request(t, "GET", "host", path, nil))
		if err != nil {
			t.Fatal(err)
		}
		var b [4]byte
		if _, err := io.ReadFull(res.Body, b[:]); err != nil || !strings.HasPrefix(path+" padding", string(b[:])) {
			t.Fatalf("the reply to %s begins with %q, %v", path, b, err)
		}
		res.Body.Close()
	}
}

// script answers connections one after the other, as each of its functions does.
func script(t *testing.T, of ...func(net.Conn, *bufio.Reader)) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var done sync.WaitGroup
	t.Cleanup(func() { l.Close(); done.Wait() })
	done.Go(func() {
		for _, serve := range of {
			c, err := l.Accept()
			if err != nil {
				return
			}
			done.Go(func() {
				defer c.Close()
				serve(c, bufio.NewReader(c))
			})
		}
	})
	return l.Addr().String()
}

const short = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

func takeRequest(t *testing.T, r *bufio.Reader) {
	if q, err := http.ReadRequest(r); err != nil {
		t.Errorf("read the request: %v", err)
	} else if _, err := io.Copy(io.Discard, q.Body); err != nil {
		t.Errorf("read its body: %v", err)
	}
}

func ask(t *testing.T, p *Transport, r *http.Request) (string, error) {
	t.Helper()
	res, err := p.RoundTrip(r)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return string(b), err
}

func TestAConnectionThatWasClosedMeanwhile(t *testing.T) {
	defer goleak.VerifyNone(t)
	first := make(chan struct{})
	address := script(t, func(c net.Conn, r *bufio.Reader) {
		takeRequest(t, r)
		io.WriteString(c, short)
		c.Close()
		close(first)
	}, func(c net.Conn, r *bufio.Reader) {
		takeRequest(t, r)
		io.WriteString(c, short)
	})
	p, opened := pool(address)
	defer p.CloseIdleConnections()
	for range 2 {
		if got, err := ask(t, p, request(t, "POST", "host", "/", []byte("{}"))); got != "ok" || err != nil {
			t.Fatalf("%q, %v", got, err)
		}
		<-first
	}
	if opened.Load() != 2 {
		t.Errorf("%d connections, want 2", opened.Load())
	}
}

// A request that the server closed a kept connection on without an answer is sent
// again; one that it began to answer is not.
func TestWhatIsSentAgain(t *testing.T) {
	defer goleak.VerifyNone(t)
	for _, c := range []struct {
		name, answer, want string
		size               int
	}{
		{"nothing came", "", "ok", 2},
		{"nothing came of a long body", "", "ok", 200 << 10},
		{"it had begun", "HTTP/1.1 200 OK\r\n", "", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			address := script(t, func(conn net.Conn, r *bufio.Reader) {
				takeRequest(t, r)
				io.WriteString(conn, short)
				takeRequest(t, r)
				io.WriteString(conn, c.answer)
			}, func(conn net.Conn, r *bufio.Reader) {
				takeRequest(t, r)
				io.WriteString(conn, short)
			})
			p, _ := pool(address)
			defer p.CloseIdleConnections()
			if got, err := ask(t, p, request(t, "POST", "host", "/", []byte("{}"))); got != "ok" || err != nil {
				t.Fatalf("%q, %v", got, err)
			}
			got, err := ask(t, p, request(t, "POST", "host", "/", make([]byte, c.size)))
			if got != c.want || (err == nil) != (c.want != "") {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
			if c.want == "" && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("the error is %v, want an end that was not expected", err)
			}
		})
	}
}

// A new connection that is closed without an answer is an error: who sent that request
// again could pay for it twice.
func TestANewConnectionIsNotTriedAgain(t *testing.T) {
	address := script(t, func(c net.Conn, r *bufio.Reader) { takeRequest(t, r) })
	p, opened := pool(address)
	if _, err := ask(t, p, request(t, "POST", "host", "/", []byte("{}"))); !errors.Is(err, io.EOF) {
		t.Errorf("the error is %v, want the end", err)
	}
	if opened.Load() != 1 {
		t.Errorf("%d connections", opened.Load())
	}
}

// A server may answer before it has read a long body, and not read it at all.
func TestAnAnswerBeforeTheBodyIsRead(t *testing.T) {
	defer goleak.VerifyNone(t)
	release := make(chan struct{})
	address := script(t, func(c net.Conn, r *bufio.Reader) {
		io.WriteString(c, "HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig")
		<-release
	})
	defer close(release)
	p, _ := pool(address)
	r := request(t, "POST", "host", "/", make([]byte, 32<<20))
	body := r.Body.(*content)
	res, err := p.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(res.Body)
	res.Body.Close()
	if res.StatusCode != 413 || string(b) != "big" || err != nil {
		t.Errorf("%d %q, %v", res.StatusCode, b, err)
	}
	if len(p.idle) != 0 {
		t.Error("a connection with half a request on it is kept")
	}
	<-body.closed
}

func TestLateReplies(t *testing.T) {
	defer goleak.VerifyNone(t)
	for _, size := range []int{2, 200 << 10} {
		release := make(chan struct{})
		address := script(t, func(c net.Conn, r *bufio.Reader) {
			takeRequest(t, r)
			<-release
		})
		p, _ := pool(address)
		p.FirstByteTimeout = 20 * time.Millisecond
		_, err := p.RoundTrip(request(t, "POST", "host", "/", make([]byte, size)))
		if !errors.Is(err, ErrLate) {
			t.Errorf("the error is %v, want %v", err, ErrLate)
		}
		close(release)
	}
}

// What took its time to begin may take longer to end.
func TestASlowReplyIsNotLate(t *testing.T) {
	for _, size := range []int{2, 200 << 10} {
		synctest.Test(t, func(t *testing.T) {
			client, server := net.Pipe()
			p := &Transport{
				Dial:             func(context.Context) (net.Conn, error) { return client, nil },
				FirstByteTimeout: time.Second, MaxHeader: 64 << 10,
			}
			go func() {
				takeRequest(t, bufio.NewReader(server))
				time.Sleep(time.Second / 2)
				io.WriteString(server, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no")
				time.Sleep(time.Hour)
				io.WriteString(server, "k")
			}()
			if got, err := ask(t, p, request(t, "POST", "host", "/", make([]byte, size))); got != "ok" || err != nil {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

func TestTheContextEndsARequest(t *testing.T) {
	defer goleak.VerifyNone(t)
	why := errors.New("a person")
	for _, c := range []struct {
		name   string
		answer string // before the end
		size   int
		reads  bool // the server reads the request
	}{
		{"while nobody answers", "", 2, true},
		{"while a long body is sent", "", 32 << 20, false},
		{"in the midst of a reply", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", 2, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			release := make(chan struct{})
			address := script(t, func(conn net.Conn, r *bufio.Reader) {
				if c.reads {
					takeRequest(t, r)
				}
				io.WriteString(conn, c.answer)
				if c.answer == "" {
					cancel(why)
				}
				<-release
			})
			defer close(release)
			p, _ := pool(address)
			p.FirstByteTimeout = time.Minute
			res, err := p.RoundTrip(request(t, "POST", "host", "/", make([]byte, c.size)).WithContext(ctx))
			if err == nil {
				defer res.Body.Close()
				var b [3]byte
				if _, err = io.ReadFull(res.Body, b[:]); err != nil {
					t.Fatal(err)
				}
				cancel(why)
				_, err = res.Body.Read(b[:])
			}
			if !errors.Is(err, why) {
				t.Errorf("the error is %v, want %v", err, why)
			}
			if len(p.idle) != 0 {
				t.Error("the connection is kept")
			}
		})
	}
}

// After what is no status nothing else is waited for: the server may never send more.
func TestAStatusThatIsNone(t *testing.T) {
	defer goleak.VerifyNone(t)
	for _, status := range []int{0, 42, 101} {
		release := make(chan struct{})
		address := script(t, func(c net.Conn, r *bufio.Reader) {
			takeRequest(t, r)
			fmt.Fprintf(c, "HTTP/1.1 %03d Odd\r\nContent-Length: 2\r\n\r\nok", status)
			<-release
		})
		p, _ := pool(address)
		res, err := p.RoundTrip(request(t, "GET", "host", "/", nil))
		if err != nil || res.StatusCode != status {
			t.Fatalf("%v, %v, want status %d", res, err, status)
		}
		res.Body.Close()
		if len(p.idle) != 0 {
			t.Errorf("the connection is kept after status %d", status)
		}
		close(release)
	}
}

func TestAHeaderWithoutEnd(t *testing.T) {
	defer goleak.VerifyNone(t)
	address := script(t, func(c net.Conn, r *bufio.Reader) {
		takeRequest(t, r)
		_, _ = io.Copy(c, io.MultiReader(strings.NewReader("HTTP/1.1 200 OK\r\nX-Long: "), endless{}))
	})
	p, _ := pool(address)
	if _, err := p.RoundTrip(request(t, "GET", "host", "/", nil)); !errors.Is(err, errHeader) {
		t.Errorf("the error is %v, want %v", err, errHeader)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'a'
	}
	return len(p), nil
}

// No text of a request begins another line.
func TestNothingIsSmuggled(t *testing.T) {
	for _, break_ := range []func(*http.Request){
		func(r *http.Request) { r.URL.Opaque = "/a HTTP/1.1\r\nX-Evil: 1" },
		func(r *http.Request) { r.URL.Opaque = "/a b" },
		func(r *http.Request) { r.Method = "GET /x" },
		func(r *http.Request) { r.Host = "a\r\nb" },
	} {
		r := request(t, "GET", "host", "/", nil)
		break_(r)
		if err := new(head).write(r, 0); err == nil {
			t.Errorf("%+v is written", r)
		}
	}
	r := request(t, "GET", "host", "/", nil)
	r.Header.Set("User-Agent", "a\r\nX-Evil: 1")
	r.Header.Set("X-Name", "b\nX-Evil: 2")
	r.Header["Bad Name"] = []string{"c"}
	var h head
	if err := h.write(r, 0); err != nil {
		t.Fatal(err)
	}
	read, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(h.bytes)))
	if err != nil || read.Header.Get("X-Evil") != "" || len(read.Header) != 4 {
		t.Errorf("%q is read as %v, %v", h.bytes, read, err)
	}
}

func TestIdleConnectionsAreSwept(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {}))
	defer server.Close()
	p, _ := pool(server.Listener.Addr().String())
	if _, err := ask(t, p, request(t, "GET", "host", "/", nil)); err != nil {
		t.Fatal(err)
	}
	if p.sweep(); len(p.idle) != 1 {
		t.Fatalf("%d connections are kept, want 1", len(p.idle))
	}
	p.idle[0].since = time.Now().Add(-time.Hour)
	if p.sweep(); len(p.idle) != 0 {
		t.Errorf("%d connections are kept, want none", len(p.idle))
	}
}

func TestAtOnce(t *testing.T) {
	defer goleak.VerifyNone(t)
	server := httptest.NewServer(http.HandlerFunc(echo))
	defer server.Close()
	p, _ := pool(server.Listener.Addr().String())
	defer p.CloseIdleConnections()
	var all sync.WaitGroup
	for g := range 16 {
		all.Go(func() {
			for i := range 100 {
				ctx, cancel := context.WithCancel(t.Context())
				want := strings.Repeat(fmt.Sprint(g, " ", i, ";"), 1+(g*100+i)%3*4000)
				r := request(t, "POST", "host", "/", []byte(want)).WithContext(ctx)
				if i%7 == 3 {
					go cancel()
				}
				res, err := p.RoundTrip(r)
				if err == nil {
					var b []byte
					if b, err = io.ReadAll(awaited{res.Body}); err == nil && string(b) != want {
						t.Errorf("%d bytes came back of %d", len(b), len(want))
					}
					res.Body.Close()
				}
				if err != nil && ctx.Err() == nil {
					t.Error(err)
				}
				cancel()
			}
		})
	}
	all.Wait()
}

// Whoever awaits a reply that comes piece by piece is woken by the next piece, and by a
// context that ends.
func TestAwait(t *testing.T) {
	defer goleak.VerifyNone(t)
	more := make(chan bool)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		if <-more {
			_, _ = io.WriteString(w, "piece")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}
	}))
	defer server.Close()
	p, _ := pool(server.Listener.Addr().String())
	defer p.CloseIdleConnections()
	ctx, cancel := context.WithCancel(t.Context())
	res, err := p.RoundTrip(request(t, "GET", "host", "/", nil).WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	woken := make(chan bool)
	go func() {
		for range 2 {
			res.Body.(*reply).Await()
			woken <- true
			_, _ = res.Body.Read(make([]byte, 10))
		}
		close(woken)
	}()
	select {
	case <-woken:
		t.Fatal("woken before anything came")
	case more <- true:
	}
	<-woken
	cancel()
	<-woken
	<-woken
}

// A first piece that is there is known as such only when reading it waits for nothing.
func TestAPieceThatCameWithTheHead(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
	for _, tc := range []struct {
		first, later, want string
		has                bool
	}{
		{head + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", "0\r\n\r\n", "hello", true},
		{head + "Transfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello", "\r\n0\r\n\r\n", "hello", false},
		{head + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello", "\r\n0\r\n\r\n", "hello", true},
		{head + "Transfer-Encoding: chunked\r\n\r\n5\r\nhel", "lo\r\n0\r\n\r\n", "hello", false},
		{head + "Transfer-Encoding: chunked\r\n\r\n5", "\r\nhello\r\n0\r\n\r\n", "hello", false},
		{head + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "", "", false},
		{head + "Transfer-Encoding: chunked\r\n\r\n", "5\r\nhello\r\n0\r\n\r\n", "hello", false},
		{head + "Connection: close\r\n\r\n2\r\nhello", "", "2\r\nhello", true},
		{head + "Content-Length: 8\r\n\r\n2\r\nhello", "", "2\r\nhello", false},
	} {
		read := make(chan bool)
		address := script(t, func(c net.Conn, r *bufio.Reader) {
			takeRequest(t, r)
			_, _ = io.WriteString(c, tc.first)
			select {
			case <-read:
			case <-t.Context().Done():
			}
			_, _ = io.WriteString(c, tc.later)
			c.Close()
		})
		p, _ := pool(address)
		res, err := p.RoundTrip(request(t, "GET", "host", "/", nil))
		if err != nil {
			t.Fatal(err)
		}
		first, ok := res.Body.(*reply)
		if has := ok && first.HasPiece(); has != tc.has {
			t.Errorf("after %q: %v", tc.first, has)
		}
		if tc.has { // the rest is not sent before
			if n, err := first.Read(make([]byte, 2)); n != 2 || err != nil {
				t.Errorf("after %q: %d bytes, %v", tc.first, n, err)
			}
			tc.want = tc.want[2:]
		}
		close(read)
		if b, err := io.ReadAll(res.Body); string(b) != tc.want || err != nil {
			t.Errorf("after %q and %q: %q, %v", tc.first, tc.later, b, err)
		}
		res.Body.Close()
		p.CloseIdleConnections()
	}
}

// BenchmarkRoundTrip asks a server of the same process 16 at a time, by hand and with
// net/http. What the two differ in is processor time.
func BenchmarkRoundTrip(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(w, r.Body)
	}))
	defer server.Close()
	address, body := server.Listener.Addr().String(), bytes.Repeat([]byte("x"), 1<<10)
	plain, _ := pool(address)
	plain.MaxIdle = 16
	defer plain.CloseIdleConnections()
	library := &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 16}
	defer library.CloseIdleConnections()
	for _, by := range []struct {
		name      string
		transport http.RoundTripper
	}{{"hand", plain}, {"library", library}} {
		b.Run("1KB/"+by.name, func(b *testing.B) {
			b.SetParallelism(max(1, 16/runtime.GOMAXPROCS(0)))
			b.ReportAllocs()
			before := processorTime(b)
			b.RunParallel(func(more *testing.PB) {
				for more.Next() {
					res, err := by.transport.RoundTrip(request(b, "POST", address, "/v1/x", body))
					if err != nil {
						b.Error(err)
						return
					}
					_, _ = io.Copy(io.Discard, res.Body)
					res.Body.Close()
				}
			})
			b.ReportMetric(float64((processorTime(b)-before).Nanoseconds())/float64(b.N), "cpu-ns/op")
		})
	}
}

func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// FuzzReplies has http1 and net/http read the same bytes as a reply: they take the same
// for one, and read the same of it.
func FuzzReplies(f *testing.F) {
	for _, seed := range []string{
		short,
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n5\r\nhello\r\n0\r\nX-Sum: 7\r\n\r\n",
		"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
		"HTTP/1.0 200 OK\r\n\r\nuntil the end",
		"HTTP/1.1 200 OK\r\nContent-Length: 9\r\nContent-Length: 9\r\n\r\ncut",
		"HTTP/1.1 500 \r\nConnection: close\r\n\r\n", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nab", "no HTTP",
	} {
		f.Add([]byte(seed), false)
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, answer []byte, head bool) {
		method := "GET"
		if head {
			method = "HEAD"
		}
		type seen struct {
			Status          int
			Header, Trailer http.Header
			Body            string
			Length          int64
			Cut, Refused    bool
		}
		ask := func(by http.RoundTripper) (s seen) {
			res, err := by.RoundTrip(request(t, method, "host", "/", nil))
			if err != nil {
				return seen{Refused: true}
			}
			defer res.Body.Close()
			if res.StatusCode < http.StatusOK { // which the gateway takes for no reply
				return seen{Status: res.StatusCode}
			}
			b, err := io.ReadAll(awaited{res.Body})
			return seen{res.StatusCode, res.Header, res.Trailer, string(b), res.ContentLength, err != nil, false}
		}
		dial := func(context.Context) (net.Conn, error) {
			here, there := net.Pipe()
			go func() {
				defer there.Close()
				if _, err := http.ReadRequest(bufio.NewReader(there)); err == nil {
					_, _ = there.Write(answer)
				}
			}()
			return here, nil
		}
		plain := &Transport{Dial: dial, MaxHeader: 64 << 10}
		library := &http.Transport{
			DialContext:        func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
			DisableCompression: true, MaxResponseHeaderBytes: 64 << 10,
		}
		defer library.CloseIdleConnections()
		if diff := cmp.Diff(ask(library), ask(plain)); diff != "" {
			t.Errorf("%q: net/http and http1 differ:\n%s", answer, diff)
		}
	})
}
