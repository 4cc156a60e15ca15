package anthropic

import (
	"math"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/wire"
)

// Messages is the Messages format.
type Messages struct{}

var _ wire.Format = Messages{}

// Name is "anthropic-messages".
func (Messages) Name() string { return "anthropic-messages" }

// Match accepts …/v1/messages, and /messages right behind a base prefix. The
// messages of an OpenAI thread are none of its business.
func (Messages) Match(path string) bool {
	s := wire.Segments(path)
	n := len(s)
	if n == 0 || s[n-1] != "messages" {
		return false
	}
	return n == 1 || s[n-2] == "v1" || s[n-2] == "anthropic" || n == 2 && s[0] != "threads"
}

// ReadCall reads a request for a message.
func (f Messages) ReadCall(_ string, body []byte, m *wire.Memory) (*haltd.Call, error) {
	return wire.ReadCall(f.Name(), body, m, readCall)
}

func readCall(r *wire.Reader, c *wire.Conversation) {
	hasMessages := false
	for name := range r.Object() {
		switch string(name) {
		case "model":
			c.Call.Model = r.Text()
		case "stream":
			c.Call.Stream = r.Bool()
		case "max_tokens":
			c.Call.MaxTokens = int(min(r.Count(), math.MaxInt32))
		case "system":
			readSystem(r, c)
		case "messages":
			hasMessages = r.Kind() == wire.KindArray
			for range c.Messages(r) {
				readMessage(r, c)
			}
		case "tools":
			for range r.Array() {
				readTool(r, c)
			}
		case "metadata":
			readMetadata(r, &c.Call.Hints)
		case "output_format", "output_config":
			c.Schema(len(r.Raw()))
		}
	}
	if !hasMessages {
		r.Fail(wire.RefuseAt("/messages", "an array"))
	}
}

// billingMark starts a system block of Claude Code that changes by itself.
const billingMark = "x-anthropic-billing-header:"

func readSystem(r *wire.Reader, c *wire.Conversation) {
	if r.Kind() != wire.KindArray {
		c.Instructions(r.Text())
		return
	}
	for range r.Array() {
		r.RequireObject()
		if text := c.ContentOrPart(r); !strings.HasPrefix(text, billingMark) {
			c.Instructions(text)
		}
	}
}

func readTool(r *wire.Reader, c *wire.Conversation) {
	start := r.Offset()
	var tool, kind string
	for name := range r.Object() {
		switch string(name) {
		case "name":
			tool = r.Text()
		case "type":
			kind = r.Text()
		}
	}
	if tool == "" {
		tool = kind
	}
	c.Tool(tool, r.Offset()-start)
}

func readMetadata(r *wire.Reader, h *haltd.Hints) {
	if r.Kind() != wire.KindObject {
		return
	}
	for name := range r.Object() {
		if string(name) == "user_id" {
			h.User, h.Session = splitUserID(r.Identifier())
		}
	}
}

// splitUserID finds the session that Claude Code hides in its user id: JSON
// with a session_id or, in older versions, a name that ends in _session_ and
// the session's id.
func splitUserID(id string) (user, session string) {
	if strings.HasPrefix(id, "{") {
		err := wire.ReadLenient([]byte(id), func(r *wire.Reader) {
			for name := range r.Object() {
				if string(name) == "session_id" {
					session = r.OptionalText()
				}
			}
		})
		if err == nil && session != "" {
			return "", session
		}
	}
	if _, session, ok := strings.Cut(id, "_session_"); ok && isUUID(session) {
		return "", session
	}
	return id, ""
}

func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		dash := i == 8 || i == 13 || i == 18 || i == 23
		hex := '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
		if dash != (c == '-') || !dash && !hex {
			return false
		}
	}
	return true
}

func readMessage(r *wire.Reader, c *wire.Conversation) {
	var role string
	r.RequireObject()
	for name := range r.Object() {
		switch string(name) {
		case "role":
			role = r.Piece()
		case "content":
			if r.Kind() != wire.KindArray {
				c.Text(c.Content(r))
				continue
			}
			for range r.Array() {
				readBlock(r, c)
			}
		}
	}
	if role == "" {
		r.Refuse("an object with a role")
	}
	c.End(wire.SpeakerOf(role))
}

// block is a content block of any type. Its members are collected first,
// since its type may be written last.
type block struct {
	kind, id, useID, name string
	text, input, result   string
	content               []byte // read before it was known what it means
	isText, isError       bool
	misfit                string // where a member was of the wrong type
	digest                xxhash.Digest
}

func (b *block) isUse() bool {
	return b.kind == "tool_use" || strings.HasSuffix(b.kind, "_tool_use")
}

func (b *block) isResult() bool {
	return b.kind == "tool_result" || strings.HasSuffix(b.kind, "_tool_result")
}

func readBlock(r *wire.Reader, c *wire.Conversation) {
	if r.Kind() == wire.KindString {
		c.Text(r.Piece())
		return
	}
	var b block
	b.digest.Reset()
	r.RequireObject()
	for name := range r.Object() {
		b.read(name, r, c)
	}
	b.add(r, c)
}

func (b *block) read(name []byte, r *wire.Reader, c *wire.Conversation) {
	kind := r.Kind()
	switch string(name) {
	case "type":
		b.kind = r.Piece()
	case "text":
		b.isText = kind == wire.KindString
		b.text = b.string(kind, r)
	case "id":
		b.id = b.string(kind, r)
	case "tool_use_id":
		b.useID = b.string(kind, r)
	case "name":
		b.name = b.string(kind, r)
	case "input":
		if kind == wire.KindObject {
			b.input = string(r.Raw())
		} else {
			b.skip(kind, r)
		}
	case "content":
		if b.isResult() {
			b.result = c.ContentOrPart(r)
		} else {
			b.content = r.Raw()
		}
	case "is_error":
		if kind == 't' || kind == 'f' {
			b.isError = r.Bool()
		} else {
			b.skip(kind, r)
		}
	case "cache_control": // moves from turn to turn
	default:
		b.digest.Write(name)
		b.digest.Write(r.Raw())
	}
}

func (b *block) string(kind byte, r *wire.Reader) string {
	if kind == wire.KindString {
		return r.Piece()
	}
	b.skip(kind, r)
	return ""
}

// skip passes over a member of a type that a block of a known kind must not
// have. Null stands for no member.
func (b *block) skip(kind byte, r *wire.Reader) {
	if r.Skip(); kind != wire.KindNull {
		b.misfit = r.Pointer()
	}
}

func (b *block) add(r *wire.Reader, c *wire.Conversation) {
	switch {
	case wire.IsThinking(b.kind):
	case b.misfit != "" && (b.kind == "text" || b.isUse() || b.isResult()):
		r.Fail(wire.RefuseAt(b.misfit, "of the type that the API describes"))
	case b.kind == "text" || b.kind == "" && b.isText:
		c.Text(b.text)
	case b.isUse():
		c.ToolCall(haltd.ToolCall{ID: b.id, Name: b.name, Arguments: b.input})
	case b.isResult():
		if b.content != nil {
			r.Reread(b.content, r.Pointer()+"/content", func(r *wire.Reader) { b.result = c.ContentOrPart(r) })
		}
		c.Result(haltd.ToolResult{CallID: b.useID, Text: b.result, Error: b.isError})
	default:
		for _, s := range [...]string{b.id, b.useID, b.name, b.text, b.input, string(b.content)} {
			b.digest.WriteString(s)
		}
		c.Opaque(b.kind, b.digest.Sum64())
	}
}
