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
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

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
			benchmarkCalls(b, by.transport, address, body)
		})
	}
}

// benchmarkCalls sends a body by 16 goroutines or so, and reads what comes back.
func benchmarkCalls(b *testing.B, by http.RoundTripper, address string, body []byte) {
	b.SetParallelism(max(1, 16/runtime.GOMAXPROCS(0)))
	b.ReportAllocs()
	before := processorTime(b)
	b.RunParallel(func(more *testing.PB) {
		for more.Next() {
			res, err := by.RoundTrip(request(b, "POST", address, "/v1/x", body))
			if err != nil {
				b.Error(err)
				return
			}
			_, _ = io.Copy(io.Discard, res.Body)
			res.Body.Close()
		}
	})
	b.ReportMetric(float64((processorTime(b)-before).Nanoseconds())/float64(b.N), "cpu-ns/op")
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
