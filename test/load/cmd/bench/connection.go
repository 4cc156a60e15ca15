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
	"time"
)

// exchangeLimit bounds one request and its reply.
const exchangeLimit = 10 * time.Second

// connection is one HTTP/1.1 connection of the generator, written by hand so
// that the generator leaves the machine to what it measures.
type connection struct {
	conn net.Conn
	r    *bufio.Reader
	head []byte
	body []byte

	firstByte time.Time // of the newest reply's body
}

func dial(ctx context.Context, address string) (*connection, error) {
	conn, err := (&net.Dialer{Timeout: exchangeLimit}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	return &connection{conn: conn, r: bufio.NewReaderSize(conn, 16<<10), head: make([]byte, 0, 1<<10)}, nil
}

func (c *connection) close() { _ = c.conn.Close() }

// exchange sends a request and checks that the reply is 200 and has the
// expected body.
func (c *connection) exchange(e exchange) error {
	if err := c.conn.SetDeadline(time.Now().Add(exchangeLimit)); err != nil {
		return fmt.Errorf("set a deadline: %w", err)
	}
	request := e.request(c.head)
	if _, err := request.WriteTo(c.conn); err != nil {
		return fmt.Errorf("send a request: %w", err)
	}
	status, length, err := c.readHead()
	if err != nil {
		return fmt.Errorf("read the head of a reply: %w", err)
	}
	if _, err := c.r.Peek(1); err != nil && length != 0 {
		return fmt.Errorf("read the body of a reply: %w", err)
	}
	c.firstByte = time.Now()
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
	}
	return e.check(c.body)
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
		if last, err := c.readChunk(); last || err != nil {
			return err
		}
	}
}

// readChunk reads one chunk and says whether it was the last, which is empty.
func (c *connection) readChunk() (last bool, err error) {
	line, err := c.line()
	if err != nil {
		return false, err
	}
	n, err := strconv.ParseUint(string(line), 16, 24)
	if err != nil {
		return false, fmt.Errorf("%q is no chunk size", line)
	}
	if n > 0 {
		if err := c.append(int(n)); err != nil {
			return false, err
		}
	}
	end, err := c.line()
	if err == nil && len(end) > 0 {
		err = fmt.Errorf("%q after a chunk", end)
	}
	return n == 0, err
}

// begin sends a request whose reply stays open and reads what comes of it: so
// many bytes of its beginning.
func (c *connection) begin(e exchange, begins int) error {
	if err := c.conn.SetDeadline(time.Now().Add(exchangeLimit)); err != nil {
		return fmt.Errorf("set a deadline: %w", err)
	}
	request := e.request(c.head)
	if _, err := request.WriteTo(c.conn); err != nil {
		return fmt.Errorf("send a request: %w", err)
	}
	status, _, err := c.readHead()
	if err != nil {
		return fmt.Errorf("read the head of a reply: %w", err)
	}
	for c.body = c.body[:0]; err == nil && status == 200 && len(c.body) < begins; {
		_, err = c.readChunk()
	}
	if err == nil && (status != 200 || !bytes.HasPrefix(e.reply(), c.body)) {
		err = fmt.Errorf("a reply of status %d begins otherwise than the one that the upstream sends", status)
	}
	return err
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
