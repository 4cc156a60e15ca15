// Package anthropic reads the Messages format. It reads copies of bytes and
// touches nothing else.
package anthropic

import (
	"github.com/cespare/xxhash/v2"

	"github.com/haltd/haltd/internal/wire"
)

// Dialect is the manner of Anthropic and compatible providers.
type Dialect struct{}

var _ wire.Dialect = Dialect{}

// Name is "anthropic".
func (Dialect) Name() string { return "anthropic" }

// Formats is Messages alone.
func (Dialect) Formats() []wire.Format { return []wire.Format{Messages{}} }

// Denial is an Anthropic error body.
func (Dialect) Denial(_ int, code, message string) []byte {
	b := wire.AppendQuoted([]byte(`{"type":"error","error":{"type":"invalid_request_error","message":`), message)
	b = append(b, `},"request_id":"`...)
	b = append(b, requestID(code, message)...)
	return append(b, `"}`...)
}

// requestID names a denial with letters alone: some clients search error
// bodies for numbers such as 500 and then try again.
func requestID(code, message string) string {
	id := []byte("req_haltd")
	n := xxhash.Sum64String(code + "\x00" + message)
	for range 13 {
		id = append(id, 'a'+byte(n%26))
		n /= 26
	}
	return string(id)
}

// KeyHeader is x-api-key.
func (Dialect) KeyHeader(key string) (name, value string) { return "x-api-key", key }
