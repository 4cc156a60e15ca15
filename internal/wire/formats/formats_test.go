package formats

import "testing"

func TestMatch(t *testing.T) {
	tests := []struct{ path, want string }{
		{"/v1/chat/completions", "openai-chat"},
		{"/V1/Chat/Completions/", "openai-chat"},
		{"/openai/deployments/d/chat/completions", "openai-chat"},
		{"/chat/completions", "openai-chat"},
		{"/v1/chat;a=b/completions;c", "openai-chat"},
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
		{"/v1beta/models/gemini-2.5-pro:generateContent;a=b", "gemini-generate"},
		{"/v1beta/tunedModels/mine:streamGenerateContent", "gemini-generate"},
		{"/v1/projects/p/locations/l/publishers/google/models/gemini-2.5-flash:generateContent", "gemini-generate"},
		{"/v1/projects/p/locations/l/publishers/anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict", "anthropic-messages"},
		{"/v1/projects/p/locations/l/publishers/mistralai/models/mistral-large:rawPredict", ""},
		{"/model/us.anthropic.claude-sonnet-4-5-20250929-v1:0/invoke", "anthropic-messages"},
		{"/model/arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-opus-4-1-20250805-v1:0/invoke-with-response-stream/", "anthropic-messages"},
		{"/model/anthropic.claude-v2:1/invoke", ""},
		{"/model/anthropic.claude-instant-v1/invoke", ""},
		{"/model/meta.llama3-70b-instruct-v1:0/invoke", ""},
		{"/model/anthropic.claude-3-haiku-20240307-v1:0/converse", ""},
		{"/api/chat", "ollama-chat"},
		{"/API/Chat/", "ollama-chat"},
		{"/api/generate", ""},
		{"/api/chat/1", ""},
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
		call, err := f.ReadCall(path, []byte(minimal[f.Name()]), nil)
		if err != nil {
			t.Fatal(err)
		}
		if call.Model != "Gemini-X" || call.Stream != stream {
			t.Errorf("%s: model %q, stream %v", path, call.Model, call.Stream)
		}
	}
}

func TestKeyHeaders(t *testing.T) {
	want := map[string][2]string{
		"openai":    {"Authorization", "Bearer k"},
		"anthropic": {"x-api-key", "k"},
		"gemini":    {"x-goog-api-key", "k"},
		"ollama":    {"Authorization", "Bearer k"},
	}
	for _, d := range dialects {
		name, value := d.KeyHeader("k")
		if got := [2]string{name, value}; got != want[d.Name()] {
			t.Errorf("%s: %v, want %v", d.Name(), got, want[d.Name()])
		}
	}
}

func TestFetched(t *testing.T) {
	for path, want := range map[string]string{
		"/v1/responses/resp_A1": "resp_A1", "/V1/Responses/resp_A1;x": "resp_A1", "/openai/v1/responses/resp_A1": "resp_A1",
		"/v1/responses": "", "/responses": "", "/v1/responses/resp_A1/input_items": "", "/v1/chat/completions/c_1": "", "/": "",
	} {
		id, f := Fetched(path)
		if id != want || (f == nil) != (want == "") {
			t.Errorf("%s fetches %q in %v, want %q", path, id, f, want)
		}
	}
}

func TestOperations(t *testing.T) {
	want := map[string]string{"openai": "chat", "anthropic": "chat", "gemini": "generate_content", "ollama": "chat"}
	for _, d := range dialects {
		if got := d.Operation(); got != want[d.Name()] {
			t.Errorf("%s: %q, want %q", d.Name(), got, want[d.Name()])
		}
	}
}
