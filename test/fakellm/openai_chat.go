package fakellm

import "encoding/json"

var chatFormat = format{
	name:   "openai-chat",
	family: &openaiFamily,
	read:   readChat,
	whole:  wholeChat,
	stream: streamChat,
}

type chatTool struct {
	Type     string `json:"type"`
	Function struct {
		Name       string          `json:"name"`
		Parameters json.RawMessage `json:"parameters"`
	} `json:"function"`
	Custom struct {
		Name string `json:"name"`
	} `json:"custom"`
}

func readChat(body []byte, req *Request) error {
	var b struct {
		Model         string `json:"model"`
		Stream        bool   `json:"stream"`
		StreamOptions struct {
			IncludeUsage bool `json:"include_usage"`
		} `json:"stream_options"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Tools []chatTool `json:"tools"`
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return err
	}
	ask := &req.Ask
	ask.Model, ask.Stream = b.Model, b.Stream
	ask.includeUsage = b.StreamOptions.IncludeUsage
	for _, m := range b.Messages {
		if m.Role == "tool" || m.Role == "function" {
			ask.returned(partText(m.Content))
		} else {
			ask.heard(m.Role, partText(m.Content))
		}
	}
	for _, t := range b.Tools {
		if t.Type == "custom" {
			ask.Tools = append(ask.Tools, Tool{Name: t.Custom.Name, Custom: true})
		} else {
			ask.Tools = append(ask.Tools, Tool{Name: t.Function.Name, Schema: t.Function.Parameters})
		}
	}
	return nil
}

func (r *reply) chatEnvelope(kind string) object {
	return object{
		"id", identifier("chatcmpl-", 29, r.n, "chat"), "object", kind,
		"created", created + r.n, "model", r.ask.Model,
	}
}

func wholeChat(r *reply) []byte {
	message := object{"role", "assistant", "content", r.Text}
	if r.Text == "" && len(r.ToolCalls) > 0 {
		message = object{"role", "assistant", "content", nil}
	}
	if r.Thinking != "" {
		message = append(message, "reasoning_content", r.Thinking)
	}
	if len(r.ToolCalls) > 0 {
		calls := list{}
		for i, c := range r.ToolCalls {
			calls = append(calls, r.chatCall(i, c.Arguments))
		}
		message = append(message, "tool_calls", calls)
	}
	message = append(message, "refusal", nil, "annotations", list{})
	o := append(r.chatEnvelope("chat.completion"), "choices", list{object{
		"index", 0, "message", message, "logprobs", nil, "finish_reason", r.finish("stop", "tool_calls"),
	}})
	if !r.NoUsage {
		o = append(o, "usage", r.chatUsage())
	}
	return encodeIndented(append(o, "service_tier", "default", "system_fingerprint", "fp_44709d6fcb"))
}

// chatCall is the i-th tool call with the given arguments.
func (r *reply) chatCall(i int, arguments string) object {
	name := r.ToolCalls[i].Name
	kind, field, key := "function", "function", "arguments"
	if tool, _ := r.ask.tool(name); tool.Custom {
		kind, field, key = "custom", "custom", "input"
	}
	return object{"id", r.callID(i, "call_", 24), "type", kind, field, object{"name", name, key, arguments}}
}

func (r *reply) chatUsage() object {
	u := r.usage
	return object{
		"prompt_tokens", u.Input, "completion_tokens", u.Output, "total_tokens", u.Input + u.Output,
		"prompt_tokens_details", object{"cached_tokens", u.CacheRead, "audio_tokens", 0},
		"completion_tokens_details", object{
			"reasoning_tokens", r.thinking, "audio_tokens", 0,
			"accepted_prediction_tokens", 0, "rejected_prediction_tokens", 0,
		},
	}
}

func (r *reply) chatChunk(choices list, usage any) []byte {
	o := append(r.chatEnvelope("chat.completion.chunk"),
		"service_tier", "default", "system_fingerprint", "fp_44709d6fcb", "choices", choices)
	if r.ask.includeUsage && !r.NoUsage {
		o = append(o, "usage", usage)
	}
	return sseData(o)
}

func (r *reply) chatDelta(delta object, finish any) []byte {
	return r.chatChunk(list{object{"index", 0, "delta", delta, "logprobs", nil, "finish_reason", finish}}, nil)
}

func streamChat(r *reply) [][]byte {
	opening := object{"role", "assistant", "content", "", "refusal", nil}
	if r.Text == "" && len(r.ToolCalls) > 0 {
		opening = object{"role", "assistant", "content", nil, "refusal", nil}
	}
	frames := [][]byte{r.chatDelta(opening, nil)}
	for _, p := range r.pieces(r.Thinking) {
		frames = append(frames, r.chatDelta(object{"reasoning_content", p}, nil))
	}
	for _, p := range r.pieces(r.Text) {
		frames = append(frames, r.chatDelta(object{"content", p}, nil))
	}
	for i := range r.ToolCalls {
		frames = append(frames, r.chatCallDeltas(i)...)
	}
	if r.InBandError != "" {
		return append(frames, sseData(object{"error", openaiErrorObject(500, r.InBandError)}))
	}
	frames = append(frames, r.chatDelta(object{}, r.finish("stop", "tool_calls")))
	if r.ask.includeUsage && !r.NoUsage {
		frames = append(frames, r.chatChunk(list{}, r.chatUsage()))
	}
	return append(frames, []byte("data: [DONE]\n\n"))
}

func (r *reply) chatCallDeltas(i int) [][]byte {
	field, key := "function", "arguments"
	if tool, _ := r.ask.tool(r.ToolCalls[i].Name); tool.Custom {
		field, key = "custom", "input"
	}
	opening := append(object{"index", i}, r.chatCall(i, "")...)
	frames := [][]byte{r.chatDelta(object{"tool_calls", list{opening}}, nil)}
	for _, p := range r.pieces(r.ToolCalls[i].Arguments) {
		more := object{"index", i, field, object{key, p}}
		frames = append(frames, r.chatDelta(object{"tool_calls", list{more}}, nil))
	}
	return frames
}
