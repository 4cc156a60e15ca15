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
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

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
