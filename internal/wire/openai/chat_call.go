package openai

import (
	"math"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/wire"
)

// Chat is the Chat Completions format.
type Chat struct{}

var _ wire.Format = Chat{}

// Name is "openai-chat".
func (Chat) Name() string { return "openai-chat" }

// Match accepts …/chat/completions.
func (Chat) Match(path string) bool {
	s := wire.Segments(path)
	n := len(s)
	return n >= 2 && s[n-2] == "chat" && s[n-1] == "completions"
}

// ReadCall reads a chat completion request.
func (f Chat) ReadCall(path string, body []byte, m *wire.Memory) (*haltd.Call, error) {
	return deployed(path)(wire.ReadCall(f.Name(), body, m, readChatCall))
}

func readChatCall(r *wire.Reader, c *wire.Conversation) {
	var h hints
	hasMessages := false
	for name := range r.Object() {
		switch string(name) {
		case "model":
			c.Call.Model = r.Text()
		case "stream":
			c.Call.Stream = r.Bool()
		case "max_tokens", "max_completion_tokens":
			c.Call.MaxTokens = max(c.Call.MaxTokens, tokenLimit(r))
		case "n":
			c.Call.Choices = wire.Choices(r)
		case "prediction":
			c.Call.Predicted = (len(r.Raw()) + 3) / 4
		case "response_format":
			c.Schema(len(r.Raw()))
		case "messages":
			hasMessages = r.Kind() == wire.KindArray
			for range c.Messages(r) {
				readChatMessage(r, c)
			}
		case "tools", "functions":
			for range r.Array() {
				readTool(r, c)
			}
		default:
			if !readRouting(name, r, c) {
				h.read(name, r)
			}
		}
	}
	if !hasMessages {
		r.Fail(wire.RefuseAt("/messages", "an array"))
	}
	c.Call.Hints = h.call()
}

// readRouting reads the members of both formats that say which models may
// answer and how long they may think; ok is false for any other.
func readRouting(name []byte, r *wire.Reader, c *wire.Conversation) (ok bool) {
	switch string(name) {
	case "models":
		if r.Kind() == wire.KindArray {
			for range r.Array() {
				c.Model(r.OptionalText())
			}
		}
	case "reasoning_effort":
		effort := r.OptionalText()
		c.Call.Reasons = c.Call.Reasons || effort != "" && effort != "none"
	case "reasoning":
		if r.Kind() != wire.KindObject {
			return true
		}
		c.Call.Reasons = true
		for name := range r.Object() {
			if string(name) == "effort" && r.OptionalText() == "none" {
				c.Call.Reasons = false
			}
		}
	default:
		return false
	}
	return true
}

func tokenLimit(r *wire.Reader) int { return int(min(r.Count(), math.MaxInt32)) }

// readTool reads a declared tool of either format: its name, that of its
// function, or the type of one that is built in.
func readTool(r *wire.Reader, c *wire.Conversation) {
	start := r.Offset()
	var tool, kind string
	for name := range r.Object() {
		switch string(name) {
		case "name":
			tool = r.Text()
		case "type":
			kind = r.Text()
		case "function", "custom":
			for name := range r.Object() {
				if string(name) == "name" {
					tool = r.Text()
				}
			}
		}
	}
	if tool == "" {
		tool = kind
	}
	c.Tool(tool, r.Offset()-start)
}

func readChatMessage(r *wire.Reader, c *wire.Conversation) {
	var role, content, refusal, callID, tool string
	r.RequireObject()
	for name := range r.Object() {
		switch string(name) {
		case "role":
			role = r.Piece()
		case "content":
			content = c.Content(r)
		case "refusal":
			refusal = r.Piece()
		case "tool_calls":
			for range r.Array() {
				readChatToolCall(r, c)
			}
		case "function_call":
			if call := readFunctionCall(r); call.Name != "" {
				c.ToolCall(call)
			}
		case "tool_call_id":
			callID = r.Piece()
		case "name":
			tool = r.OptionalText()
		}
	}
	speaker := wire.SpeakerOf(role)
	if speaker != wire.Assistant {
		c.Drop() // nobody else calls tools
	}
	switch role {
	case "":
		r.Refuse("an object with a role")
	case "tool", "function":
		c.Result(haltd.ToolResult{CallID: callID, Name: tool, Text: content})
	default:
		if content != "" && refusal != "" {
			content += "\n"
		}
		c.TextFirst(content + refusal)
	}
	c.End(speaker)
}

func readChatToolCall(r *wire.Reader, c *wire.Conversation) {
	var id string
	var call haltd.ToolCall
	r.RequireObject()
	for name := range r.Object() {
		switch string(name) {
		case "id":
			id = r.Piece()
		case "function", "custom":
			call = readFunctionCall(r)
		}
	}
	call.ID = id
	c.ToolCall(call)
}

// readFunctionCall reads the name and the arguments of a call. Arguments are
// a string that holds JSON; some compatible servers take the JSON itself.
func readFunctionCall(r *wire.Reader) (call haltd.ToolCall) {
	for name := range r.Object() {
		switch string(name) {
		case "name":
			call.Name = r.Piece()
		case "arguments":
			call.Arguments = r.TextOrObject()
		case "input":
			call.Arguments = r.Piece()
		}
	}
	return call
}
