package formats

import (
	"fmt"
	"strings"
	"testing"

	"github.com/haltd/haltd/internal/wire"
)

// chatBody is a chat request of about size bytes: an agent that reads files.
func chatBody(size int) []byte {
	var b strings.Builder
	b.WriteString(`{"model":"gpt-5","stream":true,"max_tokens":4096,"messages":[{"role":"system","content":"You are a careful engineer."},{"role":"user","content":"Fix the failing test in the parser."}`)
	for i := 0; b.Len() < size-600; i++ {
		fmt.Fprintf(&b, `,{"role":"assistant","content":"Reading part %d.","tool_calls":[{"id":"call_%d","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"internal/parser/part%d.go\",\"limit\":200}"}}]}`, i, i, i)
		fmt.Fprintf(&b, `,{"role":"tool","tool_call_id":"call_%d","content":"%s"}`, i, strings.Repeat(`def parse(data: bytes) -> Node:\n    if len(data) == 0:\n        raise ValueError(\"the input is empty\")\n    return Parser(data).document()\n`, 10))
	}
	b.WriteString(`],"tools":[{"type":"function","function":{"name":"read_file","description":"Read a file.","parameters":{"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer"}}}}}]}`)
	return []byte(b.String())
}

func smallChatBody() []byte {
	return []byte(`{"model":"gpt-5","messages":[{"role":"system","content":"You answer briefly."},{"role":"user","content":"` +
		strings.Repeat("What is the weather like in Lisbon today? ", 20) + `"}],"temperature":0.2}`)
}

func benchmarkReadCall(b *testing.B, path string, body []byte) {
	f, _ := Match(path)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	memory := make([]byte, 0, len(body))
	for b.Loop() {
		if _, err := f.ReadCall(path, body, &wire.Memory{Texts: memory}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReadCallChat1KB(b *testing.B) {
	benchmarkReadCall(b, "/v1/chat/completions", smallChatBody())
}

func BenchmarkReadCallChat100KB(b *testing.B) {
	benchmarkReadCall(b, "/v1/chat/completions", chatBody(100_000))
}
