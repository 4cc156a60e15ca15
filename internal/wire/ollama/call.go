package ollama

import (
	"math"

	"github.com/cespare/xxhash/v2"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/wire"
)

// Chat is the format of /api/chat.
type Chat struct{}

var _ wire.Format = Chat{}

// Name is "ollama-chat".
func (Chat) Name() string { return "ollama-chat" }

// Match accepts …/api/chat.
func (Chat) Match(path string) bool {
	s := wire.Segments(path)
	n := len(s)
	return n >= 2 && s[n-2] == "api" && s[n-1] == "chat"
}

// ReadCall reads a request for a message. One without messages loads a model.
func (f Chat) ReadCall(_ string, body []byte, m *wire.Memory) (*haltd.Call, error) {
	return wire.ReadCall(f.Name(), body, m, readCall)
}

func readCall(r *wire.Reader, c *wire.Conversation) {
	c.Call.Stream = true // unless told otherwise
	for name := range r.Object() {
		switch string(name) {
		case "model":
			c.Call.Model = r.Text()
		case "stream":
			if r.Kind() != wire.KindNull {
				c.Call.Stream = r.Bool()
			}
		case "messages":
			if r.Kind() == wire.KindNull {
				continue
			}
			for range c.Messages(r) {
				readMessage(r, c)
			}
		case "tools":
			if r.Kind() == wire.KindNull {
				continue
			}
			for range r.Array() {
				readTool(r, c)
			}
		case "format":
			c.Schema(len(r.Raw()))
		case "options":
			if r.Kind() == wire.KindObject {
				readOptions(r, c)
			}
		}
	}
}

func readOptions(r *wire.Reader, c *wire.Conversation) {
	for name := range r.Object() {
		if string(name) == "num_predict" { // below 0 is none
			c.Call.MaxTokens = int(min(max(r.Count(), 0), math.MaxInt32))
		}
	}
}

func readTool(r *wire.Reader, c *wire.Conversation) {
	start := r.Offset()
	var tool string
	for name := range r.Object() {
		if string(name) != "function" || r.Kind() != wire.KindObject {
			continue
		}
		for name := range r.Object() {
			if string(name) == "name" {
				tool = r.Text()
			}
		}
	}
	c.Tool(tool, r.Offset()-start)
}

func readMessage(r *wire.Reader, c *wire.Conversation) {
	var role, content, id, tool string
	r.RequireObject()
	for name := range r.Object() {
		switch string(name) {
		case "role":
			role = r.Piece()
		case "content":
			content = c.Content(r)
		case "images":
			if r.Kind() == wire.KindNull {
				continue
			}
			for range r.Array() {
				c.Opaque("image", xxhash.Sum64(r.Raw()))
			}
		case "tool_calls":
			if r.Kind() == wire.KindNull {
				continue
			}
			for range r.Array() {
				readToolCall(r, c)
			}
		case "tool_call_id":
			id = r.OptionalText()
		case "tool_name", "name":
			tool = r.OptionalText()
		}
	}
	speaker := wire.SpeakerOf(role)
	switch role {
	case "":
		r.Refuse("an object with a role")
	case "tool":
		c.Drop()
		c.Result(haltd.ToolResult{CallID: id, Name: tool, Text: content})
	default:
		c.TextFirst(content)
	}
	c.End(speaker)
}

func readToolCall(r *wire.Reader, c *wire.Conversation) {
	var id string
	var call haltd.ToolCall
	r.RequireObject()
	for name := range r.Object() {
		switch string(name) {
		case "id":
			id = r.OptionalText()
		case "function":
			for name := range r.Object() {
				switch string(name) {
				case "name":
					call.Name = r.Piece()
				case "arguments":
					call.Arguments = r.TextOrObject()
				}
			}
		}
	}
	call.ID = id
	c.ToolCall(call)
}
