package formats

import (
	"bytes"
	"mime/multipart"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/haltd/haltd"
)

func TestKindOfPath(t *testing.T) {
	for path, want := range map[string]Kind{
		"/v1/completions": MeteredText, "/V1/Completions/": MeteredText, "/v1/fim/completions": MeteredText, "/v1/complete": MeteredText,
		"/v1/chat/completions/chatcmpl_1": NotMetered, "/v1/responses/compact": MeteredText, "/v1/responses/resp_1/cancel": NotMetered,
		"/v1/responses/input_tokens": NotMetered, "/v1/messages/count_tokens": NotMetered, "/v1/messages/batches": MeteredText,
		"/v1/messages/batches/b_1/cancel": NotMetered, "/v1/batches": MeteredMedia, "/v1/batch/jobs": MeteredMedia, "/v1/batch/jobs/j/cancel": NotMetered, "/v1/projects/p/locations/l/batchPredictionJobs": MeteredMedia, "/model-invocation-job": MeteredMedia, "/v1/batches/b_1": NotMetered,
		"/v1/threads": NotMetered, "/v1/threads/t/messages": NotMetered, "/v1/threads/t/runs": MeteredText, "/v1/threads/runs": MeteredText,
		"/v1/threads/t/runs/r": NotMetered, "/v1/threads/t/runs/r/submit_tool_outputs": MeteredText,
		"/v1/embeddings": MeteredEmbedding, "/v1/rerank": MeteredEmbedding, "/v1/images/edits": MeteredMedia, "/v1/audio/transcriptions": MeteredMedia, "/v1/videos": MeteredMedia,
		"/v1/files": NotMetered, "/v1/uploads/u/complete": NotMetered, "/v1/vector_stores/v/search": NotMetered, "/v1/fine_tuning/jobs": NotMetered,
		"/v1beta/models/g:batchGenerateContent": MeteredText, "/v1beta/models/g:embedContent": MeteredEmbedding, "/v1beta/models/g:countTokens": NotMetered,
		"/v1beta/models/i:predict": MeteredMedia, "/v1/projects/p/locations/l/publishers/anthropic/models/c@1:streamRawPredict": MeteredText,
		"/model/anthropic.claude-v2:1/invoke": MeteredText, "/model/m/converse-stream": MeteredText,
		"/api/chat": MeteredText, "/api/generate": MeteredText, "/api/embed": MeteredEmbedding, "/api/pull": NotMetered, "/v1/brand/new": MaybeMetered, "/": NotMetered,
	} {
		if got := kindOfPath(path); got != want {
			t.Errorf("%s is of kind %d, want %d", path, got, want)
		}
	}
}

func TestReadAsk(t *testing.T) {
	for _, tc := range []struct {
		name, path, body string
		want             Ask
	}{
		{"prompts and choices", "/v1/completions", `{"model":"m","prompt":["a","b"],"n":2,"best_of":3,"max_tokens":10}`,
			Ask{Kind: MeteredText, Models: []string{"m"}, MaxTokens: 60, Replies: 6}},
		{"numbers in quotes", "/v1/completions", `{"model":"m","prompt":"a","n":"2","max_tokens":"10"}`, Ask{Kind: MeteredText, Models: []string{"m"}, MaxTokens: 20, Replies: 2}},
		{"one prompt in tokens", "/v1/completions", `{"model":"m","prompt":[1,2,3]}`, Ask{Kind: MeteredText, Models: []string{"m"}, Replies: 1, Open: 1}},
		{"fallbacks", "/v1/completions", `{"model":"m","models":["n","o"]}`, Ask{Kind: MeteredText, Models: []string{"m", "n", "o"}, Replies: 1, Open: 1}},
		{"Ollama streams", "/api/chat", `{"model":"m","messages":[],"options":{"num_predict":9}}`, Ask{Kind: MeteredText, Models: []string{"m"}, MaxTokens: 9, Replies: 1, Stream: true}},
		{"unless told otherwise", "/api/generate", `{"model":"m","prompt":"a","stream":false}`, Ask{Kind: MeteredText, Models: []string{"m"}, Replies: 1, Open: 1}},
		{"a deployment", "/openai/deployments/mine/completions", `{"prompt":"a"}`, Ask{Kind: MeteredText, Models: []string{"mine"}, Replies: 1, Open: 1}},
		{"a profile of Bedrock", "/model/arn:aws:bedrock:us-east-1:1:inference-profile/eu.anthropic.claude-3-haiku-20240307-v1:0/converse-stream", `{"messages":[]}`,
			Ask{Kind: MeteredText, Models: []string{"claude-3-haiku-20240307"}, Names: []string{"arn:aws:bedrock:us-east-1:1:inference-profile/eu.anthropic.claude-3-haiku-20240307-v1:0"}, Replies: 1, Open: 1, Stream: true}},
	} {
		got, err := ReadAsk(kindOfPath(tc.path), tc.path, "application/json", []byte(tc.body), nil)
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		tc.want.PromptTokens = int64(len(tc.body)+3) / 4
		if diff := cmp.Diff(tc.want, *got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
	for _, body := range []string{``, `[]`, `{"model":"a","model":"b"}`, `{"model":"a"} x`} {
		if _, err := ReadAsk(MeteredText, "/v1/completions", "application/json", []byte(body), nil); err == nil {
			t.Errorf("%q was read", body)
		}
	}
	if got, err := ReadAsk(MeteredMedia, "/v1/audio/translations", "audio/wav", []byte("RIFF"), nil); err != nil || got == nil || got.Replies != 1 {
		t.Errorf("a sound by itself is %+v, %v", got, err)
	}
	if got, err := ReadAsk(MaybeMetered, "/v1/x", "application/json", []byte(`{"name":"a"}`), nil); got != nil || err != nil {
		t.Errorf("a route without a model is %+v, %v", got, err)
	}
}

func TestReadForm(t *testing.T) {
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	file, _ := form.CreateFormFile("file", "a.wav")
	file.Write([]byte("RIFF"))
	form.WriteField("model", "whisper-1")
	form.WriteField("n", "2")
	form.Close()
	got, err := ReadAsk(MeteredMedia, "/v1/audio/transcriptions", form.FormDataContentType(), b.Bytes(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Ask{Kind: MeteredMedia, Models: []string{"whisper-1"}, Replies: 2}, *got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What a tool is given cannot make a count smaller.
func TestCountsOnlyGrow(t *testing.T) {
	body := `{"usage":{"input_tokens":9,"output_tokens":90},"content":[{"input":{"usage":{"input_tokens":0,"output_tokens":0}}}],"stop_reason":"end_turn"}`
	got, err := Metered{}.ReadReply([]byte(body))
	if err != nil || !got.Counted || !got.Complete {
		t.Fatalf("%+v, %v", got, err)
	}
	if want := (haltd.Usage{Input: 9, Output: 90}); got.Usage != want {
		t.Errorf("%+v, want %+v", got.Usage, want)
	}
}
