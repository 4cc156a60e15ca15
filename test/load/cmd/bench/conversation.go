package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

// conversations is how many different sessions the load comes from, ten to
// an agent.
const conversations = 200

type chatRequest struct {
	Model         string         `json:"model"`
	Messages      []chatMessage  `json:"messages"`
	Tools         []chatTool     `json:"tools,omitempty"`
	Temperature   float64        `json:"temperature"`
	MaxTokens     int            `json:"max_tokens"`
	Stream        bool           `json:"stream,omitempty"`
	StreamOptions *streamOptions `json:"stream_options,omitempty"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type chatMessage struct {
	Role       string     `json:"role"`
	Content    *string    `json:"content"`
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

// chatBody is the OpenAI Chat request of one conversation, as long as size
// says to within a few bytes. A small one is a question; a large one is an
// agent at work, with a history of tool calls and their results. The same
// arguments make the same bytes.
func chatBody(conversation, size int, stream bool) ([]byte, error) {
	w := writer{rand.New(rand.NewPCG(uint64(conversation), uint64(size)))}
	r := chatRequest{Model: "gpt-4.1-mini", Temperature: 0.2, MaxTokens: 1024, Stream: stream}
	if stream {
		r.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	r.say("system", "You are a careful engineer. Work in small steps and check what you did.")
	r.say("user", fmt.Sprintf("Task %d: %s", conversation, w.sentence(20)))
	if size >= 8<<10 {
		r.Tools = toolbox
		for length := 0; length < size-8<<10; {
			length += r.step(&w, len(r.Messages))
		}
	}
	return r.fill(&w, size)
}

// fill adds a last message that brings the request to its size.
func (r *chatRequest) fill(w *writer, size int) ([]byte, error) {
	r.say("user", "")
	last := &r.Messages[len(r.Messages)-1]
	body, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode the conversation: %w", err)
	}
	text := "Go on."
	if missing := size - len(body); missing > len(text) {
		text = w.text(missing)
	}
	last.Content = &text
	if body, err = json.Marshal(r); err != nil {
		return nil, fmt.Errorf("encode the conversation: %w", err)
	}
	return body, nil
}

func (r *chatRequest) say(role, text string) {
	r.Messages = append(r.Messages, chatMessage{Role: role, Content: &text})
}

// step adds one tool call and its result and says about how many bytes that
// takes.
func (r *chatRequest) step(w *writer, n int) int {
	id := fmt.Sprintf("call_%024x", w.Uint64())
	name, arguments := "read_file", fmt.Sprintf(`{"path":"src/%s/%s.go","line":%d}`, w.word(), w.word(), w.IntN(900))
	if n%3 == 0 {
		name, arguments = "run_command", fmt.Sprintf(`{"command":"grep -rn %s src/%s","timeout":30}`, w.word(), w.word())
	}
	thought, result := w.sentence(14), w.lines(900)
	r.Messages = append(r.Messages,
		chatMessage{Role: "assistant", Content: &thought, ToolCalls: []toolCall{{ID: id, Type: "function", Function: toolFunction{name, arguments}}}},
		chatMessage{Role: "tool", Content: &result, ToolCallID: id})
	return len(thought) + len(arguments) + len(result) + 250
}

var toolbox = []chatTool{
	tool("read_file", "Read part of a file of the project.", `{"type":"object","properties":{"path":{"type":"string"},"line":{"type":"integer"}},"required":["path"]}`),
	tool("run_command", "Run a shell command and return what it printed.", `{"type":"object","properties":{"command":{"type":"string"},"timeout":{"type":"integer"}},"required":["command"]}`),
	tool("write_file", "Replace a file of the project.", `{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}`),
}

func tool(name, description, parameters string) chatTool {
	return chatTool{Type: "function", Function: toolDefinition{name, description, json.RawMessage(parameters)}}
}

// writer makes text that looks like text and needs no escaping but for line
// breaks.
type writer struct{ *rand.Rand }

var vocabulary = strings.Fields("account agent balance batch cache call check client commit config cost count customer delay detect " +
	"error event fetch file filter flow gateway handle index invoice job key latency limit list load lock message meter model " +
	"order page parse payment plan policy prompt queue quota read record refund reply report request retry route rule session " +
	"state status store stream task test token tool total trace update user value verify window worker write the a of to in for with and")

func (w *writer) word() string { return vocabulary[w.IntN(len(vocabulary))] }

func (w *writer) sentence(words int) string {
	var b strings.Builder
	for i := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w.word())
	}
	b.WriteByte('.')
	return b.String()
}

// text is exactly size bytes of sentences.
func (w *writer) text(size int) string {
	var b strings.Builder
	for b.Len() < size {
		b.WriteString(w.sentence(12))
		b.WriteByte(' ')
	}
	return b.String()[:size]
}

// lines is about size bytes of what a tool could print.
func (w *writer) lines(size int) string {
	var b strings.Builder
	for b.Len() < size {
		fmt.Fprintf(&b, "src/%s/%s.go:%d: %s\n", w.word(), w.word(), w.IntN(900), w.sentence(8))
	}
	return b.String()
}

// wireRequest is a whole HTTP/1.1 request as one client of the conversation
// sends it.
func wireRequest(conversation int, session string, body []byte) []byte {
	head := fmt.Sprintf("POST /v1/chat/completions HTTP/1.1\r\n"+
		"Host: 127.0.0.1\r\n"+
		"User-Agent: OpenAI/Python 2.8.1\r\n"+
		"Accept: application/json\r\n"+
		"Content-Type: application/json\r\n"+
		"Authorization: Bearer sk-bench-000000000000000000000000\r\n"+
		"X-Agent-Id: bench-%02d\r\n"+
		"X-Session-Id: %s\r\n"+
		"Content-Length: %d\r\n\r\n", conversation%(conversations/10), session, len(body))
	return append([]byte(head), body...)
}

// sessionOf names the session of a conversation. Each kind of load has its
// own: a session that says the same again and again is a loop.
func sessionOf(conversation, size int, stream bool) string {
	return fmt.Sprintf("bench-%d-%t-%s", size, stream, conversationID(conversation))
}

// conversationID is the end of the name of a session, by which the upstream
// knows it.
func conversationID(conversation int) string { return fmt.Sprintf("%04d", conversation) }

// load is what one cell of the benchmark sends and expects: the request of
// each conversation and the body of its reply.
type load []exchange

type exchange struct{ request, reply []byte }

func newLoad(size int, stream bool) (load, error) {
	l := make(load, conversations)
	for i := range l {
		body, err := chatBody(i, size, stream)
		if err != nil {
			return nil, err
		}
		l[i] = exchange{wireRequest(i, sessionOf(i, size, stream), body), jsonReply(i)}
		if stream {
			l[i].reply = []byte(strings.Join(streamReply(i), ""))
		}
	}
	return l, nil
}
