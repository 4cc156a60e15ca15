package scenarios

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/haltd/haltd"
)

// WriteTrace writes cases as a recording of their calls, in the format that
// haltd replay reads. Threads are sessions; those that the client does not
// name go by their first message, as haltd guesses them. before is, for each
// case, the number of its last call before the loop.
func WriteTrace(w io.Writer, cases []Case) (before []int, err error) {
	out := json.NewEncoder(w)
	for i := range cases {
		c := &cases[i]
		requests, first := c.Requests()
		before = append(before, first)
		for _, r := range requests {
			if r.Count {
				continue
			}
			if err := out.Encode(step(c, &r)); err != nil {
				return nil, fmt.Errorf("writing %s: %w", c.Name, err)
			}
		}
	}
	return before, nil
}

type traceCall struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

func step(c *Case, r *Request) map[string]any {
	entries := r.History
	if c.Chained {
		entries = r.New
	}
	messages := []map[string]any{{"role": "system", "content": c.System}}
	for _, e := range entries {
		messages = append(messages, chatMessages(e)...)
	}
	s := map[string]any{
		"run": c.Name, "source": "made-up", "step": r.Number, "model": "m", "thread": c.thread(r), "keep": 0, "messages_delta": messages,
		"response_text": r.Turn.Text, "t": float64(r.At) / float64(time.Second),
	}
	var calls []traceCall
	for _, tc := range r.Turn.Calls {
		calls = append(calls, traceCall{tc.Name, jsonArguments(tc.Arguments)})
	}
	s["tool_calls"] = calls
	if r.Turn.Usage != nil {
		s["prompt_tokens"] = r.Turn.Usage.Input
	}
	return s
}

func jsonArguments(text string) json.RawMessage {
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	b, _ := json.Marshal(text) // a string always encodes
	return b
}

// thread is the session of a request: as the client names it or shows it by what it
// quotes, else by how it begins and whose it is.
func (c *Case) thread(r *Request) string {
	switch {
	case !c.Unnamed || c.Retold:
		return r.Session
	case c.Users:
		return r.Session + ": " + firstUser(r.History)
	}
	return firstUser(r.History)
}

func firstUser(history []Entry) string {
	for _, e := range history {
		if e.Message != nil && e.Message.Role == haltd.RoleUser {
			return e.Message.Text
		}
	}
	return ""
}

// chatMessages are the messages of an entry in the manner of OpenAI chat.
func chatMessages(e Entry) (ms []map[string]any) {
	switch {
	case e.Message != nil:
		role := "user"
		if e.Message.Role == haltd.RoleSystem {
			role = "system"
		}
		return []map[string]any{{"role": role, "content": e.Message.Text}}
	case e.Results:
		for _, r := range e.Turn.Results {
			ms = append(ms, map[string]any{"role": "tool", "tool_call_id": r.CallID, "content": r.Text})
		}
		return ms
	}
	m := map[string]any{"role": "assistant", "content": e.Turn.Text}
	var calls []any
	for _, tc := range e.Turn.Calls {
		calls = append(calls, map[string]any{"id": tc.ID, "type": "function", "function": map[string]any{"name": tc.Name, "arguments": tc.Arguments}})
	}
	if calls != nil {
		m["tool_calls"] = calls
	}
	return []map[string]any{m}
}
