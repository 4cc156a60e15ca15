package wire

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"github.com/haltd/haltd"
)

var (
	errUnknownEncoding = errors.New("unsupported content encoding")
	errOverLimit       = errors.New("decoded body is over the limit")
	errNoMemory        = errors.New("there is no memory left for it")
)

// Take is asked before memory is taken for a body; false refuses. A nil Take
// grants all.
type Take func(bytes int64) bool

func (t Take) refuses(bytes int64) bool { return t != nil && !t(bytes) }

// maxEncodings is how many encodings may be stacked; nobody stacks two.
const maxEncodings = 4

// DecodeRequest undoes the Content-Encoding of a copied request body: gzip,
// zstd, br, deflate, or several of them. The result has at most limit bytes
// (CodeTooLarge); what cannot be decoded is CodeMalformed. The memory is taken
// as the result grows, whatever the encoded body claims; where it is refused,
// the error is CodeUnavailable.
func DecodeRequest(encoding string, body []byte, limit int64, take Take) ([]byte, error) {
	decoded, err := decode(encoding, body, limit, take)
	switch {
	case err == nil:
		return decoded, nil
	case errors.Is(err, errNoMemory):
		return nil, haltd.Errorf(haltd.CodeUnavailable, "the decoded request body: %s", err)
	case errors.Is(err, errOverLimit):
		return nil, haltd.Errorf(haltd.CodeTooLarge, "the decoded request body is larger than %d bytes", limit).
			WithFix("Send less, or raise the limit for request bodies.")
	case errors.Is(err, errUnknownEncoding):
		return nil, haltd.Errorf(haltd.CodeMalformed, "%s", err).
			WithFix("Send the body as it is, or in gzip, zstd, br or deflate.")
	}
	return nil, haltd.Errorf(haltd.CodeMalformed, "the request body is not valid %s: %s", shorten(encoding), err).
		WithFix("Make Content-Encoding name the encoding of the body.")
}

// decode undoes encodings, the last applied first. Beside an error it answers
// what could be decoded before it.
func decode(encoding string, body []byte, limit int64, take Take) ([]byte, error) {
	names := strings.FieldsFunc(strings.ToLower(encoding), func(r rune) bool { return r == ',' || r == ' ' || r == '\t' })
	if len(names) > maxEncodings {
		return nil, fmt.Errorf("%w: %s", errUnknownEncoding, shorten(encoding))
	}
	for i := len(names) - 1; i >= 0; i-- {
		decoded, err := decodeOne(names[i], body, limit, take)
		if err != nil {
			if i > 0 {
				decoded = nil // encoded still
			}
			return decoded, err
		}
		body = decoded
	}
	if int64(len(body)) > limit {
		return nil, errOverLimit
	}
	return body, nil
}

func decodeOne(name string, body []byte, limit int64, take Take) ([]byte, error) {
	source := bytes.NewReader(body)
	switch name {
	case "identity":
		return body, nil
	case "gzip", "x-gzip":
		r, err := gzip.NewReader(source)
		if err != nil {
			return nil, err
		}
		return readBounded(r, max(2*int64(len(body)), gzipSize(body)), limit, take)
	case "br":
		defer wideTurn()()
		return readBounded(brotli.NewReader(source), 2*int64(len(body)), limit, take)
	case "deflate":
		r, err := newDeflateReader(source, body)
		if err != nil {
			return nil, err
		}
		return readBounded(r, 2*int64(len(body)), limit, take)
	case "zstd":
		defer wideTurn()()
		return decodeZstd(source, len(body), limit, take)
	}
	return nil, fmt.Errorf("%w: %s", errUnknownEncoding, shorten(name))
}

// wideTurns bounds how many decoders run at once that keep a window of up to
// 16 MiB, whatever the body's size. Decoding keeps a core busy, so that more of
// them would be no faster.
var wideTurns = make(chan struct{}, runtime.GOMAXPROCS(0))

// wideTurn waits for a turn and answers how to end it.
func wideTurn() (end func()) {
	wideTurns <- struct{}{}
	return func() { <-wideTurns }
}

// gzipSize is how long a body says that it is, and a byte more, for its end to be
// seen: a buffer that need not grow leaves nothing behind. One that was cut says
// anything, but no body can be longer than densest times what was sent.
func gzipSize(body []byte) int64 {
	const trailer, densest = 4, 1032
	if len(body) < trailer {
		return 0
	}
	return min(int64(binary.LittleEndian.Uint32(body[len(body)-trailer:])), densest*int64(len(body))) + 1
}

// readBounded reads r to its end, into a buffer that begins with the size that is
// expected.
func readBounded(r io.Reader, expected, limit int64, take Take) ([]byte, error) {
	size := min(max(expected, 4<<10), limit+1)
	if take.refuses(size) {
		return nil, errNoMemory
	}
	body := make([]byte, 0, size)
	for {
		n, err := r.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case int64(len(body)) > limit:
			return nil, errOverLimit
		case errors.Is(err, io.EOF):
			return body, nil
		case err != nil:
			return body, err
		case len(body) == cap(body):
			size = min(2*size, limit+1)
			if take.refuses(size - int64(len(body))) {
				return nil, errNoMemory
			}
			body = append(make([]byte, 0, size), body...)
		}
	}
}

// newDeflateReader reads what servers send as deflate: the zlib format, as
// the standard says, or bare deflate data, as some do.
func newDeflateReader(source io.Reader, body []byte) (io.Reader, error) {
	if len(body) >= 2 && body[0]&0x0f == 8 && (int(body[0])<<8|int(body[1]))%31 == 0 {
		return zlib.NewReader(source)
	}
	return flate.NewReader(source), nil
}

// zstdReaders are used again because a new one is costly. They run in the
// caller's goroutine.
var zstdReaders = sync.Pool{New: func() any {
	r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(zstdWindow))
	if err != nil {
		panic(err) // the options are constant
	}
	return r
}}

// zstdWindow is the largest window that a frame in HTTP may ask for (RFC 9659).
const zstdWindow = 8 << 20

func decodeZstd(source io.Reader, encoded int, limit int64, take Take) ([]byte, error) {
	r := zstdReaders.Get().(*zstd.Decoder)
	defer func() {
		_ = r.Reset(nil) // lets go of source; never fails
		zstdReaders.Put(r)
	}()
	if err := r.Reset(source); err != nil {
		return nil, err
	}
	body, err := readBounded(r, 2*int64(encoded), limit, take)
	if errors.Is(err, zstd.ErrWindowSizeExceeded) || errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		err = errOverLimit
	}
	return body, err
}
