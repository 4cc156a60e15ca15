// Package telemetry is how haltd speaks about itself: a log that lets only
// known fields through, and Prometheus metrics with bounded labels. It knows
// nothing of requests, stores or configuration; others hand it values.
package telemetry

import (
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"strings"

	"github.com/haltd/haltd"
)

// Withheld stands in the log for the value of a field that is not in the
// vocabulary.
const Withheld = "[withheld]"

const redacted = "[redacted]"

// vocabulary is every field that may be logged with its value. A field
// belongs here when no client decides what it holds, or when it holds no
// more than a name: never a body, a header or a query.
var vocabulary = map[string]bool{
	slog.TimeKey: true, slog.LevelKey: true, slog.MessageKey: true, slog.SourceKey: true,

	// what it is about
	"agent": true, "session": true, "client": true, "provider": true, "model": true,
	"format": true, "event": true, "event_type": true, "key_id": true, "dependency": true,
	"incident": true, "channel": true, "rule": true, "policy": true, "by": true,

	// what happened
	"error": true, "reason": true, "decision": true, "code": true, "status": true, "method": true,
	"path": true, "signal": true,

	// how much
	"count": true, "dropped": true, "bytes": true, "limit": true, "duration": true, "latency": true,

	// where haltd itself lives
	"address": true, "gateway": true, "admin": true, "config": true, "data_dir": true,
	"file": true, "field": true, "version": true, "node": true,
}

// credential matches what looks like a secret, wherever it stands in a text.
var credential = regexp.MustCompile(
	`\b(?:haltd_|sk-|gsk_|xai-|AIza)[A-Za-z0-9_\-]+` +
		`|(?i:\bbearer\s+[^\s"',;]+)` +
		`|(?i:\b(?:x-api-key|x-goog-api-key|api-key|authorization)["']?\s*[:=]\s*["'\[]*(?:(?:basic|bearer)\s+)?[^\s"',;\]]+)` +
		`|://[^/\s:@"]*:[^/\s@"]+@`)

// NewLogger writes records to w as "text" or "json" from level upwards. A
// field outside the vocabulary is written as Withheld, and whatever looks like
// a credential is redacted in every field.
func NewLogger(w io.Writer, format string, level slog.Leveler) (*slog.Logger, error) {
	options := &slog.HandlerOptions{Level: level, ReplaceAttr: guard}
	switch strings.ToLower(format) {
	case "text":
		return slog.New(slog.NewTextHandler(w, options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, options)), nil
	}
	return nil, haltd.Errorf(haltd.CodeInvalid, "log format %q is not known", format).
		WithFix("Use text or json.")
}

// guard decides what of one field reaches the log. slog calls it for every
// field that is not a group, members of groups included.
func guard(_ []string, a slog.Attr) slog.Attr {
	if !vocabulary[a.Key] {
		return slog.String(a.Key, Withheld)
	}
	switch a.Value.Kind() {
	case slog.KindString:
		a.Value = slog.StringValue(Redact(a.Value.String()))
	case slog.KindAny:
		// A struct or an error can hold anything; only its text is known to
		// be clean after redaction.
		switch v := a.Value.Any().(type) {
		case nil, slog.Level, *slog.Source:
		default:
			a.Value = slog.StringValue(Redact(fmt.Sprint(v)))
		}
	}
	return a
}

// Redact replaces what looks like a credential in text.
func Redact(text string) string {
	return credential.ReplaceAllStringFunc(text, func(found string) string {
		if strings.HasPrefix(found, "://") {
			return "://" + redacted + "@"
		}
		return redacted
	})
}
