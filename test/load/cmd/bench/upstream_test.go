package main

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestJSONReplyIsOneKilobyte(t *testing.T) {
	b := jsonReply(3)
	if !json.Valid(b) {
		t.Errorf("the reply is no JSON: %s", b)
	}
	if len(b) < replyBytes-16 || len(b) > replyBytes+16 {
		t.Errorf("the reply has %d bytes, want about %d", len(b), replyBytes)
	}
}

func TestStreamReplyTellsTheWholeAnswer(t *testing.T) {
	writes := streamReply(3)
	if len(writes) != streamWrites {
		t.Errorf("%d writes, want %d", len(writes), streamWrites)
	}
	var text strings.Builder
	usage, done := false, false
	for event := range strings.SplitSeq(strings.TrimSuffix(strings.Join(writes, ""), "\n\n"), "\n\n") {
		data := strings.TrimPrefix(event, "data: ")
		if data == "[DONE]" {
			done = true
			continue
		}
		var c struct {
			Choices []struct {
				Delta struct {
					Content string `json:"content"`
				} `json:"delta"`
			} `json:"choices"`
			Usage *struct{} `json:"usage"`
		}
		if err := json.Unmarshal([]byte(data), &c); err != nil {
			t.Fatalf("event %q: %v", event, err)
		}
		usage = usage || c.Usage != nil
		for _, choice := range c.Choices {
			text.WriteString(choice.Delta.Content)
		}
	}
	if text.String() != answerTo(3) || !usage || !done {
		t.Errorf("text %q, usage %v, done %v; want the whole answer and both", text.String(), usage, done)
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	for name, pieces := range map[string][]string{
		"one short":  {`"stream":true}`},
		"one long":   {strings.Repeat("x", 1000) + `"stream":true}`},
		"cut inside": {strings.Repeat("x", 250) + `"str`, `eam":true}`},
		"many":       {strings.Repeat("x", 200), strings.Repeat("y", 200), `"stream":true}`},
	} {
		t.Run(name, func(t *testing.T) {
			var end tail
			for _, p := range pieces {
				if n, err := end.Write([]byte(p)); n != len(p) || err != nil {
					t.Fatalf("Write = %d, %v", n, err)
				}
			}
			all := strings.Join(pieces, "")
			if got := string(end.bytes[:end.n]); !strings.HasSuffix(all, got) || !end.wantsStream() {
				t.Errorf("kept %q of %q", got, all)
			}
		})
	}
}
