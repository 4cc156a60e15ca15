package gateway

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// benchmarkExchange measures whole exchanges in one process, client and
// upstream included: for profiles. make bench compares processes.
func benchmarkExchange(b *testing.B, contentType, reply string) {
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
	body := strings.Replace(chatBody, "hi", strings.Repeat("word ", 180), 1)
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

func BenchmarkExchangeJSON(b *testing.B) {
	benchmarkExchange(b, "application/json", strings.Replace(chatReply, "hello", strings.Repeat("word ", 150), 1))
}

func BenchmarkExchangeSSE(b *testing.B) {
	chunk := `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"gpt-x","choices":[{"index":0,"delta":{"content":"some words "},"finish_reason":null}]}` + "\n\n"
	benchmarkExchange(b, "text/event-stream", strings.Repeat(chunk, 20)+"data: [DONE]\n\n")
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
