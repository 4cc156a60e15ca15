package main

import (
	"bytes"
	"encoding/json"
	"testing"
)

// messagesOf reads the request of one turn.
func messagesOf(t *testing.T, c *conversation, turn int) (chatRequest, []chatMessage) {
	t.Helper()
	var r chatRequest
	var messages []chatMessage
	body := c.body(turn)
	if len(body) != c.length(turn) {
		t.Fatalf("turn %d has %d bytes and says %d", turn, len(body), c.length(turn))
	}
	if err := json.Unmarshal(body, &r); err != nil {
		t.Fatalf("turn %d is no request: %v", turn, err)
	}
	if err := json.Unmarshal(r.Messages, &messages); err != nil {
		t.Fatalf("turn %d has no messages: %v", turn, err)
	}
	return r, messages
}

func TestQuestionsHaveTheirSizeAndNoHistory(t *testing.T) {
	for name, stream := range map[string]bool{"JSON": false, "SSE": true} {
		t.Run(name, func(t *testing.T) {
			c, err := newConversation(questioning, 7, 1, 1<<10, stream)
			if err != nil {
				t.Fatal(err)
			}
			asked := map[string]bool{}
			for i := range c.turns {
				r, messages := messagesOf(t, c, i)
				if c.length(i) != 1<<10 || len(messages) != 2 || r.Stream != stream {
					t.Fatalf("turn %d: %d bytes, %d messages, stream %v", i, c.length(i), len(messages), r.Stream)
				}
				asked[messages[1].Content] = true
			}
			if len(asked) != questions {
				t.Errorf("%d different questions, want %d", len(asked), questions)
			}
		})
	}
}

func TestAgentsGrowToTheirSize(t *testing.T) {
	for name, size := range map[string]int{"10 KB": 10 << 10, "100 KB": 100 << 10} {
		t.Run(name, func(t *testing.T) {
			c, err := newConversation(growing, 7, 1, size, true)
			if err != nil {
				t.Fatal(err)
			}
			last := len(c.turns) - 1
			if c.length(0) > 3<<10 || c.length(last) < size || c.length(last) > size*7/5 {
				t.Errorf("from %d to %d bytes, want from a task to a little more than %d", c.length(0), c.length(last), size)
			}
			near := 0
			for i := range c.turns {
				if c.length(i) >= size*3/4 {
					near++
				}
			}
			if 2*near < len(c.turns) {
				t.Errorf("%d of %d turns are near %d bytes, want most", near, len(c.turns), size)
			}
		})
	}
}

func TestAgentsResendTheirHistoryAndTheReplies(t *testing.T) {
	c, err := newConversation(growing, 7, 1, 10<<10, false)
	if err != nil {
		t.Fatal(err)
	}
	_, before := messagesOf(t, c, 0)
	for i := 1; i < len(c.turns); i++ {
		_, messages := messagesOf(t, c, i)
		if len(messages) != len(before)+2 {
			t.Fatalf("turn %d has %d messages after %d, want one round more", i, len(messages), len(before))
		}
		text, call := answer(c.turns[i-1].reply, true)
		said, result := messages[len(messages)-2], messages[len(messages)-1]
		if said.Content != text || len(said.ToolCalls) != 1 || said.ToolCalls[0] != *call {
			t.Errorf("turn %d: the assistant said %+v, but the reply was %q and %+v", i, said, text, call)
		}
		if result.ToolCallID != call.ID || !json.Valid([]byte(call.Function.Arguments)) {
			t.Errorf("turn %d: the result of %q belongs to call %q with arguments %s", i, result.ToolCallID, call.ID, call.Function.Arguments)
		}
		before = messages
	}
}

func TestConversationsDifferByNumberAndSeedOnly(t *testing.T) {
	bodyOf := func(number, seed int) []byte {
		c, err := newConversation(questioning, number, seed, 1<<10, false)
		if err != nil {
			t.Fatal(err)
		}
		return c.body(0)
	}
	first := bodyOf(1, 1)
	if !bytes.Equal(first, bodyOf(1, 1)) {
		t.Error("the same conversation has two bodies")
	}
	if bytes.Equal(first, bodyOf(2, 1)) || bytes.Equal(first, bodyOf(1, 2)) {
		t.Error("two conversations have the same body")
	}
}

func TestAllGetTheSameAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		kind kind
		want int
	}{
		"the same answer": {sameAnswer, 1},
		"one-shot":        {oneShot, pool},
	} {
		t.Run(name, func(t *testing.T) {
			different := map[int]bool{}
			for i := range pool {
				conversation, err := newConversation(c.kind, i, 1, 1<<10, true)
				if err != nil {
					t.Fatal(err)
				}
				if len(conversation.turns) != 1 || conversation.length(0) != 1<<10 {
					t.Fatalf("session %d has %d calls, the first of %d bytes", i, len(conversation.turns), conversation.length(0))
				}
				different[conversation.turns[0].reply] = true
			}
			if len(different) != c.want {
				t.Errorf("%d sessions get %d replies, want %d", pool, len(different), c.want)
			}
		})
	}
}
