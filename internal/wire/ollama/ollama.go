// Package ollama reads the chat of Ollama's own API. It reads copies of bytes
// and touches nothing else.
package ollama

import "github.com/haltd/haltd/internal/wire"

// Dialect is the manner of Ollama's own API. No configuration names it: its
// servers offer OpenAI's as well.
type Dialect struct{}

var _ wire.Dialect = Dialect{}

// Name is "ollama".
func (Dialect) Name() string { return "ollama" }

// Formats is Chat alone.
func (Dialect) Formats() []wire.Format { return []wire.Format{Chat{}} }

// Denial is an error body, whose error is a text.
func (Dialect) Denial(d wire.Denied) []byte {
	b := wire.AppendQuoted([]byte(`{"error":`), d.Message)
	return append(d.AppendBlock(b), '}')
}

// StreamError is a line with an error body.
func (Chat) StreamError(d wire.Denied) []byte { return append(Dialect{}.Denial(d), '\n') }

// KeyHeader is a bearer token.
func (Dialect) KeyHeader(key string) (name, value string) {
	return "Authorization", "Bearer " + key
}

// Operation is "chat".
func (Dialect) Operation() string { return "chat" }
