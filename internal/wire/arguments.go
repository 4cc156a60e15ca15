package wire

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// CanonicalArguments is raw in the one spelling by which equal arguments of a
// tool call compare equal: JSON without white space, object members sorted by
// name, numbers exactly as sent. What is not JSON, free text say, is trimmed.
func CanonicalArguments(raw string) string {
	raw = strings.TrimSpace(raw)
	if raw == "" || raw == "{}" {
		return raw
	}
	v := jsontext.Value(raw)
	if v.Canonicalize(jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false)) != nil {
		return raw
	}
	return string(v)
}

// compact is a JSON value without white space, strings and numbers as sent.
func compact(raw []byte) string {
	v := jsontext.Value(raw).Clone()
	if v.Compact() != nil {
		return string(raw)
	}
	return string(v)
}
