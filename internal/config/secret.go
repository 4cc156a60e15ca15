package config

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
)

const redacted = "[redacted]"

// Secret is a text that no log line, error, dump or API answer may show.
// Whoever needs it says so with Reveal.
type Secret string

// Reveal is the secret itself.
func (s Secret) Reveal() string { return string(s) }

// Format hides the secret from every verb of package fmt, the wrong ones
// included.
func (s Secret) Format(f fmt.State, _ rune) { io.WriteString(f, redacted) }

func (s Secret) String() string { return redacted }

// GoString hides the secret from %#v.
func (s Secret) GoString() string { return redacted }

// LogValue hides the secret from package slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalYAML hides the secret from YAML.
func (s Secret) MarshalYAML() (any, error) { return redacted, nil }

// MarshalJSON hides the secret from JSON.
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }

// sendable reports whether the secret can travel in an HTTP header.
func (s Secret) sendable() bool {
	return !strings.ContainsFunc(string(s), func(r rune) bool { return r <= ' ' || r > '~' })
}
