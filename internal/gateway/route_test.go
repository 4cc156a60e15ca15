package gateway

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestRoutes(t *testing.T) {
	cfg := loadConfig(t, "providers:\n  lab: {base_url: \"http://127.0.0.1:9/deep\", format: openai}\n")
	s := NewSettings(cfg, nil)
	for _, tc := range []struct {
		uri      string
		header   string // one header, "Name: value"
		provider string
		agent    string
		target   string // path and query as the upstream gets them
		format   string
	}{
		{"/v1/chat/completions", "", "openai", "", "/v1/chat/completions", "openai-chat"},
		{"//v1/chat/completions", "", "openai", "", "//v1/chat/completions", "openai-chat"},
		{"/v1/chat/completions/", "", "openai", "", "/v1/chat/completions/", "openai-chat"},
		{"/v1/responses", "", "openai", "", "/v1/responses", "openai-responses"},
		{"/v1/responses/resp_1", "", "openai", "", "/v1/responses/resp_1", ""},
		{"/v1/embeddings", "", "openai", "", "/v1/embeddings", ""},
		{"/v1/models", "", "openai", "", "/v1/models", ""},
		{"/v1/models", "Anthropic-Version: 2023-06-01", "anthropic", "", "/v1/models", ""},
		{"/v1/models", "X-Api-Key: k", "anthropic", "", "/v1/models", ""},
		{"/v1/models", "X-Goog-Api-Key: k", "gemini", "", "/v1/models", ""},
		{"/v1/models?key=k", "", "gemini", "", "/v1/models?key=k", ""},
		{"/v1/messages?beta=true", "", "anthropic", "", "/v1/messages?beta=true", "anthropic-messages"},
		{"/v1/messages/count_tokens", "", "anthropic", "", "/v1/messages/count_tokens", ""},
		{"/v1/messages/batches", "", "anthropic", "", "/v1/messages/batches", ""},
		{"/v1beta/models/gemini-x:generateContent", "", "gemini", "", "/v1beta/models/gemini-x:generateContent", "gemini-generate"},
		{"/v1beta/models/gemini-x:streamGenerateContent?alt=sse", "", "gemini", "", "/v1beta/models/gemini-x:streamGenerateContent?alt=sse", "gemini-generate"},
		{"/v1/models/gemini-x:generateContent", "", "gemini", "", "/v1/models/gemini-x:generateContent", "gemini-generate"},
		{"/v1beta/models/gemini-x:countTokens", "", "gemini", "", "/v1beta/models/gemini-x:countTokens", ""},
		{"/v1beta/models", "", "gemini", "", "/v1beta/models", ""},
		{"/api/hello", "User-Agent: claude-cli/2.0.0", "anthropic", "", "/api/hello", ""},

		{"/groq/v1/chat/completions", "", "groq", "", "/openai/v1/chat/completions", "openai-chat"},
		{"/anthropic/v1/messages", "", "anthropic", "", "/v1/messages", "anthropic-messages"},
		{"/openrouter/v1/messages", "", "openrouter", "", "/api/v1/messages", "anthropic-messages"},
		{"/gemini/v1beta/openai/chat/completions", "", "gemini", "", "/v1beta/openai/chat/completions", "openai-chat"},
		{"/lab/v1/chat/completions", "", "lab", "", "/deep/v1/chat/completions", "openai-chat"},
		{"/lab/chat/completions", "", "lab", "", "/deep/chat/completions", "openai-chat"},
		{"/openai/v1/threads/t1/messages", "", "openai", "", "/v1/threads/t1/messages", ""},

		{"/agents/bot/openai/v1/chat/completions", "", "openai", "bot", "/v1/chat/completions", "openai-chat"},
		{"/agents/bot/v1/messages", "", "anthropic", "bot", "/v1/messages", "anthropic-messages"},
		{"/agents/bot/v1beta/models/g:generateContent", "", "gemini", "bot", "/v1beta/models/g:generateContent", "gemini-generate"},
		{"/agents/a%3Ab/openai/v1/models", "", "openai", "a:b", "/v1/models", ""},

		// A path must mean the same to the upstream as to haltd.
		{"/v1/chat%2Fcompletions", "", "openai", "", "/v1/chat%2Fcompletions", "openai-chat"},
		{"/v1/%63hat/completions", "", "openai", "", "/v1/%63hat/completions", "openai-chat"},
		{"/v1/CHAT/completions", "", "openai", "", "/v1/CHAT/completions", "openai-chat"},
		{"/v1//chat///completions", "", "openai", "", "/v1//chat///completions", "openai-chat"},
		{"/v1/files/a%22b?x=%zz&y", "", "openai", "", "/v1/files/a%22b?x=%zz&y", ""},
		{"/v1/models?", "", "openai", "", "/v1/models?", ""},
	} {
		t.Run(tc.uri+" "+tc.header, func(t *testing.T) {
			r := httptest.NewRequest("POST", tc.uri, nil)
			r.Header.Del("User-Agent")
			if name, value, ok := strings.Cut(tc.header, ": "); ok {
				r.Header.Set(name, value)
			}
			rt, err := findRoute(r, s)
			if err != nil {
				t.Fatal(err)
			}
			format := ""
			if rt.format != nil {
				format = rt.format.Name()
			}
			target := rt.upstream.target(rt.rest, r.URL.RawQuery, r.URL.ForceQuery).RequestURI()
			if rt.upstream.Name != tc.provider || rt.agent != tc.agent || target != tc.target || format != tc.format {
				t.Errorf("provider %q, agent %q, target %q, format %q; want %q, %q, %q, %q",
					rt.upstream.Name, rt.agent, target, format, tc.provider, tc.agent, tc.target, tc.format)
			}
		})
	}
}

func TestRoutesThatAreRefused(t *testing.T) {
	s := NewSettings(loadConfig(t, ""), nil)
	for uri, want := range map[string]struct {
		status int
		says   string
	}{
		"/chat/completions":                    {404, "Add /v1"},
		"/responses":                           {404, "Add /v1"},
		"/messages":                            {404, "Add /v1"},
		"/nowhere/v1/chat/completions":         {404, "configured provider"},
		"/agents/bot":                          {404, "configured provider"},
		"/agents/bot/nowhere/v1/messages":      {404, "configured provider"},
		"/openai/../admin":                     {400, "dot segments"},
		"/openai/v1/./chat/completions":        {400, "dot segments"},
		"/openai/v1/%2e%2e/chat/completions":   {400, "dot segments"},
		"/v1/files/..%2f..%2fchat/completions": {400, "dot segments"},
		"/v1/chat\\completions":                {400, "dot segments"},
		"/v1/chat/completions#":                {400, "fragments"},
		"/openai#/v1/chat/completions":         {400, "fragments"},
	} {
		t.Run(uri, func(t *testing.T) {
			r := httptest.NewRequest("POST", "/", nil)
			r.RequestURI = uri
			_, err := findRoute(r, s)
			ref, ok := err.(refusal)
			if !ok || ref.Status != want.status || !strings.Contains(ref.Error(), want.says) {
				t.Errorf("%v; want %d and %q", err, want.status, want.says)
			}
		})
	}
}

// A base URL with the version in it and one without lead to the same place.
func TestBaseURLWithVersion(t *testing.T) {
	for base, want := range map[string]string{
		"http://h":           "/v1/chat/completions",
		"http://h/":          "/v1/chat/completions",
		"http://h/v1":        "/v1/chat/completions",
		"http://h/v1/":       "/v1/chat/completions",
		"http://h/openai/v1": "/openai/v1/chat/completions",
		"http://h/v10":       "/v10/v1/chat/completions",
	} {
		s := NewSettings(loadConfig(t, "providers: {openai: {base_url: '"+base+"'}}"), nil)
		got := s.upstream("openai").target("/v1/chat/completions", "", false).RequestURI()
		if got != want {
			t.Errorf("%s: %s, want %s", base, got, want)
		}
	}
}

// A proxy is asked for the whole URL where it makes the call itself, and a
// provider never is.
func TestTargetByProxy(t *testing.T) {
	const path = "/v1/files/a%2Fb"
	for _, tc := range []struct{ base, proxy, want string }{
		{"http://h:81/up", "http://p:3128", "http://h:81/up" + path + "?x=1"},
		{"http://h", "https://p:3128", "http://h" + path + "?x=1"},
		{"http://h", "socks5://p:1080", path + "?x=1"},
		{"https://h", "http://p:3128", path + "?x=1"},
	} {
		s := NewSettings(loadConfig(t, fmt.Sprintf("providers: {lab: {base_url: %q, proxy: %q}}", tc.base, tc.proxy)), nil)
		if got := s.upstream("lab").target(path, "x=1", false).RequestURI(); got != tc.want {
			t.Errorf("%s by %s: %s, want %s", tc.base, tc.proxy, got, tc.want)
		}
	}
}

func TestProbes(t *testing.T) {
	f := newFixture(t, answer(500, "text/plain", "not reached"), "")
	for _, path := range []string{"/", "/anthropic", "/agents/bot/anthropic/", "/anthropic/"} {
		for _, method := range []string{http.MethodHead, http.MethodGet} {
			if res, _ := f.send(t, method, path, nil, ""); res.StatusCode != 200 {
				t.Errorf("%s %s: %d, want 200", method, path, res.StatusCode)
			}
		}
	}
	if n := f.events.count(); n != 0 {
		t.Errorf("%d events for probes, want none", n)
	}
}
