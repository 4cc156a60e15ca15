package main

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestJSONReplyIsOneKilobyte(t *testing.T) {
	for name, works := range map[string]bool{"talk": false, "work": true} {
		t.Run(name, func(t *testing.T) {
			b := jsonReply(3, works)
			if !json.Valid(b) {
				t.Errorf("the reply is no JSON: %s", b)
			}
			if len(b) < replyBytes-64 || len(b) > replyBytes+64 {
				t.Errorf("the reply has %d bytes, want about %d", len(b), replyBytes)
			}
		})
	}
}

func TestStreamReplyTellsTheWholeAnswer(t *testing.T) {
	for name, works := range map[string]bool{"talk": false, "work": true} {
		t.Run(name, func(t *testing.T) {
			writes := streamReply(3, works)
			if len(writes) != streamWrites {
				t.Errorf("%d writes, want %d", len(writes), streamWrites)
			}
			var text, arguments strings.Builder
			usage, done := false, false
			for event := range strings.SplitSeq(strings.TrimSuffix(strings.Join(writes, ""), "\n\n"), "\n\n") {
				data := strings.TrimPrefix(event, "data: ")
				if data == "[DONE]" {
					done = true
					continue
				}
				var c struct {
					Choices []struct{ Delta chatMessage }
					Usage   *struct{}
				}
				if err := json.Unmarshal([]byte(data), &c); err != nil {
					t.Fatalf("event %q: %v", event, err)
				}
				usage = usage || c.Usage != nil
				for _, choice := range c.Choices {
					text.WriteString(choice.Delta.Content)
					for _, call := range choice.Delta.ToolCalls {
						arguments.WriteString(call.Function.Arguments)
					}
				}
			}
			said, call := answer(3, works)
			if text.String() != said || !usage || !done {
				t.Errorf("text %q, usage %v, done %v; want the whole answer and both", text.String(), usage, done)
			}
			if call != nil && arguments.String() != call.Function.Arguments {
				t.Errorf("arguments %q, want %q", arguments.String(), call.Function.Arguments)
			}
		})
	}
}
