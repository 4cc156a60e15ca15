package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/haltd/haltd/test/fakellm"
	"github.com/haltd/haltd/test/harness"
)

// step is one thing in a conversation: a message of the user, a text of the
// assistant, or a tool call with its result.
type step struct {
	user, text        string
	tool, args, given string
}

// dialect is how one interactive client writes a request.
type dialect struct {
	name   string
	client string // the default agent of its calls
	header map[string]string
	// session is the header that names the session; "" where it is guessed.
	session string
	path    func(stream bool) string
	body    func(steps []step, stream bool) map[string]any
}

func always(path string) func(bool) string { return func(bool) string { return path } }

var dialects = []dialect{
	{"openai-chat", "opencode", map[string]string{"Originator": "opencode", "User-Agent": "opencode/1.0"}, "X-Session-Id", always("/v1/chat/completions"), chatBody},
	{"openai-responses", "codex", map[string]string{"Originator": "codex_cli_rs", "User-Agent": "codex_cli_rs/0.50"}, "Session-Id", always("/v1/responses"), responsesBody},
	{"anthropic-messages", "claude-code", map[string]string{"User-Agent": "claude-cli/2.0.1 (external, cli)", "Anthropic-Version": "2023-06-01"}, "X-Claude-Code-Session-Id", always("/v1/messages"), messagesBody},
	{"gemini-generate", "gemini-cli", map[string]string{"User-Agent": "GeminiCLI-tmux/0.9"}, "", geminiPath, generateBody},
}

func geminiPath(stream bool) string {
	if stream {
		return "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse"
	}
	return "/v1beta/models/gemini-2.5-pro:generateContent"
}

func chatBody(steps []step, stream bool) map[string]any {
	var list []any
	for i, s := range steps {
		id := fmt.Sprint("call_", i)
		switch {
		case s.user != "":
			list = append(list, user(s.user))
		case s.tool != "":
			list = append(list, calls(id, s.tool, s.args), result(id, s.given))
		default:
			list = append(list, assistant(s.text))
		}
	}
	body := map[string]any{"model": "gpt-4.1-mini", "messages": list}
	if stream {
		body["stream"], body["stream_options"] = true, map[string]any{"include_usage": true}
	}
	return body
}

func responsesBody(steps []step, stream bool) map[string]any {
	var list []any
	for i, s := range steps {
		id := fmt.Sprint("call_", i)
		switch {
		case s.user != "":
			list = append(list, map[string]any{"type": "message", "role": "user", "content": []any{map[string]any{"type": "input_text", "text": s.user}}})
		case s.tool != "":
			list = append(list, map[string]any{"type": "function_call", "call_id": id, "name": s.tool, "arguments": s.args},
				map[string]any{"type": "function_call_output", "call_id": id, "output": s.given})
		default:
			list = append(list, map[string]any{"type": "message", "role": "assistant", "content": []any{map[string]any{"type": "output_text", "text": s.text}}})
		}
	}
	return map[string]any{"model": "gpt-4.1-mini", "input": list, "store": false, "stream": stream}
}

func messagesBody(steps []step, stream bool) map[string]any {
	var list []any
	var open []any // of the user's message
	flush := func() {
		if open != nil {
			list, open = append(list, map[string]any{"role": "user", "content": open}), nil
		}
	}
	for i, s := range steps {
		id := fmt.Sprint("toolu_", i)
		switch {
		case s.user != "":
			open = append(open, map[string]any{"type": "text", "text": s.user})
		case s.tool != "":
			flush()
			list = append(list, map[string]any{"role": "assistant", "content": []any{map[string]any{"type": "tool_use", "id": id, "name": s.tool, "input": json.RawMessage(s.args)}}})
			open = []any{map[string]any{"type": "tool_result", "tool_use_id": id, "content": s.given}}
		default:
			flush()
			list = append(list, map[string]any{"role": "assistant", "content": s.text})
		}
	}
	flush()
	return map[string]any{"model": "claude-sonnet-4-5", "max_tokens": 1000, "messages": list, "stream": stream}
}

func generateBody(steps []step, _ bool) map[string]any {
	var list []any
	content := func(role string, part map[string]any) {
		list = append(list, map[string]any{"role": role, "parts": []any{part}})
	}
	for _, s := range steps {
		switch {
		case s.user != "":
			content("user", map[string]any{"text": s.user})
		case s.tool != "":
			content("model", map[string]any{"functionCall": map[string]any{"name": s.tool, "args": json.RawMessage(s.args)}})
			content("user", map[string]any{"functionResponse": map[string]any{"name": s.tool, "response": map[string]any{"output": s.given}}})
		default:
			content("model", map[string]any{"text": s.text})
		}
	}
	return map[string]any{"contents": list}
}

// converse sends a conversation as the client of a dialect does.
func (a *agent) converse(d *dialect, session string, stream bool, steps []step) answer {
	a.t.Helper()
	text, err := json.Marshal(d.body(steps, stream))
	if err != nil {
		a.t.Fatal(err)
	}
	return a.do(http.MethodPost, d.path(stream), string(text), a.headerOf(d, session))
}

func (a *agent) headerOf(d *dialect, session string) map[string]string {
	script, _ := json.Marshal(fakellm.Script{ToolCalls: []fakellm.ToolCall{{Name: "read_file", Arguments: `{"path":"/srv/settings.yaml"}`}}})
	header := map[string]string{harness.ScriptHeader: string(script)}
	for name, value := range d.header {
		header[name] = value
	}
	if d.session != "" {
		header[d.session] = session
	}
	return header
}

// repeating is a conversation in which the same call got the same failure n
// times. What it begins with names its session where no header does.
func repeating(first string, n int) []step {
	steps := []step{{user: first}}
	for range n {
		steps = append(steps, step{tool: "read_file", args: `{"path":"/srv/settings.yaml"}`, given: "ENOENT: no such file or directory"})
	}
	return steps
}

// untilStopped grows a conversation by a round at a time until it is stopped.
func (a *agent) untilStopped(d *dialect, session string, before []step, next func(i int) step) ([]step, answer) {
	a.t.Helper()
	steps := before
	for i := range 30 {
		if got := a.converse(d, session, false, steps); got.status != http.StatusOK {
			return steps, got
		}
		steps = append(steps[:len(steps):len(steps)], next(i))
	}
	a.t.Fatalf("%s: not stopped after 30 rounds", d.name)
	return nil, answer{}
}

func sameRead(int) step {
	return step{tool: "read_file", args: `{"path":"/srv/settings.yaml"}`, given: "ENOENT: no such file or directory"}
}

// inEveryDialect runs a test for each wire format.
func inEveryDialect(t *testing.T, s *stage, test func(t *testing.T, a *agent, d *dialect)) {
	for i := range dialects {
		d := &dialects[i]
		t.Run(d.name, func(t *testing.T) {
			a := s.agent(t)
			a.id = d.client
			test(t, a, d)
		})
	}
}
