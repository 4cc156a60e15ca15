package fakellm

import (
	"encoding/json"
	"net/http"
	"strings"
)

var anthropicFamily = family{
	headers:   anthropicHeaders,
	jsonType:  "application/json",
	errorBody: anthropicError,
	pass:      anthropicPass,
}

var anthropicFormat = format{
	name:   "anthropic",
	family: &anthropicFamily,
	read:   readAnthropic,
	whole:  wholeAnthropic,
	stream: streamAnthropic,
}

func anthropicRequestID(req *Request) string { return identifier("req_011C", 20, req.N, "request") }

func anthropicHeaders(h http.Header, req *Request) {
	h.Set("Request-Id", anthropicRequestID(req))
	h.Set("Anthropic-Organization-Id", "11111111-2222-4333-8444-555555555555")
	h.Set("Anthropic-Ratelimit-Requests-Limit", "4000")
	h.Set("Anthropic-Ratelimit-Requests-Remaining", "3999")
	h.Set("Anthropic-Ratelimit-Requests-Reset", "2026-01-01T00:00:00Z")
}

func anthropicError(status int, message string, req *Request) []byte {
	return encode(object{
		"type", "error", "error", object{"type", anthropicErrorType(status), "message", message},
		"request_id", anthropicRequestID(req),
	})
}

func anthropicErrorType(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "authentication_error"
	case http.StatusForbidden:
		return "permission_error"
	case http.StatusNotFound:
		return "not_found_error"
	case http.StatusRequestEntityTooLarge:
		return "request_too_large"
	case http.StatusTooManyRequests:
		return "rate_limit_error"
	case 529:
		return "overloaded_error"
	}
	if status >= 500 {
		return "api_error"
	}
	return "invalid_request_error"
}

func anthropicPass(req *Request, path string) (int, []byte) {
	switch {
	case req.Method == http.MethodGet && strings.HasSuffix(path, "/models"):
		data := list{}
		for _, id := range listedModels {
			data = append(data, anthropicModel(id))
		}
		last := len(listedModels) - 1
		return http.StatusOK, encode(object{"data", data, "has_more", false, "first_id", listedModels[0], "last_id", listedModels[last]})
	case req.Method == http.MethodGet && strings.Contains(path, "/models/"):
		return http.StatusOK, encode(anthropicModel(path[strings.LastIndex(path, "/")+1:]))
	case req.Method == http.MethodPost && strings.HasSuffix(path, "/messages/count_tokens"):
		var count Request
		if err := readAnthropic(req.Body, &count); err != nil {
			return http.StatusBadRequest, anthropicError(http.StatusBadRequest, "The request body is not valid JSON.", req)
		}
		return http.StatusOK, encode(object{"input_tokens", tokens(count.Ask.promptBytes)})
	}
	return http.StatusNotFound, nil
}

func anthropicModel(id string) object {
	return object{"type", "model", "id", id, "display_name", id, "created_at", "2026-01-01T00:00:00Z"}
}

type anthropicBlock struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	Content json.RawMessage `json:"content"` // of a tool_result
}

func readAnthropic(body []byte, req *Request) error {
	var b struct {
		Model    string          `json:"model"`
		Stream   bool            `json:"stream"`
		System   json.RawMessage `json:"system"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Name        string          `json:"name"`
			InputSchema json.RawMessage `json:"input_schema"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return err
	}
	ask := &req.Ask
	ask.Model, ask.Stream = b.Model, b.Stream
	ask.heard("system", partText(b.System))
	for _, m := range b.Messages {
		var blocks []anthropicBlock
		if json.Unmarshal(m.Content, &blocks) != nil {
			ask.heard(m.Role, partText(m.Content))
			continue
		}
		ask.heardBlocks(m.Role, blocks)
	}
	for _, t := range b.Tools {
		ask.Tools = append(ask.Tools, Tool{Name: t.Name, Schema: t.InputSchema})
	}
	return nil
}

// heardBlocks reads one message. Tool results count as the end of the
// request also when text stands beside them, as clients add reminders there.
func (a *Ask) heardBlocks(role string, blocks []anthropicBlock) {
	var texts, results []string
	for _, b := range blocks {
		switch b.Type {
		case "text":
			texts = append(texts, b.Text)
		case "tool_result":
			results = append(results, partText(b.Content))
		}
	}
	if len(texts) > 0 || len(results) == 0 {
		a.heard(role, strings.Join(texts, "\n"))
	}
	a.Results = nil
	for _, text := range results {
		a.returned(text)
	}
}

func (r *reply) anthropicMessage(content list, stop any, usage object) object {
	o := object{
		"model", r.ask.Model, "id", identifier("msg_01", 22, r.n, "message"), "type", "message", "role", "assistant",
		"content", content, "stop_reason", stop, "stop_sequence", nil,
	}
	if !r.NoUsage {
		o = append(o, "usage", usage)
	}
	return o
}

// anthropicUsage counts as Anthropic does: the cached parts of the prompt are
// not in input_tokens.
func (r *reply) anthropicUsage(output int64) object {
	u := r.usage
	return object{
		"input_tokens", u.Input - u.CacheRead - u.CacheWrite,
		"cache_creation_input_tokens", u.CacheWrite, "cache_read_input_tokens", u.CacheRead,
		"cache_creation", object{"ephemeral_5m_input_tokens", u.CacheWrite, "ephemeral_1h_input_tokens", 0},
		"output_tokens", output, "service_tier", "standard",
	}
}

func (r *reply) thinkingSignature() string { return identifier("", 64, r.n, "signature") }

func wholeAnthropic(r *reply) []byte {
	content := list{}
	if r.Thinking != "" {
		content = append(content, object{"type", "thinking", "thinking", r.Thinking, "signature", r.thinkingSignature()})
	}
	if r.Text != "" {
		content = append(content, object{"type", "text", "text", r.Text})
	}
	for i, c := range r.ToolCalls {
		content = append(content, object{"type", "tool_use", "id", r.callID(i, "toolu_01", 22), "name", c.Name, "input", rawObject(c.Arguments)})
	}
	return encode(r.anthropicMessage(content, r.finish("end_turn", "tool_use"), r.anthropicUsage(r.usage.Output)))
}

// anthropicStream numbers the content blocks of one stream.
type anthropicStream struct {
	frames [][]byte
	blocks int
}

func (s *anthropicStream) add(name string, rest object) {
	s.frames = append(s.frames, sseEvent(name, append(object{"type", name}, rest...)))
}

// block adds one content block: how it begins and its deltas.
func (s *anthropicStream) block(begin object, deltas []object) {
	s.add("content_block_start", object{"index", s.blocks, "content_block", begin})
	if s.blocks == 0 {
		s.add("ping", nil)
	}
	for _, d := range deltas {
		s.add("content_block_delta", object{"index", s.blocks, "delta", d})
	}
	s.add("content_block_stop", object{"index", s.blocks})
	s.blocks++
}

func streamAnthropic(r *reply) [][]byte {
	var s anthropicStream
	s.add("message_start", object{"message", r.anthropicMessage(list{}, nil, r.anthropicUsage(1))})
	if r.Thinking != "" {
		deltas := r.anthropicDeltas("thinking_delta", "thinking", r.Thinking)
		deltas = append(deltas, object{"type", "signature_delta", "signature", r.thinkingSignature()})
		s.block(object{"type", "thinking", "thinking", "", "signature", ""}, deltas)
	}
	if r.Text != "" {
		s.block(object{"type", "text", "text", ""}, r.anthropicDeltas("text_delta", "text", r.Text))
	}
	for i, c := range r.ToolCalls {
		deltas := []object{{"type", "input_json_delta", "partial_json", ""}}
		deltas = append(deltas, r.anthropicDeltas("input_json_delta", "partial_json", c.Arguments)...)
		s.block(object{"type", "tool_use", "id", r.callID(i, "toolu_01", 22), "name", c.Name, "input", object{}}, deltas)
	}
	if r.InBandError != "" {
		s.add("error", object{"error", object{"details", nil, "type", "overloaded_error", "message", r.InBandError}})
		return s.frames
	}
	end := object{"delta", object{"stop_reason", r.finish("end_turn", "tool_use"), "stop_sequence", nil}}
	if !r.NoUsage {
		u := r.usage
		end = append(end, "usage", object{
			"input_tokens", u.Input - u.CacheRead - u.CacheWrite,
			"cache_creation_input_tokens", u.CacheWrite, "cache_read_input_tokens", u.CacheRead,
			"output_tokens", u.Output,
		})
	}
	s.add("message_delta", end)
	s.add("message_stop", nil)
	return s.frames
}

func (r *reply) anthropicDeltas(kind, field, text string) []object {
	var deltas []object
	for _, p := range r.pieces(text) {
		deltas = append(deltas, object{"type", kind, field, p})
	}
	return deltas
}
