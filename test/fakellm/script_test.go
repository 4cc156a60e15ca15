package fakellm_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/haltd/haltd/test/fakellm"
)

func TestModelNamesChooseTheAnswer(t *testing.T) {
	call := []fakellm.ToolCall{{Name: "read", Arguments: sampleArguments}}
	const fixed = "Hello from the fake provider."
	tests := []struct {
		model string
		want  content
	}{
		{"echo", content{Text: "say hi"}},
		{"say-moin", content{Text: "moin"}},
		{"think-hm", content{Text: fixed, Thinking: "hm"}},
		{"tools", content{Calls: call}},
		{"loop", content{Calls: call}},
		{"anything", content{Text: fixed}},
		{"error-of-mine", content{Text: fixed}},
	}
	_, base := start(t, nil)
	for _, tt := range tests {
		for _, w := range wires {
			got := w.ask(t, base, tt.model, false)
			got.Finish, got.Usage = "", nil
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s in %s (-want +got):\n%s", tt.model, w.name, diff)
			}
		}
	}
}

// afterTool is a conversation that ends with the tool result "42".
var afterTool = map[string]string{
	"/v1/chat/completions": `{"model":%q,"tools":[{"type":"function","function":{"name":"read"}}],"messages":[
		{"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":[]},{"role":"tool","tool_call_id":"c","content":"42"}]}`,
	"/v1/responses": `{"model":%q,"tools":[{"type":"function","name":"read"}],"input":[{"role":"user","content":"go"},
		{"type":"function_call","call_id":"c","name":"read","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"42"}]}`,
	"/v1/messages": `{"model":%q,"tools":[{"name":"read"}],"messages":[{"role":"user","content":"go"},
		{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"read","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"42"}]},{"type":"text","text":"a reminder"}]}]}`,
	"/v1beta/models/%s:generateContent": `{"tools":[{"functionDeclarations":[{"name":"read"}]}],"contents":[{"role":"user","parts":[{"text":"go"}]},
		{"role":"model","parts":[{"functionCall":{"name":"read","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"read","response":42}}]}]}`,
}

func TestToolsAnswersAfterTheResultAndLoopDoesNot(t *testing.T) {
	_, base := start(t, nil)
	for path, body := range afterTool {
		for _, tt := range []struct {
			model string
			calls bool
		}{{"tools", false}, {"loop", true}} {
			url, sent := base+path, body
			if strings.Contains(path, "%s") {
				url = base + fmt.Sprintf(path, tt.model)
			} else {
				sent = fmt.Sprintf(body, tt.model)
			}
			_, reply := mustSend(t, "POST", url, sent)
			if says := strings.Contains(string(reply), "The tool answered: 42"); says == tt.calls {
				t.Errorf("%s %s: tells the result: %v\n%s", tt.model, path, says, reply)
			}
		}
	}
}

func TestCustomToolIsCalledWithFreeText(t *testing.T) {
	_, base := start(t, nil)
	tests := []struct{ path, body, want string }{
		{"/v1/responses", `{"model":"loop","stream":true,"input":[{"type":"additional_tools","tools":[{"type":"custom","name":"exec"}]}]}`,
			`"type":"custom_tool_call","status":"completed","input":"sample"`},
		{"/v1/chat/completions", `{"model":"loop","stream":true,"tools":[{"type":"custom","custom":{"name":"exec"}}]}`,
			`"custom":{"input":"samp"}`},
	}
	for _, tt := range tests {
		if _, body := mustSend(t, "POST", base+tt.path, tt.body); !strings.Contains(string(body), tt.want) {
			t.Errorf("%s: no %s in\n%s", tt.path, tt.want, body)
		}
	}
}

func TestErrorsHaveTheProvidersShape(t *testing.T) {
	_, base := start(t, nil)
	tests := []struct{ path, body, want string }{
		{"/v1/chat/completions", `{"model":"error-401"}`, `{"error":{"message":"Incorrect API key provided.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`},
		{"/v1/responses", `{"model":"error-429","stream":true}`, `{"error":{"message":"Rate limit reached for requests.","type":"requests","param":null,"code":"rate_limit_exceeded"}}`},
		{"/v1/messages", `{"model":"error-529"}`, `{"type":"error","error":{"type":"overloaded_error","message":"The server had an error while processing your request."},"request_id":"REQ"}`},
		{"/v1beta/models/error-400:generateContent", `{}`, `{"error":{"code":400,"message":"The request is not valid.","status":"INVALID_ARGUMENT"}}`},
		{"/v1beta/models/error-503:streamGenerateContent", `{}`, `[{"error":{"code":503,"message":"The server had an error while processing your request.","status":"UNAVAILABLE"}}]`},
		{"/v1/chat/completions", `{"model":`, `{"error":{"message":"We could not parse the JSON body of your request: unexpected end of JSON input","type":"invalid_request_error","param":null,"code":null}}`},
	}
	for _, tt := range tests {
		resp, body := mustSend(t, "POST", base+tt.path, tt.body)
		want := strings.ReplaceAll(tt.want, "REQ", resp.Header.Get("Request-Id"))
		var got bytes.Buffer
		if err := json.Compact(&got, body); err != nil || got.String() != want {
			t.Errorf("%s %s: error %v\n got %s\nwant %s", tt.path, tt.body, err, got.String(), want)
		}
	}
	if resp, _ := mustSend(t, "POST", base+"/v1/messages", `{"model":"error-429"}`); resp.StatusCode != 429 || resp.Header.Get("Retry-After") != "1" {
		t.Errorf("status %d, Retry-After %q; want 429 and 1", resp.StatusCode, resp.Header.Get("Retry-After"))
	}
}

func TestInBandErrorEndsTheStream(t *testing.T) {
	_, base := start(t, nil)
	for _, w := range wires {
		got := w.ask(t, base, "in-band-error", true)
		if got.Err == "" || got.Finish != "" || got.Text == "" {
			t.Errorf("%s: want text, an error and no finish, got %+v", w.name, got)
		}
		resp, _ := mustSend(t, "POST", base+w.path("in-band-error", false), w.body("in-band-error", false, "hi"))
		if resp.StatusCode != http.StatusInternalServerError {
			t.Errorf("%s without a stream: status %d, want 500", w.name, resp.StatusCode)
		}
	}
}

func TestEncodings(t *testing.T) {
	decoders := map[string]func(io.Reader) (io.Reader, error){
		"gzip": func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
		"br":   func(r io.Reader) (io.Reader, error) { return brotli.NewReader(r), nil },
		"zstd": func(r io.Reader) (io.Reader, error) { return zstd.NewReader(r, zstd.WithDecoderConcurrency(1)) },
	}
	_, base := start(t, nil)
	for name, decoder := range decoders {
		for _, stream := range []bool{false, true} {
			w := wires[2]
			// Asking for identity keeps the transport from decoding.
			resp, body := mustSend(t, "POST", base+w.path(name, stream), w.body(name, stream, "hi"), "Accept-Encoding", "identity")
			if got := resp.Header.Get("Content-Encoding"); got != name {
				t.Errorf("content encoding %q, want %q", got, name)
			}
			r, err := decoder(bytes.NewReader(body))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			plain, err := io.ReadAll(r)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			read := w.whole
			if stream {
				read = w.stream
			}
			if got := read(t, plain).Text; got != "Hello from the fake provider." {
				t.Errorf("%s stream=%v: text %q", name, stream, got)
			}
		}
	}
}

func TestEncodedRequestsAreRead(t *testing.T) {
	_, base := start(t, nil)
	plain := []byte(`{"model":"echo","input":"packed"}`)
	encoders := map[string]func(io.Writer) io.WriteCloser{
		"gzip": func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
		"br":   func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) },
		"zstd": func(w io.Writer) io.WriteCloser {
			zw, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
			if err != nil {
				t.Fatal(err)
			}
			return zw
		},
	}
	for name, encoder := range encoders {
		var b bytes.Buffer
		w := encoder(&b)
		if _, err := w.Write(plain); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		_, body := mustSend(t, "POST", base+"/v1/responses", b.String(), "Content-Encoding", name)
		if got := wholeResponse(t, body).Text; got != "packed" {
			t.Errorf("%s: text %q", name, got)
		}
	}
}

func TestCuts(t *testing.T) {
	script := func(c fakellm.Cut) fakellm.Script { return fakellm.Script{Text: strings.Repeat("text ", 40), Cut: &c} }
	_, base := start(t, always(script(fakellm.Cut{Chunks: 3, How: fakellm.CutClean})))
	_, three := mustSend(t, "POST", base+"/v1/messages", `{"stream":true}`)

	tests := []struct {
		name   string
		cut    fakellm.Cut
		stream bool
		bytes  int // of the body; -1 where nothing is promised
		fails  bool
	}{
		{"before the headers", fakellm.Cut{}, true, 0, true},
		{"after chunks", fakellm.Cut{Chunks: 3}, true, len(three), true},
		{"after bytes of a stream", fakellm.Cut{Bytes: 100}, true, 100, true},
		{"after bytes of JSON", fakellm.Cut{Bytes: 100}, false, 100, true},
		{"reset", fakellm.Cut{Bytes: 100, How: fakellm.CutReset}, true, -1, true},
		{"clean", fakellm.Cut{Bytes: 100, How: fakellm.CutClean}, true, 100, false},
		{"clean JSON", fakellm.Cut{Bytes: 100, How: fakellm.CutClean}, false, 100, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			fake, base := start(t, always(script(tt.cut)))
			_, body, err := send(t, "POST", base+"/v1/messages", fmt.Sprintf(`{"stream":%v}`, tt.stream))
			if (err != nil) != tt.fails {
				t.Errorf("error %v, want one: %v", err, tt.fails)
			}
			if tt.bytes >= 0 && len(body) != tt.bytes {
				t.Errorf("%d bytes of the body, want %d", len(body), tt.bytes)
			}
			done, err := fake.Await(t.Context(), 1)
			if err != nil {
				t.Fatal(err)
			}
			if done[0].Outcome != fakellm.OutcomeCut {
				t.Errorf("outcome %q, want %q", done[0].Outcome, fakellm.OutcomeCut)
			}
		})
	}
}

func TestDelays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := fakellm.New(always(fakellm.Script{
			Text: "abcdef", Chunks: 3, Delay: fakellm.Delay(time.Second), ChunkDelay: fakellm.Delay(time.Minute),
		}))
		w := httptest.NewRecorder()
		begin := time.Now()
		fake.ServeHTTP(w, httptest.NewRequest("POST", "/v1/chat/completions", strings.NewReader(`{"model":"m","stream":true}`)))
		writes := len(events(t, w.Body.Bytes(), "\n"))
		if got, want := time.Since(begin), time.Second+time.Duration(writes-1)*time.Minute; got != want {
			t.Errorf("%d events took %v, want %v", writes, got, want)
		}
	})
}

func TestRawBodyStatusAndHeaders(t *testing.T) {
	_, base := start(t, always(fakellm.Script{Status: 418, Body: "\x00not JSON", Header: map[string]string{"Content-Type": "text/plain", "X-Extra": "1"}}))
	resp, body := mustSend(t, "POST", base+"/v1/messages", `{}`)
	if resp.StatusCode != 418 || string(body) != "\x00not JSON" || resp.Header.Get("Content-Type") != "text/plain" || resp.Header.Get("X-Extra") != "1" {
		t.Errorf("got %d %q %v", resp.StatusCode, body, resp.Header)
	}
}

func TestPassThroughPaths(t *testing.T) {
	_, base := start(t, nil)
	tests := []struct {
		method, path, body string
		header             []string
		want               string
	}{
		{"GET", "/v1/models", "", nil, `"object": "model"`},
		{"GET", "/v1/models/gpt-x", "", nil, `"id": "gpt-x"`},
		{"GET", "/v1/models", "", []string{"Anthropic-Version", "2023-06-01"}, `"has_more":false`},
		{"POST", "/v1/embeddings", `{"model":"e","input":["a","b"]}`, nil, `"embedding": [`},
		{"POST", "/v1/messages/count_tokens", `{"messages":[{"role":"user","content":"12345678"}]}`, nil, `{"input_tokens":2}`},
		{"POST", "/v1beta/models/m:countTokens", `{"contents":[{"parts":[{"text":"12345678"}]}]}`, nil, `"totalTokens": 2`},
		{"GET", "/v1beta/models", "", nil, `"name": "models/echo"`},
		{"GET", "/v1beta/models/x", "", nil, `"name": "models/x"`},
	}
	for _, tt := range tests {
		resp, body := mustSend(t, tt.method, base+tt.path, tt.body, tt.header...)
		if resp.StatusCode != http.StatusOK || !strings.Contains(string(body), tt.want) {
			t.Errorf("%s %s: status %d, no %s in\n%s", tt.method, tt.path, resp.StatusCode, tt.want, body)
		}
	}
	if resp, body := mustSend(t, "GET", base+"/v1/files", ""); resp.StatusCode != 404 || !strings.Contains(string(body), `"error"`) {
		t.Errorf("unknown path: status %d, body %s", resp.StatusCode, body)
	}
}

func TestBenchModels(t *testing.T) {
	_, base := start(t, nil)
	for _, w := range wires {
		for _, stream := range []bool{false, true} {
			if got := w.ask(t, base, "bench-1000", stream); len(got.Text) != 1000 || got.Finish != w.finish[0] || got.Usage == nil {
				t.Errorf("%s stream=%v: %d bytes of text, finish %q, usage %v", w.name, stream, len(got.Text), got.Finish, got.Usage)
			}
		}
	}
	_, body := mustSend(t, "POST", base+"/v1/chat/completions", `{"model": "bench-1000", "stream": true}`)
	if got := strings.Count(string(body), `"delta":{"content"`); got != 20 {
		t.Errorf("%d text chunks, want 20", got)
	}
}

func TestBenchModelBesideRules(t *testing.T) {
	fake, base := start(t, nil)
	fake.SetRules([]fakellm.Rule{{Model: "other"}})
	if got := wires[0].ask(t, base, "bench-1000", true); len(got.Text) != 1000 {
		t.Errorf("%d bytes of text, want 1000", len(got.Text))
	}
}

func BenchmarkBenchModel(b *testing.B) {
	fake := fakellm.New(nil)
	const body = `{"model":"bench-1024","messages":[{"role":"user","content":"hi"}]}`
	for b.Loop() {
		fake.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "/v1/chat/completions", strings.NewReader(body)))
	}
}
