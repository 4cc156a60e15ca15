package main

import (
	"bytes"
	"encoding/json"
	"fmt"
)

type chatRequest struct {
	Model         string          `json:"model"`
	Messages      json.RawMessage `json:"messages"`
	Tools         []chatTool      `json:"tools,omitempty"`
	Temperature   float64         `json:"temperature"`
	MaxTokens     int             `json:"max_tokens"`
	Stream        bool            `json:"stream,omitempty"`
	StreamOptions *streamOptions  `json:"stream_options,omitempty"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type chatMessage struct {
	Role       string     `json:"role"`
	Content    string     `json:"content"`
	ToolCalls  []toolCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

type toolCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function toolFunction `json:"function"`
}

type toolFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type chatTool struct {
	Type     string         `json:"type"`
	Function toolDefinition `json:"function"`
}

type toolDefinition struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

var toolbox = []chatTool{
	tool("read_file", "Read part of a file of the project.", `{"type":"object","properties":{"path":{"type":"string"},"line":{"type":"integer"}},"required":["path"]}`),
	tool("run_command", "Run a shell command and return what it printed.", `{"type":"object","properties":{"command":{"type":"string"},"timeout":{"type":"integer"}},"required":["command"]}`),
	tool("write_file", "Replace a file of the project.", `{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}`),
}

func tool(name, description, parameters string) chatTool {
	return chatTool{Type: "function", Function: toolDefinition{name, description, json.RawMessage(parameters)}}
}

// conversation is a session as the provider sees it, turn by turn. Its
// requests share their bytes: each is head, a stretch of the messages, tail.
type conversation struct {
	head, tail []byte
	messages   []byte
	turns      []turn
	// fresh is where in messages a text stands that every session has for
	// itself; empty where there is none.
	fresh span
}

// span is a stretch of a text.
type span struct{ from, to int }

type turn struct {
	from, to int // in messages
	reply    int // the number of the reply to it
}

// body is the whole body of one turn's request.
func (c *conversation) body(n int) []byte {
	t := c.turns[n]
	return append(append(append([]byte(nil), c.head...), c.messages[t.from:t.to]...), c.tail...)
}

func (c *conversation) length(n int) int {
	return len(c.head) + c.turns[n].to - c.turns[n].from + len(c.tail)
}

const (
	// questions is how many a session asks.
	questions = 20
	// reads is how many files an agent reads before it works in small steps.
	reads = 6
	// stepBytes is what a tool answers where every round has the same size, which
	// is 1 KB or so.
	stepBytes = 400
	// replyStride keeps the replies of sessions that are open at the same
	// time apart.
	replyStride = 41
)

const systemPrompt = "You are a careful engineer. Work in small steps and check what you did."

// newConversation makes the number-th session of a load of requests of about
// the given size. The same arguments make the same bytes.
func newConversation(k kind, number, seed, size int, stream bool) (*conversation, error) {
	r := chatRequest{Model: "gpt-4.1-mini", Messages: json.RawMessage("[0]"), Temperature: 0.2, MaxTokens: 1024, Stream: stream}
	if stream {
		r.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	if k.works() {
		r.Tools = toolbox
	}
	frame, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode a request: %w", err)
	}
	c := &conversation{}
	before, after, _ := bytes.Cut(frame, []byte("[0]"))
	c.head, c.tail = append(before, '['), append([]byte{']'}, after...)
	w := newWriter(number, seed)
	switch k {
	case oneShot, visiting:
		return c, c.askOnce(w, number, size)
	case sameAnswer:
		return c, c.askOnce(w, 0, size) // all get the reply to the first
	case questioning:
		return c, c.ask(w, number, size)
	case stepping:
		return c, c.step(w, number, size)
	}
	return c, c.work(w, number, size)
}

// askOnce makes a session of one call, whose text nobody else sends.
func (c *conversation) askOnce(w writer, number, size int) error {
	if err := c.askTimes(w, number, size, 1); err != nil {
		return err
	}
	const before = `"content":"`
	c.fresh.from = bytes.LastIndex(c.messages, []byte(before)) + len(before)
	c.fresh.to = bytes.LastIndexByte(c.messages, '"')
	return nil
}

// ask fills a session with questions that have nothing to do with each other.
func (c *conversation) ask(w writer, number, size int) error {
	return c.askTimes(w, number, size, questions)
}

func (c *conversation) askTimes(w writer, number, size, times int) error {
	empty, err := encode(chatMessage{Role: "system", Content: systemPrompt}, chatMessage{Role: "user"})
	if err != nil {
		return err
	}
	missing := max(0, size-len(c.head)-len(empty)-len(c.tail))
	for n := range times {
		question, err := encode(chatMessage{Role: "system", Content: systemPrompt}, chatMessage{Role: "user", Content: w.text(missing)})
		if err != nil {
			return err
		}
		from := len(c.messages)
		c.messages = append(c.messages, question...)
		c.turns = append(c.turns, turn{from, len(c.messages), replyTo(number, n)})
	}
	return nil
}

// work fills a session with an agent at work: it is given a task, reads files
// until its requests have nearly their size, and goes on in small steps until
// they have a little more. Each turn sends again what was said before.
func (c *conversation) work(w writer, number, size int) error {
	if err := c.task(w); err != nil {
		return err
	}
	for n := 0; ; n++ {
		c.turns = append(c.turns, turn{0, len(c.messages), replyTo(number, n)})
		result := size / 100
		switch have := c.length(n); {
		case have > size*13/10:
			return nil
		case have < size*19/20:
			result = size * 3 / 4 / reads
		}
		if err := c.round(replyTo(number, n), w.lines(result)); err != nil {
			return err
		}
	}
}

// step fills a session with an agent whose every call is one round of the same
// size more, until a request has its size.
func (c *conversation) step(w writer, number, size int) error {
	if err := c.task(w); err != nil {
		return err
	}
	for n := 0; ; n++ {
		c.turns = append(c.turns, turn{0, len(c.messages), replyTo(number, n)})
		if c.length(n) >= size {
			return nil
		}
		if err := c.round(replyTo(number, n), w.lines(stepBytes)); err != nil {
			return err
		}
	}
}

// task begins a session of an agent at work.
func (c *conversation) task(w writer) (err error) {
	task := chatMessage{Role: "user", Content: fmt.Sprintf("Task %s: %s", w.name(), w.sentence(20))}
	c.messages, err = encode(chatMessage{Role: "system", Content: systemPrompt}, task)
	return err
}

// round adds what the assistant said and what its tool answered.
func (c *conversation) round(reply int, result string) error {
	text, call := answer(reply, true)
	round, err := encode(
		chatMessage{Role: "assistant", Content: text, ToolCalls: []toolCall{*call}},
		chatMessage{Role: "tool", Content: result, ToolCallID: call.ID})
	c.messages = append(append(c.messages, ','), round...)
	return err
}

// encode is messages as they stand between the brackets of a request.
func encode(messages ...chatMessage) ([]byte, error) {
	b, err := json.Marshal(messages)
	if err != nil {
		return nil, fmt.Errorf("encode messages: %w", err)
	}
	return b[1 : len(b)-1], nil
}

// replyTo is the number of the reply to a turn of a session.
func replyTo(session, turn int) int { return (session*replyStride + turn) % replies }
