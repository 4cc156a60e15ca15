package demo

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// The part of OpenAI's chat format that the agents and the provider speak.

type chatRequest struct {
	Model         string         `json:"model"`
	Messages      []message      `json:"messages"`
	Tools         []tool         `json:"tools"`
	Stream        bool           `json:"stream,omitempty"`
	StreamOptions *streamOptions `json:"stream_options,omitempty"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type tool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
}

type message struct {
	Role       string     `json:"role"`
	Content    string     `json:"content"`
	ToolCalls  []toolCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

type toolCall struct {
	ID       string       `json:"id,omitempty"`
	Type     string       `json:"type,omitempty"`
	Function functionCall `json:"function"`
}

type functionCall struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

// completion is a whole reply, or one piece of a streamed one.
type completion struct {
	ID      string   `json:"id"`
	Object  string   `json:"object"`
	Created int64    `json:"created"`
	Model   string   `json:"model"`
	Choices []choice `json:"choices"`
	Usage   *usage   `json:"usage,omitempty"`
}

type choice struct {
	Index        int      `json:"index"`
	Message      *message `json:"message,omitempty"`
	Delta        *delta   `json:"delta,omitempty"`
	FinishReason *string  `json:"finish_reason"`
}

type delta struct {
	Role      string          `json:"role,omitempty"`
	Content   string          `json:"content,omitempty"`
	ToolCalls []toolCallDelta `json:"tool_calls,omitempty"`
}

type toolCallDelta struct {
	Index int `json:"index"`
	toolCall
}

type usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	TotalTokens      int `json:"total_tokens"`
}

// readWhole is the message of a reply that came at once.
func readWhole(r io.Reader) (message, error) {
	var c completion
	if err := json.NewDecoder(r).Decode(&c); err != nil {
		return message{}, fmt.Errorf("read the reply: %w", err)
	}
	if len(c.Choices) == 0 || c.Choices[0].Message == nil {
		return message{}, fmt.Errorf("read the reply: no message in it")
	}
	return *c.Choices[0].Message, nil
}

// readStream puts the message of a streamed reply together.
func readStream(r io.Reader) (message, error) {
	m := message{Role: "assistant"}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		if data == "[DONE]" {
			return m, nil
		}
		var piece completion
		if err := json.Unmarshal([]byte(data), &piece); err != nil {
			return m, fmt.Errorf("read the streamed reply: %w", err)
		}
		for _, c := range piece.Choices {
			if c.Delta != nil {
				m.add(c.Delta)
			}
		}
	}
	if err := lines.Err(); err != nil {
		return m, fmt.Errorf("read the streamed reply: %w", err)
	}
	return m, fmt.Errorf("read the streamed reply: %w", io.ErrUnexpectedEOF)
}

func (m *message) add(d *delta) {
	m.Content += d.Content
	for _, part := range d.ToolCalls {
		if part.ID != "" {
			m.ToolCalls = append(m.ToolCalls, part.toolCall)
			continue
		}
		if last := len(m.ToolCalls) - 1; last >= 0 {
			m.ToolCalls[last].Function.Arguments += part.Function.Arguments
		}
	}
}
