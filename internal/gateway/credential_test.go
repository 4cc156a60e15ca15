package gateway

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/haltd/haltd"
)

const keyedProviders = `
providers:
  openai: {base_url: UPSTREAM, api_key: provider-secret}
  anthropic: {base_url: UPSTREAM, api_key: provider-secret}
  gemini: {base_url: UPSTREAM, api_key: provider-secret}
  mistral: {base_url: UPSTREAM}
  ollama: {base_url: UPSTREAM}
`

func TestGatewayKeyIsTakenOutAndTheProvidersPutIn(t *testing.T) {
	m := &mirror{reply: func(w http.ResponseWriter) { _, _ = w.Write([]byte(`{}`)) }}
	up := httptest.NewServer(m)
	defer up.Close()
	f := startFixture(t, strings.ReplaceAll(keyedProviders, "UPSTREAM", up.URL))
	_, secret, err := f.ring.Create(context.Background(), "Billing-Bot", "ci", haltd.KeyLimits{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, path string
		header     map[string]string
		body       string
		want       map[string]string // key headers that the upstream may see
		uri        string
	}{
		{"OpenAI", "/v1/chat/completions", map[string]string{"Authorization": "Bearer " + secret}, chatBody,
			map[string]string{"Authorization": "Bearer provider-secret"}, "/v1/chat/completions"},
		{"Anthropic", "/v1/messages", map[string]string{"X-Api-Key": secret}, messagesBody,
			map[string]string{"X-Api-Key": "provider-secret"}, "/v1/messages"},
		{"Anthropic with a bearer token", "/v1/messages", map[string]string{"Authorization": "bearer " + secret}, messagesBody,
			map[string]string{"X-Api-Key": "provider-secret"}, "/v1/messages"},
		{"Gemini header", "/v1beta/models/g:generateContent", map[string]string{"X-Goog-Api-Key": secret}, geminiBody,
			map[string]string{"X-Goog-Api-Key": "provider-secret"}, "/v1beta/models/g:generateContent"},
		{"Gemini query", "/v1beta/models/g:generateContent?a=%20b&key=" + secret + "&c", nil, geminiBody,
			map[string]string{"X-Goog-Api-Key": "provider-secret"}, "/v1beta/models/g:generateContent?a=%20b&c"},
		{"Gemini query, the second of two, escaped", "/v1beta/models/g:generateContent?key=x&k%65y=" + strings.Replace(secret, "_", "%5f", 1), nil, geminiBody,
			map[string]string{"X-Goog-Api-Key": "provider-secret"}, "/v1beta/models/g:generateContent"},
		{"Gemini in OpenAI's format", "/gemini/v1beta/openai/chat/completions", map[string]string{"Authorization": "Bearer " + secret}, chatBody,
			map[string]string{"Authorization": "Bearer provider-secret"}, "/v1beta/openai/chat/completions"},
		{"a second key beside it does not pass", "/v1/messages", map[string]string{"Authorization": "Bearer sk-own", "X-Api-Key": secret}, messagesBody,
			map[string]string{"X-Api-Key": "provider-secret"}, "/v1/messages"},
		{"a provider that needs none", "/ollama/v1/chat/completions", map[string]string{"Authorization": "Bearer " + secret}, chatBody,
			nil, "/v1/chat/completions"},
		{"pass-through", "/openai/v1/models", map[string]string{"Authorization": "Bearer " + secret}, "",
			map[string]string{"Authorization": "Bearer provider-secret"}, "/v1/models"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			method := "POST"
			if tc.body == "" {
				method = "GET"
			}
			res, body := f.send(t, method, tc.path, tc.header, tc.body)
			if res.StatusCode != 200 {
				t.Fatalf("%d %s", res.StatusCode, body)
			}
			got := m.last()
			for _, name := range keyHeaders {
				if v := got.Header.Get(name); v != tc.want[name] {
					t.Errorf("upstream saw %s: %q, want %q", name, v, tc.want[name])
				}
			}
			if got.URI != tc.uri {
				t.Errorf("upstream saw %s, want %s", got.URI, tc.uri)
			}
			e := f.last(t)
			if e.Agent != "billing-bot" {
				t.Errorf("agent %q, want the key's", e.Agent)
			}
			b, _ := json.Marshal(e)
			for _, radioactive := range []string{secret, "provider-secret", "sk-own"} {
				if strings.Contains(string(b), radioactive) {
					t.Errorf("the event holds a key: %s", b)
				}
			}
		})
	}
}

// Whoever takes the gateway's address for that of the admin API must not hand
// the token to a provider.
func TestTheAdminTokenNeverPasses(t *testing.T) {
	f := newFixture(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the provider was sent %s with %v", r.URL, r.Header)
	}), "")
	for name, tc := range map[string]struct {
		path   string
		header map[string]string
	}{
		"a path of the admin API": {"/v1/agents", map[string]string{"Authorization": "Bearer " + adminToken}},
		"an LLM call":             {chatPath, map[string]string{"Authorization": "bearer " + adminToken}},
		"as Anthropic's key":      {"/v1/messages", map[string]string{"X-Api-Key": adminToken}},
		"as Gemini's key":         {"/v1beta/models?key=" + adminToken, nil},
		"beside another key":      {"/v1/models", map[string]string{"Authorization": "Bearer sk-own", "X-Api-Key": adminToken}},
	} {
		t.Run(name, func(t *testing.T) {
			res, body := f.send(t, "POST", tc.path, tc.header, chatBody)
			if res.StatusCode != 401 || res.Header.Get("X-Haltd-Reason") != "unauthorized" || !strings.Contains(body, "admin API") || strings.Contains(body, adminToken) {
				t.Errorf("answered %d %v %s", res.StatusCode, res.Header, body)
			}
		})
	}
}

func TestUnderAKeyNamesAreLabels(t *testing.T) {
	f := newFixture(t, answer(200, "application/json", chatReply), keyedProviders)
	_, secret, _ := f.ring.Create(context.Background(), "billing-bot", "", haltd.KeyLimits{})
	auth := "Bearer " + secret
	f.send(t, "POST", "/agents/innocent/openai/v1/chat/completions", map[string]string{"Authorization": auth, "X-Agent-Id": "other"}, chatBody)
	if e := f.last(t); e.Agent != "billing-bot" || e.Label != "innocent" {
		t.Errorf("agent %q, label %q; want billing-bot, innocent", e.Agent, e.Label)
	}
}

func TestKeysThatAreRefused(t *testing.T) {
	reached := false
	f := newFixture(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }), "gateway: {require_keys: true}"+keyedProviders)
	key, revoked, _ := f.ring.Create(context.Background(), "bot", "", haltd.KeyLimits{})
	if _, err := f.ring.Revoke(context.Background(), key.ID); err != nil {
		t.Fatal(err)
	}
	_, good, _ := f.ring.Create(context.Background(), "bot", "", haltd.KeyLimits{})
	for _, tc := range []struct {
		name, path, key string
		status          int
		reason          string
	}{
		{"none", "/v1/chat/completions", "", 401, "unauthorized"},
		{"a provider's key", "/v1/chat/completions", "sk-x", 401, "unauthorized"},
		{"unknown", "/v1/chat/completions", "haltd_nope", 401, "unauthorized"},
		{"revoked", "/v1/chat/completions", revoked, 401, "unauthorized"},
		{"pass-through without one", "/v1/models", "", 401, "unauthorized"},
		{"no key of the provider", "/mistral/v1/chat/completions", good, 400, "provider_key_missing"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			header := map[string]string{}
			if tc.key != "" {
				header["Authorization"] = "Bearer " + tc.key
			}
			res, body := f.send(t, "POST", tc.path, header, chatBody)
			if res.StatusCode != tc.status || res.Header.Get("X-Haltd-Reason") != tc.reason {
				t.Errorf("%d %q %s; want %d %s", res.StatusCode, res.Header.Get("X-Haltd-Reason"), body, tc.status, tc.reason)
			}
			if tc.key != "" && strings.Contains(body, tc.key) {
				t.Error("the answer repeats the key")
			}
		})
	}
	if reached {
		t.Error("a refused request reached the upstream")
	}
}

func TestAnUnknownGatewayKeyNeverPasses(t *testing.T) {
	reached := false
	f := newFixture(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }), "")
	if res, _ := f.send(t, "POST", "/v1/chat/completions", map[string]string{"Authorization": "Bearer haltd_typo"}, chatBody); res.StatusCode != 401 || reached {
		t.Errorf("status %d, reached upstream %v; want 401 and no", res.StatusCode, reached)
	}
}

func TestTheAdminCookieIsTakenOut(t *testing.T) {
	for sent, want := range map[string]string{
		"haltd_session=x":                     "",
		"a=1; haltd_session=x; b=2":           "a=1; b=2",
		"haltd_session=x; a=1":                "a=1",
		" haltd_session = x ;a=1":             "a=1",
		"a=haltd_session; b=2":                "a=haltd_session; b=2",
		"my_haltd_session=1":                  "my_haltd_session=1",
		"a=1;haltd_session=x;haltd_session=y": "a=1",
	} {
		h := http.Header{"Cookie": {sent}}
		if dropAdminCookie(h); h.Get("Cookie") != want {
			t.Errorf("%q became %q, want %q", sent, h.Get("Cookie"), want)
		}
	}
}
