package formats

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/wire"
	"github.com/haltd/haltd/internal/wire/sse"
)

// plainReader is a stream that can read an event without the short cut for
// events that repeat.
type plainReader interface {
	wire.Stream
	ReadEvent(name, data []byte) error
}

// bothWays reads a stream with the short cut and without it.
func bothWays(format wire.Format, stream []byte) (short, plain *haltd.Reply) {
	const limit = 1 << 20
	a, b := format.NewStream(limit), format.NewStream(limit).(plainReader)
	broken := false // a tap stops at the first event that it cannot follow
	p := sse.NewParser(limit, func(name, data []byte) {
		if broken {
			return
		}
		broken = a.Event(name, data) != nil
		if failed := b.ReadEvent(name, data) != nil; failed != broken {
			panic(fmt.Sprintf("short cut failed %v, plain reading %v on %s", broken, failed, data))
		}
	})
	_ = p.Feed(stream)
	_ = p.Flush()
	return a.Reply(), b.Reply()
}

func TestShortCutReadsTheSame(t *testing.T) {
	for name := range paths {
		format := formatOf(t, name)
		for i, stream := range exchanges(t, name, ".reply.sse") {
			// Twice over, so that every event follows one of its kind.
			lines := bytes.SplitAfter(stream, []byte("\n\n"))
			var doubled []byte
			for _, l := range lines {
				doubled = append(append(doubled, l...), l...)
			}
			for _, s := range [][]byte{stream, doubled} {
				if short, plain := bothWays(format, s); !cmp.Equal(short, plain) {
					t.Errorf("%s %s (-plain +short):\n%s", name, i, cmp.Diff(plain, short))
				}
			}
		}
	}
}

// Events that resemble each other in every way a provider might write them.
func TestShortCutReadsTheSameForAnyEvents(t *testing.T) {
	texts := []string{`a`, `b c`, ``, `\n`, `\"`, `\\`, `é`, `\u00e9`, `"`, `"},{"x":"`, `content`, `hel","finish_reason":"stop`, "\xff", "\t"}
	shapes := map[string][]string{
		"openai-chat": {
			`{"id":"1","choices":[{"index":0,"delta":{"content":"%s"}}]}`,
			`{"choices":[{"index":0,"delta":{"content":"%s"},"finish_reason":"stop"}]}`,
			`{"choices":[{"delta":{"content":"%s"},"index":0}]}`,
			`{"choices":[{"delta":{"content":"%s"},"index":1}]}`,
			`{"choices":[{"index":0,"delta":{"reasoning_content":"%s"}}]}`,
			`{"choices":[{"index":0,"delta":{"reasoning_content":"%s","content":"x"}}]}`,
			`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"t","function":{"name":"f","arguments":"%s"}}]}}]}`,
			`{"choices":[{"index":0,"delta":{"tool_calls":[{"function":{"name":"f","arguments":"%s"}}]}}]}`,
			`{"choices":[{"index":0,"delta":{"content":"y","tool_calls":[{"index":0,"function":{"arguments":"%s"}}]}}]}`,
			`{"error":{"message":"%s"}}`,
		},
		"anthropic-messages": {
			`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"%s"}}`,
			`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"%s","input":{}}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"%s"}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"%s"}}`,
			`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"%s"}}`,
			`{"type":"message_delta","delta":{"stop_reason":"%s"},"usage":{"output_tokens":3}}`,
		},
		"openai-responses": {
			`{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"%s"}`,
			`{"type":"response.output_text.done","output_index":0,"content_index":0,"text":"%s"}`,
			`{"type":"response.function_call_arguments.delta","output_index":1,"delta":"%s"}`,
			`{"type":"response.output_item.done","output_index":0,"item":{"type":"message","content":[{"type":"output_text","text":"%s"}]}}`,
			`{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","call_id":"c","name":"%s"}}`,
		},
		"gemini-generate": {
			`{"candidates":[{"content":{"parts":[{"text":"%s"}]}}]}`,
			`{"candidates":[{"content":{"parts":[{"text":"%s","thought":true}]}}]}`,
			`{"candidates":[{"content":{"parts":[{"text":"%s"},{"text":"z"}]},"finishReason":"STOP"}]}`,
			`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"%s","args":{}}}]}}]}`,
		},
	}
	for name, forms := range shapes {
		t.Run(name, func(t *testing.T) {
			format := formatOf(t, name)
			rapid.Check(t, func(t *rapid.T) {
				var b strings.Builder
				for range rapid.IntRange(1, 12).Draw(t, "events") {
					form := rapid.SampledFrom(forms).Draw(t, "form")
					fmt.Fprintf(&b, "data: %s\n\n", strings.ReplaceAll(form, "%s", rapid.SampledFrom(texts).Draw(t, "text")))
				}
				if short, plain := bothWays(format, []byte(b.String())); !cmp.Equal(short, plain) {
					t.Fatalf("%s\n(-plain +short):\n%s", b.String(), cmp.Diff(plain, short))
				}
			})
		})
	}
}
