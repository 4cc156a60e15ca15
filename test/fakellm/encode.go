package fakellm

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
)

// object is a JSON object whose keys keep their order: key, value, key, value.
type object []any

// list is a JSON array.
type list []any

// encode writes v compactly, without the escapes that encoding/json adds for
// HTML's sake, as the real services do.
func encode(v any) []byte { return appendJSON(nil, v) }

// encodeIndented writes v with two spaces of indentation and a final newline.
func encodeIndented(v any) []byte {
	var b bytes.Buffer
	if err := json.Indent(&b, encode(v), "", "  "); err != nil {
		panic(fmt.Sprintf("fakellm wrote JSON that cannot be read: %v", err))
	}
	b.WriteByte('\n')
	return b.Bytes()
}

func appendJSON(dst []byte, v any) []byte {
	switch v := v.(type) {
	case object:
		dst = append(dst, '{')
		for i := 0; i < len(v); i += 2 {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendJSON(dst, v[i])
			dst = append(dst, ':')
			dst = appendJSON(dst, v[i+1])
		}
		return append(dst, '}')
	case list:
		dst = append(dst, '[')
		for i, e := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendJSON(dst, e)
		}
		return append(dst, ']')
	case int64:
		return strconv.AppendInt(dst, v, 10)
	case int:
		return strconv.AppendInt(dst, int64(v), 10)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("fakellm cannot write %T as JSON: %v", v, err))
	}
	return append(dst, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
}

// rawObject is text as JSON where it is an object, {} where it is empty, and
// a JSON string otherwise.
func rawObject(text string) any {
	if text == "" {
		return object{}
	}
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return text
}

// identifier is prefix and size letters and digits that depend only on what
// it names.
func identifier(prefix string, size, n int, what string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d/%s", prefix, n, what))
	var wide [64]byte
	copy(wide[:], sum[:])
	copy(wide[32:], sum[:])
	return prefix + new(big.Int).SetBytes(wide[:]).Text(62)[1:1+size]
}

// hexIdentifier is an identifier of hexadecimal digits, 64 at most.
func hexIdentifier(prefix string, size, n int, what string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d/%s", prefix, n, what))
	return prefix + hex.EncodeToString(sum[:])[:size]
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
