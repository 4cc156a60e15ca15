// Package http1 speaks plain HTTP/1.1 at a lower price than net/http. Server takes
// requests, each connection on one goroutine. Transport sends requests to one server, on
// the goroutine of who asks: net/http has two for each connection and hands every request
// and its reply from one to the other, which is a good part of what a short call costs.
// Heads are read by net/http's own parser; bodies that are sent are whole in memory.
package http1

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// ErrLate is why there is no reply where the server took too long to begin one. It is
// a timeout, as those of net are.
var ErrLate error = lateError{}

type lateError struct{}

func (lateError) Error() string   { return "the server began no reply in time" }
func (lateError) Timeout() bool   { return true }
func (lateError) Temporary() bool { return true }

// Body is the body of a request. Its bytes are read until it is closed.
type Body interface {
	io.ReadCloser
	Bytes() []byte
}

// Transport is a pool of connections to one server. Its fields are set before the
// first request.
type Transport struct {
	// Dial opens a connection.
	Dial func(context.Context) (net.Conn, error)
	// FirstByteTimeout is how long the server may take to begin a reply; 0 for ever.
	FirstByteTimeout time.Duration
	// IdleTimeout is how long a connection is kept that nobody uses, and MaxIdle how
	// many of them are.
	IdleTimeout time.Duration
	MaxIdle     int
	// MaxHeader bounds the header of a reply, interim replies included.
	MaxHeader int64

	mu     sync.Mutex
	idle   []*conn // the one used last at the end
	sweeps bool    // a sweep is planned
	closed bool    // what becomes idle is closed
}

// Takes reports a request that Transport can send.
func (t *Transport) Takes(r *http.Request) bool {
	if _, ok := r.Body.(Body); !ok && r.Body != nil && r.Body != http.NoBody {
		return false
	}
	return r.Header["Expect"] == nil
}

// RoundTrip sends a request and reads the head of its reply. A request that a kept
// connection turned out too late to be closed for is sent again on a new one: the
// server cannot have seen it.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	body, _ := r.Body.(Body)
	c := t.take()
	for {
		kept := c != nil
		if !kept {
			opened, err := t.Dial(r.Context())
			if err != nil {
				closeBody(body)
				if r.Context().Err() != nil {
					err = context.Cause(r.Context())
				}
				return nil, err
			}
			c = newConn(t, opened)
		}
		res, err := c.exchange(r, body)
		if err == nil {
			return res, nil
		}
		if !kept || !c.untouched || r.Context().Err() != nil || body != nil && r.GetBody == nil {
			return nil, err
		}
		if c = nil; body != nil {
			again, err := r.GetBody()
			if err != nil {
				return nil, err
			}
			body = again.(Body)
		}
	}
}

func closeBody(b Body) {
	if b != nil {
		_ = b.Close()
	}
}

// take takes the connection that was used last off the pool; nil where there is none
// that is still open.
func (t *Transport) take() *conn {
	for {
		t.mu.Lock()
		t.closed = false
		n := len(t.idle)
		if n == 0 {
			t.mu.Unlock()
			return nil
		}
		c := t.idle[n-1]
		t.idle[n-1] = nil
		t.idle = t.idle[:n-1]
		t.mu.Unlock()
		if time.Since(c.since) < t.IdleTimeout && c.isQuiet() {
			return c
		}
		c.close()
	}
}

// release puts a connection into the pool.
func (t *Transport) release(c *conn) {
	c.since = time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed || len(t.idle) >= t.MaxIdle {
		c.close()
		return
	}
	t.idle = append(t.idle, c)
	if !t.sweeps {
		t.sweeps = true
		time.AfterFunc(sweepEvery, t.sweep)
	}
}

// sweepEvery is how long a connection may be kept at most that the server has
// closed.
const sweepEvery = 5 * time.Second

// sweep closes connections that nobody used for long, or that the server has closed.
func (t *Transport) sweep() {
	t.mu.Lock()
	defer t.mu.Unlock()
	open := t.idle[:0]
	for _, c := range t.idle {
		if time.Since(c.since) < t.IdleTimeout && c.isQuiet() {
			open = append(open, c)
		} else {
			c.close()
		}
	}
	clear(t.idle[len(open):])
	t.idle = open
	if t.sweeps = len(open) > 0; t.sweeps {
		time.AfterFunc(sweepEvery, t.sweep)
	}
}

// CloseIdleConnections closes the connections that nobody uses, and those in use
// when they are done.
func (t *Transport) CloseIdleConnections() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	for _, c := range t.idle {
		c.close()
	}
	clear(t.idle)
	t.idle = t.idle[:0]
}
