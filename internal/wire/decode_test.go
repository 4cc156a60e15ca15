package wire

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"github.com/haltd/haltd"
)

var encoders = map[string]func(io.Writer) io.WriteCloser{
	"gzip":    func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
	"x-gzip":  func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
	"br":      func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) },
	"deflate": func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) },
	"zstd": func(w io.Writer) io.WriteCloser {
		z, err := zstd.NewWriter(w)
		if err != nil {
			panic(err)
		}
		return z
	},
}

func encode(t testing.TB, name string, body []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := encoders[name](&b)
	if _, err := w.Write(body); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func bareDeflate(t *testing.T, body []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(body)
	w.Close()
	return b.Bytes()
}

func TestDecodeRequest(t *testing.T) {
	body := []byte(`{"model":"gpt-5","messages":[]}`)
	tests := []struct {
		name, encoding string
		body           []byte
		limit          int64
		code           string // "" when it decodes to body
	}{
		{"none", "", body, 1000, ""},
		{"identity", "Identity", body, 1000, ""},
		{"gzip", "gzip", encode(t, "gzip", body), 1000, ""},
		{"x-gzip", "x-gzip", encode(t, "gzip", body), 1000, ""},
		{"br", "br", encode(t, "br", body), 1000, ""},
		{"zstd", "ZSTD", encode(t, "zstd", body), 1000, ""},
		{"deflate", "deflate", encode(t, "deflate", body), 1000, ""},
		{"bare deflate", "deflate", bareDeflate(t, body), 1000, ""},
		{"two encodings", "gzip, zstd", encode(t, "zstd", encode(t, "gzip", body)), 1000, ""},
		{"just fits", "gzip", encode(t, "gzip", body), int64(len(body)), ""},
		{"one byte too large", "gzip", encode(t, "gzip", body), int64(len(body)) - 1, haltd.CodeTooLarge},
		{"plain and too large", "", body, 10, haltd.CodeTooLarge},
		{"unknown", "compress", body, 1000, haltd.CodeMalformed},
		{"too many", "br,br,br,br,br", body, 1000, haltd.CodeMalformed},
		{"not gzip", "gzip", body, 1000, haltd.CodeMalformed},
		{"not zstd", "zstd", body, 1000, haltd.CodeMalformed},
		{"not br", "br", []byte("\xff\xff\xff"), 1000, haltd.CodeMalformed},
		{"cut gzip", "gzip", encode(t, "gzip", body)[:20], 1000, haltd.CodeMalformed},
		{"gzip with a tail", "gzip", append(encode(t, "gzip", body), "tail"...), 1000, haltd.CodeMalformed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := DecodeRequest(tt.encoding, tt.body, tt.limit, nil)
			if code := haltd.ErrorCode(err); code != tt.code {
				t.Fatalf("code is %q (%v), want %q", code, err, tt.code)
			}
			if err == nil && !bytes.Equal(got, body) {
				t.Errorf("decoded to %q", got)
			}
		})
	}
}

func TestBombsStayBounded(t *testing.T) {
	bomb := []byte(strings.Repeat("\x00", 4<<20))
	for name := range encoders {
		t.Run(name, func(t *testing.T) {
			packed := encode(t, name, bomb)
			if _, err := DecodeRequest(name, packed, 1<<16, nil); haltd.ErrorCode(err) != haltd.CodeTooLarge {
				t.Errorf("error is %v, want %s", err, haltd.CodeTooLarge)
			}
		})
	}
}

// Memory is taken as the decoded body grows, and no more of it than is granted.
func TestDecodeTakesMemoryAsItGrows(t *testing.T) {
	const granted = 1 << 20
	for name := range encoders {
		for _, size := range []int{granted / 4, 4 * granted} {
			taken := int64(0)
			take := func(n int64) bool {
				if taken+n > granted {
					return false
				}
				taken += n
				return true
			}
			body, err := DecodeRequest(name, encode(t, name, bytes.Repeat([]byte("a"), size)), 32<<20, take)
			if fits := size < granted; fits != (err == nil) || !fits && haltd.ErrorCode(err) != haltd.CodeUnavailable {
				t.Errorf("%s of %d bytes with %d granted: %d bytes, %v", name, size, granted, len(body), err)
			}
		}
	}
}
