package http1

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// What a connection does.
const (
	waitsForFirst int32 = iota // request
	works
	waitsForNext // request
)

// serverConn is a connection of a client. One goroutine reads its requests and answers
// them one after the other.
type serverConn struct {
	net.Conn
	server *Server
	remote string
	opened time.Time
	raw    syscall.RawConn
	number int32 // by which the server's watch knows it
	state  atomic.Int32

	in        *bufio.Reader // nil while there is nothing to read
	allowance int64         // bytes that may still be read
	posted    bool          // the request before had a body, perhaps
	parts     [3][]byte     // of what is written at once

	mu      sync.Mutex
	left    bool               // the client has
	cancel  context.CancelFunc // of the request in work; nil where there is none
	reading bool
	// Until when something has to come or go, and what the connection knows of it:
	// deadlines are moved only when somebody waits by them.
	readBy, armedRead   time.Time
	writeBy, armedWrite time.Time
}

func newServerConn(s *Server, opened net.Conn) *serverConn {
	c := &serverConn{Conn: opened, server: s, remote: opened.RemoteAddr().String(), opened: time.Now()}
	if raw, ok := opened.(syscall.Conn); ok {
		c.raw, _ = raw.SyscallConn()
	}
	return c
}

var readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 4<<10) }}

// acquireReader makes sure that there is memory to read into.
func (c *serverConn) acquireReader() {
	if c.in == nil {
		c.in = readers.Get().(*bufio.Reader)
		c.in.Reset(c)
	}
}

// releaseReader lets go of that memory where nothing is in it: a request may be in work
// for minutes, and thousands at once.
func (c *serverConn) releaseReader() {
	if c.in != nil && c.in.Buffered() == 0 {
		c.in.Reset(nil)
		readers.Put(c.in)
		c.in = nil
	}
}

// Read reads no more than it may, and by the time that it has to.
func (c *serverConn) Read(p []byte) (int, error) {
	if c.allowance <= 0 {
		return 0, errHeader
	}
	c.mu.Lock()
	c.armRead()
	c.reading = true
	c.mu.Unlock()
	n, err := c.Conn.Read(p)
	c.mu.Lock()
	c.reading = false
	c.mu.Unlock()
	c.allowance -= int64(n)
	return n, err
}

// SetReadDeadline says until when something has to come.
func (c *serverConn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.readBy = t
	if c.reading {
		c.armRead()
	}
	return nil
}

func (c *serverConn) armRead() {
	if !isAbout(c.armedRead, c.readBy) {
		c.armedRead = c.readBy
		_ = c.Conn.SetReadDeadline(c.readBy)
	}
}

// SetWriteDeadline says until when what is written has to be taken.
func (c *serverConn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writeBy = t
	return nil
}

func (c *serverConn) armWrite() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !isAbout(c.armedWrite, c.writeBy) {
		c.armedWrite = c.writeBy
		_ = c.Conn.SetWriteDeadline(c.writeBy)
	}
}

// isAbout reports whether a deadline is near enough to another not to be moved, which
// costs more than to look at the clock.
func isAbout(armed, wanted time.Time) bool {
	if armed.IsZero() || wanted.IsZero() {
		return armed.Equal(wanted)
	}
	return armed.Sub(wanted).Abs() < time.Until(wanted)/32
}

// leave ends the request in work, because the client has gone.
func (c *serverConn) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left = true
	if c.cancel != nil {
		c.cancel()
	}
}

// cut ends the connection, whatever it does.
func (c *serverConn) cut() {
	c.leave()
	_ = c.Conn.Close()
}

// serve answers requests until there are no more.
func (c *serverConn) serve() {
	defer c.server.forget(c)
	defer func() {
		if p := recover(); p != nil {
			c.tellFault(p)
		}
	}()
	defer c.Conn.Close()
	if c.raw != nil {
		c.server.watch.add(c)
		defer c.server.watch.remove(c)
	}
	for goesOn := true; goesOn; {
		r, err := c.next()
		if err != nil {
			c.refuse(err)
			return
		}
		goesOn = c.answer(r)
	}
}

// next waits for a request and reads its head.
func (c *serverConn) next() (*http.Request, error) {
	c.acquireReader()
	c.allowance = c.server.MaxHeader + int64(c.in.Size()) // what is read ahead may be of the body
	wait, least := c.server.HeaderTimeout, 1
	if c.state.Load() != waitsForFirst {
		wait, least = c.server.IdleTimeout, 4 // what is less is no request
	}
	if c.in.Buffered() < least {
		_ = c.SetReadDeadline(time.Now().Add(wait))
		if _, err := c.in.Peek(least); err != nil {
			return nil, errNoRequest
		}
	}
	c.state.Store(works)
	if c.server.closing.Load() {
		return nil, errNoRequest
	}
	for ; c.posted && c.startsWithBreak(); _, _ = c.in.Discard(1) { // some clients send one after a body
	}
	begun, _ := c.in.Peek(c.in.Buffered())
	if !bytes.Contains(begun, []byte("\r\n\r\n")) {
		_ = c.SetReadDeadline(time.Now().Add(c.server.HeaderTimeout))
	}
	r, err := http.ReadRequest(c.in)
	switch {
	case err != nil && c.allowance <= 0:
		return nil, errHeader
	case err != nil:
		return nil, err
	}
	c.allowance, c.posted = math.MaxInt64, r.Method == http.MethodPost
	_ = c.SetReadDeadline(time.Time{})
	return r, check(r)
}

func (c *serverConn) startsWithBreak() bool {
	if c.in.Buffered() == 0 {
		return false
	}
	b, err := c.in.Peek(1)
	return err == nil && (b[0] == '\r' || b[0] == '\n')
}

// errNoRequest is why a connection ends on which there is nobody to be told.
var errNoRequest = errors.New("no request came")

// unfit is a request that is not served.
type unfit struct {
	status int
	why    string
}

func (e unfit) Error() string { return e.why }

// check refuses what net/http's parser lets pass and its server does not.
func check(r *http.Request) error {
	switch {
	case r.ProtoMajor != 1:
		return unfit{http.StatusHTTPVersionNotSupported, "unsupported protocol version"}
	case r.ProtoAtLeast(1, 1) && r.Host == "" && r.Method != http.MethodConnect:
		return unfit{http.StatusBadRequest, "missing required Host header"}
	case strings.ContainsFunc(r.Host, noHostByte):
		return unfit{http.StatusBadRequest, "malformed Host header"}
	}
	for name := range r.Header {
		if strings.IndexByte(name, ' ') >= 0 {
			return unfit{http.StatusBadRequest, "invalid header name"}
		}
	}
	if expect := r.Header.Get("Expect"); expect != "" && !strings.EqualFold(expect, "100-continue") {
		return unfit{http.StatusExpectationFailed, "unknown expectation"}
	}
	return nil
}

// noHostByte reports what no host may have (RFC 3986, 3.2.2).
func noHostByte(b rune) bool {
	return b > '~' || b <= ' ' || strings.ContainsRune("\"#/<>?@\\^`{|}", b)
}

// refuse answers what cannot be read.
func (c *serverConn) refuse(err error) {
	status, why := http.StatusBadRequest, ""
	var u unfit
	var network *net.OpError
	switch {
	case errors.Is(err, errNoRequest), errors.Is(err, io.EOF), errors.As(err, &network):
		return // nobody is there, or has sent no request in time
	case errors.Is(err, errHeader):
		status = http.StatusRequestHeaderFieldsTooLarge
	case errors.As(err, &u):
		status, why = u.status, ": "+u.why
	}
	text := fmt.Sprintf("%d %s%s", status, http.StatusText(status), why)
	_ = c.SetWriteDeadline(time.Now().Add(c.server.HeaderTimeout))
	c.armWrite()
	_, _ = fmt.Fprintf(c.Conn, "HTTP/1.1 %d %s\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n%s", status, http.StatusText(status), text)
	c.linger()
}

// lingers is how long a client may take to read an answer before which it did not stop
// sending.
const lingers = 500 * time.Millisecond

// linger lets the client read what was written. A connection that is closed while
// something comes in is reset, and its answer lost.
func (c *serverConn) linger() {
	half, ok := c.Conn.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	_ = c.Conn.SetReadDeadline(time.Now().Add(lingers))
	_, _ = io.Copy(io.Discard, c.Conn)
}

// answer has a request handled, and reports whether the connection can take another.
func (c *serverConn) answer(r *http.Request) (goesOn bool) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c.setCancel(cancel)
	defer c.setCancel(nil)
	_ = c.SetWriteDeadline(time.Now().Add(c.server.IdleTimeout)) // unless the handler has another
	body := &requestBody{ReadCloser: r.Body, conn: c, ended: r.Body == http.NoBody}
	body.expects.Store(!body.ended && r.ProtoAtLeast(1, 1) && r.Header.Get("Expect") != "")
	if body.ended {
		c.releaseReader()
	}
	r = r.WithContext(ctx)
	r.RemoteAddr = c.remote
	if !body.ended {
		r.Body = body
	}
	w := &response{conn: c, body: body, header: http.Header{}, length: unknownLength, isHead: r.Method == http.MethodHead, closes: r.Close || !r.ProtoAtLeast(1, 1), chunks: r.ProtoAtLeast(1, 1)}
	defer w.release()
	if !c.handle(w, r) {
		return false
	}
	if err := w.finish(); err != nil || w.closes {
		if err == nil && !body.isWhole() {
			c.linger()
		}
		return false
	}
	c.state.Store(waitsForNext)
	return !c.server.closing.Load()
}

// setCancel says how to end the request in work.
func (c *serverConn) setCancel(cancel context.CancelFunc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancel = cancel
	if cancel != nil && c.left {
		cancel()
	}
}

// handle calls the handler, and reports whether it has answered.
func (c *serverConn) handle(w *response, r *http.Request) (answered bool) {
	defer func() {
		switch p := recover(); {
		case p == nil:
		case p == http.ErrAbortHandler:
			_ = w.send() // what was written goes out, and no end of it
		default:
			c.tellFault(p)
		}
	}()
	c.server.Handler.ServeHTTP(w, r)
	return true
}

func (c *serverConn) tellFault(p any) {
	c.server.Log.Printf("http: panic serving %v: %v\n%s", c.remote, p, debug.Stack())
}

// mostDiscarded is how much is read of a body that nobody wanted, for the sake of the
// next request on its connection.
const mostDiscarded = 256 << 10

// requestBody is the body of a request. A transport may still read it while the request
// is answered.
type requestBody struct {
	io.ReadCloser
	conn *serverConn

	expects atomic.Bool // the client waits to be told to send it
	closed  atomic.Bool // nobody may read it any more

	mu    sync.Mutex
	ended bool // all of it was read
}

func (b *requestBody) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed.Load() {
		return 0, http.ErrBodyReadAfterClose
	}
	if b.expects.Swap(false) {
		b.conn.armWrite()
		if _, err := io.WriteString(b.conn.Conn, "HTTP/1.1 100 Continue\r\n\r\n"); err != nil {
			return 0, err
		}
	}
	return b.read(p)
}

func (b *requestBody) read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF && !b.ended {
		b.ended = true
		b.conn.releaseReader()
	}
	return n, err
}

func (b *requestBody) isWhole() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ended
}

// Close ends the reading of a body. What is left of it is for the end of the request.
func (b *requestBody) Close() error {
	b.closed.Store(true)
	return nil
}

// answer is called before a request is answered, and reports whether the connection may
// be used for another one. Then what is left of the body is read first: some clients read
// nothing before they have sent all.
func (b *requestBody) answer(closes bool) (goesOn bool) {
	if b.expects.Swap(false) { // it was not told to send it, and may or may not
		b.closed.Store(true)
		return false
	}
	if closes {
		return false
	}
	b.closed.Store(true)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended {
		return true
	}
	_, err := io.CopyN(io.Discard, readerFunc(b.read), mostDiscarded+1)
	return err == io.EOF
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
