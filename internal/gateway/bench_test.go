package gateway

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// benchmarkExchange measures whole exchanges in one process, client and
// upstream included: for profiles. make bench compares processes.
func benchmarkExchange(b *testing.B, body, contentType, reply string) {
	pieces := strings.SplitAfter(reply, "\n\n")
	f := newFixture(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", contentType)
		for _, p := range pieces {
			_, _ = io.WriteString(w, p)
			if len(pieces) > 1 {
				w.(http.Flusher).Flush()
			}
		}
	}), "")
	b.ReportAllocs()
	for b.Loop() {
		res, err := http.Post(f.url+"/v1/chat/completions", "application/json", strings.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		res.Body.Close()
	}
}

// shortCall is a call of about 1 KB, and jsonReply the reply to one.
var (
	shortCall = strings.Replace(chatBody, "hi", strings.Repeat("word ", 180), 1)
	jsonReply = strings.Replace(chatReply, "hello", strings.Repeat("word ", 150), 1)
)

// growing is a request with n rounds.
func growing(task string, n int) string {
	var b strings.Builder
	b.WriteString(`{"model":"gpt-x","messages":[{"role":"user","content":"` + task + `"}`)
	for i := range n {
		fmt.Fprintf(&b, `,{"role":"assistant","content":"","tool_calls":[{"id":"c%[1]d","function":{"name":"read","arguments":"{\"part\":%[1]d}"}}]},{"role":"tool","tool_call_id":"c%[1]d","content":"%[2]s"}`,
			i, strings.Repeat(fmt.Sprintf(`part%d of it\n`, i), 60))
	}
	return b.String() + `],"user":"u"}`
}

func BenchmarkExchangeJSON(b *testing.B) {
	benchmarkExchange(b, shortCall, "application/json", jsonReply)
}

func BenchmarkExchangeLong(b *testing.B) {
	benchmarkExchange(b, growing("Read all of it.", 1000), "application/json", jsonReply)
}

func BenchmarkExchangeSSE(b *testing.B) {
	chunk := `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"gpt-x","choices":[{"index":0,"delta":{"content":"some words "},"finish_reason":null}]}` + "\n\n"
	benchmarkExchange(b, shortCall, "text/event-stream", strings.Repeat(chunk, 20)+"data: [DONE]\n\n")
}

func BenchmarkBodyDigest(b *testing.B) {
	h, body := newHasher([]byte("key")), make([]byte, 100<<10)
	x := &exchange{}
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		x.pieces = h.body(&x.bodyHash, x.pieces[:0], body)
		x.attempt = h.request("billing-bot", "/v1/chat/completions", &x.bodyHash)
	}
}
