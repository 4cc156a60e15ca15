package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// exchangeLimit bounds one request and its reply.
	exchangeLimit = 10 * time.Second
	// sliceLimit bounds how many requests one slice sends, whatever its time.
	sliceLimit = 1_000_000
)

// slice is what one stretch of load on one target came to.
type slice struct {
	requests int // inside the measured time
	sent     int // those and the ones that warmed up
	elapsed  time.Duration
	latency  histogram
}

// generate keeps concurrency connections busy for the given time: each sends
// its next request when the reply to the last is complete. Before the time
// begins each connection has made one exchange, after which begin is called.
// Every reply is compared with the one expected.
func generate(ctx context.Context, address string, l load, concurrency int, span time.Duration, begin func() error) (*slice, error) {
	connections, err := dialAll(ctx, address, concurrency)
	defer func() {
		for _, c := range connections {
			c.close()
		}
	}()
	if err != nil {
		return nil, err
	}
	result := &slice{}
	if err := inParallel(connections, func(i int, c *connection) error {
		return c.exchange(l[i%len(l)])
	}); err != nil {
		return nil, fmt.Errorf("warm up: %w", err)
	}
	result.sent = len(connections)
	if err := begin(); err != nil {
		return nil, err
	}
	start := time.Now()
	err = result.run(ctx, connections, l, start.Add(span))
	result.elapsed = time.Since(start)
	result.requests = result.latency.total
	result.sent += result.requests
	return result, err
}

func (s *slice) run(ctx context.Context, connections []*connection, l load, until time.Time) error {
	var next, failed atomic.Int64
	latencies := make([]histogram, len(connections))
	err := inParallel(connections, func(i int, c *connection) error {
		for now := time.Now(); now.Before(until) && ctx.Err() == nil && failed.Load() == 0; {
			n := next.Add(1)
			if n > sliceLimit {
				return nil
			}
			if err := c.exchange(l[int(n)%len(l)]); err != nil {
				failed.Add(1)
				return err
			}
			done := time.Now()
			latencies[i].add(done.Sub(now))
			now = done
		}
		return ctx.Err()
	})
	for i := range latencies {
		s.latency.merge(&latencies[i])
	}
	return err
}

func inParallel(connections []*connection, do func(int, *connection) error) error {
	errs := make([]error, len(connections))
	var wg sync.WaitGroup
	for i, c := range connections {
		wg.Go(func() { errs[i] = do(i, c) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err // the others tell the same
		}
	}
	return nil
}

// connection is one HTTP/1.1 connection of the generator, written by hand so
// that the generator leaves the machine to what it measures.
type connection struct {
	conn net.Conn
	r    *bufio.Reader
	body []byte
}

// dialAll also returns the connections that it got before an error.
func dialAll(ctx context.Context, address string, n int) ([]*connection, error) {
	var all []*connection
	d := net.Dialer{Timeout: exchangeLimit}
	for range n {
		conn, err := d.DialContext(ctx, "tcp", address)
		if err != nil {
			return all, fmt.Errorf("connect: %w", err)
		}
		all = append(all, &connection{conn: conn, r: bufio.NewReaderSize(conn, 16<<10)})
	}
	return all, nil
}

func (c *connection) close() { _ = c.conn.Close() }

// exchange sends a request and checks that the reply is 200 and has the
// expected body.
func (c *connection) exchange(e exchange) error {
	if err := c.conn.SetDeadline(time.Now().Add(exchangeLimit)); err != nil {
		return fmt.Errorf("set a deadline: %w", err)
	}
	if _, err := c.conn.Write(e.request); err != nil {
		return fmt.Errorf("send a request: %w", err)
	}
	status, length, err := c.readHead()
	if err != nil {
		return fmt.Errorf("read the head of a reply: %w", err)
	}
	if length == chunked {
		err = c.readChunks()
	} else {
		err = c.readBytes(length)
	}
	switch {
	case err != nil:
		return fmt.Errorf("read the body of a reply: %w", err)
	case status != 200:
		return fmt.Errorf("a reply has status %d: %.300s", status, c.body)
	case !bytes.Equal(c.body, e.reply):
		return fmt.Errorf("a reply of %d bytes is not the one of %d bytes that the upstream sends", len(c.body), len(e.reply))
	}
	return nil
}

// chunked in place of a length says that the body comes in chunks.
const chunked = -1

func (c *connection) readHead() (status, length int, err error) {
	line, err := c.line()
	if err != nil {
		return 0, 0, err
	}
	if !bytes.HasPrefix(line, []byte("HTTP/1.1 ")) || len(line) < 12 {
		return 0, 0, fmt.Errorf("%q is no status line", line)
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return 0, 0, fmt.Errorf("%q is no status line", line)
	}
	for {
		if line, err = c.line(); err != nil || len(line) == 0 {
			return status, length, err
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch {
		case bytes.EqualFold(name, []byte("Content-Length")):
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil || length < 0 {
				return 0, 0, fmt.Errorf("%q is no length", line)
			}
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			length = chunked
		}
	}
}

// line is the next line without its end; it is valid until the next read.
func (c *connection) line() ([]byte, error) {
	line, err := c.r.ReadSlice('\n')
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return bytes.TrimRight(line, "\r\n"), nil
}

func (c *connection) readBytes(n int) error {
	c.body = c.body[:0]
	return c.append(n)
}

func (c *connection) readChunks() error {
	c.body = c.body[:0]
	for {
		line, err := c.line()
		if err != nil {
			return err
		}
		n, err := strconv.ParseUint(string(line), 16, 24)
		if err != nil {
			return fmt.Errorf("%q is no chunk size", line)
		}
		if n > 0 {
			if err := c.append(int(n)); err != nil {
				return err
			}
		}
		end, err := c.line()
		switch {
		case err != nil:
			return err
		case len(end) > 0:
			return fmt.Errorf("%q after a chunk", end)
		case n == 0:
			return nil
		}
	}
}

func (c *connection) append(n int) error {
	have := len(c.body)
	if need := have + n; need > cap(c.body) {
		grown := make([]byte, have, 2*need)
		copy(grown, c.body)
		c.body = grown
	}
	c.body = c.body[:have+n]
	_, err := io.ReadFull(c.r, c.body[have:])
	return err
}
