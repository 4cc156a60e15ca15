package wire

import (
	"encoding/hex"
	"iter"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// Content reads what a message or a tool result holds: a string, or an array
// of strings and typed parts, joined with line breaks. A part that is not
// text stands as a bracketed kind and digest; thinking is left out.
func (c *Conversation) Content(r *Reader) string {
	switch r.Kind() {
	case KindString, KindNull:
		return r.Piece()
	case KindArray:
	default:
		r.Skip()
		r.Refuse("a string or an array of parts")
		return ""
	}
	mark, parts := len(c.content), 0
	for range r.Array() {
		before := len(c.content)
		if parts > 0 {
			c.content = append(c.content, '\n')
		}
		if c.contentPart(r, r.Object()) {
			parts++
		} else {
			c.content = c.content[:before]
		}
	}
	return c.cut(mark, r)
}

// ContentOrPart is Content for fields where one part may stand without an
// array around it.
func (c *Conversation) ContentOrPart(r *Reader) string {
	if r.Kind() != KindObject {
		return c.Content(r)
	}
	mark := len(c.content)
	c.contentPart(r, r.Members()) // a tool may have answered with an object of its own
	return c.cut(mark, r)
}

// cut takes what was written since mark off the scratch space.
func (c *Conversation) cut(mark int, r *Reader) string {
	text := r.piece(append(r.memory, c.content[mark:]...))
	c.content = c.content[:mark]
	return text
}

// contentPart appends one part, whose members are names where it is an object,
// to the scratch space, or reports false where it says nothing.
func (c *Conversation) contentPart(r *Reader, names iter.Seq[[]byte]) bool {
	switch r.Kind() {
	case KindString:
		c.content = r.AppendText(c.content)
		return true
	case KindObject:
	default:
		r.Skip()
		r.Refuse("a string or an object with a type")
		return false
	}
	var kind, misfit string
	var digest xxhash.Digest
	digest.Reset()
	start, isText := r.Offset(), false
	for name := range names {
		switch string(name) {
		case "type":
			kind = r.Piece()
		case "text", "refusal":
			if r.Kind() == KindString {
				isText = true
				c.content = r.AppendText(c.content)
			} else if r.Kind() != KindNull {
				digest.Write(r.Raw())
				misfit = r.Pointer()
			}
		case "cache_control": // moves from turn to turn
		default:
			digest.Write(name)
			digest.Write(r.Raw())
		}
	}
	switch {
	case r.err != nil || IsThinking(kind):
		return false
	case isText:
	case misfit != "" && strings.HasSuffix(kind, "text"):
		r.Fail(RefuseAt(misfit, "a string"))
	case strings.HasSuffix(kind, "text"):
	case kind == "":
		c.content = append(c.content, r.JSONSince(start)...)
	default:
		c.content = c.appendOpaque(c.content, kind, digest.Sum64())
	}
	return true
}

// IsThinking reports whether a part of that type is the model's thinking,
// which is no part of what it said.
func IsThinking(kind string) bool {
	return strings.Contains(kind, "thinking") || strings.Contains(kind, "reasoning")
}

// Opaque is a part of the message being read that is not text: an image, a
// file, whatever comes next.
func (c *Conversation) Opaque(kind string, digest uint64) {
	c.Text(string(c.appendOpaque(nil, kind, digest)))
}

// OpaqueText is how such a part stands in the text of a tool result.
func (c *Conversation) OpaqueText(kind string, digest uint64) string {
	return string(c.appendOpaque(nil, kind, digest))
}

func (c *Conversation) appendOpaque(dst []byte, kind string, digest uint64) []byte {
	c.size.opaque++
	dst = append(dst, '[')
	dst = append(dst, plainKind(kind)...)
	dst = append(dst, ' ')
	var b [8]byte
	for i := range b {
		b[i] = byte(digest >> (56 - 8*i))
	}
	dst = hex.AppendEncode(dst, b[:])
	return append(dst, ']')
}

// plainKind is the one word for parts that formats name differently.
func plainKind(kind string) string {
	kind = strings.TrimPrefix(kind, "input_")
	kind = strings.TrimPrefix(kind, "output_")
	kind = strings.TrimSuffix(kind, "_url")
	for i := range len(kind) {
		if c := kind[i]; i == 32 || c != '_' && c != '-' && (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return "part"
		}
	}
	if kind == "" {
		return "part"
	}
	return kind
}
