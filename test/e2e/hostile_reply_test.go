package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/haltd/haltd"
)

// hostileReply is what an upstream may send that is no reply, or one that means
// harm.
type hostileReply struct {
	name   string
	send   func(w io.Writer)
	status int // that the client gets; 0 where its connection breaks
	tokens haltd.Usage
	// estimated says that the counts of the reply are not believed, or that it
	// did not come to its end.
	estimated bool
}

const soundReply = `{"id":"c1","model":"gpt-4o","choices":[{"index":0,"message":{"role":"assistant","content":"x"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1000,"completion_tokens":500}}`

// sends writes a reply of one status line, headers and a body.
func sends(statusLine, headers, body string) func(io.Writer) {
	return func(w io.Writer) {
		fmt.Fprintf(w, "HTTP/1.1 %s\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n%s", statusLine, headers, len(body), body)
	}
}

func repeats(n int, text string) func(io.Writer) {
	return func(w io.Writer) {
		for range n {
			if _, err := io.WriteString(w, text); err != nil {
				return
			}
		}
	}
}

func then(all ...func(io.Writer)) func(io.Writer) {
	return func(w io.Writer) {
		for _, send := range all {
			send(w)
		}
	}
}

func calling(tools int) string {
	return strings.Replace(soundReply, `"content":"x"`, `"tool_calls":[`+strings.TrimSuffix(strings.Repeat(`{"id":"a","type":"function","function":{"name":"<script>","arguments":"{}"}},`, tools), ",")+`]`, 1)
}

var (
	countedUsage   = haltd.Usage{Input: 1000, Output: 500}
	hostileReplies = []hostileReply{
		{name: "a status that is none", send: sends("000 Nothing", "", soundReply), status: 502},
		{name: "a status below all others", send: sends("042 Answer", "", soundReply), status: 502},
		{name: "other protocols, unasked", send: sends("101 Switching Protocols", "Upgrade: websocket\r\nConnection: Upgrade\r\n", ""), status: 502},
		{name: "a header of two megabytes", send: sends("200 OK", "X-Long: "+strings.Repeat("a", 2<<20)+"\r\n", soundReply), status: 502},
		{name: "headers without end", send: then(repeats(1, "HTTP/1.1 200 OK\r\n"), repeats(1<<20, "X-More: of it\r\n")), status: 502},
		{name: "hints without end", send: repeats(1<<20, "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"), status: 502},
		{name: "trailers without end", send: then(repeats(1, fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nTrailer: X-More\r\n\r\n%x\r\n%s\r\n0\r\n", len(soundReply), soundReply)), repeats(1<<20, "X-More: of it\r\n")), tokens: countedUsage, estimated: true},
		{name: "another reply behind the reply", send: then(sends("200 OK", "", soundReply), sends("200 OK", "", "poison")), status: 200, tokens: countedUsage},
		{name: "more tools than anybody has", send: sends("200 OK", "", calling(5000)), status: 200, tokens: countedUsage},
		{name: "bytes that are no text", send: sends("200 OK", "", strings.NewReplacer(`"x"`, "\"\xff\xfe<script>\"", `"stop"`, `"st\u0000op"`).Replace(soundReply)), status: 200, tokens: countedUsage},
		{name: "counts of nothing", send: sends("200 OK", "", strings.NewReplacer("1000", "0", "500", "0", `"x"`, `"`+strings.Repeat("word ", 400)+`"`).Replace(soundReply)), status: 200, tokens: haltd.Usage{Input: 1, Output: 500}, estimated: true},
		{name: "counts beyond all reason", send: sends("200 OK", "", strings.NewReplacer("1000", "99999999999999999999", "500", "9223372036854775807").Replace(soundReply)), status: 200, tokens: haltd.Usage{Input: 1 << 27, Output: 1 << 27}},
	}
)

// listen answers each request with whatever bytes. It leaves connections open, as
// long as haltd does: one that it closed after a sound reply might just be used again.
func listen(t *testing.T, answer func(io.Writer, *http.Request)) (address string) {
	t.Helper()
	upstream, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { upstream.Close() })
	go func() {
		for {
			conn, err := upstream.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				for from := bufio.NewReader(conn); ; {
					req, err := http.ReadRequest(from)
					if err != nil {
						return
					}
					_, _ = io.Copy(io.Discard, req.Body)
					answer(conn, req)
				}
			}()
		}
	}()
	return upstream.Addr().String()
}

// Whatever an upstream sends, haltd stays up, the call is settled, the event says
// what the ledger does, and sums can be had of all.
func TestHostileReplies(t *testing.T) {
	t.Parallel()
	var send atomic.Pointer[func(io.Writer)]
	upstream := listen(t, func(w io.Writer, _ *http.Request) { (*send.Load())(w) })
	s := &stage{node: start(t, fmt.Sprintf("providers: {openai: {base_url: \"http://%s\"}}\npricing: {models: {o1-pro: {input: 100000, output: 600000}}}\n", upstream))}
	for _, h := range hostileReplies {
		t.Run(h.name, func(t *testing.T) {
			send.Store(&h.send)
			a := s.agent(t).policy(`{"budgets":{"day":{"hard_usd":100}}}`)
			if status := a.tries("gpt-4o"); status != h.status {
				t.Errorf("the client got %d, want %d", status, h.status)
			}
			var e haltd.Event
			s.Eventually(t, "recording the call", func() bool {
				events := s.AllEvents(t, "agent="+a.id+"&type=llm_call&type=error")
				if len(events) > 0 {
					e = events[0]
				}
				return len(events) > 0
			})
			if u := e.Tokens; u.Output != h.tokens.Output || e.Estimated != h.estimated || u.Input < h.tokens.Input || !h.estimated && u != h.tokens {
				t.Errorf("tokens %+v, estimated %v; want %+v, %v", u, e.Estimated, h.tokens, h.estimated)
			}
			if spent := a.spent().Spent; spent.Cost != e.Cost {
				t.Errorf("$%s are spent, the event says $%s", spent.Cost, e.Cost)
			}
			if len(e.ToolCalls) > 100 {
				t.Errorf("the event names %d tools", len(e.ToolCalls))
			}
		})
	}
	t.Run("sums of absurd counts", func(t *testing.T) {
		send.Store(&hostileReplies[len(hostileReplies)-1].send)
		a := s.agent(t)
		for range 5 {
			a.tries("o1-pro")
		}
		a.has(haltd.EventCall, 5)
		var sums struct{ Totals haltd.Totals }
		if status := s.API(t, "GET", "/v1/stats?agent="+a.id, nil, &sums); status != 200 || sums.Totals.Cost != 5_000_000*haltd.Dollar {
			t.Errorf("%d: five calls cost $%s, want the most that a call can, five times", status, sums.Totals.Cost)
		}
		if status := s.API(t, "GET", "/v1/stats", nil, nil); status != 200 {
			t.Errorf("the sums of all: %d", status)
		}
	})
	if strings.Contains(s.Log(), "fault of haltd") {
		t.Error("the log tells of a fault")
	}
}

// tries makes a call that may end without an answer: its status is 0 then.
func (a *agent) tries(model string) int {
	a.t.Helper()
	res, err := http.Post(a.Gateway+"/agents/"+a.id+"/openai/v1/chat/completions", "application/json", strings.NewReader(`{"model":"`+model+`","max_tokens":900,"messages":[{"role":"user","content":"hi"}]}`))
	if err != nil {
		return 0
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return 0
	}
	return res.StatusCode
}

// A server that is no provider may send back what it was sent, where a reply of
// HTTP has something else. Neither the client, who has but a gateway key, nor the
// log gets to read the operator's key.
func TestAnUpstreamThatRepeatsTheKeyTellsItNobody(t *testing.T) {
	t.Parallel()
	const key = "0123456789-of-the-operator"
	for name, reply := range map[string]string{
		"status line":       "%s\r\n\r\n",
		"status":            "HTTP/1.1 %s\r\n\r\n",
		"header":            "HTTP/1.1 200 OK\r\n%s\r\n\r\n",
		"length":            "HTTP/1.1 200 OK\r\nContent-Length: %s\r\n\r\n",
		"transfer encoding": "HTTP/1.1 200 OK\r\nTransfer-Encoding: %s\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			upstream := listen(t, func(w io.Writer, r *http.Request) { fmt.Fprintf(w, reply, r.Header.Get("X-Api-Key")) })
			n := start(t, fmt.Sprintf("providers: {anthropic: {base_url: \"http://%s\", api_key: %q}}\n", upstream, key))
			var made struct{ Secret string }
			n.Must(t, "POST", "/v1/keys", map[string]any{"agent": "bot"}, &made)
			status, body := post(t, n.Gateway+"/anthropic/v1/messages", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`, "X-Api-Key", made.Secret)
			if status != http.StatusBadGateway || strings.Contains(body, key) {
				t.Errorf("%d %s; want 502 without the key", status, body)
			}
			n.Eventually(t, "saying why", func() bool { return strings.Contains(n.Log(), "upstream unreachable") })
			if strings.Contains(n.Log(), key) {
				t.Error("the log has the key")
			}
		})
	}
}
