package fakellm

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// errCut says that the script ended the connection.
var errCut = errors.New("cut by the script")

// answer is all that goes on the wire for one request.
type answer struct {
	status int
	header http.Header
	frames [][]byte // the events of a stream, or one whole body
	stream bool
	script Script
}

// send writes the answer as its script says. It ends with errCut after a
// cut, or with a panic of http.ErrAbortHandler where only that can end the
// connection; any other error means that the client left.
func (a *answer) send(ctx context.Context, w http.ResponseWriter) error {
	if err := sleep(ctx, a.script.Delay); err != nil {
		return err
	}
	cut := a.script.Cut
	if cut != nil && cut.Chunks == 0 && cut.Bytes == 0 {
		return cutConnection(w, cut.How)
	}
	writes := a.writes()
	a.sendHeader(w, writes)
	rc, sent, whole := http.NewResponseController(w), 0, len(bytes.Join(writes, nil))
	for i, b := range writes {
		if i > 0 {
			if err := sleep(ctx, a.script.ChunkDelay); err != nil {
				return err
			}
		}
		last := false
		if cut != nil {
			b, last = cut.limit(b, i, sent)
			if last && !a.stream && cut.How != CutClean && sent+len(b) == whole {
				b = b[:len(b)-1] // its length was announced: with all of it the reply were complete
			}
		}
		if _, err := w.Write(b); err != nil {
			return fmt.Errorf("writing the reply: %w", err)
		}
		if err := rc.Flush(); err != nil {
			return fmt.Errorf("flushing the reply: %w", err)
		}
		sent += len(b)
		if last {
			return cutConnection(w, cut.How)
		}
	}
	return nil
}

func (a *answer) sendHeader(w http.ResponseWriter, writes [][]byte) {
	h := w.Header()
	for name, values := range a.header {
		h[name] = values
	}
	if a.script.Encoding != "" {
		h.Set("Content-Encoding", a.script.Encoding)
	}
	if clean := a.script.Cut != nil && a.script.Cut.How == CutClean; !a.stream && !clean {
		h.Set("Content-Length", strconv.Itoa(len(bytes.Join(writes, nil))))
	}
	w.WriteHeader(a.status)
}

// limit is what of the i-th write still goes out after sent bytes, and
// whether it is the last.
func (c *Cut) limit(b []byte, i, sent int) (out []byte, last bool) {
	if c.Chunks > 0 {
		return b, i+1 == c.Chunks
	}
	if sent+len(b) >= c.Bytes {
		return b[:c.Bytes-sent], true
	}
	return b, false
}

// cutConnection ends the reply here.
func cutConnection(w http.ResponseWriter, how CutHow) error {
	switch how {
	case CutClean:
		return errCut
	case CutReset:
		// HTTP/2 cannot be hijacked; aborting resets its stream.
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			reset(conn)
			return errCut
		}
	}
	panic(http.ErrAbortHandler)
}

func reset(conn net.Conn) {
	if t, ok := conn.(*tls.Conn); ok {
		conn = t.NetConn()
	}
	if t, ok := conn.(*net.TCPConn); ok {
		// Closing with bytes unsent and no linger sends a reset. Should it
		// fail, the connection still ends.
		_ = t.SetLinger(0)
	}
	conn.Close()
}

// writes are the encoded bytes, one element for each write to the network.
func (a *answer) writes() [][]byte {
	frames := a.frames
	if a.script.Encoding != "" {
		frames = compress(frames, a.script.Encoding)
	}
	if a.script.WriteSize <= 0 {
		return frames
	}
	var out [][]byte
	for rest := bytes.Join(frames, nil); len(rest) > 0; {
		n := min(a.script.WriteSize, len(rest))
		out = append(out, rest[:n])
		rest = rest[n:]
	}
	return out
}

type flushWriter interface {
	io.WriteCloser
	Flush() error
}

func knownEncoding(name string) bool {
	switch name {
	case "", "gzip", "br", "zstd":
		return true
	}
	return false
}

// compress encodes frames as one stream that is flushed after each, so that
// a client can read every frame as it comes.
func compress(frames [][]byte, encoding string) [][]byte {
	var buf bytes.Buffer
	var w flushWriter
	switch encoding {
	case "gzip":
		w = gzip.NewWriter(&buf)
	case "br":
		w = brotli.NewWriter(&buf)
	case "zstd":
		zw, err := zstd.NewWriter(&buf, zstd.WithEncoderConcurrency(1))
		if err != nil {
			panic(fmt.Sprintf("zstd writer without options that can fail: %v", err))
		}
		w = zw
	default:
		panic(fmt.Sprintf("unknown encoding %q", encoding))
	}
	out := make([][]byte, len(frames))
	for i, f := range frames {
		// Writes to a buffer do not fail.
		_, _ = w.Write(f)
		if i < len(frames)-1 {
			_ = w.Flush()
		} else {
			_ = w.Close()
		}
		out[i] = bytes.Clone(buf.Bytes())
		buf.Reset()
	}
	return out
}

// sleep waits, or ends with the context's error when the client leaves.
func sleep(ctx context.Context, d Delay) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(time.Duration(d))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
