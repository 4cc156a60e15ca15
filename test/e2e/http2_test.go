package e2e

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
	"github.com/haltd/haltd/test/harness"
)

// secureStage is a stage whose gateway takes HTTP/2, and clients of it.
type secureStage struct {
	*stage
	pool *x509.CertPool
}

const secureName = "gateway.example"

// newSecureStage starts a haltd with these keys of the section gateway, whose
// clients may stall for so long.
func newSecureStage(t *testing.T, stall time.Duration, keys string) *secureStage {
	t.Helper()
	llm, url := harness.Provider(t, harness.Scripted)
	folder := t.TempDir()
	pool := makeCertificate(t, folder, secureName)
	n := &node{harness.New(t, t.TempDir())}
	n.Gateway = "https://" + n.Config.Gateway
	n.Config.Replace(t, strings.Replace(n.Config.Base(), "gateway: {", fmt.Sprintf("gateway: {%s, stall_timeout: %v, tls: {cert_file: %q, key_file: %q}, ",
		keys, stall, filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")), 1)+harness.Providers(url))
	n.Run(t)
	return &secureStage{&stage{node: n, llm: llm, url: url}, pool}
}

// agent makes an agent with one connection of HTTP/2.
func (s *secureStage) agent(t *testing.T, suffix ...string) *agent {
	t.Helper()
	a := s.stage.agent(t, suffix...)
	a.client = s.client(t, nil)
	return a
}

// client is one connection of HTTP/2, as dial makes it; nil for a plain one.
func (s *secureStage) client(t *testing.T, dial func(context.Context, string, string) (net.Conn, error)) *http.Client {
	t.Helper()
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: s.pool, ServerName: secureName, NextProtos: []string{"h2"}}, DialContext: dial,
		ForceAttemptHTTP2: true, DisableCompression: true, HTTP2: &http.HTTP2Config{MaxReceiveBufferPerStream: 64 << 10},
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// What holds by HTTP/1 holds by HTTP/2, where many calls share a connection
// and each ends by itself.
func TestHTTP2(t *testing.T) {
	t.Parallel()
	// Clients that are let go are let go soon; the others share two cores, and
	// may take their time.
	limits, _, _ := bodyLimits()
	brief, patient := newSecureStage(t, time.Second, limits), newSecureStage(t, time.Minute, limits)
	for _, tc := range []struct {
		name string
		run  func(*testing.T, *secureStage)
		on   *secureStage
	}{
		{"Many streams are counted to the cent", manyStreams, patient},
		{"Whoever resets a stream at once pays the reservation", resetsAtOnce, patient},
		{"Streams that are reset before their end are no failures", resetsBeforeTheEnd, patient},
		{"A body that stops is answered", stoppedBodies, brief},
		{"Readers that do not read are let go", deafReaders, brief},
		{"Bodies on many streams take bounded memory", bombsOnStreams, patient},
		{"The client does not wait for the bookkeeping", slowStoreByHTTP2, patient},
		{"A provider may pause for longer than a client", pauses, brief}, // last: its parts wait for all tests that run at once
	} {
		t.Run(tc.name, func(t *testing.T) { tc.run(t, tc.on) })
	}
	for _, s := range []*secureStage{brief, patient} {
		if got := s.metric(t, "haltd_panics_total"); got != 0 {
			t.Errorf("%v panics", got)
		}
	}
}

func manyStreams(t *testing.T, s *secureStage) {
	const calls = 200
	a := s.agent(t)
	var wg sync.WaitGroup
	for i := range calls {
		wg.Go(func() {
			got := a.send(request{
				model: "gpt-4o", messages: []message{user(fmt.Sprint("question ", i))}, stream: i%2 == 0,
				reply: fakellm.Script{Text: "an answer", Usage: &haltd.Usage{Input: 1000, Output: 500}},
			})
			if got.status != http.StatusOK {
				t.Errorf("%d %s", got.status, got.body)
			}
		})
	}
	wg.Wait()
	var sum haltd.Money
	for _, e := range a.has(haltd.EventCall, calls) {
		sum += e.Cost
	}
	if want := calls * haltd.Dollar * 75 / 10_000; sum != want {
		t.Errorf("%d calls cost $%s, want $%s", calls, sum, want)
	}
}

func resetsAtOnce(t *testing.T, s *secureStage) {
	const calls = 25
	a := s.agent(t)
	for i := range calls {
		a.hangUp("/anthropic/v1/messages", fmt.Sprintf(`{"model":"claude-sonnet-4-5","stream":true,"max_tokens":3400,"messages":[{"role":"user","content":"call %d"}]}`, i),
			fakellm.Script{Text: "a long reply", ChunkDelay: fakellm.Delay(time.Minute)})
	}
	var sum haltd.Money
	for _, e := range a.has(haltd.EventCall, calls) {
		if sum += e.Cost; e.Tokens.Output != 3400 || e.Error != "client_left" {
			t.Errorf("charged %+v after %q, want the 3400 tokens that the call could have", e.Tokens, e.Error)
		}
	}
	if sum < haltd.Dollar*5/4 {
		t.Errorf("%d calls cost $%s, want $1.25 or more", calls, sum)
	}
}

func resetsBeforeTheEnd(t *testing.T, s *secureStage) {
	s.agent(t).with("").cutUntilStopped("/openai/v1/chat/completions", `{"model":"gpt-4.1-mini","stream":true,"messages":[{"role":"user","content":"What is the state of the order?"}]}`, inEvents)
}

// pauses has a provider that takes three times as long as a client may.
func pauses(t *testing.T, s *secureStage) {
	for name, r := range map[string]request{
		"before a reply":       {reply: fakellm.Script{Delay: fakellm.Delay(3 * time.Second)}},
		"before a stream":      {stream: true, reply: fakellm.Script{Delay: fakellm.Delay(3 * time.Second)}},
		"in the middle of one": {stream: true, reply: fakellm.Script{ChunkDelay: fakellm.Delay(1500 * time.Millisecond)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r.messages, r.reply.Text, r.reply.Chunks = []message{user("hi")}, "after all", 1
			a := s.agent(t)
			if got := a.send(r); got.status != http.StatusOK || !strings.Contains(got.body, "after all") || r.stream && !strings.Contains(got.body, "[DONE]") {
				t.Errorf("%d %s; want the whole reply", got.status, got.body)
			}
			if e := a.has(haltd.EventCall, 1)[0]; e.Error != "" {
				t.Errorf("the event says %q", e.Error)
			}
		})
	}
}

func stoppedBodies(t *testing.T, s *secureStage) {
	for _, path := range []string{"/openai/v1/chat/completions", "/openai/v1/files"} {
		body, sender := io.Pipe()
		defer sender.Close()
		go func() { _, _ = io.WriteString(sender, `{"model":`) }()
		req, err := http.NewRequestWithContext(t.Context(), "POST", s.Gateway+"/agents/sender"+path, body)
		if err != nil {
			t.Fatal(err)
		}
		res, err := s.client(t, nil).Do(req)
		if err != nil {
			t.Fatalf("%s: %v; want 408", path, err)
		}
		text, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode != http.StatusRequestTimeout || res.Header.Get("X-Haltd-Reason") != haltd.CodeStalled || !strings.Contains(string(text), "gateway.stall_timeout") {
			t.Errorf("%s: %d %s, %v; want 408 with the reason and the setting", path, res.StatusCode, text, err)
		}
	}
}

// deafConn is a connection of which nothing is read from some time on.
type deafConn struct {
	net.Conn
	deaf *atomic.Bool
	end  <-chan struct{}
}

func (c deafConn) Read(p []byte) (int, error) {
	if c.deaf.Load() {
		<-c.end
		return 0, io.EOF
	}
	return c.Conn.Read(p)
}

// deafReaders ask for long replies and leave them: one opens no window for its
// stream, the other does not read its connection either.
func deafReaders(t *testing.T, s *secureStage) {
	text := strings.Repeat("word ", 1600<<10)
	s.llm.SetRules([]fakellm.Rule{{Model: "long", Script: fakellm.Script{Text: text, ChunkSize: 5000}}})
	defer s.llm.SetRules(nil)
	for _, stream := range []bool{false, true} {
		for _, deaf := range []bool{false, true} {
			var deafNow atomic.Bool
			end := make(chan struct{})
			client := s.client(t, func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := new(net.Dialer).DialContext(ctx, network, address)
				if tcp, ok := conn.(*net.TCPConn); ok {
					_ = tcp.SetReadBuffer(4 << 10)
				}
				return deafConn{conn, &deafNow, end}, err
			})
			body := fmt.Sprintf(`{"model":"long","stream":%v,"messages":[{"role":"user","content":"hi"}]}`, stream)
			req, err := http.NewRequestWithContext(t.Context(), "POST", s.Gateway+"/agents/reader/openai/v1/chat/completions", strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			res, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			deafNow.Store(deaf)
			s.Eventually(t, fmt.Sprintf("free of a call (stream %v) of whom nothing reads (connection %v)", stream, deaf), func() bool { return s.metric(t, "haltd_in_flight") == 0 })
			close(end)
			res.Body.Close()
		}
	}
	for _, e := range s.Events(t, "agent=reader", 4) {
		if e.Error != "client_left" {
			t.Errorf("event %+v; want the client gone", e)
		}
	}
}

func bombsOnStreams(t *testing.T, s *secureStage) {
	_, body, most := bodyLimits()
	small, client := bomb(t, body), s.client(t, nil)
	var passed, refused atomic.Int64
	var wg sync.WaitGroup
	// How many of them are read at the same time is up to the machine.
	for tries := 0; tries < 10 && (passed.Load() == 0 || refused.Load() == 0); tries++ {
		for range 14 {
			wg.Go(func() {
				req, err := http.NewRequest("POST", s.Gateway+"/v1/chat/completions", bytes.NewReader(small))
				if err != nil {
					t.Error(err)
					return
				}
				req.Header.Set("Content-Encoding", "gzip")
				res, err := client.Do(req)
				if err != nil {
					t.Error(err)
					return
				}
				defer res.Body.Close()
				switch text, _ := io.ReadAll(res.Body); res.StatusCode {
				case http.StatusOK:
					passed.Add(1)
				case http.StatusServiceUnavailable:
					refused.Add(1)
				default:
					t.Errorf("%d %s", res.StatusCode, text)
				}
			})
		}
		wg.Wait()
	}
	heap := s.metric(t, "go_memstats_heap_sys_bytes") / (1 << 20)
	if most *= 1.25; passed.Load() == 0 || refused.Load() == 0 || heap > most { // with what the streams before them took
		t.Errorf("%d passed, %d were refused, heap %.0f MiB; want some of each, and %.0f MiB at most", passed.Load(), refused.Load(), heap, most)
	}
	t.Logf("heap %.0f MiB, %d passed, %d refused", heap, passed.Load(), refused.Load())
	s.Eventually(t, "free of bodies", func() bool { return s.metric(t, "haltd_body_bytes") == 0 })
}

// slowStoreByHTTP2 settles more than was reserved, which waits for the disk. By
// HTTP/2 a reply is not over before its stream is, whatever its length.
func slowStoreByHTTP2(t *testing.T, s *secureStage) {
	a := s.agent(t).policy(`{"budgets":{"day":{"hard_usd":1000}}}`)
	a.passes(a.ask("hello", "hello"))
	a.has(haltd.EventCall, 1)
	db := lockStore(t, s.Config.DataDir)
	began := time.Now()
	a.passes(a.send(request{messages: []message{user("hello again")}, maxTokens: 10, model: dear,
		reply: fakellm.Script{Text: "hello", Usage: &haltd.Usage{Input: 100, Output: 4_000_000}}}))
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("the reply took %v while nothing could be written", took)
	}
	if _, err := db.Exec("ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	s.Eventually(t, "done with the bookkeeping", func() bool { return s.metric(t, "haltd_in_flight") == 0 })
}
