package load

import (
	"context"
	"crypto/sha256"
	"fmt"
	"hash"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
)

// upstream is a provider that knows what it sent for each call and which
// connections it has.
type upstream struct {
	*httptest.Server
	handler http.Handler

	mu      sync.Mutex
	sent    map[int]digest
	conns   map[net.Conn]http.ConnState
	changed chan struct{} // closed and replaced whenever conns changes
}

func newUpstream(t *testing.T, handler http.Handler) *upstream {
	t.Helper()
	u := &upstream{handler: handler, sent: map[int]digest{}, conns: map[net.Conn]http.ConnState{}, changed: make(chan struct{})}
	u.Server = httptest.NewUnstartedServer(u)
	u.Config.ConnState = u.connState
	u.Start()
	t.Cleanup(u.Close)
	return u
}

// ServeHTTP lets the handler answer and keeps a digest of the reply.
func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	number, err := strconv.Atoi(r.Header.Get(numberHeader))
	if err != nil {
		http.Error(w, "no call number", http.StatusBadRequest)
		return
	}
	tee := &teeWriter{ResponseWriter: w, sum: sha256.New()}
	u.handler.ServeHTTP(tee, r)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.sent[number] = digest(tee.sum.Sum(nil))
}

// reply is the digest of what was sent for a call.
func (u *upstream) reply(number int) (digest, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	d, ok := u.sent[number]
	return d, ok
}

func (u *upstream) connState(c net.Conn, s http.ConnState) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if s == http.StateClosed || s == http.StateHijacked {
		delete(u.conns, c)
	} else {
		u.conns[c] = s
	}
	close(u.changed)
	u.changed = make(chan struct{})
}

// awaitConns waits until what ok says of the open connections, and of those
// among them that are at work, is true.
func (u *upstream) awaitConns(ctx context.Context, ok func(open, busy int) bool) error {
	for {
		u.mu.Lock()
		open, busy, changed := len(u.conns), 0, u.changed
		for _, s := range u.conns {
			if s == http.StateActive {
				busy++
			}
		}
		u.mu.Unlock()
		if ok(open, busy) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("the upstream still has %d connections, %d of them at work: %w", open, busy, context.Cause(ctx))
		}
	}
}

// teeWriter also writes the body into a digest.
type teeWriter struct {
	http.ResponseWriter
	sum hash.Hash
}

func (w *teeWriter) Write(b []byte) (int, error) {
	w.sum.Write(b)
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the server's own writer.
func (w *teeWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
