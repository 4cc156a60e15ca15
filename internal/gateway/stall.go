package gateway

import (
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/haltd/haltd"
)

// clientWriter writes to a client that has to read: each write has a deadline
// of its own, so that a stream may last as long as somebody reads it.
type clientWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	stall   time.Duration
	// streams says that the deadline is that of a stream of HTTP/2, which ends
	// with it whether somebody writes or not.
	streams  bool
	extended time.Time // when the deadline was moved last
}

// slack is by how much a deadline may be later than it has to be: it is moved at
// every read or write, and to move it costs more than to look at the clock.
func slack(stall time.Duration) time.Duration { return stall / 32 }

// extend moves the deadline of the connection, which follows the real clock.
func (w *clientWriter) extend() {
	now := time.Now()
	if now.Sub(w.extended) < slack(w.stall) {
		return
	}
	w.extended = now
	_ = w.control.SetWriteDeadline(now.Add(w.stall + slack(w.stall))) // not every writer has deadlines
}

// rest lifts the deadline of a stream until the next write: the provider may
// take longer than a client.
func (w *clientWriter) rest() {
	if w.streams {
		w.extended = time.Time{}
		_ = w.control.SetWriteDeadline(time.Time{})
	}
}

// end leaves a deadline for what the server still writes. It may first wait for
// the rest of a body that nobody wanted.
func (w *clientWriter) end(waits bool) {
	if waits || w.streams {
		_ = w.control.SetWriteDeadline(time.Now().Add(2 * w.stall))
		return
	}
	w.extend()
}

func (w *clientWriter) Write(b []byte) (int, error) {
	w.extend()
	defer w.rest()
	return w.ResponseWriter.Write(b)
}

// flush sends what has been written at once.
func (w *clientWriter) flush() {
	w.extend()
	_ = w.control.Flush() // a client that left shows at the next write
	w.rest()
}

// clientBody is the body of a request whose client has to send: each read has
// a deadline of its own.
type clientBody struct {
	io.ReadCloser
	control *http.ResponseController
	stall   time.Duration
	streams bool // see clientWriter

	extended time.Time  // when the deadline was moved last; the zero time where there is none
	mu       sync.Mutex // a transport may read while the request ends
	ended    bool       // the connection is for the next request
	whole    bool       // all of it was read
	stalled  bool       // the client sent nothing for too long
}

func (b *clientBody) Read(p []byte) (int, error) {
	b.extend()
	n, err := b.ReadCloser.Read(p)
	if err == nil && !b.streams {
		return n, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case err == nil:
		if !b.ended { // the upstream may take longer to take it than the client to send it
			b.extended = time.Time{}
			_ = b.control.SetReadDeadline(time.Time{})
		}
	case errors.Is(err, os.ErrDeadlineExceeded):
		b.stalled = true
	case err == io.EOF && !b.ended:
		// From here on the server reads to find out whether the client is
		// still there, and that has no deadline.
		b.whole = true
		_ = b.control.SetReadDeadline(time.Time{})
	}
	return n, err
}

// extend moves the deadline of the next read.
func (b *clientBody) extend() {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if b.ended || now.Sub(b.extended) < slack(b.stall) {
		return
	}
	b.extended = now
	_ = b.control.SetReadDeadline(now.Add(b.stall + slack(b.stall)))
}

// end is called when the request is done. The server reads what is left of a
// body that nobody wanted: that has a deadline, too.
// It reports whether it has to.
func (b *clientBody) end() (waits bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = true
	if b.whole || b.stalled {
		return false
	}
	_ = b.control.SetReadDeadline(time.Now().Add(b.stall))
	return true
}

func (b *clientBody) hasStalled() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.stalled
}

// stalled answers a client that did not go on sending its body.
func stalled(after time.Duration) error {
	return refuseForNow(http.StatusRequestTimeout, haltd.Errorf(haltd.CodeStalled, "Nothing more of the request body came for %v", after).
		WithFix("Send it again, or raise gateway.stall_timeout in haltd's configuration."))
}
