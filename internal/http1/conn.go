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
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// conn is one connection. One request at a time uses it.
type conn struct {
	net.Conn
	transport *Transport
	in        *bufio.Reader
	interrupt func()          // ends what is being read or written
	raw       syscall.RawConn // nil where there is none
	peek      func(fd uintptr) bool
	quiet     bool      // what peek found
	since     time.Time // when it became idle

	// Of the request that uses it:
	allowance int64 // bytes that may still be read
	// untouched says that the server has seen nothing of the request: nothing was
	// written, or it had closed the connection before.
	untouched bool
	written   chan error // of a body that is written while the reply is read; nil otherwise

	mu       sync.Mutex
	answered bool // the head of the reply is there
}

func newConn(t *Transport, opened net.Conn) *conn {
	c := &conn{Conn: opened, transport: t}
	c.in = bufio.NewReaderSize(c, 2<<10) // headers and pieces of streams are short, longer ones pass it by
	c.interrupt = func() { _ = c.SetDeadline(time.Unix(1, 0)) }
	if s, ok := opened.(syscall.Conn); ok {
		c.raw, _ = s.SyscallConn()
	}
	c.peek = func(fd uintptr) bool {
		var b [1]byte
		_, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK)
		c.quiet = errors.Is(err, syscall.EAGAIN)
		return true // it does not wait
	}
	return c
}

// isQuiet reports an idle connection of which nothing is to be read: neither its end
// nor a reply that nobody asked for.
func (c *conn) isQuiet() bool {
	if c.raw == nil {
		return true
	}
	err := c.raw.Read(c.peek)
	return err == nil && c.quiet
}

func (c *conn) close() { _ = c.Conn.Close() }

// errHeader is why a reply is not read on.
var errHeader = errors.New("the header of the reply is too long")

// Read reads no more than it may.
func (c *conn) Read(p []byte) (int, error) {
	if c.allowance <= 0 {
		return 0, errHeader
	}
	n, err := c.Conn.Read(p)
	c.allowance -= int64(n)
	return n, err
}

// exchange sends a request and reads the head of its reply. After an error the
// connection is closed. The body is closed when it was sent.
func (c *conn) exchange(r *http.Request, body Body) (*http.Response, error) {
	ctx := r.Context()
	c.untouched, c.written, c.answered, c.allowance = false, nil, false, c.transport.MaxHeader
	stop := context.AfterFunc(ctx, c.interrupt)
	sent := c.send(r, body)
	res, err := c.receive(r)
	if err == nil {
		c.setAnswered(ctx)
	}
	if err != nil {
		stop()
		c.close()
		if c.written != nil {
			<-c.written // or its body would be read while it is sent again
		}
		return nil, c.cause(ctx, sent, err)
	}
	if res.Body == http.NoBody {
		c.end(stop, sent == nil && !res.Close && res.StatusCode >= http.StatusOK)
		return res, nil
	}
	res.Body = &reply{ReadCloser: res.Body, conn: c, ctx: ctx, stop: stop, keep: sent == nil && !res.Close, open: res.ContentLength < 0}
	return res, nil
}

// await gives the server its time to begin a reply, once it has the request.
func (c *conn) await(ctx context.Context) {
	limit := c.transport.FirstByteTimeout
	if limit == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.answered {
		_ = c.SetReadDeadline(time.Now().Add(limit))
		c.heed(ctx)
	}
}

// setAnswered lets the rest of the reply take as long as it takes.
func (c *conn) setAnswered(ctx context.Context) {
	if c.transport.FirstByteTimeout == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answered = true
	_ = c.SetReadDeadline(time.Time{})
	c.heed(ctx)
}

// heed interrupts once more where a new deadline may have undone it.
func (c *conn) heed(ctx context.Context) {
	if ctx.Err() != nil {
		c.interrupt()
	}
}

// cause is why there is no reply.
func (c *conn) cause(ctx context.Context, sent, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return ErrLate
	case sent != nil && !errors.Is(err, errHeader):
		return fmt.Errorf("send the request: %w", sent)
	}
	return err
}

// fitsAtOnce is how long a body is at most that a connection takes without waiting
// for the server to read it.
const fitsAtOnce = 16 << 10

// smallBody is how long one is at most that is sent in one piece with the head.
const smallBody = 4 << 10

var heads = sync.Pool{New: func() any { return new(head) }}

// send writes a request. A long body is written while the reply is read: the server
// may answer before it has read it all, or without.
func (c *conn) send(r *http.Request, body Body) error {
	h := heads.Get().(*head)
	var content []byte
	if body != nil {
		content = body.Bytes()
	}
	if err := h.write(r, len(content)); err != nil {
		heads.Put(h)
		closeBody(body)
		c.close()
		return err
	}
	if len(content) <= fitsAtOnce {
		err := c.sendAll(h, content)
		closeBody(body)
		c.await(r.Context())
		return err
	}
	c.written = make(chan error, 1)
	go func() {
		err := c.sendAll(h, content)
		closeBody(body)
		c.await(r.Context())
		c.written <- err
	}()
	return nil
}

func (c *conn) sendAll(h *head, body []byte) error {
	defer heads.Put(h)
	if len(body) <= smallBody {
		h.bytes = append(h.bytes, body...)
		n, err := c.Conn.Write(h.bytes)
		c.untouched = err != nil && n == 0
		return err
	}
	h.parts = [2][]byte{h.bytes, body}
	parts := net.Buffers(h.parts[:])
	_, err := parts.WriteTo(c.Conn)
	h.parts = [2][]byte{}
	return err
}

// mostInterim is how many interim replies may come before one.
const mostInterim = 5

// receive reads the head of a reply. Interim replies are left out, but a switch of
// protocols is none, nor is a status that HTTP does not have.
func (c *conn) receive(r *http.Request) (*http.Response, error) {
	if _, err := c.in.Peek(1); err != nil {
		c.untouched = c.untouched || err == io.EOF
		return nil, err
	}
	c.untouched = false
	for range mostInterim + 1 {
		res, err := http.ReadResponse(c.in, r)
		if err != nil {
			return nil, err
		}
		if s := res.StatusCode; s < http.StatusContinue || s >= http.StatusOK || s == http.StatusSwitchingProtocols {
			c.allowance = math.MaxInt64
			return res, nil
		}
	}
	return nil, errors.New("too many interim replies")
}

// end leaves the connection to the next request, where it may be kept and nothing of
// this one is left on it.
func (c *conn) end(stop func() bool, keep bool) {
	keep = stop() && keep && c.in.Buffered() == 0
	if keep && c.written != nil {
		keep = c.isSent()
	}
	if !keep {
		c.close()
		return
	}
	c.transport.release(c)
}

// sentSoon is how long who has all of a reply waits at most for the last of the body
// of its request: a server that does not want it closes the connection.
const sentSoon = 50 * time.Millisecond

// isSent reports that all of a long body was sent. It mostly was, long ago.
func (c *conn) isSent() bool {
	select {
	case err := <-c.written:
		return err == nil
	default:
	}
	timer := time.NewTimer(sentSoon)
	defer timer.Stop()
	select {
	case err := <-c.written:
		return err == nil
	case <-timer.C:
		return false
	}
}

// reply is the body of a reply, which ends the use of its connection.
type reply struct {
	io.ReadCloser
	conn *conn
	ctx  context.Context
	stop func() bool
	keep bool // for the next request
	open bool // its length is not known
	once sync.Once
}

// HasPiece reports that a first piece of the reply came with its head: to read it
// waits for nothing.
func (b *reply) HasPiece() bool {
	if !b.open {
		return false
	}
	in, _ := b.conn.in.Peek(b.conn.in.Buffered())
	size, rest, _ := bytes.Cut(in, []byte("\r\n"))
	n, err := strconv.ParseUint(string(size), 16, 31)
	return err == nil && n > 0 && uint64(len(rest)) >= n
}

// Await waits until there is more of the reply to read, its end or why none comes. Who
// reads need not hold a buffer until then.
func (b *reply) Await() {
	if b.open { // else nothing may come any more
		_, _ = b.conn.in.Peek(1)
	}
}

func (b *reply) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	switch {
	case err == nil:
	case err == io.EOF:
		b.end(b.keep)
	default:
		if b.ctx.Err() != nil {
			err = context.Cause(b.ctx)
		}
		b.end(false)
	}
	return n, err
}

// Close ends a reply of which nobody wants the rest.
func (b *reply) Close() error {
	b.end(false)
	return nil
}

func (b *reply) end(keep bool) { b.once.Do(func() { b.conn.end(b.stop, keep) }) }
