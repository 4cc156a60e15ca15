package load

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
)

// The tests that hold replies back write them by hand, in OpenAI's chat
// format.

func wantsStream(body []byte) bool { return bytes.Contains(body, []byte(`"stream":true`)) }

func writeChat(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"id":"chatcmpl-1","object":"chat.completion","created":1767225600,"model":"gpt-4.1-mini",`+
		`"choices":[{"index":0,"message":{"role":"assistant","content":"Done."},"finish_reason":"stop"}],`+
		`"usage":{"prompt_tokens":20,"completion_tokens":2,"total_tokens":22}}`)
}

// streamChat sends chunks of text at once.
func streamChat(w http.ResponseWriter, chunks int) {
	w.Header().Set("Content-Type", "text/event-stream")
	for i := range chunks {
		_, _ = fmt.Fprintf(w, `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1767225600,"model":"gpt-4.1-mini",`+
			`"choices":[{"index":0,"delta":{"content":"word %d "},"finish_reason":null}]}`+"\n\n", i)
	}
	_ = http.NewResponseController(w).Flush() // a client that left shows in the request's context
}

// endChat ends a stream as the provider does.
func endChat(w http.ResponseWriter) {
	_, _ = io.WriteString(w, `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1767225600,"model":"gpt-4.1-mini",`+
		`"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
}
