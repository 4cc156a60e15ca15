package gateway

import (
	"strings"
	"testing"
	"time"
)

const uuid = "550e8400-e29b-41d4-a716-446655440000"

// What real clients send with no change to their code, and what becomes of
// it. "hash" stands for a session named by how the conversation began.
func TestWhoIsCalling(t *testing.T) {
	const messages, responses, chat, gemini = "/v1/messages?beta=true", "/v1/responses", "/v1/chat/completions", "/v1beta/models/gemini-x:generateContent"
	for _, tc := range []struct {
		name                   string
		path                   string
		header                 map[string]string
		body                   string
		agent, session, client string
	}{
		{"Claude Code", messages,
			map[string]string{"User-Agent": "claude-cli/2.0.1 (external, cli)", "X-Claude-Code-Session-Id": uuid},
			messagesBody, "claude-code", uuid, "claude-code"},
		{"Claude Code, session in metadata.user_id as JSON", messages,
			map[string]string{"User-Agent": "claude-cli/2.0.1 (external, cli)"},
			`{"model":"claude-x","metadata":{"user_id":"{\"device_id\":\"d\",\"session_id\":\"` + uuid + `\"}"},"messages":[{"role":"user","content":"hi"}]}`,
			"claude-code", uuid, "claude-code"},
		{"older Claude Code, session at the end of metadata.user_id", messages,
			map[string]string{"User-Agent": "claude-cli/1.0.0 (external, cli)"},
			`{"model":"claude-x","metadata":{"user_id":"user_abc_account__session_` + uuid + `"},"messages":[{"role":"user","content":"hi"}]}`,
			"claude-code", uuid, "claude-code"},
		{"Claude Code sub-agent", messages,
			map[string]string{"User-Agent": "claude-cli/2.0.1", "X-Claude-Code-Session-Id": uuid, "X-Claude-Code-Agent-Id": "a7", "X-Claude-Code-Parent-Agent-Id": "main"},
			messagesBody, "claude-code", uuid + ":a7", "claude-code"},
		{"Codex", responses,
			map[string]string{"Originator": "codex_cli_rs", "User-Agent": "codex_cli_rs/0.50.0", "Session-Id": uuid, "Thread-Id": uuid},
			responsesBody, "codex", uuid, "codex"},
		{"Codex, a thread of its own", responses,
			map[string]string{"Originator": "codex_exec", "Session-Id": uuid, "Thread-Id": "t2"},
			responsesBody, "codex", uuid + ":t2", "codex"},
		{"older Codex, underscores", responses,
			map[string]string{"Originator": "codex_cli_rs", "session_id": uuid},
			responsesBody, "codex", uuid, "codex"},
		{"Codex, turn metadata only", responses,
			map[string]string{"X-Codex-Turn-Metadata": `{"turn_id":"1","session_id":"` + uuid + `","agent_name":"reviewer"}`},
			responsesBody, "reviewer", uuid, "codex"},
		{"Codex, prompt_cache_key only", responses,
			map[string]string{"Originator": "codex_cli_rs"},
			`{"model":"gpt-x","prompt_cache_key":"conv-1","input":"hi"}`, "codex", "conv-1", "codex"},
		{"OpenCode", chat,
			map[string]string{"Originator": "opencode", "X-Session-Id": "ses_1", "Session-Id": "ses_1", "X-Parent-Session-Id": "ses_0"},
			chatBody, "opencode", "ses_1", "opencode"},
		{"Gemini CLI has no session id", gemini,
			map[string]string{"User-Agent": "GeminiCLI-v1/0.9.0 (linux; x64)"},
			geminiBody, "gemini-cli", "hash", "gemini-cli"},
		{"openai-python", chat,
			map[string]string{"User-Agent": "OpenAI/Python 1.99.0", "X-Stainless-Lang": "python"},
			chatBody, "openai-python", "hash", "openai-python"},
		{"async openai-python", chat,
			map[string]string{"User-Agent": "AsyncOpenAI/Python 1.99.0"},
			chatBody, "openai-python", "hash", "openai-python"},
		{"openai-node", chat,
			map[string]string{"User-Agent": "OpenAI/JS 6.0.0"}, chatBody, "openai-js", "hash", "openai-js"},
		{"anthropic-sdk-go", messages,
			map[string]string{"User-Agent": "Anthropic/Go 1.2.0"}, messagesBody, "anthropic-go", "hash", "anthropic-go"},
		{"google-genai", gemini,
			map[string]string{"User-Agent": "google-genai-sdk/1.5.0 gl-go/go1.26"}, geminiBody, "google-genai", "hash", "google-genai"},
		{"Vercel ai", chat,
			map[string]string{"User-Agent": "ai/5.0.1 ai-sdk/openai/2.0.3 runtime/node.js/20"}, chatBody, "vercel-ai", "hash", "vercel-ai"},
		{"LangChain", chat,
			map[string]string{"User-Agent": "langchainjs-openai/1.0.0 (node/20)"}, chatBody, "langchain", "hash", "langchain"},
		{"curl", chat, map[string]string{"User-Agent": "curl/7.88.1"}, chatBody, "curl", "hash", "curl"},
		{"something else", chat, map[string]string{"User-Agent": "my-agent/1"}, chatBody, "unknown", "hash", "unknown"},

		{"bare SDK, metadata.session_id", responses, nil,
			`{"model":"gpt-x","metadata":{"session_id":"s-9"},"input":"hi"}`, "unknown", "s-9", "unknown"},
		{"bare SDK, prompt_cache_key that is a UUID", chat, nil,
			`{"model":"gpt-x","prompt_cache_key":"` + uuid + `","messages":[{"role":"user","content":"hi"}]}`, "unknown", uuid, "unknown"},
		{"bare SDK, one prompt_cache_key for all calls", chat, nil,
			`{"model":"gpt-x","prompt_cache_key":"billing-v2","messages":[{"role":"user","content":"hi"}]}`, "unknown", "hash", "unknown"},

		{"X-Session-Id before the others", chat,
			map[string]string{"X-Session-Id": "mine", "Helicone-Session-Id": "theirs", "X-Claude-Code-Session-Id": uuid}, chatBody, "claude-code", "mine", "claude-code"},
		{"LiteLLM", chat, map[string]string{"x-litellm-trace-id": "l1"}, chatBody, "unknown", "l1", "unknown"},
		{"Helicone", chat, map[string]string{"Helicone-Session-Id": "h1"}, chatBody, "unknown", "h1", "unknown"},
		{"Bifrost", chat, map[string]string{"x-bf-session-id": "b1"}, chatBody, "unknown", "b1", "unknown"},
		{"Portkey", chat, map[string]string{"x-portkey-trace-id": "p1"}, chatBody, "unknown", "p1", "unknown"},
		{"AgentWatch", chat, map[string]string{"x-agentwatch-session-id": "a1"}, chatBody, "unknown", "a1", "unknown"},

		{"agent in the path", "/agents/Billing-Bot/openai/v1/chat/completions", map[string]string{"X-Agent-Id": "other"}, chatBody, "billing-bot", "hash", "unknown"},
		{"agent in the path, provider from the shape", "/agents/billing-bot/v1/messages", nil, messagesBody, "billing-bot", "hash", "unknown"},
		{"agent in a header", chat, map[string]string{"X-Agent-Id": "Billing-Bot"}, chatBody, "billing-bot", "hash", "unknown"},
		{"agent from X-Title", chat, map[string]string{"X-Title": "support"}, chatBody, "support", "hash", "unknown"},
		{"an X-Title that is no id is ignored", chat, map[string]string{"X-Title": "My App"}, chatBody, "unknown", "hash", "unknown"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := newFixture(t, answer(200, "application/json", chatReply), "")
			res, body := f.send(t, "POST", tc.path, tc.header, tc.body)
			if res.StatusCode != 200 {
				t.Fatalf("status %d: %s", res.StatusCode, body)
			}
			e := f.last(t)
			session := e.Session
			if tc.session == "hash" && strings.HasPrefix(session, "ses_") && len(session) == 20 {
				session = "hash"
			}
			if e.Agent != tc.agent || session != tc.session || e.Client != tc.client {
				t.Errorf("agent %q, session %q, client %q; want %q, %q, %q", e.Agent, e.Session, e.Client, tc.agent, tc.session, tc.client)
			}
		})
	}
}

func TestInvalidAgentIDs(t *testing.T) {
	f := newFixture(t, answer(200, "application/json", chatReply), "")
	res, body := f.send(t, "POST", "/agents/not%20valid/openai/v1/chat/completions", nil, chatBody)
	if res.StatusCode != 400 || res.Header.Get("X-Haltd-Reason") != "invalid_agent" || !strings.Contains(body, "not valid") {
		t.Errorf("in the path: %d %q %s; want 400 invalid_agent", res.StatusCode, res.Header.Get("X-Haltd-Reason"), body)
	}
	res, _ = f.send(t, "POST", "/v1/chat/completions", map[string]string{"X-Agent-Id": "not valid"}, chatBody)
	if e := f.last(t); res.StatusCode != 200 || e.Agent != "unknown" {
		t.Errorf("in a header: %d, agent %q; want it ignored", res.StatusCode, e.Agent)
	}
	if n := f.meter.get(countInvalidAgentID); n != 1 {
		t.Errorf("counted %d times, want 1", n)
	}
}

func TestSessionByBeginning(t *testing.T) {
	f := newFixture(t, answer(200, "application/json", chatReply), "")
	session := func(key, body string) string {
		t.Helper()
		if res, b := f.send(t, "POST", "/v1/chat/completions", map[string]string{"Authorization": "Bearer " + key}, body); res.StatusCode != 200 {
			t.Fatalf("status %d: %s", res.StatusCode, b)
		}
		return f.last(t).Session
	}
	first := session("sk-a", chatBody)
	longer := strings.Replace(chatBody, `"hi"}]`, `"hi"},{"role":"assistant","content":"hello"},{"role":"user","content":"more"}]`, 1)
	if got := session("sk-a", longer); got != first {
		t.Errorf("a later call of the conversation is in %s, want %s", got, first)
	}
	for what, got := range map[string]string{
		"another key":        session("sk-b", chatBody),
		"another system":     session("sk-a", strings.Replace(chatBody, "be brief", "be long", 1)),
		"another first word": session("sk-a", strings.Replace(chatBody, `"hi"`, `"ho"`, 1)),
		"another user":       session("sk-a", strings.Replace(chatBody, `{"model"`, `{"user":"u2","model"`, 1)),
	} {
		if got == first {
			t.Errorf("%s is in the same session", what)
		}
	}
}

func TestSessionFollowsPreviousResponse(t *testing.T) {
	reply := `{"id":"resp_1","object":"response","status":"completed","model":"gpt-x","output":[],"usage":{"input_tokens":1,"output_tokens":1}}`
	f := newFixture(t, answer(200, "application/json", reply), "")
	f.send(t, "POST", "/v1/responses", nil, responsesBody)
	first := f.last(t).Session
	f.send(t, "POST", "/v1/responses", nil, `{"model":"gpt-x","previous_response_id":"resp_1","input":"go on"}`)
	if got := f.last(t).Session; got != first {
		t.Errorf("session %s, want %s: the reply it continues", got, first)
	}
	f.send(t, "POST", "/agents/other/v1/responses", nil, `{"model":"gpt-x","previous_response_id":"resp_1","input":"go on"}`)
	if got := f.last(t).Session; got == first {
		t.Error("another agent joined the session by guessing a reply id")
	}
}

func TestUnfitSessionIDsAreDigested(t *testing.T) {
	for _, id := range []string{strings.Repeat("x", 300), "a b", "a\tb", "sitzung-ü"} {
		got := sessionName(id, "")
		if !strings.HasPrefix(got, "ses_") || len(got) != 20 {
			t.Errorf("sessionName(%.10q) = %q, want a digest", id, got)
		}
		if again := sessionName(id, ""); again != got {
			t.Errorf("sessionName(%.10q) gave %q and %q", id, got, again)
		}
	}
}

func TestDefaultAgentsAreSharedWhoeverNamesThem(t *testing.T) {
	for agent, want := range map[string]bool{
		"claude-code": true, "codex": true, "curl": true, "unknown": true, "openai-python": true, "anthropic-js": true,
		"billing-bot": false, "openai": false, "openai-bot": false, "": false,
	} {
		if got := isFamily(agent); got != want {
			t.Errorf("isFamily(%q) = %v, want %v", agent, got, want)
		}
	}
}

// Who says hi tomorrow is not whom haltd stopped today.
func TestGuessedSessionsEndAfterAPause(t *testing.T) {
	f := newFixture(t, answer(200, "application/json", chatReply), "")
	session := func(after time.Duration) string {
		t.Helper()
		f.clock.advance(after)
		f.send(t, "POST", chatPath, nil, chatBody)
		return f.last(t).Session
	}
	first := session(0)
	if got := session(29 * time.Minute); got != first {
		t.Errorf("after 29 idle minutes the session is %s, want %s still", got, first)
	}
	second := session(31 * time.Minute)
	if second == first {
		t.Error("after 31 idle minutes it is the same session")
	}
	if got := session(20 * time.Minute); got != second {
		t.Errorf("the second session goes on as %s, want %s", got, second)
	}
	f.clock.advance(time.Hour)
	f.send(t, "POST", chatPath, inSession("named"), chatBody)
	if got := f.last(t).Session; got != "named" {
		t.Errorf("a session that was named is %s after an hour", got)
	}
}
