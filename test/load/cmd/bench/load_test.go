package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
)

func TestClientsHoldOneSessionAfterTheOther(t *testing.T) {
	l, err := newLoad(questioning, 1<<10, false, 0)
	if err != nil {
		t.Fatal(err)
	}
	var begun atomic.Int64
	clients := l.clients(40, &begun, nil)
	named, sessions := map[string]bool{}, map[string]bool{}
	for i := range 40 * 2 * questions {
		e := clients[i%len(clients)].next()
		request := e.request(nil)
		var wire bytes.Buffer
		if _, err := request.WriteTo(&wire); err != nil {
			t.Fatal(err)
		}
		r, err := http.ReadRequest(bufio.NewReader(&wire))
		if err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
		if body, err := io.ReadAll(r.Body); err != nil || !json.Valid(body) {
			t.Fatalf("request %d: body %q, %v", i, body, err)
		}
		named[r.Header.Get("X-Agent-Id")] = true
		sessions[r.Header.Get("X-Session-Id")] = true
	}
	if len(named) != agents || int64(len(sessions)) != begun.Load() {
		t.Errorf("%d agents and %d sessions, want %d and %d", len(named), len(sessions), agents, begun.Load())
	}
	if n := len(sessions); n < 80 || n > 120 {
		t.Errorf("%d sessions, want two to three for each client", n)
	}
}

func TestNoTwoOneShotCallsSendTheSameText(t *testing.T) {
	freshTexts(t, oneShot)
}

func TestTheSameAnswerGoesToFreshTextsOfRandomLetters(t *testing.T) {
	text := freshTexts(t, sameAnswer)
	letters := len(text) - strings.Count(text, " ")
	for letter := 'a'; letter <= 'z'; letter++ {
		if n, mean := strings.Count(text, string(letter)), letters/26; n < mean*9/10 || n > mean*11/10 {
			t.Errorf("%c comes %d times in %d letters, want about %d", letter, n, letters, mean)
		}
	}
	for word := range strings.FieldsSeq(text) {
		if len(word) >= randomWord {
			t.Errorf("%q has %d letters", word, len(word))
		}
	}
}

// freshTexts are the texts of many calls of which each has one of its own.
func freshTexts(t *testing.T, k kind) string {
	t.Helper()
	const size, calls, head = 1 << 10, 2000, 32
	l, err := newLoad(k, size, false, 0)
	if err != nil {
		t.Fatal(err)
	}
	c := l.clients(1, new(atomic.Int64), nil)[0]
	begins := map[string]bool{}
	var all strings.Builder
	for i := range calls {
		var sent struct{ Messages []chatMessage }
		if err := json.NewDecoder(requestOf(t, c.next()).Body).Decode(&sent); err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
		text := sent.Messages[1].Content
		begins[text[:head]] = true
		all.WriteString(text + " ")
	}
	if len(begins) != calls {
		t.Errorf("%d calls begin in %d ways", calls, len(begins))
	}
	return all.String()
}

// What haltd holds against agents that get the same answer must not fall on others.
func TestTheSameAnswerGoesToAgentsOfItsOwn(t *testing.T) {
	const calls = 2 * agents
	seen := map[kind]map[string]bool{}
	for _, k := range []kind{sameAnswer, questioning} {
		seen[k] = map[string]bool{}
		c, err := newConversation(k, 7, 1, 1<<10, false)
		if err != nil {
			t.Fatal(err)
		}
		l := &load{kind: k, agents: agents, fresh: make([]byte, freshBytes+1<<10)}
		for i := range calls {
			h := requestOf(t, exchange{l, int64(i), int64(i), c, 0, nil}).Header
			seen[k][h.Get("X-Agent-Id")] = true
			if named := h.Get("X-Session-Id") != ""; named == (k == sameAnswer) {
				t.Errorf("%s: its session has a name: %v", k, named)
			}
		}
		if len(seen[k]) != agents {
			t.Errorf("%s: %d agents, want %d", k, len(seen[k]), agents)
		}
	}
	for id := range seen[sameAnswer] {
		if seen[questioning][id] {
			t.Errorf("agent %q is one of the others, too", id)
		}
	}
}
