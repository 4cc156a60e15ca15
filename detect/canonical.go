package detect

import (
	"bytes"
	"encoding/json"
	"slices"
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
	b := make([]byte, 0, len(c.Name)+1+len(c.Arguments))
	b = append(append(b, c.Name...), ' ')
	return string(appendArguments(b, c.Arguments))
}

func appendArguments(b []byte, arguments string) []byte {
	s := strings.TrimSpace(arguments)
	if s == "" || s[0] != '{' && s[0] != '[' {
		return append(b, s...)
	}
	if out, ok := appendPlain(b, s); ok {
		return out
	}
	return appendDecoded(b, s)
}

// appendDecoded reads JSON into memory and writes it in its canonical form.
// What is not JSON is written as it is.
func appendDecoded(b []byte, s string) []byte {
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil || d.More() {
		return append(b, s...)
	}
	return appendCanonical(b, v)
}

func appendCanonical(b []byte, v any) []byte {
	switch v := v.(type) {
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		b = append(b, '{')
		for i, k := range keys {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendQuoted(b, k)
			b = append(b, ':')
			b = appendCanonical(b, v[k])
		}
		return append(b, '}')
	case []any:
		b = append(b, '[')
		for i, e := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendCanonical(b, e)
		}
		return append(b, ']')
	case string:
		return appendQuoted(b, v)
	case json.Number:
		return append(b, v...)
	case bool:
		if v {
			return append(b, "true"...)
		}
		return append(b, "false"...)
	default:
		return append(b, "null"...)
	}
}

// appendQuoted writes s as a JSON string that a person can still read.
func appendQuoted(b []byte, s string) []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return append(b, `""`...) // a string always encodes
	}
	return append(b, bytes.TrimSuffix(out.Bytes(), []byte("\n"))...)
}
