package e2e

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
	"github.com/haltd/haltd/test/harness"
)

// generating is a route that generates and is no conversation.
type generating struct {
	name, path, body string
	reply            string // of the provider
	stream           bool
	kind             string // of the reply, where it is neither JSON nor events
	lines            bool   // it streams documents, one a line
	form             bool   // the body is one
	media            string // that the body says it is, where it is JSON and says something else
	method           string // where it is no POST
	model            string
	tokens           haltd.Usage
	estimated        bool
	named            bool // by the reply alone
	flat             bool // nobody counts tokens: the default is charged
}

// counted is usage in the words of OpenAI.
const counted = `"usage":{"prompt_tokens":1000,"completion_tokens":500,"total_tokens":1500}`

var generatingRoutes = []generating{
	{name: "completions", path: "/openai/v1/completions", body: `{"model":"gpt-3.5-turbo-instruct","prompt":"hi","max_tokens":600}`,
		reply: `{"id":"cmpl-1","model":"gpt-3.5-turbo-instruct","choices":[{"text":"x","finish_reason":"stop"}],` + counted + `}`, model: "gpt-3.5-turbo-instruct", tokens: haltd.Usage{Input: 1000, Output: 500}},
	{name: "completions stream without usage", path: "/openai/v1/completions", body: `{"model":"gpt-3.5-turbo-instruct","prompt":"hi","stream":true}`, stream: true,
		reply: "data: {\"choices\":[{\"text\":\"" + strings.Repeat("word ", 400) + "\"}]}\n\ndata: {\"choices\":[{\"text\":\"\",\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
		model: "gpt-3.5-turbo-instruct", tokens: haltd.Usage{Output: 500}, estimated: true},
	{name: "compact", path: "/openai/v1/responses/compact", body: `{"model":"gpt-5","input":"hi"}`,
		reply: `{"id":"resp_1","object":"response.compaction","output":[],"usage":{"input_tokens":1000,"output_tokens":500}}`, model: "gpt-5", tokens: haltd.Usage{Input: 1000, Output: 500}},
	{name: "a run of a thread", path: "/openai/v1/threads/thread_1/runs", body: `{"assistant_id":"asst_1"}`,
		reply: `{"id":"run_1","status":"queued","model":"gpt-4o","usage":null}`, model: "gpt-4o", named: true, tokens: haltd.Usage{Output: 32768}, estimated: true},
	{name: "embeddings", path: "/openai/v1/embeddings", body: `{"model":"text-embedding-3-large","input":"hi"}`,
		reply: `{"data":[{"embedding":[0.1]}],"model":"text-embedding-3-large","usage":{"prompt_tokens":1000,"total_tokens":1000}}`, model: "text-embedding-3-large", tokens: haltd.Usage{Input: 1000}},
	{name: "images with usage", path: "/openai/v1/images/generations", body: `{"model":"gpt-image-1","prompt":"a cat","n":2}`,
		reply: `{"data":[{"b64_json":"AAAA"}],"usage":{"input_tokens":1000,"output_tokens":500,"total_tokens":1500}}`, model: "gpt-image-1", tokens: haltd.Usage{Input: 1000, Output: 500}},
	{name: "images without", path: "/openai/v1/images/generations", body: `{"model":"dall-e-3","prompt":"a cat","n":3}`, reply: `{"data":[{"url":"x"}]}`, model: "dall-e-3", flat: true, estimated: true},
	{name: "speech", path: "/openai/v1/audio/speech", body: `{"model":"tts-1","input":"hi","voice":"alloy"}`, reply: `{}`, model: "tts-1", flat: true, estimated: true},
	{name: "speech that sounds", path: "/openai/v1/audio/speech", body: `{"model":"gpt-4o-mini-tts","input":"hi","voice":"alloy"}`, reply: "ID3\x04sound", kind: "audio/mpeg", model: "gpt-4o-mini-tts", flat: true, estimated: true},
	{name: "a transcription", path: "/openai/v1/audio/transcriptions", body: field("model", "whisper-1") + field("file\"; filename=\"a.wav", "RIFF") + "--x--\r\n", form: true,
		reply: `{"text":"hello","usage":{"type":"duration","seconds":9}}`, model: "whisper-1", flat: true, estimated: true},
	{name: "a transcription with usage", path: "/openai/v1/audio/transcriptions", body: field("model", "gpt-4o-transcribe") + field("file\"; filename=\"a.wav", "RIFF") + "--x--\r\n", form: true,
		reply: `{"text":"hello","usage":{"type":"tokens","input_tokens":1000,"output_tokens":500,"total_tokens":1500}}`, model: "gpt-4o-transcribe", tokens: haltd.Usage{Input: 1000, Output: 500}},
	{name: "an edited image", path: "/openai/v1/images/edits", body: field("model", "dall-e-2") + field("n", "2") + field("image\"; filename=\"a.png", "PNG") + "--x--\r\n", form: true,
		reply: `{"data":[{"url":"x"}]}`, model: "dall-e-2", flat: true, estimated: true},
	{name: "a video", path: "/openai/v1/videos", body: `{"model":"sora-2","prompt":"a cat"}`, reply: `{"id":"video_1","status":"queued"}`, model: "sora-2", flat: true, estimated: true},
	{name: "a realtime session", path: "/openai/v1/realtime/sessions", body: `{"model":"gpt-realtime"}`, reply: `{"id":"sess_1","client_secret":{"value":"ek_1"}}`, model: "gpt-realtime", flat: true, estimated: true},
	{name: "a thread and its run", path: "/openai/v1/threads/runs", body: `{"assistant_id":"asst_1","model":"gpt-4o","max_completion_tokens":900,"thread":{"messages":[]}}`,
		reply: `{"id":"run_1","status":"queued","model":"gpt-4o","usage":null}`, model: "gpt-4o", tokens: haltd.Usage{Output: 900}, estimated: true},
	{name: "a batch of Mistral's", path: "/openai/v1/batch/jobs", body: `{"input_files":["f"],"endpoint":"/v1/chat/completions"}`, reply: `{"id":"job_1","status":"QUEUED"}`, flat: true, estimated: true},
	{name: "a batch of Vertex", path: "/cloud/v1/projects/p/locations/l/batchPredictionJobs", body: `{"model":"gemini-2.5-pro","inputConfig":{"gcsSource":{"uris":["gs://a"]}}}`,
		reply: `{"name":"batchPredictionJobs/1"}`, model: "gemini-2.5-pro", flat: true, estimated: true},
	{name: "a batch of Bedrock", path: "/cloud/model-invocation-job", body: `{"modelId":"anthropic.claude-3-haiku-20240307-v1:0","inputDataConfig":{}}`, reply: `{"jobArn":"arn"}`, model: "claude-3-haiku-20240307", flat: true, estimated: true},
	{name: "a batch in a file", path: "/openai/v1/batches", body: `{"input_file_id":"file-1","endpoint":"/v1/chat/completions","completion_window":"24h"}`,
		reply: `{"id":"batch_1","status":"validating"}`, flat: true, estimated: true},
	{name: "a batch of messages", path: "/anthropic/v1/messages/batches",
		body:  `{"requests":[{"custom_id":"a","params":{"model":"claude-sonnet-4-5","max_tokens":1000,"messages":[]}},{"custom_id":"b","params":{"model":"claude-opus-4-1","max_tokens":3000,"messages":[]}}]}`,
		reply: `{"id":"msgbatch_1","processing_status":"in_progress"}`, model: "claude-sonnet-4-5", tokens: haltd.Usage{Output: 4000}, estimated: true},
	{name: "a batch of contents", path: "/gemini/v1beta/models/gemini-2.5-pro:batchGenerateContent",
		body:  `{"batch":{"inputConfig":{"requests":{"requests":[{"request":{"contents":[{"parts":[{"text":"hi"}]}],"generationConfig":{"maxOutputTokens":700}}},{"request":{"contents":[]}}]}}}}`,
		reply: `{"name":"batches/1","metadata":{"state":"BATCH_STATE_PENDING"}}`, model: "gemini-2.5-pro", tokens: haltd.Usage{Output: 700 + 65536}, estimated: true},
	{name: "embedContent", path: "/gemini/v1beta/models/gemini-embedding-001:embedContent", body: `{"content":{"parts":[{"text":"` + strings.Repeat("word ", 800) + `"}]}}`,
		reply: `{"embedding":{"values":[0.1]}}`, model: "gemini-embedding-001", tokens: haltd.Usage{Input: 1000}, estimated: true},
	{name: "predict", path: "/gemini/v1beta/models/imagen-4:predict", body: `{"instances":[{"prompt":"a cat"}],"parameters":{"sampleCount":4}}`, reply: `{"predictions":[]}`, model: "imagen-4", flat: true, estimated: true},
	{name: "Vertex rawPredict", path: "/cloud/v1/projects/p/locations/l/publishers/anthropic/models/claude-sonnet-4-5@20250929:rawPredict", body: `{"anthropic_version":"vertex-2023-10-16","max_tokens":900,"messages":[]}`,
		reply: `{"id":"msg_1","model":"claude-sonnet-4-5-20250929","content":[{"type":"text","text":"x"}],"stop_reason":"end_turn","usage":{"input_tokens":400,"cache_read_input_tokens":600,"output_tokens":500}}`,
		model: "claude-sonnet-4-5@20250929", tokens: haltd.Usage{Input: 1000, Output: 500, CacheRead: 600}},
	{name: "Vertex generateContent", path: "/cloud/v1/projects/p/locations/l/publishers/google/models/gemini-2.5-pro:generateContent", body: `{"contents":[{"parts":[{"text":"hi"}]}]}`,
		reply: `{"candidates":[{"content":{"parts":[{"text":"x"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1000,"candidatesTokenCount":300,"thoughtsTokenCount":200}}`,
		model: "gemini-2.5-pro", tokens: haltd.Usage{Input: 1000, Output: 500}},
	{name: "Bedrock invoke", path: "/cloud/model/us.anthropic.claude-sonnet-4-5-20250929-v1:0/invoke", body: `{"anthropic_version":"bedrock-2023-05-31","max_tokens":900,"messages":[]}`,
		reply: `{"id":"msg_1","content":[],"stop_reason":"end_turn","usage":{"input_tokens":1000,"output_tokens":500}}`, model: "claude-sonnet-4-5-20250929", tokens: haltd.Usage{Input: 1000, Output: 500}},
	{name: "Bedrock converse", path: "/cloud/model/anthropic.claude-3-haiku-20240307-v1%3A0/converse", body: `{"messages":[],"inferenceConfig":{"maxTokens":900}}`,
		reply: `{"output":{"message":{"content":[{"text":"x"}]}},"stopReason":"end_turn","usage":{"inputTokens":1000,"outputTokens":500,"totalTokens":1500}}`, model: "claude-3-haiku-20240307", tokens: haltd.Usage{Input: 1000, Output: 500}},
	{name: "Bedrock invoke stream", path: "/cloud/model/us.anthropic.claude-sonnet-4-5-20250929-v1:0/invoke-with-response-stream", body: `{"anthropic_version":"bedrock-2023-05-31","max_tokens":900,"messages":[]}`, kind: amazonStream,
		reply: amazonMessage("chunk", amazonChunk(`{"type":"message_start","message":{"usage":{"input_tokens":900,"output_tokens":1}}}`)) +
			amazonMessage("chunk", amazonChunk(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}}`)) +
			amazonMessage("chunk", amazonChunk(`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":500}}`)) +
			amazonMessage("chunk", amazonChunk(`{"type":"message_stop","amazon-bedrock-invocationMetrics":{"inputTokenCount":1000,"outputTokenCount":500,"invocationLatency":900,"firstByteLatency":300}}`)),
		model: "claude-sonnet-4-5-20250929", tokens: haltd.Usage{Input: 1000, Output: 500}},
	{name: "Bedrock converse stream", path: "/cloud/model/anthropic.claude-3-haiku-20240307-v1%3A0/converse-stream", body: `{"messages":[],"inferenceConfig":{"maxTokens":900}}`, kind: amazonStream,
		reply: amazonMessage("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":"x"}}`) + amazonMessage("messageStop", `{"stopReason":"end_turn"}`) +
			amazonMessage("metadata", `{"usage":{"inputTokens":1000,"outputTokens":500,"totalTokens":1500},"metrics":{"latencyMs":900}}`),
		model: "claude-3-haiku-20240307", tokens: haltd.Usage{Input: 1000, Output: 500}},
	{name: "Ollama chat", path: "/cloud/api/chat", body: `{"model":"llama3","messages":[],"options":{"num_predict":900}}`,
		reply: "{\"model\":\"llama3\",\"message\":{\"content\":\"x\"},\"done\":false}\n{\"model\":\"llama3\",\"done\":true,\"prompt_eval_count\":1000,\"eval_count\":500}\n", lines: true, model: "llama3", tokens: haltd.Usage{Input: 1000, Output: 500}},
	{name: "Ollama generate", path: "/cloud/api/generate", body: `{"model":"llama3","prompt":"hi","stream":false}`,
		reply: `{"model":"llama3","response":"x","done":true,"prompt_eval_count":1000,"eval_count":500}`, model: "llama3", tokens: haltd.Usage{Input: 1000, Output: 500}},
	{name: "a conversation of Mistral's", path: "/openai/v1/conversations", body: `{"model":"mistral-large-latest","inputs":"hi","stream":false}`,
		reply: `{"object":"conversation.response","conversation_id":"conv_1","outputs":[{"type":"message.output","content":"x"}],` + counted + `}`, model: "mistral-large-latest", tokens: haltd.Usage{Input: 1000, Output: 500}},
	{name: "a conversation that goes on", path: "/openai/v1/conversations/conv_1", body: `{"inputs":"more"}`,
		reply: `{"object":"conversation.response","conversation_id":"conv_1","outputs":[{"type":"message.output","content":"x"}],` + counted + `}`, tokens: haltd.Usage{Input: 1000, Output: 500}},
	{name: "an evaluation", path: "/openai/v1/evals/eval_1/runs", body: `{"data_source":{"type":"completions","model":"gpt-4o"}}`, reply: `{"id":"evalrun_1","status":"queued"}`, flat: true, estimated: true},
	{name: "a grader", path: "/openai/v1/fine_tuning/alpha/graders/run", body: `{"grader":{"type":"score_model","model":"gpt-4o"},"model_sample":"x"}`, reply: `{"reward":1}`, flat: true, estimated: true},
	{name: "llama.cpp", path: "/cloud/completion", body: `{"prompt":"hi","n_predict":900}`, reply: `{"content":"x","stop":true,"tokens_evaluated":1000,"tokens_predicted":500}`, tokens: haltd.Usage{Input: 1000, Output: 500}},
	{name: "a route that nobody knows, as plain text", path: "/openai/v1/brand/new", body: `{"model":"gpt-4o","max_tokens":900}`, media: "text/plain", reply: `{` + counted + `}`, model: "gpt-4o", tokens: haltd.Usage{Input: 1000, Output: 500}},
	{name: "a route that nobody knows, as a form", path: "/openai/v1/brand/new", body: `{"model":"gpt-4o","max_tokens":900}`, media: "multipart/form-data; boundary=x", reply: `{` + counted + `}`, model: "gpt-4o", tokens: haltd.Usage{Input: 1000, Output: 500}},
	{name: "a route that nobody knows, which two readers understand differently", path: "/openai/v1/brand/new", body: `{"model":"gpt-4o","model":"o3-pro"}`, reply: `{}`, flat: true, estimated: true},
	{name: "a route that nobody knows, in another encoding", path: "/openai/v1/brand/new", body: "{\x00\"\x00m\x00o\x00d\x00e\x00l\x00\"\x00:\x00\"\x00m\x00\"\x00}\x00", reply: `{}`, flat: true, estimated: true},
	{name: "completions, as a form", path: "/openai/v1/completions", body: `{"model":"gpt-4o","prompt":"hi","max_tokens":900}`, media: "multipart/form-data; boundary=x", reply: `{` + counted + `}`, model: "gpt-4o", tokens: haltd.Usage{Input: 1000, Output: 500}},
	{name: "an image, as a form", path: "/openai/v1/images/generations", body: `{"model":"dall-e-3","prompt":"a cat","n":3}`, media: "multipart/form-data; boundary=x", reply: `{"data":[{"url":"x"}]}`, model: "dall-e-3", flat: true, estimated: true},
	{name: "Ollama in small letters", method: "post", path: "/cloud/api/generate", body: `{"model":"llama3","prompt":"hi","stream":false}`,
		reply: `{"model":"llama3","response":"x","done":true,"prompt_eval_count":1000,"eval_count":500}`, model: "llama3", tokens: haltd.Usage{Input: 1000, Output: 500}},
	{name: "completions by another method", method: "PUT", path: "/openai/v1/completions", body: `{"model":"gpt-4o","prompt":"hi","max_tokens":900}`, reply: `{` + counted + `}`, model: "gpt-4o", tokens: haltd.Usage{Input: 1000, Output: 500}},
	{name: "completions by DELETE", method: "DELETE", path: "/openai/v1/completions", body: `{"model":"gpt-4o","prompt":"hi","max_tokens":900}`, reply: `{` + counted + `}`, model: "gpt-4o", tokens: haltd.Usage{Input: 1000, Output: 500}},
	{name: "Bedrock by DELETE", method: "DELETE", path: "/cloud/model/meta.llama3-70b-instruct-v1:0/invoke", body: `{"prompt":"hi","max_gen_len":900}`, reply: `{"generation":"x","prompt_token_count":1000,"generation_token_count":500,"stop_reason":"stop"}`, model: "llama3-70b-instruct", tokens: haltd.Usage{Input: 1000, Output: 500}},
	{name: "a message by DELETE", method: "DELETE", path: "/anthropic/v1/messages", body: `{"model":"claude-sonnet-4-5","max_tokens":900,"messages":[{"role":"user","content":"hi"}]}`,
		reply: `{"id":"msg_1","content":[],"stop_reason":"end_turn","usage":{"input_tokens":1000,"output_tokens":500}}`, model: "claude-sonnet-4-5", tokens: haltd.Usage{Input: 1000, Output: 500}},
	{name: "a cheap model in the body of a dear one's path", path: "/cloud/model/meta.llama3-70b-instruct-v1:0/invoke", body: `{"model":"gpt-4o-mini","prompt":"hi","max_gen_len":900}`, reply: `{"model":"gpt-4o","generation":"x","prompt_token_count":1000,"generation_token_count":500,"stop_reason":"stop"}`, model: "gpt-4o", named: true, tokens: haltd.Usage{Input: 1000, Output: 500}},
	{name: "a cheap model in the body of a dear deployment", path: "/openai/openai/deployments/gpt-5-pro/chat/completions", body: `{"model":"gpt-5-nano","max_completion_tokens":900,"messages":[{"role":"user","content":"hi"}]}`,
		reply: `{"id":"c","model":"gpt-5-pro-2025-10-06","choices":[{"index":0,"message":{"role":"assistant","content":"x"},"finish_reason":"stop"}],` + counted + `}`, model: "gpt-5-pro-2025-10-06", named: true, tokens: haltd.Usage{Input: 1000, Output: 500}},
	{name: "an image by GET", method: "GET", path: "/openai/v1/images/generations", body: `{"model":"dall-e-3","prompt":"a cat","n":3}`, reply: `{"data":[{"url":"x"}]}`, model: "dall-e-3", flat: true, estimated: true},
	{name: "a deployment that is called like a folder", path: "/openai/openai/deployments/files/completions", body: `{"prompt":"hi","max_tokens":900}`, reply: `{"model":"gpt-4o",` + counted + `}`, model: "files", named: true, tokens: haltd.Usage{Input: 1000, Output: 500}},
	{name: "a project that is called like a folder", path: "/cloud/v1/projects/webhooks/locations/l/publishers/meta/models/gpt-4o:rawPredict", body: `{"messages":[],"max_tokens":900}`, reply: `{` + counted + `}`, model: "gpt-4o", tokens: haltd.Usage{Input: 1000, Output: 500}},
	{name: "a model of Bedrock's that is called like a folder", path: "/cloud/model/arn:aws:bedrock:us-east-1:1:provisioned-model/files/converse", body: `{"messages":[],"inferenceConfig":{"maxTokens":900}}`,
		reply: `{"usage":{"inputTokens":1000,"outputTokens":500}}`, model: "arn:aws:bedrock:us-east-1:1:provisioned-model/files", named: true, tokens: haltd.Usage{Input: 1000, Output: 500}},
	{name: "an agent of Google's", path: "/gemini/v1beta/interactions", body: `{"agent":"deep-research","input":"cats","background":true}`, reply: `{"id":"i1","status":"completed","usage":{"total_input_tokens":0,"input_tokens":1000,"output_tokens":500}}`, tokens: haltd.Usage{Input: 1000, Output: 500}},
	{name: "an agent of Amazon's", path: "/cloud/agents/a/agentAliases/b/sessions/c/text", body: `{"inputText":"hi"}`, reply: `{"said":"` + strings.Repeat("word", 496) + `"}`, tokens: haltd.Usage{Input: 1, Output: 499}, estimated: true},
	{name: "a question about documents", path: "/cloud/retrieveAndGenerate", body: `{"input":{"text":"hi"}}`, reply: `{"output":{"text":"` + strings.Repeat("word", 500) + `"}}`, tokens: haltd.Usage{Input: 1, Output: 500}, estimated: true},
	{name: "a fallback of the server's own", path: "/openai/v1/chat/completions", body: `{"model":"gpt-4o-mini","max_tokens":900,"messages":[{"role":"user","content":"hi"}]}`,
		reply: `{"id":"c","model":"gpt-4o","choices":[{"index":0,"message":{"role":"assistant","content":"x"},"finish_reason":"stop"}],` + counted + `}`, model: "gpt-4o", named: true, tokens: haltd.Usage{Input: 1000, Output: 500}},
	{name: "a route that nobody knows", path: "/openai/v1/brand/new", body: `{"model":"gpt-4o","max_tokens":900}`, reply: `{` + counted + `}`, model: "gpt-4o", tokens: haltd.Usage{Input: 1000, Output: 500}},
}

// field is one field of a form whose boundary is x.
func field(name, value string) string {
	return "--x\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n"
}

// amazonStream is the media type of Bedrock's streams.
const amazonStream = "application/vnd.amazon.eventstream"

// amazonMessage is one message of such a stream, with checksums of zero.
func amazonMessage(event, payload string) string {
	headers := ""
	for _, h := range [][2]string{{":event-type", event}, {":content-type", "application/json"}, {":message-type", "event"}} {
		headers += string(rune(len(h[0]))) + h[0] + "\x07" + string(binary.BigEndian.AppendUint16(nil, uint16(len(h[1])))) + h[1]
	}
	prelude := binary.BigEndian.AppendUint32(nil, uint32(16+len(headers)+len(payload)))
	prelude = binary.BigEndian.AppendUint32(prelude, uint32(len(headers)))
	return string(prelude) + "\x00\x00\x00\x00" + headers + payload + "\x00\x00\x00\x00"
}

// amazonChunk wraps a document of a model's own stream.
func amazonChunk(document string) string {
	return `{"bytes":"` + base64.StdEncoding.EncodeToString([]byte(document)) + `","p":"abcdef"}`
}

// Every route that generates is priced, judged by its model and its path, and
// held to the budget.
func TestEveryRouteThatGeneratesIsCounted(t *testing.T) {
	t.Parallel()
	llm, url := harness.Provider(t, harness.Scripted)
	s := &stage{node: start(t, strings.Replace(harness.Providers(url), "}}", fmt.Sprintf("}, cloud: {base_url: %q, format: anthropic}}", url), 1)), llm: llm, url: url}
	for _, g := range generatingRoutes {
		t.Run(g.name, func(t *testing.T) { s.countsRoute(t, g) })
	}
}

func (s *stage) countsRoute(t *testing.T, g generating) {
	path, _, _ := strings.Cut(strings.TrimPrefix(g.path, "/cloud"), "?")
	for _, provider := range []string{"/openai", "/anthropic", "/gemini"} {
		if rest, ok := strings.CutPrefix(path, provider); ok {
			path = rest
			break
		}
	}
	script := fakellm.Script{Body: g.reply}
	if g.stream {
		script.Header = map[string]string{"Content-Type": "text/event-stream"}
	}
	if g.kind != "" {
		script.Header = map[string]string{"Content-Type": g.kind}
	}
	s.llm.SetRules([]fakellm.Rule{{Path: path, Script: script}})
	defer s.llm.SetRules(nil)

	header := map[string]string{}
	if g.form {
		header["Content-Type"] = "multipart/form-data; boundary=x"
	}
	if g.media != "" {
		header["Content-Type"] = g.media
	}
	method := cmp.Or(g.method, "POST")
	a := s.agent(t).policy(dollarADay)
	got := a.do(method, "/agents/"+a.id+g.path, g.body, header)
	if got.status != 200 || got.body != g.reply {
		t.Fatalf("%d %.300s, want the provider's reply", got.status, got.body)
	}
	var e []haltd.Event
	s.Eventually(t, "recording the call", func() bool {
		e = s.AllEvents(t, "agent="+a.id+"&type=llm_call&type=pass_through")
		return len(e) > 0
	})
	call := e[0]
	if call.Model != g.model || call.Estimated != g.estimated || call.Unpriced != (call.Unpriced || g.flat) {
		t.Errorf("model %q, estimated %v, default price %v; want %q, %v, %v", call.Model, call.Estimated, call.Unpriced, g.model, g.estimated, g.flat)
	}
	if u := call.Tokens; u.Output != g.tokens.Output || u.Input < g.tokens.Input || !g.estimated && u != g.tokens {
		t.Errorf("tokens %+v, want %+v", u, g.tokens)
	}
	if call.Cost == 0 || g.flat && call.Cost < haltd.Dollar/10 {
		t.Errorf("it costs $%s", call.Cost)
	}
	if g.name == "a batch of messages" && call.Cost < 30*haltd.Dollar/100 {
		t.Errorf("it costs $%s, want the price of the dearest of its models", call.Cost)
	}
	if spent := a.spent().Spent; spent.Cost != call.Cost {
		t.Errorf("$%s are spent, the event says $%s", spent.Cost, call.Cost)
	}

	b := s.agent(t, "rule")
	for field, value := range map[string]string{"model": g.model, "path": strings.ReplaceAll(path, "%3A", ":")} {
		if value == "" || g.named && field == "model" {
			continue
		}
		var rule haltd.Rule
		s.Must(t, "POST", "/v1/rules", map[string]any{"name": field, "action": "block", "condition": map[string]string{"agent": b.id, field: value}}, &rule)
		b.stopped(b.do(method, "/agents/"+b.id+g.path, g.body, header), "rule")
		s.Must(t, "DELETE", "/v1/rules/"+rule.ID, nil, nil)
	}

	if g.stream || g.lines || g.kind != "" { // is cut: see TestMoney
		return
	}
	c := s.agent(t, "spent").policy(`{"budgets":{"day":{"hard_usd":0.000000001}}}`)
	first := c.do(method, "/agents/"+c.id+g.path, g.body, header)
	if first.status == 200 { // it names no maximum and went alone
		first = c.do(method, "/agents/"+c.id+g.path, g.body, header)
	}
	c.stopped(first, "budget_exceeded")
}

// What nobody pays for passes as before.
func TestOtherRoutesStayFree(t *testing.T) {
	t.Parallel()
	s := newStage(t, "")
	a := s.agent(t)
	for _, path := range []string{"/openai/v1/files", "/openai/v1/vector_stores", "/anthropic/v1/messages/count_tokens", "/openai/v1/threads", "/openai/v1/responses/resp_1/cancel", "/openai/v1/conversations", "/openai/v1/conversations/conv_1/items", "/openai/v1/evals", "/openai/v1/anything"} {
		a.do("POST", "/agents/"+a.id+path, `{"purpose":"x"}`, nil)
	}
	// What deletes may have a body that asks for nothing.
	a.do("DELETE", "/agents/"+a.id+"/openai/v1/videos/video_1", `{}`, nil)
	for _, e := range a.has(haltd.EventPass, 10) {
		if e.Cost != 0 || e.Tokens != (haltd.Usage{}) {
			t.Errorf("%s costs $%s", e.Path, e.Cost)
		}
	}
}

// A response that is made in the background is charged in full, until a poll
// tells what it cost. The poll passes though the budget is spent.
func TestAPollSettlesABackgroundResponse(t *testing.T) {
	t.Parallel()
	s := newStage(t, "")
	a := s.agent(t).policy(dollarADay)
	answer := func(path, body string) {
		s.llm.SetRules([]fakellm.Rule{{Path: path, Script: fakellm.Script{Body: body}}})
	}
	answer("/v1/responses", `{"id":"resp_1","status":"queued","model":"gpt-5","output":[],"usage":null}`)
	a.passes(a.do("POST", "/agents/"+a.id+"/openai/v1/responses", `{"model":"gpt-5","background":true,"input":"hi"}`, nil))
	if spent := a.spent().Spent; spent.Tokens < 128_000 || spent.Cost < haltd.Dollar {
		t.Fatalf("%+v spent, want all that the response may use", spent)
	}
	a.stopped(a.use(1, 1, 10), "budget_exceeded")
	poll := func(body string) {
		t.Helper()
		answer("/v1/responses/resp_1", body)
		a.passes(a.do("GET", "/agents/"+a.id+"/openai/v1/responses/resp_1", "", nil))
	}
	poll(`{"id":"resp_1","status":"in_progress","model":"gpt-5","output":[],"usage":null}`)
	if spent := a.spent().Spent; spent.Cost < haltd.Dollar {
		t.Errorf("%+v spent after a poll that says nothing yet", spent)
	}
	done := `{"id":"resp_1","status":"completed","model":"gpt-5","output":[],"usage":{"input_tokens":1000,"output_tokens":2000,"total_tokens":3000}}`
	poll(done)
	want := haltd.Spending{Cost: haltd.Dollar*1000*125/100/1_000_000 + haltd.Dollar*2000*10/1_000_000, Tokens: 3000}
	poll(done) // once only
	if spent := a.spent().Spent; spent != want {
		t.Errorf("%+v spent, want %+v", spent, want)
	}
	var sum haltd.Money
	s.Eventually(t, "recording the polls", func() bool {
		sum = 0
		for _, e := range s.AllEvents(t, "agent="+a.id) {
			sum += e.Cost
		}
		return sum == want.Cost
	})
	a.passes(a.use(1, 1, 10))
}
