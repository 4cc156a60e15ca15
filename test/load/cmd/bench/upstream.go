package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// replyBytes is about how long a whole reply is.
const replyBytes = 1 << 10

// streamWrites is in how many writes a streamed reply goes out.
const streamWrites = 20

// answerTo is what the assistant says in a conversation; each says something
// else, as healthy agents do.
func answerTo(conversation int) string {
	w := writer{rand.New(rand.NewPCG(uint64(conversation), 7))}
	return w.text(430)
}

// jsonReply is a chat completion of one kilobyte.
func jsonReply(conversation int) []byte {
	const frame = `{"id":"chatcmpl-BnchA1b2C3d4E5f6G7h8I9j0K1l2M","object":"chat.completion","created":1767225600,"model":"gpt-4.1-mini-2025-04-14",` +
		`"choices":[{"index":0,"message":{"role":"assistant","content":%q,"refusal":null,"annotations":[]},"logprobs":null,"finish_reason":"stop"}],` +
		`"usage":{"prompt_tokens":212,"completion_tokens":97,"total_tokens":309,"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},` +
		`"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0}},"service_tier":"default","system_fingerprint":"fp_b3f1157249"}`
	text := strings.Repeat(answerTo(conversation), 2)[:replyBytes-len(frame)]
	return fmt.Appendf(nil, frame, text)
}

// streamReply is the same answer as a stream: what goes out in each write.
func streamReply(conversation int) []string {
	const pieces = streamWrites - 3
	answer := answerTo(conversation)
	writes := make([]string, 0, streamWrites)
	writes = append(writes, chunk(`[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}]`, "null"))
	for i := range pieces {
		piece := answer[i*len(answer)/pieces : (i+1)*len(answer)/pieces]
		writes = append(writes, chunk(fmt.Sprintf(`[{"index":0,"delta":{"content":%q},"logprobs":null,"finish_reason":null}]`, piece), "null"))
	}
	return append(writes,
		chunk(`[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}]`, "null"),
		chunk(`[]`, `{"prompt_tokens":212,"completion_tokens":97,"total_tokens":309,"prompt_tokens_details":{"cached_tokens":0}}`)+"data: [DONE]\n\n")
}

func chunk(choices, usage string) string {
	return `data: {"id":"chatcmpl-BnchA1b2C3d4E5f6G7h8I9j0K1l2M","object":"chat.completion.chunk","created":1767225600,` +
		`"model":"gpt-4.1-mini-2025-04-14","service_tier":"default","system_fingerprint":"fp_b3f1157249",` +
		`"choices":` + choices + `,"usage":` + usage + "}\n\n"
}

// upstream answers every request with the prepared reply of its session, at
// once.
func upstream() http.Handler {
	type replies struct {
		whole  []byte
		length string
		writes [][]byte
	}
	prepared := map[string]*replies{}
	for i := range conversations {
		p := &replies{whole: jsonReply(i)}
		p.length = strconv.Itoa(len(p.whole))
		for _, s := range streamReply(i) {
			p.writes = append(p.writes, []byte(s))
		}
		prepared[conversationID(i)] = p
	}
	buffers := sync.Pool{New: func() any { return new([32 << 10]byte) }}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var end tail
		buf := buffers.Get().(*[32 << 10]byte)
		_, err := io.CopyBuffer(&end, r.Body, buf[:])
		buffers.Put(buf)
		if err != nil {
			return // whoever asked has gone
		}
		session := r.Header.Get("X-Session-Id")
		reply := prepared[session[max(0, len(session)-4):]]
		if reply == nil {
			http.Error(w, "not a session of the benchmark", http.StatusBadRequest)
			return
		}
		h := w.Header()
		if !end.wantsStream() {
			h["Content-Type"] = []string{"application/json"}
			h["Content-Length"] = []string{reply.length}
			_, _ = w.Write(reply.whole)
			return
		}
		h["Content-Type"] = []string{"text/event-stream; charset=utf-8"}
		flush := w.(http.Flusher)
		for _, b := range reply.writes {
			if _, err := w.Write(b); err != nil {
				return
			}
			flush.Flush()
		}
	})
}

// tail keeps the end of what is written to it, where the benchmark's own
// requests say whether they want a stream.
type tail struct {
	bytes [256]byte
	n     int
}

func (t *tail) Write(p []byte) (int, error) {
	size := len(p)
	if len(p) >= len(t.bytes) {
		t.n = copy(t.bytes[:], p[len(p)-len(t.bytes):])
		return size, nil
	}
	keep := min(t.n, len(t.bytes)-len(p))
	copy(t.bytes[:], t.bytes[t.n-keep:t.n])
	t.n = keep + copy(t.bytes[keep:], p)
	return size, nil
}

func (t *tail) wantsStream() bool {
	return bytes.Contains(t.bytes[:t.n], []byte(`"stream":true`))
}
