package main

import (
	"encoding/json"
	"fmt"
	"strings"
)

const (
	// replies is how many different ones the upstream has, so that agents
	// hear something else every time, as healthy ones do.
	replies = 2000
	// replyBytes is about how long a whole reply is.
	replyBytes = 1 << 10
	// replyID is how the id of each begins.
	replyID = "chatcmpl-Bnch"
	// streamWrites is in how many writes a streamed reply goes out.
	streamWrites = 20
)

// answer is what the assistant says in a reply: words, and a tool call where
// it works with tools.
func answer(number int, works bool) (text string, call *toolCall) {
	w := newWriter(number, 7)
	if !works {
		return w.text(430), nil
	}
	call = &toolCall{ID: fmt.Sprintf("call_%024x", w.Uint64()), Type: "function"}
	call.Function = toolFunction{"read_file", fmt.Sprintf(`{"path":"src/%s/%s.go","line":%d}`, w.word(), w.name(), w.IntN(900))}
	if number%3 == 0 {
		call.Function = toolFunction{"run_command", fmt.Sprintf(`{"command":"grep -rn %s src/%s","timeout":30}`, w.name(), w.word())}
	}
	return w.text(300), call
}

const usage = `{"prompt_tokens":212,"completion_tokens":97,"total_tokens":309,"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},` +
	`"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0}}`

// jsonReply is a chat completion of about one kilobyte.
func jsonReply(number int, works bool) []byte {
	text, call := answer(number, works)
	calls, finish := "", "stop"
	if call != nil {
		calls, finish = `"tool_calls":[`+quoted(call)+`],`, "tool_calls"
	}
	return fmt.Appendf(nil, `{"id":"`+replyID+`%024d","object":"chat.completion","created":1767225600,"model":"gpt-4.1-mini-2025-04-14",`+
		`"choices":[{"index":0,"message":{"role":"assistant","content":%s,%s"refusal":null,"annotations":[]},"logprobs":null,"finish_reason":"%s"}],`+
		`"usage":%s,"service_tier":"default","system_fingerprint":"fp_b3f1157249"}`, number, quoted(text), calls, finish, usage)
}

// streamReply is the same answer as a stream: what goes out in each write.
func streamReply(number int, works bool) []string {
	text, call := answer(number, works)
	writes := make([]string, 0, streamWrites)
	say := func(delta string) {
		writes = append(writes, chunk(number, `[{"index":0,"delta":`+delta+`,"logprobs":null,"finish_reason":null}]`, "null"))
	}
	say(`{"role":"assistant","content":"","refusal":null}`)
	pieces, finish := streamWrites-3, "stop"
	if call != nil {
		pieces, finish = streamWrites-5, "tool_calls"
	}
	for i := range pieces {
		say(`{"content":` + quoted(text[i*len(text)/pieces:(i+1)*len(text)/pieces]) + `}`)
	}
	if call != nil {
		say(fmt.Sprintf(`{"tool_calls":[{"index":0,"id":%q,"type":"function","function":{"name":%q,"arguments":""}}]}`, call.ID, call.Function.Name))
		say(`{"tool_calls":[{"index":0,"function":{"arguments":` + quoted(call.Function.Arguments) + `}}]}`)
	}
	return append(writes,
		chunk(number, `[{"index":0,"delta":{},"logprobs":null,"finish_reason":"`+finish+`"}]`, "null"),
		chunk(number, `[]`, usage)+"data: [DONE]\n\n")
}

func chunk(number int, choices, usage string) string {
	return fmt.Sprintf(`data: {"id":"`+replyID+`%024d","object":"chat.completion.chunk","created":1767225600,`+
		`"model":"gpt-4.1-mini-2025-04-14","service_tier":"default","system_fingerprint":"fp_b3f1157249",`+
		`"choices":%s,"usage":%s}`+"\n\n", number, choices, usage)
}

// quoted is a value as JSON.
func quoted(v any) string {
	b, err := json.Marshal(v)
	if err != nil { // plain words
		panic(err)
	}
	return string(b)
}

// replySet is every reply of one kind, ready to be sent or compared.
type replySet [replies]preparedReply

type preparedReply struct {
	whole  []byte   // the body
	writes [][]byte // in which it goes out
}

func newReplySet(works, stream bool) *replySet {
	s := &replySet{}
	for i := range s {
		if !stream {
			s[i].whole = jsonReply(i, works)
			s[i].writes = [][]byte{s[i].whole}
			continue
		}
		writes := streamReply(i, works)
		s[i].whole = []byte(strings.Join(writes, ""))
		for _, w := range writes {
			s[i].writes = append(s[i].writes, []byte(w))
		}
	}
	return s
}
