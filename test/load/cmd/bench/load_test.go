package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
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
	const size, calls = 1 << 10, 2000
	l, err := newLoad(oneShot, size, false, 0)
	if err != nil {
		t.Fatal(err)
	}
	var begun atomic.Int64
	c := l.clients(1, &begun, nil)[0]
	begins := map[string]bool{}
	for i := range calls {
		var wire bytes.Buffer
		request := c.next().request(nil)
		if _, err := request.WriteTo(&wire); err != nil {
			t.Fatal(err)
		}
		r, err := http.ReadRequest(bufio.NewReader(&wire))
		if err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
		var sent struct{ Messages []chatMessage }
		if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
		const head = 32
		begins[sent.Messages[1].Content[:head]] = true
	}
	if len(begins) != calls {
		t.Errorf("%d calls begin in %d ways", calls, len(begins))
	}
}
