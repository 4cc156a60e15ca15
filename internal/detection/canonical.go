package detection

import (
	"encoding/json"
	"strings"

	"github.com/haltd/haltd"
)

// CanonicalArguments writes the JSON arguments of a tool call so that the
// order of keys and white space outside strings do not matter. What is not
// JSON stays as it is, trimmed. Numbers keep their digits: arguments are never
// masked.
func CanonicalArguments(arguments string) string {
	return string(appendArguments(make([]byte, 0, len(arguments)), arguments))
}

// actText is a tool call as it is compared: the tool's name and its canonical
// arguments.
func actText(c *haltd.ToolCall) string {
	var memory [512]byte
	b := append(append(memory[:0], c.Name...), ' ')
	return withoutRef(string(appendArguments(b, c.Arguments)))
}

// withoutRef is an act without the number that a browser gave an element for as long as
// its page lasts, where the act says which element it is: {"element":"Sign in","ref":"e14"}.
func withoutRef(act string) string {
	const ref = `,"ref":`
	i := strings.Index(act, ref+`"`)
	if i < 0 || !strings.Contains(act[:i], `"element":"`) {
		return act
	}
	return act[:i] + act[endOfString(act, i+len(ref)):]
}

func appendArguments(b []byte, arguments string) []byte {
	s := strings.TrimSpace(arguments)
	if s == "" || s[0] != '{' && s[0] != '[' {
		return append(b, s...)
	}
	if out, ok := appendCanonical(b, s); ok {
		return out
	}
	return appendMended(b, s)
}

// mostMended is how long arguments are at most that are mended: what they are decoded
// to takes up to fifty times as much memory, which nobody counts.
const mostMended = 64 << 10

// appendMended writes what is refused at first and tools still take:
// keys that come twice, of which the last counts, and what is not UTF-8. What
// is not JSON, or is too long for that, is written as it is.
func appendMended(b []byte, s string) []byte {
	if len(s) > mostMended {
		return append(b, s...)
	}
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil || d.More() {
		return append(b, s...)
	}
	text, err := json.Marshal(v)
	if err != nil { // what was decoded always encodes
		return append(b, s...)
	}
	out, ok := appendCanonical(b, string(text))
	if !ok {
		return append(b, s...)
	}
	return out
}
