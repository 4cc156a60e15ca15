package formats

import (
	"encoding/json"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMatch(t *testing.T) {
	tests := []struct{ path, want string }{
		{"/v1/chat/completions", "openai-chat"},
		{"/V1/Chat/Completions/", "openai-chat"},
		{"/openai/deployments/d/chat/completions", "openai-chat"},
		{"/chat/completions", "openai-chat"},
		{"/v1/completions", ""},
		{"/v1/chat/completions/chatcmpl-1", ""},
		{"/v1/responses", "openai-responses"},
		{"/responses/", "openai-responses"},
		{"/v1/responses/resp_1", ""},
		{"/v1/responses/compact", ""},
		{"/v1/responses/input_tokens", ""},
		{"/v1/messages", "anthropic-messages"},
		{"/anthropic/v1/messages", "anthropic-messages"},
		{"/api/anthropic/v1/MESSAGES/", "anthropic-messages"},
		{"/messages", "anthropic-messages"},
		{"/anthropic/messages", "anthropic-messages"},
		{"/v1/messages/count_tokens", ""},
		{"/v1/messages/batches", ""},
		{"/v1/threads/thread_1/messages", ""},
		{"/threads/thread_1/messages", ""},
		{"/threads/messages", ""},
		{"/v1beta/models/gemini-2.5-pro:generateContent", "gemini-generate"},
		{"/v1beta/models/gemini-2.5-pro:STREAMGENERATECONTENT/", "gemini-generate"},
		{"/v1beta/tunedModels/mine:streamGenerateContent", "gemini-generate"},
		{"/v1/projects/p/locations/l/publishers/google/models/gemini-2.5-flash:generateContent", "gemini-generate"},
		{"/v1beta/models/gemini-2.5-pro:countTokens", ""},
		{"/v1beta/models/gemini-2.5-pro", ""},
		{"/v1beta/models/:generateContent", ""},
		{"/v1/models", ""},
		{"/", ""},
		{"", ""},
	}
	for _, tt := range tests {
		got := ""
		f, d := Match(tt.path)
		if f != nil {
			got = f.Name()
		}
		if got != tt.want || (f == nil) != (d == nil) {
			t.Errorf("%s matches %q of %v, want %q", tt.path, got, d, tt.want)
		}
	}
}

func TestDialectsAreFoundByName(t *testing.T) {
	for _, d := range dialects {
		if Dialect(d.Name()) != d {
			t.Errorf("%s is not found by its name", d.Name())
		}
	}
	if Dialect("telegraph") != nil {
		t.Error("an unknown name finds a dialect")
	}
}

func TestGeminiPathNamesModelAndStream(t *testing.T) {
	f := formatOf(t, "gemini-generate")
	for path, stream := range map[string]bool{
		"/v1beta/models/Gemini-X:generateContent":        false,
		"/v1beta/models/Gemini-X:streamGenerateContent/": true,
	} {
		call, err := f.ReadCall(path, []byte(minimal[f.Name()]))
		if err != nil {
			t.Fatal(err)
		}
		if call.Model != "Gemini-X" || call.Stream != stream {
			t.Errorf("%s: model %q, stream %v", path, call.Model, call.Stream)
		}
	}
}

func TestDenials(t *testing.T) {
	const message = "agent \"a\" is\nstopped \xff"
	want := map[string]string{
		"openai":    `{"error":{"message":"agent \"a\" is\nstopped �","type":"invalid_request_error","param":null,"code":"agent_inactive"}}`,
		"anthropic": `{"type":"error","error":{"type":"invalid_request_error","message":"agent \"a\" is\nstopped �"},"request_id":"ID"}`,
		"gemini":    `{"error":{"code":400,"status":"FAILED_PRECONDITION","message":"agent \"a\" is\nstopped �"}}`,
	}
	id := regexp.MustCompile(`"req_[a-z]+"`)
	for _, d := range dialects {
		body := d.Denial(400, "agent_inactive", message)
		if !json.Valid(body) {
			t.Errorf("%s: %s is not JSON", d.Name(), body)
		}
		if diff := cmp.Diff(want[d.Name()], id.ReplaceAllString(string(body), `"ID"`)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", d.Name(), diff)
		}
	}
}

func TestGeminiStatusWords(t *testing.T) {
	for status, want := range map[int]string{
		400: "FAILED_PRECONDITION", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
		413: "INVALID_ARGUMENT", 426: "INVALID_ARGUMENT", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 502: "UNAVAILABLE", 503: "UNAVAILABLE",
		504: "DEADLINE_EXCEEDED",
	} {
		var body struct {
			Error struct {
				Code   int
				Status string
			}
		}
		if err := json.Unmarshal(Dialect("gemini").Denial(status, "x", "y"), &body); err != nil {
			t.Fatal(err)
		}
		if body.Error.Code != status || body.Error.Status != want {
			t.Errorf("%d is %d %s, want %s", status, body.Error.Code, body.Error.Status, want)
		}
	}
}

func TestKeyHeaders(t *testing.T) {
	want := map[string][2]string{
		"openai":    {"Authorization", "Bearer k"},
		"anthropic": {"x-api-key", "k"},
		"gemini":    {"x-goog-api-key", "k"},
	}
	for _, d := range dialects {
		name, value := d.KeyHeader("k")
		if got := [2]string{name, value}; got != want[d.Name()] {
			t.Errorf("%s: %v, want %v", d.Name(), got, want[d.Name()])
		}
	}
}
