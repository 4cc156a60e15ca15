package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"testing"
)

func TestChatBodyIsAConversationOfItsSize(t *testing.T) {
	for name, c := range map[string]struct {
		size, minMessages int
		stream            bool
	}{
		"question":        {1 << 10, 3, false},
		"question stream": {1 << 10, 3, true},
		"agent":           {100 << 10, 100, false},
		"agent stream":    {100 << 10, 100, true},
	} {
		t.Run(name, func(t *testing.T) {
			body, err := chatBody(7, c.size, c.stream)
			if err != nil {
				t.Fatal(err)
			}
			if diff := len(body) - c.size; diff < -c.size/50 || diff > c.size/50 {
				t.Errorf("the body has %d bytes, want about %d", len(body), c.size)
			}
			var r chatRequest
			if err := json.Unmarshal(body, &r); err != nil {
				t.Fatalf("the body is no request: %v", err)
			}
			if len(r.Messages) < c.minMessages || r.Stream != c.stream {
				t.Errorf("%d messages, stream %v; want %d at least, stream %v", len(r.Messages), r.Stream, c.minMessages, c.stream)
			}
			checkResults(t, r.Messages)
		})
	}
}

// checkResults finds a result right after every tool call.
func checkResults(t *testing.T, messages []chatMessage) {
	t.Helper()
	for i, m := range messages {
		if len(m.ToolCalls) == 0 {
			continue
		}
		call := m.ToolCalls[0]
		if i+1 == len(messages) || messages[i+1].ToolCallID != call.ID {
			t.Errorf("message %d calls a tool as %s, and no result follows", i, call.ID)
		}
		if !json.Valid([]byte(call.Function.Arguments)) {
			t.Errorf("message %d has arguments that are no JSON: %s", i, call.Function.Arguments)
		}
	}
}

func TestChatBodiesDifferByConversationOnly(t *testing.T) {
	first, err := chatBody(1, 1<<10, false)
	if err != nil {
		t.Fatal(err)
	}
	again, err := chatBody(1, 1<<10, false)
	if err != nil {
		t.Fatal(err)
	}
	other, err := chatBody(2, 1<<10, false)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first, again) {
		t.Error("the same conversation has two bodies")
	}
	if bytes.Equal(first, other) {
		t.Error("two conversations have the same body")
	}
}

func TestLoadIsRequestsOfManySessions(t *testing.T) {
	l, err := newLoad(1<<10, false)
	if err != nil {
		t.Fatal(err)
	}
	agents, sessions := map[string]bool{}, map[string]bool{}
	for i, e := range l {
		r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(e.request)))
		if err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
		if body, err := io.ReadAll(r.Body); err != nil || !json.Valid(body) {
			t.Fatalf("request %d: body %q, %v", i, body, err)
		}
		agents[r.Header.Get("X-Agent-Id")] = true
		sessions[r.Header.Get("X-Session-Id")] = true
	}
	if len(agents) != 20 || len(sessions) != 200 {
		t.Errorf("%d agents and %d sessions, want 20 and 200", len(agents), len(sessions))
	}
}
