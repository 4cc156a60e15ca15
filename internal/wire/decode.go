package wire

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"github.com/haltd/haltd"
)

var (
	errUnknownEncoding = errors.New("unsupported content encoding")
	errOverLimit       = errors.New("decoded body is over the limit")
)

// maxEncodings is how many encodings may be stacked; nobody stacks two.
const maxEncodings = 4

// DecodeRequest undoes the Content-Encoding of a copied request body: gzip,
// zstd, br, deflate, or several of them. The result has at most limit bytes
// (CodeTooLarge); what cannot be decoded is CodeMalformed.
func DecodeRequest(encoding string, body []byte, limit int64) ([]byte, error) {
	decoded, err := decode(encoding, body, limit)
	switch {
	case err == nil:
		return decoded, nil
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
func decode(encoding string, body []byte, limit int64) ([]byte, error) {
	names := strings.FieldsFunc(strings.ToLower(encoding), func(r rune) bool { return r == ',' || r == ' ' || r == '\t' })
	if len(names) > maxEncodings {
		return nil, fmt.Errorf("%w: %s", errUnknownEncoding, shorten(encoding))
	}
	for i := len(names) - 1; i >= 0; i-- {
		decoded, err := decodeOne(names[i], body, limit)
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

func decodeOne(name string, body []byte, limit int64) ([]byte, error) {
	source := bytes.NewReader(body)
	switch name {
	case "identity":
		return body, nil
	case "gzip", "x-gzip":
		r, err := gzip.NewReader(source)
		if err != nil {
			return nil, err
		}
		return readBounded(r, limit)
	case "br":
		return readBounded(brotli.NewReader(source), limit)
	case "deflate":
		r, err := newDeflateReader(source, body)
		if err != nil {
			return nil, err
		}
		return readBounded(r, limit)
	case "zstd":
		return decodeZstd(source, limit)
	}
	return nil, fmt.Errorf("%w: %s", errUnknownEncoding, shorten(name))
}

func readBounded(r io.Reader, limit int64) ([]byte, error) {
	var b bytes.Buffer
	n, err := b.ReadFrom(io.LimitReader(r, limit+1))
	if n > limit {
		return nil, errOverLimit
	}
	return b.Bytes(), err
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
	r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
	if err != nil {
		panic(err) // the options are constant
	}
	return r
}}

// minZstdWindow is what every decoder should grant a frame.
const minZstdWindow = 8 << 20

func decodeZstd(source io.Reader, limit int64) ([]byte, error) {
	r := zstdReaders.Get().(*zstd.Decoder)
	defer func() {
		_ = r.Reset(nil) // lets go of source; never fails
		zstdReaders.Put(r)
	}()
	window := uint64(max(limit, minZstdWindow))
	if err := r.ResetWithOptions(source, zstd.WithDecoderMaxWindow(window)); err != nil {
		return nil, err
	}
	body, err := readBounded(r, limit)
	if errors.Is(err, zstd.ErrWindowSizeExceeded) || errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		err = errOverLimit
	}
	return body, err
}
