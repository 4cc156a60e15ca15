package scenarios

import (
	"cmp"
	"encoding/json"

	"github.com/haltd/haltd"
)

// dialect is how the client of one wire format writes a request.
type dialect struct {
	format   string
	provider string
	idPrefix string // of tool calls; empty where they have no ids
	path     func(stream bool) string
	counting string // path that counts tokens; empty where there is none
	body     func(*letter) object
	// cannot says what a history may not hold.
	cannot func(*Case) bool
}

// letter is what goes into a request body.
type letter struct {
	*dialect
	system   string
	user     string // that the body names; mostly none
	tools    []string
	stream   bool
	entries  []Entry
	previous string // id of the reply that this continues
}

type object = map[string]any

const model = "scenario-1"

var dialects = []*dialect{
	{
		format: "openai-chat", provider: "openai", idPrefix: "call_",
		path: func(bool) string { return "/v1/chat/completions" },
		body: (*letter).chat, cannot: func(c *Case) bool { return c.Chained || c.counts() },
	},
	{
		format: "openai-responses", provider: "openai", idPrefix: "call_",
		path: func(bool) string { return "/v1/responses" },
		body: (*letter).responses, cannot: (*Case).counts,
	},
	{
		format: "anthropic-messages", provider: "anthropic", idPrefix: "toolu_",
		path: func(bool) string { return "/v1/messages" }, counting: "/v1/messages/count_tokens",
		body: (*letter).messages, cannot: func(c *Case) bool { return c.Chained || c.hasEmptyReply() },
	},
	{
		format: "gemini-generate", provider: "gemini",
		path: func(stream bool) string {
			if stream {
				return "/v1beta/models/" + model + ":streamGenerateContent?alt=sse"
			}
			return "/v1beta/models/" + model + ":generateContent"
		},
		counting: "/v1beta/models/" + model + ":countTokens",
		body:     (*letter).generate, cannot: func(c *Case) bool { return c.Chained || c.Users || c.hasReminder() },
	},
}

func (c *Case) counts() bool {
	return c.anyMove(func(m *Move) bool { return m.Count })
}

func (c *Case) hasEmptyReply() bool {
	return c.anyMove(func(m *Move) bool {
		return m.Turn != nil && !m.Count && m.Turn.Text == "" && len(m.Turn.Calls) == 0
	})
}

// hasReminder reports system messages inside the conversation.
func (c *Case) hasReminder() bool {
	return c.anyMove(func(m *Move) bool {
		return len(m.Inputs) > 0 && m.Inputs[0].Role == haltd.RoleSystem
	})
}

func (c *Case) anyMove(is func(*Move) bool) bool {
	for i := range c.Moves {
		if is(&c.Moves[i]) {
			return true
		}
	}
	return false
}

// user is who a request is for, where the case says so.
func (c *Case) user(r *Request) string {
	if c.Users {
		return r.Session
	}
	return ""
}

func role(m *haltd.Message) string {
	if m.Role == haltd.RoleSystem {
		return "system"
	}
	return "user"
}

// arguments are a JSON object for formats that want one.
func arguments(c *haltd.ToolCall) json.RawMessage {
	return json.RawMessage(cmp.Or(c.Arguments, "{}"))
}

var anyArguments = object{"type": "object", "properties": object{}, "additionalProperties": true}

func (l *letter) chat() object {
	messages := []any{object{"role": "system", "content": l.system}}
	for _, e := range l.entries {
		switch {
		case e.Message != nil:
			messages = append(messages, object{"role": role(e.Message), "content": e.Message.Text})
		case e.Results:
			for _, r := range e.Turn.Results {
				messages = append(messages, object{"role": "tool", "tool_call_id": l.idPrefix + r.CallID, "content": r.Text})
			}
		default:
			messages = append(messages, l.chatTurn(e.Turn))
		}
	}
	body := object{"model": model, "messages": messages, "stream": l.stream}
	if l.stream {
		body["stream_options"] = object{"include_usage": true}
	}
	if l.user != "" {
		body["user"] = l.user
	}
	for _, name := range l.tools {
		body["tools"] = append(list(body["tools"]), object{"type": "function", "function": object{"name": name, "description": "Use " + name + ".", "parameters": anyArguments}})
	}
	return body
}

func (l *letter) chatTurn(t *Turn) object {
	m := object{"role": "assistant", "content": t.Text}
	if t.Text == "" && len(t.Calls) > 0 {
		m["content"] = nil
	}
	for _, c := range t.Calls {
		m["tool_calls"] = append(list(m["tool_calls"]), object{"id": l.idPrefix + c.ID, "type": "function", "function": object{"name": c.Name, "arguments": string(arguments(&c))}})
	}
	return m
}

// list is a JSON array that grows; the first use finds none.
func list(v any) []any {
	l, _ := v.([]any)
	return l
}

func (l *letter) responses() object {
	items := []any{}
	for _, e := range l.entries {
		switch {
		case e.Message != nil:
			items = append(items, object{"role": role(e.Message), "content": e.Message.Text})
		case e.Results:
			for _, r := range e.Turn.Results {
				items = append(items, object{"type": "function_call_output", "call_id": l.idPrefix + r.CallID, "output": r.Text})
			}
		default:
			items = append(items, l.responsesTurn(e.Turn)...)
		}
	}
	body := object{"model": model, "instructions": l.system, "input": items, "stream": l.stream}
	if l.previous != "" {
		body["previous_response_id"] = l.previous
	}
	if l.user != "" {
		body["user"] = l.user
	}
	for _, name := range l.tools {
		body["tools"] = append(list(body["tools"]), object{"type": "function", "name": name, "description": "Use " + name + ".", "parameters": anyArguments})
	}
	return body
}

func (l *letter) responsesTurn(t *Turn) []any {
	var items []any
	if t.Text != "" || len(t.Calls) == 0 {
		items = append(items, object{"type": "message", "role": "assistant", "status": "completed",
			"content": []any{object{"type": "output_text", "text": t.Text, "annotations": []any{}}}})
	}
	for _, c := range t.Calls {
		items = append(items, object{"type": "function_call", "call_id": l.idPrefix + c.ID, "name": c.Name, "arguments": string(arguments(&c))})
	}
	return items
}

// messages puts tool results and what the user says into one message, since
// the turns of this format alternate.
func (l *letter) messages() object {
	turns := []any{}
	say := func(role string, block object) {
		if n := len(turns); n > 0 {
			if last := turns[n-1].(object); last["role"] == role {
				last["content"] = append(list(last["content"]), block)
				return
			}
		}
		turns = append(turns, object{"role": role, "content": []any{block}})
	}
	for _, e := range l.entries {
		switch {
		case e.Message != nil:
			say(role(e.Message), object{"type": "text", "text": e.Message.Text})
		case e.Results:
			for _, r := range e.Turn.Results {
				block := object{"type": "tool_result", "tool_use_id": l.idPrefix + r.CallID, "content": r.Text}
				if r.Error {
					block["is_error"] = true
				}
				say("user", block)
			}
		default:
			if e.Turn.Text != "" {
				say("assistant", object{"type": "text", "text": e.Turn.Text})
			}
			for _, c := range e.Turn.Calls {
				say("assistant", object{"type": "tool_use", "id": l.idPrefix + c.ID, "name": c.Name, "input": arguments(&c)})
			}
		}
	}
	body := object{"model": model, "max_tokens": 4096, "system": l.system, "messages": turns, "stream": l.stream}
	if l.user != "" {
		body["metadata"] = object{"user_id": l.user}
	}
	for _, name := range l.tools {
		body["tools"] = append(list(body["tools"]), object{"name": name, "description": "Use " + name + ".", "input_schema": anyArguments})
	}
	return body
}

func (l *letter) generate() object {
	contents := []any{}
	say := func(role string, parts ...any) {
		contents = append(contents, object{"role": role, "parts": parts})
	}
	for _, e := range l.entries {
		switch {
		case e.Message != nil:
			say("user", object{"text": e.Message.Text})
		case e.Results:
			var parts []any
			for _, r := range e.Turn.Results {
				member := "output"
				if r.Error {
					member = "error"
				}
				parts = append(parts, object{"functionResponse": object{"name": r.Name, "response": object{member: r.Text}}})
			}
			say("user", parts...)
		default:
			say("model", generateParts(e.Turn)...)
		}
	}
	body := object{"contents": contents, "systemInstruction": object{"parts": []any{object{"text": l.system}}}}
	var functions []any
	for _, name := range l.tools {
		functions = append(functions, object{"name": name, "description": "Use " + name + ".", "parameters": object{"type": "OBJECT"}})
	}
	if functions != nil {
		body["tools"] = []any{object{"functionDeclarations": functions}}
	}
	return body
}

func generateParts(t *Turn) []any {
	var parts []any
	if t.Text != "" || len(t.Calls) == 0 {
		parts = append(parts, object{"text": t.Text})
	}
	for _, c := range t.Calls {
		parts = append(parts, object{"functionCall": object{"name": c.Name, "args": arguments(&c)}})
	}
	return parts
}
