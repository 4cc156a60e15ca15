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

// Formats are Messages and the same at other clouds.
func (Dialect) Formats() []wire.Format { return []wire.Format{Messages{}, Cloud{}} }

// Denial is an Anthropic error body.
func (Dialect) Denial(d wire.Denied) []byte {
	b := append([]byte(`{"type":"error","error":{"type":"`), errorType(d)...)
	b = wire.AppendQuoted(append(b, `","message":`...), d.Message)
	b = append(d.AppendBlock(b), `},"request_id":"`...)
	b = append(b, requestID(d)...)
	return append(d.AppendBlock(append(b, '"')), '}')
}

// StreamError is the error event, whose data is an error body.
func (Messages) StreamError(d wire.Denied) []byte {
	b := append([]byte("event: error\ndata: "), Dialect{}.Denial(d)...)
	return append(b, "\n\n"...)
}

func errorType(d wire.Denied) string {
	if d.RetryAfter > 0 {
		return "rate_limit_error"
	}
	return "invalid_request_error"
}

// requestID names a denial with consonants alone: some clients search error
// bodies for numbers such as 500, or for words, and then try again.
func requestID(d wire.Denied) string {
	const consonants = "bcdfghjkmnpqrstvwxz"
	id := []byte("req_haltd")
	n := xxhash.Sum64String(d.Code + "\x00" + d.Message + "\x00" + d.Incident)
	for range 13 {
		id = append(id, consonants[n%uint64(len(consonants))])
		n /= uint64(len(consonants))
	}
	return string(id)
}

// KeyHeader is x-api-key.
func (Dialect) KeyHeader(key string) (name, value string) { return "x-api-key", key }

// Operation is "chat".
func (Dialect) Operation() string { return "chat" }
