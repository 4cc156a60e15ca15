package http1

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

// noLeak fails a test after which a goroutine is left.
func noLeak(t *testing.T) {
	others := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, others) })
}

// tried is a handler that does what the path says.
func tried(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h["Content-Type"] = []string{"text/plain"}
	control := http.NewResponseController(w)
	switch r.URL.Path {
	case "/echo":
		b, err := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %q %v %d %v %v", r.Method, b, err, r.ContentLength, r.TransferEncoding, r.Trailer)
	case "/unread":
		_, _ = io.WriteString(w, "not read")
	case "/first":
		var b [3]byte
		_, err := io.ReadFull(r.Body, b[:])
		fmt.Fprintf(w, "%q %v", b, err)
	case "/closed":
		_ = r.Body.Close()
		_, err := r.Body.Read(make([]byte, 1))
		fmt.Fprint(w, err)
	case "/stream":
		_, _ = io.Copy(io.Discard, r.Body)
		h.Set("Trailer", "X-Sum, X-None")
		for i := range 3 {
			fmt.Fprintf(w, "piece %d\n", i)
			_ = control.Flush()
		}
		_, _ = w.Write(bytes.Repeat([]byte("long "), 4000))
		h.Set("X-Sum", "7")
	case "/long":
		for range 10 {
			_, _ = w.Write(bytes.Repeat([]byte("0123456789"), 1000))
		}
	case "/announced":
		h.Set("Content-Length", "20000")
		_, _ = w.Write(bytes.Repeat([]byte("x"), 20_000))
	case "/short":
		h.Set("Content-Length", "10")
		_, _ = io.WriteString(w, "four")
	case "/more":
		h.Set("Content-Length", "4")
		_, err := io.WriteString(w, "four and more")
		_, _ = fmt.Fprintf(w, "%.4s", fmt.Sprint(err))
	case "/nothing":
		w.WriteHeader(http.StatusNoContent)
		_, err := io.WriteString(w, "none")
		h.Set("X-Late", fmt.Sprint(err))
	case "/same":
		delete(h, "Content-Type")
		h.Set("ETag", `"1"`)
		w.WriteHeader(http.StatusNotModified)
	case "/empty":
	case "/lines":
		h["X-Lines"] = []string{"a\r\nInjected: yes", " b "}
		h["Bad Name"] = []string{"c"}
		h["Date"] = nil
		w.WriteHeader(http.StatusTeapot)
		w.WriteHeader(http.StatusOK) // too late
	case "/bye":
		h.Set("Connection", "close")
		_, _ = io.WriteString(w, "bye")
	case "/abort":
		_, _ = io.WriteString(w, "half")
		_ = control.Flush()
		panic(http.ErrAbortHandler)
	case "/panic":
		panic("a fault")
	case "/from":
		host, _, err := net.SplitHostPort(r.RemoteAddr)
		fmt.Fprint(w, host, err, r.Host, r.RequestURI, r.Header)
	default:
		http.NotFound(w, r)
	}
}

// exchanges are what clients send, whole connections of it.
var exchanges = []string{
	"GET /from?a=b HTTP/1.1\r\nHost: x\r\nX-One: 1\r\nx-one: 2\r\n\r\n",
	"GET /empty HTTP/1.1\r\nHost: x\r\n\r\nGET /from HTTP/1.1\r\nHost: y\r\n\r\n",
	"GET http://x/from HTTP/1.1\r\nHost: y\r\n\r\n",
	"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhelloGET /empty HTTP/1.1\r\nHost: x\r\n\r\n",
	"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTrailer: X-T\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\nX-T: 1\r\n\r\nGET /empty HTTP/1.1\r\nHost: x\r\n\r\n",
	"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello\r\n\r\nGET /empty HTTP/1.1\r\nHost: x\r\n\r\n",
	"POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhelloGET /empty HTTP/1.1\r\nHost: x\r\n\r\n",
	"POST /unread HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhelloGET /empty HTTP/1.1\r\nHost: x\r\n\r\n",
	"POST /unread HTTP/1.1\r\nHost: x\r\nContent-Length: 300000\r\n\r\n" + strings.Repeat("x", 300_000) + "GET /empty HTTP/1.1\r\nHost: x\r\n\r\n",
	"POST /unread HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n" + strings.Repeat("x", 200_000) + "GET /empty HTTP/1.1\r\nHost: x\r\n\r\n",
	"POST /first HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n0123456789GET /empty HTTP/1.1\r\nHost: x\r\n\r\n",
	"POST /closed HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n0123456789",
	"GET /stream HTTP/1.1\r\nHost: x\r\n\r\nGET /empty HTTP/1.1\r\nHost: x\r\n\r\n",
	"HEAD /stream HTTP/1.1\r\nHost: x\r\n\r\n",
	"GET /long HTTP/1.1\r\nHost: x\r\n\r\nGET /announced HTTP/1.1\r\nHost: x\r\n\r\n",
	"HEAD /announced HTTP/1.1\r\nHost: x\r\n\r\nHEAD /empty HTTP/1.1\r\nHost: x\r\n\r\nHEAD /from HTTP/1.1\r\nHost: x\r\n\r\n",
	"GET /short HTTP/1.1\r\nHost: x\r\n\r\nGET /empty HTTP/1.1\r\nHost: x\r\n\r\n",
	"GET /more HTTP/1.1\r\nHost: x\r\n\r\nGET /empty HTTP/1.1\r\nHost: x\r\n\r\n",
	"GET /nothing HTTP/1.1\r\nHost: x\r\n\r\nGET /same HTTP/1.1\r\nHost: x\r\n\r\nGET /empty HTTP/1.1\r\nHost: x\r\n\r\n",
	"GET /lines HTTP/1.1\r\nHost: x\r\n\r\n",
	"GET /bye HTTP/1.1\r\nHost: x\r\n\r\nGET /empty HTTP/1.1\r\nHost: x\r\n\r\n",
	"GET /empty HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\nGET /empty HTTP/1.1\r\nHost: x\r\n\r\n",
	"GET /from HTTP/1.0\r\n\r\n",
	"GET /stream HTTP/1.0\r\nHost: x\r\n\r\n",
	"GET /abort HTTP/1.1\r\nHost: x\r\n\r\nGET /empty HTTP/1.1\r\nHost: x\r\n\r\n",
	"GET /panic HTTP/1.1\r\nHost: x\r\n\r\nGET /empty HTTP/1.1\r\nHost: x\r\n\r\n",
	"OPTIONS /echo HTTP/1.1\r\nHost: x\r\n\r\n",
	"PUT /unknown HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
	// What is refused.
	"GET /empty HTTP/1.1\r\n\r\n",
	"GET /empty HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
	"GET /empty HTTP/1.1\r\nHost: a b\r\n\r\n",
	"GET /empty HTTP/1.1\r\nHost: <x>\r\n\r\n",
	"GET /empty HTTP/1.1\r\nHost: x\r\nA B: c\r\n\r\n",
	"GET /empty HTTP/1.1\r\nHost: x\r\nContent-Length : 5\r\n\r\nhello",
	"GET /empty HTTP/1.1\r\nHost: x\r\nA: \x00\r\n\r\n",
	"GET /empty HTTP/1.1\r\nHost: x\r\n : c\r\n\r\n",
	"GET /empty HTTP/1.1\r\nHost: x\r\nA\r\n\r\n",
	"GET /empty HTTP/3.7\r\nHost: x\r\n\r\n",
	"GET /empty\r\nHost: x\r\n\r\n",
	"GET empty HTTP/1.1\r\nHost: x\r\n\r\n",
	"G@T /empty HTTP/1.1\r\nHost: x\r\n\r\n",
	"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 hello over TLS\r\n\r\n",
	"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
	"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\nhello!",
	"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: +5\r\n\r\nhello!",
	"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /empty HTTP/1.1\r\nHost: x\r\n\r\n",
	"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
	"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
	"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
	"POST /unread HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nGET /empty HTTP/1.1\r\nHost: x\r\n\r\n",
	"POST /echo HTTP/1.1\r\nHost: x\r\nExpect: the-best\r\nContent-Length: 5\r\n\r\nhello",
	"GET /empty HTTP/1.1\r\nHost: x\r\nX-Long: " + strings.Repeat("y", 40_000) + "\r\n\r\n",
	"GET /" + strings.Repeat("y", 40_000) + " HTTP/1.1\r\nHost: x\r\n\r\n",
}

// answered is a reply as a client sees it.
type answered struct {
	Status  int
	Header  http.Header
	Length  int64
	Body    string
	Trailer http.Header
	Closes  bool // the connection ends with it
	Error   string
}

// converse sends bytes on a connection and reads the replies until there are no more.
func converse(t testing.TB, c net.Conn, raw string) (list []answered) {
	t.Helper()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	method := func(n int) string { // of the n-th request
		if strings.HasPrefix(raw, "HEAD") {
			return http.MethodHead
		}
		return http.MethodGet
	}
	var sent sync.WaitGroup
	sent.Go(func() { _, _ = io.WriteString(c, raw) }) // it may be refused before it was sent
	defer sent.Wait()
	defer c.Close()
	in := bufio.NewReader(c)
	for len(list) < 10 {
		if last := len(list); last > 0 && list[last-1].Status > 0 && !strings.Contains(raw, "HTTP/1.0") && !mayHaveMore(raw, last) {
			break
		}
		res, err := http.ReadResponse(in, &http.Request{Method: method(len(list))})
		if err != nil {
			list = append(list, answered{Error: "closed"})
			break
		}
		b, err := io.ReadAll(res.Body)
		a := answered{Status: res.StatusCode, Header: res.Header, Length: res.ContentLength, Body: string(b), Trailer: res.Trailer, Closes: res.Close}
		if err != nil {
			a.Error = err.Error()
		}
		if d := res.Header.Get("Date"); d != "" {
			if _, err := http.ParseTime(d); err != nil {
				t.Errorf("the date is %q", d)
			}
			res.Header.Set("Date", "today")
		}
		list = append(list, a)
		if res.Close {
			if _, err := in.ReadByte(); err != io.EOF && !isReset(err) {
				t.Errorf("something follows a reply after which the connection is to end: %v", err)
			}
			break
		}
	}
	return list
}

// mayHaveMore reports whether a connection on which so many replies came may have
// another one: the server waits for a request otherwise.
func mayHaveMore(raw string, replies int) bool { return strings.Count(raw, " HTTP/") > replies }

func isReset(err error) bool { return err != nil && strings.Contains(err.Error(), "reset") }

// served is a server of its own on a loopback address.
func served(t testing.TB, h http.Handler, with func(*Server)) (*Server, string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{Handler: h, HeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute, MaxHeader: 16 << 10, Log: log.New(io.Discard, "", 0)}
	if with != nil {
		with(s)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	t.Cleanup(func() {
		_ = s.Close()
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("Serve ended with %v", err)
		}
	})
	return s, l.Addr().String()
}

func dial(t testing.TB, address string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// beside is a server of net/http's with the same handler and limits.
func beside(t testing.TB, h http.Handler) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10, ErrorLog: log.New(io.Discard, "", 0)}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { s.Close() })
	return l.Addr().String()
}

// Clients see what they see of net/http's server.
func TestServerAsNetHTTP(t *testing.T) {
	_, own := served(t, http.HandlerFunc(tried), nil)
	library := beside(t, http.HandlerFunc(tried))
	for _, raw := range exchanges {
		t.Run(fmt.Sprintf("%.60q", raw), func(t *testing.T) {
			got, want := converse(t, dial(t, own), raw), converse(t, dial(t, library), raw)
			for i := range want {
				if w := want[i]; w.Status >= 400 && w.Status != http.StatusTeapot && w.Status != http.StatusNotFound { // the words may differ
					if i < len(got) && got[i].Status == w.Status && got[i].Closes == w.Closes {
						got[i] = w
					}
					if w.Status == http.StatusNotImplemented && i < len(got) && got[i].Status == http.StatusBadRequest {
						got[i] = w
					}
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("unlike net/http (-net/http +own):\n%s", diff)
			}
		})
	}
}

// What net/http's server takes or waits for, and this one does not.
func TestServerUnlikeNetHTTP(t *testing.T) {
	noLeak(t)
	_, address := served(t, http.HandlerFunc(tried), nil)
	for raw, status := range map[string]int{
		// HTTP/2 without TLS is for whoever was told that it is spoken.
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n": http.StatusHTTPVersionNotSupported,
		// A body that nobody asked for may never come.
		"POST /unread HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n": http.StatusOK,
	} {
		got := converse(t, dial(t, address), raw)
		if len(got) != 1 || got[0].Status != status || !got[0].Closes {
			t.Errorf("%q is answered with %+v, want %d and the end of the connection", raw, got, status)
		}
	}
}

// A client that leaves ends its request, however it leaves.
func TestClientLeaves(t *testing.T) {
	noLeak(t)
	entered, ended := make(chan bool), make(chan error)
	_, address := served(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		entered <- true
		<-r.Context().Done()
		ended <- r.Context().Err()
	}), nil)
	for name, leave := range map[string]func(*net.TCPConn){
		"close":       func(c *net.TCPConn) { c.Close() },
		"close write": func(c *net.TCPConn) { _ = c.CloseWrite() },
		"reset":       func(c *net.TCPConn) { _ = c.SetLinger(0); c.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			c := dial(t, address).(*net.TCPConn)
			_, _ = io.WriteString(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nok")
			<-entered
			leave(c)
			select {
			case err := <-ended:
				if !errors.Is(err, context.Canceled) {
					t.Errorf("the request ended with %v", err)
				}
			case <-time.After(5 * time.Second):
				t.Fatal("the request goes on though its client has left")
			}
		})
	}
}

// A request that waits holds no memory to read into, and the next one on its connection
// is read all the same.
func TestWaitingHoldsNoReader(t *testing.T) {
	noLeak(t)
	held, goOn := make(chan bool), make(chan bool)
	var server *Server
	server, address := served(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, "a")
		_ = http.NewResponseController(w).Flush()
		server.mu.Lock()
		for c := range server.conns {
			held <- c.in != nil || w.(*response).out != nil || w.(*response).held != nil
		}
		server.mu.Unlock()
		<-goOn
	}), nil)
	c := dial(t, address)
	in := bufio.NewReader(c)
	for range 3 {
		_, _ = io.WriteString(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 6000\r\n\r\n"+strings.Repeat("x", 6000))
		if <-held {
			t.Error("a request that waits holds memory to read into or to write from")
		}
		goOn <- true
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(res.Body); string(b) != "a" || err != nil {
			t.Fatalf("the reply is %q, %v", b, err)
		}
	}
}

func TestShutdownLetsRequestsEnd(t *testing.T) {
	noLeak(t)
	entered, goOn := make(chan bool), make(chan bool)
	server, address := served(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/wait" {
			entered <- true
			<-goOn
		}
		_, _ = io.WriteString(w, "done")
	}), nil)
	idle := dial(t, address)
	_, _ = io.WriteString(idle, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	idleReader := bufio.NewReader(idle)
	if res, err := http.ReadResponse(idleReader, nil); err != nil {
		t.Fatal(err)
	} else {
		_, _ = io.Copy(io.Discard, res.Body)
	}
	busy := dial(t, address)
	_, _ = io.WriteString(busy, "GET /wait HTTP/1.1\r\nHost: x\r\n\r\n")
	<-entered

	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := server.Shutdown(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("Shutdown with a request in work: %v", err)
	}
	if _, err := idleReader.ReadByte(); err != io.EOF {
		t.Errorf("a connection that waits for its next request: %v, want its end", err)
	}
	if c, err := net.Dial("tcp", address); err == nil {
		c.Close()
		t.Error("a connection is taken while the server shuts down")
	}
	goOn <- true
	res, err := http.ReadResponse(bufio.NewReader(busy), nil)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(res.Body); string(b) != "done" || err != nil || !res.Close {
		t.Errorf("the reply is %q, %v, and ends the connection: %v", b, err, res.Close)
	}
	if err := server.Shutdown(t.Context()); err != nil {
		t.Errorf("Shutdown with nothing in work: %v", err)
	}
}

// Close ends requests in work.
func TestCloseCutsRequests(t *testing.T) {
	noLeak(t)
	entered, ended := make(chan bool), make(chan bool)
	server, address := served(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		entered <- true
		<-r.Context().Done()
		close(ended)
	}), nil)
	c := dial(t, address)
	_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	<-entered
	_ = server.Close()
	<-ended
	if _, err := io.ReadAll(c); err != nil && !isReset(err) {
		t.Errorf("the client reads %v", err)
	}
}

// Who is slow to send a head, or to begin the next request, or to send or read as much as
// the handler says, is not waited for.
func TestServerWaitsItsTime(t *testing.T) {
	noLeak(t)
	const soon = 100 * time.Millisecond
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		switch r.URL.Path {
		case "/body":
			_ = control.SetReadDeadline(time.Now().Add(soon))
			_, err := io.ReadAll(r.Body)
			_, _ = fmt.Fprint(w, errors.Is(err, context.DeadlineExceeded) || err != nil && strings.Contains(err.Error(), "timeout"))
		case "/interrupted":
			go func() {
				time.Sleep(soon / 2)
				_ = control.SetReadDeadline(time.Now())
			}()
			_, err := io.ReadAll(r.Body)
			_, _ = fmt.Fprint(w, err != nil)
		case "/write":
			_ = control.SetWriteDeadline(time.Now().Add(soon))
			var err error
			for err == nil {
				_, err = w.Write(make([]byte, 1<<20))
			}
			if r.Context().Err() == nil {
				panic("the request goes on though nobody reads its reply")
			}
		}
	})
	_, address := served(t, handler, func(s *Server) { s.HeaderTimeout, s.IdleTimeout = soon, soon })
	_, patient := served(t, handler, nil)
	for name, raw := range map[string]string{
		"nothing":          "",
		"half a head":      "GET / HTTP/1.1\r\nHo",
		"no next request":  "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
		"half of the next": "GET / HTTP/1.1\r\nHost: x\r\n\r\nGET ",
	} {
		t.Run(name, func(t *testing.T) {
			c := dial(t, address)
			_, _ = io.WriteString(c, raw)
			_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
			if _, err := io.ReadAll(c); err != nil && !isReset(err) {
				t.Errorf("the connection is still open: %v", err)
			}
		})
	}
	for _, path := range []string{"/body", "/interrupted"} {
		t.Run(path, func(t *testing.T) {
			c := dial(t, patient)
			_, _ = io.WriteString(c, "POST "+path+" HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf")
			res, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				t.Fatal(err)
			}
			if b, _ := io.ReadAll(res.Body); string(b) != "true" {
				t.Errorf("a body that does not come: timeout %s", b)
			}
			if !res.Close {
				t.Error("a connection on which a body is missing is kept")
			}
		})
	}
	t.Run("replies that nobody reads", func(t *testing.T) {
		c := dial(t, address)
		_ = c.SetWriteDeadline(time.Now().Add(10 * time.Second))
		ask := []byte(strings.Repeat("GET / HTTP/1.1\r\nHost: x\r\n\r\n", 1000))
		var err error
		for err == nil {
			_, err = c.Write(ask)
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error("the connection is still open")
		}
	})
	t.Run("/write", func(t *testing.T) {
		c := dial(t, patient)
		_, _ = io.WriteString(c, "GET /write HTTP/1.1\r\nHost: x\r\n\r\n")
		time.Sleep(3 * soon) // reading nothing is what is tried
		_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
		if _, err := io.Copy(io.Discard, c); err != nil && !isReset(err) {
			t.Errorf("the connection is still open: %v", err)
		}
	})
}

// A fault of a handler is told with its stack, and ends nothing but its connection.
func TestFaultOfHandler(t *testing.T) {
	noLeak(t)
	var told bytes.Buffer
	server, address := served(t, http.HandlerFunc(tried), func(s *Server) { s.Log = log.New(&told, "", 0) })
	for range 2 {
		converse(t, dial(t, address), "GET /panic HTTP/1.1\r\nHost: x\r\n\r\n")
	}
	_ = server.Shutdown(t.Context())
	if s := told.String(); strings.Count(s, "http: panic serving 127.0.0.1") != 2 || !strings.Contains(s, "server_test.go") {
		t.Errorf("told: %s", s)
	}
}
