package fakellm

import (
	"encoding/json"
	"fmt"
)

var responsesFormat = format{
	name:   "openai-responses",
	family: &openaiFamily,
	read:   readResponses,
	whole:  func(r *reply) []byte { return encodeIndented(r.response(r.responseEnd())) },
	stream: streamResponses,
}

type responsesTool struct {
	Type       string          `json:"type"`
	Name       string          `json:"name"`
	Parameters json.RawMessage `json:"parameters"`
}

type responsesItem struct {
	Type    string          `json:"type"`
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	Output  json.RawMessage `json:"output"`
	Tools   []responsesTool `json:"tools"` // of an additional_tools item
}

func readResponses(body []byte, req *Request) error {
	var b struct {
		Model        string          `json:"model"`
		Stream       bool            `json:"stream"`
		Instructions string          `json:"instructions"`
		Input        json.RawMessage `json:"input"`
		Tools        []responsesTool `json:"tools"`
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return err
	}
	ask := &req.Ask
	ask.Model, ask.Stream = b.Model, b.Stream
	ask.heard("system", b.Instructions)
	tools := b.Tools
	var text string
	var items []responsesItem
	switch {
	case json.Unmarshal(b.Input, &text) == nil:
		ask.heard("user", text)
	case len(b.Input) > 0:
		if err := json.Unmarshal(b.Input, &items); err != nil {
			return err
		}
	}
	for _, item := range items {
		switch item.Type {
		case "", "message":
			ask.heard(item.Role, partText(item.Content))
		case "function_call_output", "custom_tool_call_output":
			ask.returned(partText(item.Output))
		case "additional_tools":
			tools = append(tools, item.Tools...)
		}
	}
	for _, t := range tools {
		if t.Type == "function" || t.Type == "custom" {
			ask.Tools = append(ask.Tools, Tool{Name: t.Name, Custom: t.Type == "custom", Schema: t.Parameters})
		}
	}
	return nil
}

// responseState is how far a response has come.
type responseState struct {
	status     string
	output     list
	incomplete any
	failure    any
	usage      any
}

// responseEnd is the state of the whole response.
func (r *reply) responseEnd() responseState {
	s := responseState{status: "completed", output: list{}}
	if r.Finish != "" && r.Finish != "completed" {
		s.status, s.incomplete = "incomplete", object{"reason", r.Finish}
	}
	for _, item := range r.responseItems() {
		s.output = append(s.output, item.whole)
	}
	if !r.NoUsage {
		u := r.usage
		s.usage = object{
			"input_tokens", u.Input, "input_tokens_details", object{"cached_tokens", u.CacheRead},
			"output_tokens", u.Output, "output_tokens_details", object{"reasoning_tokens", r.thinking},
			"total_tokens", u.Input + u.Output,
		}
	}
	return s
}

func (r *reply) response(s responseState) object {
	return object{
		"id", hexIdentifier("resp_", 48, r.n, "response"), "object", "response", "created_at", created + r.n,
		"status", s.status, "background", false, "error", s.failure, "incomplete_details", s.incomplete,
		"instructions", nil, "max_output_tokens", nil, "model", r.ask.Model, "output", s.output,
		"parallel_tool_calls", true, "previous_response_id", nil,
		"reasoning", object{"effort", nil, "summary", nil}, "service_tier", "default", "store", true,
		"temperature", 1.0, "text", object{"format", object{"type", "text"}}, "tool_choice", "auto",
		"tools", list{}, "top_p", 1.0, "truncation", "disabled", "usage", s.usage, "user", nil, "metadata", object{},
	}
}

// responseItem is one output item: as it is announced, as it is at its end,
// and the events between, to which the stream adds id and index.
type responseItem struct {
	id    string
	begin object
	whole object
	parts []responseEvent
}

// responseEvent is one event without the fields that all have.
type responseEvent struct {
	name string
	rest object
}

func (r *reply) responseItems() []responseItem {
	var items []responseItem
	if r.Thinking != "" {
		items = append(items, r.reasoningItem())
	}
	if r.Text != "" || len(r.ToolCalls) == 0 {
		items = append(items, r.messageItem())
	}
	for i := range r.ToolCalls {
		items = append(items, r.callItem(i))
	}
	return items
}

func (r *reply) reasoningItem() responseItem {
	id := hexIdentifier("rs_", 48, r.n, "reasoning")
	part := func(text string) object { return object{"type", "summary_text", "text", text} }
	item := responseItem{
		id:    id,
		begin: object{"id", id, "type", "reasoning", "summary", list{}},
		whole: object{"id", id, "type", "reasoning", "summary", list{part(r.Thinking)}},
	}
	const at = "summary_index"
	item.parts = append(item.parts, responseEvent{"response.reasoning_summary_part.added", object{at, 0, "part", part("")}})
	for _, p := range r.pieces(r.Thinking) {
		item.parts = append(item.parts, responseEvent{"response.reasoning_summary_text.delta", object{at, 0, "delta", p}})
	}
	item.parts = append(item.parts,
		responseEvent{"response.reasoning_summary_text.done", object{at, 0, "text", r.Thinking}},
		responseEvent{"response.reasoning_summary_part.done", object{at, 0, "part", part(r.Thinking)}})
	return item
}

func (r *reply) messageItem() responseItem {
	id := hexIdentifier("msg_", 48, r.n, "message")
	part := func(text string) object {
		return object{"type", "output_text", "annotations", list{}, "logprobs", list{}, "text", text}
	}
	message := func(status string, content list) object {
		return object{"id", id, "type", "message", "status", status, "content", content, "role", "assistant"}
	}
	item := responseItem{id: id, begin: message("in_progress", list{}), whole: message("completed", list{part(r.Text)})}
	const at = "content_index"
	item.parts = append(item.parts, responseEvent{"response.content_part.added", object{at, 0, "part", part("")}})
	for _, p := range r.pieces(r.Text) {
		item.parts = append(item.parts, responseEvent{"response.output_text.delta", object{at, 0, "delta", p, "logprobs", list{}}})
	}
	item.parts = append(item.parts,
		responseEvent{"response.output_text.done", object{at, 0, "text", r.Text, "logprobs", list{}}},
		responseEvent{"response.content_part.done", object{at, 0, "part", part(r.Text)}})
	return item
}

func (r *reply) callItem(i int) responseItem {
	call := r.ToolCalls[i]
	kind, field, prefix, event := "function_call", "arguments", "fc_", "response.function_call_arguments"
	if tool, _ := r.ask.tool(call.Name); tool.Custom {
		kind, field, prefix, event = "custom_tool_call", "input", "ctc_", "response.custom_tool_call_input"
	}
	id := hexIdentifier(prefix, 48, r.n, fmt.Sprintf("call %d", i))
	at := func(status, arguments string) object {
		return object{"id", id, "type", kind, "status", status, field, arguments,
			"call_id", r.callID(i, "call_", 24), "name", call.Name}
	}
	item := responseItem{id: id, begin: at("in_progress", ""), whole: at("completed", call.Arguments)}
	for _, p := range r.pieces(call.Arguments) {
		item.parts = append(item.parts, responseEvent{event + ".delta", object{"delta", p}})
	}
	item.parts = append(item.parts, responseEvent{event + ".done", object{field, call.Arguments}})
	return item
}

// responseStream numbers the events of one stream.
type responseStream struct {
	frames [][]byte
}

func (s *responseStream) add(name string, rest object) {
	o := append(object{"type", name, "sequence_number", len(s.frames)}, rest...)
	s.frames = append(s.frames, sseEvent(name, o))
}

func streamResponses(r *reply) [][]byte {
	var s responseStream
	begun := responseState{status: "in_progress", output: list{}}
	s.add("response.created", object{"response", r.response(begun)})
	s.add("response.in_progress", object{"response", r.response(begun)})
	for i, item := range r.responseItems() {
		s.add("response.output_item.added", object{"output_index", i, "item", item.begin})
		for _, e := range item.parts {
			s.add(e.name, append(object{"item_id", item.id, "output_index", i}, e.rest...))
		}
		s.add("response.output_item.done", object{"output_index", i, "item", item.whole})
	}
	if r.InBandError != "" {
		s.add("error", object{"error", openaiErrorObject(500, r.InBandError)})
		failed := responseState{status: "failed", output: list{}, failure: object{"code", "server_error", "message", r.InBandError}}
		s.add("response.failed", object{"response", r.response(failed)})
		return s.frames
	}
	end := r.responseEnd()
	s.add("response."+end.status, object{"response", r.response(end)})
	return s.frames
}
