package http1

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

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
