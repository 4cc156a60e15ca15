package http1

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"
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

func (c *content) Close() error { close(c.closed); return nil }

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

func echo(w http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body) // net/http reads no more of it once it answers
	_, _ = w.Write(b)
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
