package admin

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/haltd/haltd"
)

const seedRule = `{
    "name": "block-high-growth",
    "condition": { "prompt_tokens_min": 50000 },
    "action": "block",
    "priority": 200
  }`

func TestARuleFromItsMakingToItsEnd(t *testing.T) {
	w := newWorld()
	made := w.do("POST", "/v1/rules", seedRule, "Content-Type", "application/json")
	want := `{"id":"rul_one","name":"block-high-growth","enabled":true,"priority":200,"condition":{"prompt_tokens_min":50000},` +
		`"action":"block","action_config":{},"created_at":"2026-03-01T12:00:00Z","updated_at":"2026-03-01T12:00:00Z"}`
	if got := strings.TrimSpace(made.Body.String()); made.Code != 201 || got != want {
		t.Fatalf("POST = %d %s, want %s", made.Code, got, want)
	}
	if got := strings.TrimSpace(w.do("GET", "/v1/rules", "").Body.String()); got != `{"rules":[`+want+`]}` {
		t.Errorf("GET /v1/rules = %s", got)
	}
	if got := strings.TrimSpace(w.do("GET", "/v1/rules/rul_one", "").Body.String()); got != want {
		t.Errorf("GET /v1/rules/rul_one = %s", got)
	}
	got := answer[haltd.Rule](t, w, "PATCH", "/v1/rules/rul_one", `{"enabled":false,"action":"reject","action_config":{"retry_after_seconds":5},"name":null}`, 200)
	tokens := int64(50000)
	changed := haltd.Rule{
		ID: "rul_one", Name: "block-high-growth", Priority: 200, Condition: haltd.RuleCondition{PromptTokensMin: &tokens},
		Action: haltd.RuleReject, Config: haltd.RuleConfig{RetryAfter: 5}, CreatedAt: noon, UpdatedAt: noon,
	}
	if diff := cmp.Diff(changed, got); diff != "" {
		t.Errorf("PATCH (-want +got):\n%s", diff)
	}
	if rec := w.do("DELETE", "/v1/rules/rul_one", ""); rec.Code != 204 {
		t.Errorf("DELETE = %d %s", rec.Code, rec.Body)
	}
	for _, method := range []string{"GET", "PATCH", "DELETE"} {
		answer[problemBody](t, w, method, "/v1/rules/rul_one", `{}`, 404)
	}
}

func TestRulesThatBreakARule(t *testing.T) {
	w := newWorld()
	for body, want := range map[string][2]string{
		`{"name":"a","action":"block","condition":{"prompt_token_min":1}}`:                {"condition.prompt_token_min is not a field", "Did you mean prompt_tokens_min?"},
		`{"name":"a","action":"block","condition":{},"prio":1}`:                           {"prio is not a field", "Known are "},
		`{"name":"a","action":"block","condition":{},"action_config":{"delay":1}}`:        {"action_config.delay is not a field", "Did you mean delay_ms?"},
		`{"name":"a","action":"kill","condition":{}}`:                                     {"action: ", ""},
		`{"name":"a","action":"block"}`:                                                   {"condition", ""},
		`{"action":"block","condition":{}}`:                                               {"name", ""},
		`{"name":"a","action":"throttle","condition":{}}`:                                 {"action_config.delay_ms: ", ""},
		`{"name":"a","action":"block","condition":{"hour_min":24}}`:                       {"condition.hour_min: ", ""},
		`{"name":"a","action":"block","condition":{"day_of_week":["monday"]}}`:            {"condition.day_of_week: ", ""},
		`{"name":" ","action":"tag","condition":{}}`:                                      {"name: expected 1 to 200 characters, got 1; action_config.tag: ", ""},
		`{"name":"a","action":"block","condition":{"prompt_tokens_min":"many"}}`:          {"condition.prompt_tokens_min: ", ""},
		`{"name":"a","action":"block","condition":{},"enabled":"yes","action_config":{}}`: {"enabled: ", ""},
	} {
		got := answer[problemBody](t, w, "POST", "/v1/rules", body, 400)
		if !strings.Contains(got.Error.Message, want[0]) || !strings.HasPrefix(got.Error.Fix, want[1]) {
			t.Errorf("POST %s = %+v, want %q", body, got.Error, want)
		}
	}
	if len(w.rules) != 0 {
		t.Errorf("rules = %v, want none", w.rules)
	}
}

func TestIngestedCalls(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       haltd.Ingest
	}{
		{"everything", `{"agent":"Billing-Bot","session_id":"s","provider":"openai","model":"gpt-5","prompt_tokens":10,"completion_tokens":2,
			"latency_ms":1500.5,"iteration_index":3,"response_hash":"ab",
			"tool_calls":["search",{"name":"read","arguments":{"path":"a"}},{"name":"run","arguments":"{\"x\":1}"},{"name":"stop"}]}`,
			haltd.Ingest{
				Agent: "billing-bot", Session: "s", Provider: "openai", Model: "gpt-5", PromptTokens: 10, CompletionTokens: 2,
				Latency: haltd.Duration(1500500000), Iteration: 3, ResponseHash: "ab",
				ToolCalls: []haltd.ToolCall{{Name: "search"}, {Name: "read", Arguments: `{"path":"a"}`}, {Name: "run", Arguments: `{"x":1}`}, {Name: "stop"}},
			}},
		{"what is needed", `{"agent":"a","session_id":"s","model":"m","prompt_tokens":1}`, haltd.Ingest{Agent: "a", Session: "s", Model: "m", PromptTokens: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld()
			rec := w.do("POST", "/v1/ingest", c.body)
			want := `{"action":"warn","reason":"growth","active":true,"score":0,"findings":[],"event":"evt_0000000000007"}`
			if got := strings.TrimSpace(rec.Body.String()); rec.Code != 200 || got != want {
				t.Fatalf("POST = %d %s, want %s", rec.Code, got, want)
			}
			if diff := cmp.Diff([]haltd.Ingest{c.want}, w.ingested); diff != "" {
				t.Errorf("ingested (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhoMayIngest(t *testing.T) {
	const key = "haltd_of-billing-bot"
	for _, c := range []struct {
		name, agent string
		headers     []string
		status      int
		says        string
	}{
		{"the token for any agent", `"agent":"other",`, nil, 200, ""},
		{"the token for nobody", ``, nil, 400, "agent: "},
		{"a key for its own agent", `"agent":"Billing-Bot",`, []string{"Authorization", "Bearer " + key}, 200, ""},
		{"a key without a name", ``, []string{"Authorization", "Bearer " + key}, 200, ""},
		{"a key as X-Api-Key", ``, []string{"Authorization", "", "X-Api-Key", key}, 200, ""},
		{"a key for another agent", `"agent":"other",`, []string{"Authorization", "Bearer " + key}, 403, "billing-bot and not for other"},
		{"an unknown key", ``, []string{"Authorization", "Bearer haltd_unknown"}, 401, "neither the admin token nor a gateway key in force"},
		{"an unknown key as X-Api-Key", ``, []string{"Authorization", "", "X-Api-Key", "haltd_unknown"}, 401, "neither the admin token nor a gateway key in force"},
		{"no key", ``, []string{"Authorization", ""}, 401, "needs the admin token or a gateway key"},
		{"a key as a password", ``, []string{"Authorization", "Basic " + key}, 401, "admin token"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld()
			rec := w.do("POST", "/v1/ingest", `{`+c.agent+`"session_id":"s","model":"m","prompt_tokens":1}`, c.headers...)
			if rec.Code != c.status || !strings.Contains(rec.Body.String(), c.says) {
				t.Errorf("POST = %d %s, want %d with %q", rec.Code, rec.Body, c.status, c.says)
			}
		})
	}
	w := newWorld()
	for _, route := range [][2]string{{"GET", "/v1/agents"}, {"POST", "/v1/rules"}, {"GET", "/v1/events"}, {"POST", "/v1/agents/billing-bot/activate"}} {
		if rec := w.do(route[0], route[1], "", "Authorization", "Bearer "+key, "X-Api-Key", key); rec.Code != 401 {
			t.Errorf("%s %s with a gateway key = %d, want 401", route[0], route[1], rec.Code)
		}
	}
}

func TestIngestsThatBreakARule(t *testing.T) {
	w := newWorld()
	for body, names := range map[string]string{
		`{"session_id":"s","model":"m","prompt_tokens":1,"agent":"not valid"}`:             "agent: ",
		`{"model":"m","prompt_tokens":1,"agent":"a"}`:                                      "session_id",
		`{"session_id":"s","model":"m","prompt_tokens":-1,"agent":"a"}`:                    "prompt_tokens: ",
		`{"session_id":"s","model":"m","prompt_tokens":1,"agent":"a","latency_ms":"fast"}`: "latency_ms: ",
		`{"session_id":"s","model":"m","prompt_tokens":1,"agent":"a","tool_calls":[7]}`:    "tool_calls[0]: ",
		`{"session_id":"s","model":"m","prompt_tokens":1,"agent":"a","tool_calls":[""]}`:   "tool_calls[0]: ",
		`{"session_id":"s","model":"m","prompt_tokens":1,"agent":"a","tool_calls":[{}]}`:   "tool_calls[0]: ",
		`{"session_id":"s","model":"m","prompt_tokens":1,"agent":"a","promt":1}`:           "promt is not a field",
	} {
		if got := answer[problemBody](t, w, "POST", "/v1/ingest", body, 400); !strings.Contains(got.Error.Message, names) {
			t.Errorf("POST %s = %+v, want %q", body, got.Error, names)
		}
	}
	if len(w.ingested) != 0 {
		t.Errorf("ingested = %v, want nothing", w.ingested)
	}
}
