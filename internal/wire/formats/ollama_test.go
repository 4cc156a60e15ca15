package formats

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/wire"
)

// The same conversation reads the same by Ollama's own API as in Chat
// Completions, though its calls have no ids.
func TestOllamaReadsAsChatDoes(t *testing.T) {
	chat, _ := Match("/v1/chat/completions")
	ollama, _ := Match("/api/chat")
	want, err := chat.ReadCall("", []byte(`{"model":"m","stream":true,"max_tokens":9,"tools":[{"type":"function","function":{"name":"read"}}],"messages":[
		{"role":"system","content":"Be brief."},{"role":"user","content":"Which port?"},
		{"role":"assistant","content":"Let me see.","tool_calls":[{"id":"","type":"function","function":{"name":"read","arguments":"{\"file\":\"a\"}"}},{"id":"","type":"function","function":{"name":"list","arguments":"{}"}}]},
		{"role":"tool","name":"list","content":"a b"},{"role":"tool","name":"read","content":"8080"},{"role":"user","content":"And?"}]}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ollama.ReadCall("", []byte(`{"model":"m","options":{"num_predict":9},"tools":[{"type":"function","function":{"name":"read"}}],"keep_alive":"5m","think":true,"messages":[
		{"role":"system","content":"Be brief."},{"role":"user","content":"Which port?","images":null},
		{"tool_calls":[{"function":{"index":0,"name":"read","arguments":{"file":"a"}}},{"function":{"name":"list","arguments":{}}}],"content":"Let me see.","thinking":"hm","role":"assistant"},
		{"role":"tool","tool_name":"list","content":"a b"},{"role":"tool","tool_name":"read","content":"8080"},{"role":"user","content":"And?"}]}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	want.Format = got.Format
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestOllamaRequests(t *testing.T) {
	f, _ := Match("/api/chat")
	for body, ok := range map[string]bool{
		`{"model":"m"}`: true, // loads a model
		`{"model":"m","messages":null,"tools":null,"stream":null}`:  true,
		`{"model":"m","options":{"num_predict":-1}}`:                true,
		`{"model":"m","messages":{}}`:                               false,
		`{"model":"m","messages":[{"content":"hi"}]}`:               false,
		`{"model":"m","messages":[],"messages":[]}`:                 false,
		`{"model":"m","messages":[],"Messages":[{"role":"user"}]}`:  false,
		`{"model":"m","messages":[{"role":"user","content":"hi"}]`:  false,
		`{"model":"m","messages":[{"role":"user","Content":"hi"}]}`: false,
	} {
		call, err := f.ReadCall("", []byte(body), nil)
		if (err == nil) != ok {
			t.Errorf("%s: %v", body, err)
		}
		if ok && (call.MaxTokens != 0 || !call.Stream) {
			t.Errorf("%s: at most %d tokens, streamed %v", body, call.MaxTokens, call.Stream)
		}
	}
}

// Lines are read however they are cut, and what came before the end of a stream
// that was cut is known.
func TestLinesAreReadHoweverTheyAreCut(t *testing.T) {
	const stream = `{"model":"m","message":{"role":"assistant","content":"One "},"done":false}` + "\n\n" +
		`{"model":"m","message":{"role":"assistant","content":"two","thinking":"hm"},"done":false}` + "\r\n" +
		`{"model":"m","message":{"tool_calls":[{"id":"c1","function":{"name":"read","arguments":{"file":"a"}}}]},"done":true,"done_reason":"stop","prompt_eval_count":7,"eval_count":5}`
	want := &haltd.Reply{Model: "m", Text: "One two", Thinking: "hm", Finish: "stop", Complete: true, Counted: true, Usage: haltd.Usage{Input: 7, Output: 5},
		Calls: []haltd.ToolCall{{ID: "c1", Name: "read", Arguments: `{"file":"a"}`}}}
	f, _ := Match("/api/chat")
	header := http.Header{"Content-Type": {"application/x-ndjson"}}
	for size := 1; size <= len(stream); size += 7 {
		tap := wire.NewTap(f, 200, header, tapLimit, nil)
		for at := 0; at < len(stream); at += size {
			tap.Write([]byte(stream[at:min(at+size, len(stream))]))
		}
		got, unread := tap.Close(true)
		if diff := cmp.Diff(want, got); diff != "" || unread != "" {
			t.Fatalf("in pieces of %d: unread %q (-want +got):\n%s", size, unread, diff)
		}
	}
	tap := wire.NewTap(f, 200, header, tapLimit, nil)
	tap.Write([]byte(stream[:len(stream)-20]))
	if got, unread := tap.Close(false); got.Text != "One two" || got.Complete || got.Counted || unread != "" {
		t.Errorf("cut: %+v, unread %q", got, unread)
	}
	tap = wire.NewTap(f, 200, header, 1<<10, nil)
	tap.Write([]byte(`{"message":{"content":"` + strings.Repeat("x", 1<<11)))
	tap.Write([]byte(`"},"done":true}` + "\n"))
	if _, unread := tap.Close(true); unread == "" {
		t.Error("a line beyond the limit was read")
	}
}
