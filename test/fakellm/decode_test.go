package fakellm_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
)

// content is what a reply says, whatever its format. Tool call ids are left
// out, Gemini has none.
type content struct {
	Text, Thinking string
	Calls          []fakellm.ToolCall
	Finish         string
	Usage          *haltd.Usage
	Err            string
}

func (c *content) call(i int) *fakellm.ToolCall {
	for len(c.Calls) <= i {
		c.Calls = append(c.Calls, fakellm.ToolCall{})
	}
	return &c.Calls[i]
}

// wire is one format as a test speaks it.
type wire struct {
	name   string
	path   func(model string, stream bool) string
	body   func(model string, stream bool, prompt string) string
	finish [2]string // after text, after tool calls
	whole  func(t *testing.T, body []byte) content
	stream func(t *testing.T, body []byte) content
}

var wires = []wire{
	{
		name: "openai-chat",
		path: func(string, bool) string { return "/v1/chat/completions" },
		body: func(model string, stream bool, prompt string) string {
			return render(map[string]any{"model": model, "stream": stream, "stream_options": map[string]any{"include_usage": stream},
				"messages": []any{map[string]any{"role": "user", "content": prompt}},
				"tools":    []any{map[string]any{"type": "function", "function": map[string]any{"name": "read", "parameters": schema}}}})
		},
		finish: [2]string{"stop", "tool_calls"},
		whole:  func(t *testing.T, b []byte) content { return chatContent(t, b, false) },
		stream: func(t *testing.T, b []byte) content { return chatContent(t, b, true) },
	},
	{
		name: "openai-responses",
		path: func(string, bool) string { return "/v1/responses" },
		body: func(model string, stream bool, prompt string) string {
			return render(map[string]any{"model": model, "stream": stream, "input": prompt,
				"tools": []any{map[string]any{"type": "function", "name": "read", "parameters": schema}}})
		},
		finish: [2]string{"completed", "completed"},
		whole:  wholeResponse,
		stream: streamResponse,
	},
	{
		name: "anthropic",
		path: func(string, bool) string { return "/v1/messages" },
		body: func(model string, stream bool, prompt string) string {
			return render(map[string]any{"model": model, "stream": stream, "max_tokens": 10,
				"messages": []any{map[string]any{"role": "user", "content": []any{map[string]any{"type": "text", "text": prompt}}}},
				"tools":    []any{map[string]any{"name": "read", "input_schema": schema}}})
		},
		finish: [2]string{"end_turn", "tool_use"},
		whole:  wholeMessage,
		stream: streamMessage,
	},
	gemini("gemini-sse", "?alt=sse", func(t *testing.T, b []byte) [][]byte { return dataOf(events(t, b, "\r\n")) }),
	gemini("gemini-array", "", arrayElements),
}

func gemini(name, query string, split func(*testing.T, []byte) [][]byte) wire {
	return wire{
		name: name,
		path: func(model string, stream bool) string {
			if stream {
				return "/v1beta/models/" + model + ":streamGenerateContent" + query
			}
			return "/v1beta/models/" + model + ":generateContent"
		},
		body: func(_ string, _ bool, prompt string) string {
			return render(map[string]any{
				"contents": []any{map[string]any{"role": "user", "parts": []any{map[string]any{"text": prompt}}}},
				"tools":    []any{map[string]any{"functionDeclarations": []any{map[string]any{"name": "read", "parameters": schema}}}}})
		},
		finish: [2]string{"STOP", "STOP"},
		whole:  func(t *testing.T, b []byte) content { return geminiContent(t, [][]byte{b}) },
		stream: func(t *testing.T, b []byte) content { return geminiContent(t, split(t, b)) },
	}
}

var schema = map[string]any{"type": "object", "properties": map[string]any{
	"path": map[string]any{"type": "string"}, "lines": map[string]any{"type": "integer"},
}}

const sampleArguments = `{"lines":1,"path":"sample"}`

func render(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func decode[T any](t *testing.T, b []byte) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatalf("reply is not JSON: %v\n%s", err, b)
	}
	return v
}

type event struct {
	name string
	data []byte
}

// events splits a stream whose lines end with eol.
func events(t *testing.T, body []byte, eol string) []event {
	t.Helper()
	text, ok := strings.CutSuffix(string(body), eol+eol)
	if !ok {
		t.Fatalf("stream does not end with an empty line: %q", body)
	}
	var out []event
	for _, block := range strings.Split(text, eol+eol) {
		var e event
		for _, line := range strings.Split(block, eol) {
			field, value, _ := strings.Cut(line, ": ")
			switch field {
			case "event":
				e.name = value
			case "data":
				e.data = []byte(value)
			default:
				t.Fatalf("line %q is neither event nor data", line)
			}
		}
		out = append(out, e)
	}
	return out
}

func dataOf(es []event) [][]byte {
	var out [][]byte
	for _, e := range es {
		out = append(out, e.data)
	}
	return out
}

type chatUsage struct {
	PromptTokens        int64 `json:"prompt_tokens"`
	CompletionTokens    int64 `json:"completion_tokens"`
	PromptTokensDetails struct {
		CachedTokens int64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

type chatMessage struct {
	Content          string
	ReasoningContent string `json:"reasoning_content"`
	ToolCalls        []struct {
		Index    int
		Function fakellm.ToolCall
	} `json:"tool_calls"`
}

func chatContent(t *testing.T, body []byte, stream bool) content {
	t.Helper()
	chunks := [][]byte{body}
	if stream {
		chunks = dataOf(events(t, body, "\n"))
	}
	var c content
	for i, data := range chunks {
		if string(data) == "[DONE]" {
			if i != len(chunks)-1 {
				t.Errorf("[DONE] is event %d of %d", i+1, len(chunks))
			}
			break
		}
		chunk := decode[struct {
			Choices []struct {
				Message, Delta chatMessage
				FinishReason   string `json:"finish_reason"`
			}
			Usage *chatUsage
			Error *struct{ Message string }
		}](t, data)
		if chunk.Error != nil {
			c.Err = chunk.Error.Message
		}
		if u := chunk.Usage; u != nil {
			c.Usage = &haltd.Usage{Input: u.PromptTokens, Output: u.CompletionTokens, CacheRead: u.PromptTokensDetails.CachedTokens}
		}
		for _, choice := range chunk.Choices {
			m := choice.Message
			if stream {
				m = choice.Delta
			}
			c.Text += m.Content
			c.Thinking += m.ReasoningContent
			for i, call := range m.ToolCalls {
				if stream {
					i = call.Index
				}
				c.call(i).Name += call.Function.Name
				c.call(i).Arguments += call.Function.Arguments
			}
			c.Finish += choice.FinishReason
		}
	}
	return c
}

type responseItem struct {
	Type, Name, Arguments string
	Content, Summary      []struct{ Text string }
}

func wholeResponse(t *testing.T, body []byte) content {
	t.Helper()
	r := decode[struct {
		Status string
		Output []responseItem
		Usage  *struct {
			InputTokens  int64 `json:"input_tokens"`
			OutputTokens int64 `json:"output_tokens"`
			Details      struct {
				CachedTokens int64 `json:"cached_tokens"`
			} `json:"input_tokens_details"`
		}
	}](t, body)
	c := content{Finish: r.Status}
	for _, item := range r.Output {
		switch item.Type {
		case "reasoning":
			c.Thinking += item.Summary[0].Text
		case "message":
			c.Text += item.Content[0].Text
		case "function_call", "custom_tool_call":
			c.Calls = append(c.Calls, fakellm.ToolCall{Name: item.Name, Arguments: item.Arguments})
		}
	}
	if u := r.Usage; u != nil {
		c.Usage = &haltd.Usage{Input: u.InputTokens, Output: u.OutputTokens, CacheRead: u.Details.CachedTokens}
	}
	return c
}

// streamResponse puts the reply together from the deltas alone and checks it
// against the response object that ends the stream.
func streamResponse(t *testing.T, body []byte) content {
	t.Helper()
	var c content
	calls := 0
	for i, e := range events(t, body, "\n") {
		v := decode[struct {
			Type           string
			SequenceNumber int `json:"sequence_number"`
			Delta          string
			Item           responseItem
			Response       json.RawMessage
			Error          struct{ Message string }
		}](t, e.data)
		if v.Type != e.name || v.SequenceNumber != i {
			t.Errorf("event %d: name %q, type %q, sequence_number %d", i, e.name, v.Type, v.SequenceNumber)
		}
		switch v.Type {
		case "response.reasoning_summary_text.delta":
			c.Thinking += v.Delta
		case "response.output_text.delta":
			c.Text += v.Delta
		case "response.output_item.added":
			if v.Item.Type == "function_call" {
				calls++
				c.call(calls - 1).Name = v.Item.Name
			}
		case "response.function_call_arguments.delta":
			c.call(calls - 1).Arguments += v.Delta
		case "error":
			c.Err = v.Error.Message
		case "response.completed", "response.incomplete":
			end := wholeResponse(t, v.Response)
			c.Finish, c.Usage = end.Finish, end.Usage
		}
	}
	return c
}

type anthropicUsage struct {
	InputTokens  int64 `json:"input_tokens"`
	CacheWrite   int64 `json:"cache_creation_input_tokens"`
	CacheRead    int64 `json:"cache_read_input_tokens"`
	OutputTokens int64 `json:"output_tokens"`
}

func (u *anthropicUsage) sum() *haltd.Usage {
	if u == nil {
		return nil
	}
	return &haltd.Usage{Input: u.InputTokens + u.CacheWrite + u.CacheRead, Output: u.OutputTokens, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite}
}

type anthropicBlock struct {
	Type, Text, Thinking, Name string
	Input                      json.RawMessage
	PartialJSON                string `json:"partial_json"`
}

func wholeMessage(t *testing.T, body []byte) content {
	t.Helper()
	m := decode[struct {
		Content    []anthropicBlock
		StopReason string `json:"stop_reason"`
		Usage      *anthropicUsage
	}](t, body)
	c := content{Finish: m.StopReason, Usage: m.Usage.sum()}
	for _, b := range m.Content {
		c.Text += b.Text
		c.Thinking += b.Thinking
		if b.Type == "tool_use" {
			c.Calls = append(c.Calls, fakellm.ToolCall{Name: b.Name, Arguments: string(b.Input)})
		}
	}
	return c
}

func streamMessage(t *testing.T, body []byte) content {
	t.Helper()
	var c content
	pings, blocks := 0, 0
	for _, e := range events(t, body, "\n") {
		v := decode[struct {
			Type         string
			ContentBlock anthropicBlock `json:"content_block"`
			Delta        struct {
				anthropicBlock
				StopReason string `json:"stop_reason"`
			}
			Usage *anthropicUsage
			Error struct{ Message string }
		}](t, e.data)
		if v.Type != e.name {
			t.Errorf("event %q has type %q", e.name, v.Type)
		}
		switch v.Type {
		case "ping":
			pings++
		case "error":
			c.Err = v.Error.Message
		case "content_block_start":
			blocks++
			if v.ContentBlock.Type == "tool_use" {
				c.Calls = append(c.Calls, fakellm.ToolCall{Name: v.ContentBlock.Name})
			}
		case "content_block_delta":
			c.Text += v.Delta.Text
			c.Thinking += v.Delta.Thinking
			if v.Delta.Type == "input_json_delta" {
				c.call(len(c.Calls) - 1).Arguments += v.Delta.PartialJSON
			}
		case "message_delta":
			c.Finish, c.Usage = v.Delta.StopReason, v.Usage.sum()
		}
	}
	if pings != min(blocks, 1) {
		t.Errorf("%d ping events with %d content blocks, want one after the first block begins", pings, blocks)
	}
	return c
}

func geminiContent(t *testing.T, chunks [][]byte) content {
	t.Helper()
	var c content
	for _, data := range chunks {
		chunk := decode[struct {
			Candidates []struct {
				Content struct {
					Parts []struct {
						Text         string
						Thought      bool
						FunctionCall *struct {
							Name string
							Args json.RawMessage
						}
					}
				}
				FinishReason string
			}
			UsageMetadata *struct {
				PromptTokenCount, CandidatesTokenCount, ThoughtsTokenCount, CachedContentTokenCount int64
			}
			Error struct{ Message string }
		}](t, data)
		c.Err += chunk.Error.Message
		for _, candidate := range chunk.Candidates {
			c.Finish += candidate.FinishReason
			for _, p := range candidate.Content.Parts {
				switch {
				case p.Thought:
					c.Thinking += p.Text
				case p.FunctionCall != nil:
					var args bytes.Buffer
					if err := json.Compact(&args, p.FunctionCall.Args); err != nil {
						t.Fatal(err)
					}
					c.Calls = append(c.Calls, fakellm.ToolCall{Name: p.FunctionCall.Name, Arguments: args.String()})
				default:
					c.Text += p.Text
				}
			}
		}
		if u := chunk.UsageMetadata; u != nil {
			c.Usage = &haltd.Usage{Input: u.PromptTokenCount, Output: u.CandidatesTokenCount + u.ThoughtsTokenCount, CacheRead: u.CachedContentTokenCount}
		}
	}
	return c
}

func arrayElements(t *testing.T, body []byte) [][]byte {
	t.Helper()
	var out [][]byte
	for _, e := range decode[[]json.RawMessage](t, body) {
		out = append(out, e)
	}
	return out
}
