package openai

import (
	pathpkg "path"
	"strings"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/wire"
)

// Responses is the Responses format.
type Responses struct{}

var _ wire.Keeper = Responses{}

// Name is "openai-responses".
func (Responses) Name() string { return "openai-responses" }

// Match accepts …/responses and nothing below it.
func (Responses) Match(path string) bool {
	s := wire.Segments(path)
	return len(s) >= 1 && s[len(s)-1] == "responses"
}

// Fetched is the last segment of …/responses/{id}.
func (Responses) Fetched(path string) string {
	if s := wire.Segments(path); len(s) < 2 || s[len(s)-2] != "responses" {
		return ""
	}
	id, _, _ := strings.Cut(pathpkg.Base(path), ";")
	return id
}

// ReadCall reads a request for a response.
func (f Responses) ReadCall(path string, body []byte, m *wire.Memory) (*haltd.Call, error) {
	return deployed(path)(wire.ReadCall(f.Name(), body, m, readResponsesCall))
}

func readResponsesCall(r *wire.Reader, c *wire.Conversation) {
	var h hints
	for name := range r.Object() {
		switch string(name) {
		case "model":
			c.Call.Model = r.Text()
		case "stream":
			c.Call.Stream = r.Bool()
		case "max_output_tokens":
			c.Call.MaxTokens = tokenLimit(r)
		case "instructions":
			c.Instructions(c.Content(r))
		case "input":
			readInput(r, c)
		case "prompt":
			readPrompt(r, c)
		case "tools":
			for range r.Array() {
				readTool(r, c)
			}
		case "text":
			c.Schema(len(r.Raw()))
		default:
			if !readRouting(name, r, c) {
				h.read(name, r)
			}
		}
	}
	c.Call.Hints = h.call()
}

// readPrompt reads which prompt of the account is asked, and with what in it.
// Nothing rests on its type but that of parts that it is filled with.
func readPrompt(r *wire.Reader, c *wire.Conversation) {
	if r.Kind() != wire.KindObject {
		c.Stored(r.OptionalText())
		return
	}
	for name := range r.Object() {
		if string(name) != "variables" || r.Kind() != wire.KindObject {
			c.Stored(r.TextOrJSON())
			continue
		}
		for name := range r.Members() {
			c.Stored(string(name))
			if r.Kind() == wire.KindObject {
				c.Stored(c.ContentOrPart(r))
			} else {
				c.Stored(r.TextOrJSON())
			}
		}
	}
}

func readInput(r *wire.Reader, c *wire.Conversation) {
	switch r.Kind() {
	case wire.KindString:
		c.Text(r.Piece())
		c.End(wire.User)
	case wire.KindArray, wire.KindNull:
		for range c.Messages(r) {
			readItem(r, c)
		}
	default:
		r.Skip()
		r.Refuse("a string or an array of items")
	}
}

// item is one input item of any type. Its members are collected first, since
// its type may be written last.
type item struct {
	kind, role, id, callID, name string
	text, arguments, output      string
	hasOutput, failed            bool
	rawContent, rawOutput        []byte // read before it was known what they mean
	misfit                       string // where a member was of the wrong type
}

// isCall and isOutput go by the ending of the type, so that tools which are
// not invented yet are read too.
func (it *item) isMessage() bool { return it.kind == "message" || it.kind == "" && it.role != "" }
func (it *item) isCall() bool    { return strings.HasSuffix(it.kind, "_call") }
func (it *item) isOutput() bool  { return strings.HasSuffix(it.kind, "_call_output") }

func readItem(r *wire.Reader, c *wire.Conversation) {
	var it item
	r.RequireObject()
	for name := range r.Object() {
		it.read(name, r, c)
	}
	if it.misfit != "" && (it.isMessage() || it.isCall() || it.isOutput()) {
		r.Fail(wire.RefuseAt(it.misfit, "a string"))
	}
	it.settle(r, c)
	it.add(r, c)
}

func (it *item) read(name []byte, r *wire.Reader, c *wire.Conversation) {
	switch string(name) {
	case "type":
		it.kind = r.Piece()
	case "role":
		it.role = r.Piece()
	case "id":
		it.id = it.string(r)
	case "call_id":
		it.callID = it.string(r)
	case "name":
		it.name = it.string(r)
	case "content":
		if it.isMessage() {
			it.text = c.Content(r)
		} else if it.kind == "" {
			it.rawContent = r.Raw()
		}
	case "arguments", "input", "action", "operation", "code", "queries":
		if text := r.TextOrJSON(); text != "" {
			it.arguments = text
		}
	case "output", "outputs", "results":
		if r.Kind() == wire.KindNull {
			return
		}
		if it.hasOutput = true; it.isCall() || it.isOutput() {
			it.output = c.ContentOrPart(r)
		} else if it.kind == "" {
			it.rawOutput = r.Raw()
		}
	case "error":
		if text := r.TextOrJSON(); text != "" {
			it.failed, it.hasOutput = true, true
			it.output = strings.TrimPrefix(it.output+"\n"+text, "\n")
		}
	case "status":
		status := r.OptionalText()
		it.failed = it.failed || status == "failed" || status == "incomplete"
	case "tools":
		if r.Kind() == wire.KindArray {
			for range r.Array() {
				readTool(r, c)
			}
		}
	}
}

// string reads a member that must be a string in the items that rest on it.
func (it *item) string(r *wire.Reader) string {
	if k := r.Kind(); k == wire.KindString || k == wire.KindNull {
		return r.Piece()
	}
	r.Skip()
	it.misfit = r.Pointer()
	return ""
}

// settle reads what came before the type.
func (it *item) settle(r *wire.Reader, c *wire.Conversation) {
	if it.rawContent != nil && it.isMessage() {
		r.Reread(it.rawContent, r.Pointer()+"/content", func(r *wire.Reader) { it.text = c.Content(r) })
	}
	if it.rawOutput != nil && (it.isCall() || it.isOutput()) {
		r.Reread(it.rawOutput, r.Pointer()+"/output", func(r *wire.Reader) { it.output = c.ContentOrPart(r) })
	}
}

func (it *item) add(r *wire.Reader, c *wire.Conversation) {
	if it.callID == "" {
		it.callID = it.id
	}
	switch {
	case it.isMessage():
		if it.role == "" {
			r.Refuse("an object with a role")
		}
		c.Text(it.text)
		c.End(wire.SpeakerOf(it.role))
	case it.isCall():
		tool := it.name
		if tool == "" {
			tool = strings.TrimSuffix(it.kind, "_call")
		}
		c.ToolCall(haltd.ToolCall{ID: it.callID, Name: tool, Arguments: it.arguments})
		if it.hasOutput { // the provider ran it
			c.Result(haltd.ToolResult{CallID: it.callID, Name: tool, Text: it.output, Error: it.failed})
		}
		c.End(wire.Assistant)
	case it.isOutput():
		c.Result(haltd.ToolResult{CallID: it.callID, Name: it.name, Text: it.output, Error: it.failed})
		c.End(wire.User)
	}
}
