package wire

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// EncodeRequest is what DecodeRequest undoes.
func EncodeRequest(encoding string, body []byte) ([]byte, error) {
	for name := range strings.FieldsFuncSeq(strings.ToLower(encoding), func(r rune) bool { return r == ',' || r == ' ' || r == '\t' }) {
		var out bytes.Buffer
		w, err := encoder(name, &out)
		if err != nil {
			return nil, err
		}
		if w == nil {
			continue
		}
		if _, err := w.Write(body); err != nil {
			return nil, fmt.Errorf("encode a request body: %w", err)
		}
		if err := w.Close(); err != nil {
			return nil, fmt.Errorf("encode a request body: %w", err)
		}
		body = out.Bytes()
	}
	return body, nil
}

func encoder(name string, to io.Writer) (io.WriteCloser, error) {
	switch name {
	case "identity":
		return nil, nil
	case "gzip", "x-gzip":
		return gzip.NewWriter(to), nil
	case "zstd":
		return zstd.NewWriter(to, zstd.WithEncoderConcurrency(1))
	case "br":
		return brotli.NewWriter(to), nil
	case "deflate":
		return zlib.NewWriter(to), nil
	}
	return nil, fmt.Errorf("%w: %s", errUnknownEncoding, shorten(name))
}
