// Package gemini reads the generateContent format of Gemini and Vertex AI. It
// reads copies of bytes and touches nothing else.
//
// Google's servers take member names in camelCase and in snake_case, and a
// single object where an array of one is meant; so does this package.
package gemini

import (
	"net/http"
	"strconv"

	"github.com/haltd/haltd/internal/wire"
)

// Dialect is the manner of Gemini.
type Dialect struct{}

var _ wire.Dialect = Dialect{}

// Name is "gemini".
func (Dialect) Name() string { return "gemini" }

// Formats is Generate alone.
func (Dialect) Formats() []wire.Format { return []wire.Format{Generate{}} }

// Denial is a Google error body.
func (Dialect) Denial(d wire.Denied) []byte {
	b := strconv.AppendInt([]byte(`{"error":{"code":`), int64(d.Status), 10)
	b = append(b, `,"status":"`...)
	b = append(b, statusWord(d.Status)...)
	b = wire.AppendQuoted(append(b, `","message":`...), d.Message)
	if d.RetryAfter > 0 {
		// Gemini's clients wait for this long; they do not read Retry-After.
		b = append(b, `,"details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"`...)
		b = append(strconv.AppendInt(b, int64(d.RetryAfter), 10), `s"}]`...)
	}
	return append(d.AppendBlock(append(d.AppendBlock(b), '}')), '}')
}

// StreamError is a chunk with an error body.
func (Generate) StreamError(d wire.Denied) []byte {
	b := append([]byte("data: "), Dialect{}.Denial(d)...)
	return append(b, "\n\n"...)
}

func statusWord(status int) string {
	switch status {
	case http.StatusBadRequest:
		return "FAILED_PRECONDITION"
	case http.StatusUnauthorized:
		return "UNAUTHENTICATED"
	case http.StatusForbidden:
		return "PERMISSION_DENIED"
	case http.StatusNotFound:
		return "NOT_FOUND"
	case http.StatusTooManyRequests:
		return "RESOURCE_EXHAUSTED"
	case http.StatusInternalServerError:
		return "INTERNAL"
	case http.StatusGatewayTimeout:
		return "DEADLINE_EXCEEDED"
	}
	if status >= 500 {
		return "UNAVAILABLE"
	}
	return "INVALID_ARGUMENT"
}

// KeyHeader is x-goog-api-key.
func (Dialect) KeyHeader(key string) (name, value string) { return "x-goog-api-key", key }

// Operation is "generate_content".
func (Dialect) Operation() string { return "generate_content" }
