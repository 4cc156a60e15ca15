package gateway

import (
	"context"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/detect"
	"github.com/haltd/haltd/internal/config"
	"github.com/haltd/haltd/internal/judge"
	"github.com/haltd/haltd/internal/state/memory"
)

// fixture is a gateway before upstreams of the test's own.
type fixture struct {
	*Gateway
	url    string
	events *eventLog
	meter  *meter
	keys   *keyStore
}

// newFixture starts a gateway with this configuration; UPSTREAM in it stands
// for the address of the handler.
func newFixture(t testing.TB, upstream http.Handler, yaml string) *fixture {
	t.Helper()
	up := httptest.NewServer(upstream)
	t.Cleanup(up.Close)
	if yaml == "" {
		yaml = "providers:\n  openai: {base_url: UPSTREAM}\n  anthropic: {base_url: UPSTREAM}\n  gemini: {base_url: UPSTREAM}\n"
	}
	return startFixture(t, strings.ReplaceAll(yaml, "UPSTREAM", up.URL))
}

func startFixture(t testing.TB, yaml string) *fixture {
	t.Helper()
	f := &fixture{events: &eventLog{}, meter: &meter{counts: map[string]int{}}, keys: &keyStore{byHash: map[haltd.KeyHash]haltd.Key{}}}
	ring, err := NewKeyring(context.Background(), f.keys, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	f.Gateway = New(Options{
		Keys: ring, Recorder: f.events, Meter: f.meter,
		Judge:    judge.New(memory.NewDetectors(1000, 1e6), detect.DefaultSettings()),
		Attempts: memory.NewAttempts(1000), Replies: memory.NewReplies(1000),
		Clock: time.Now, Logger: slog.New(slog.DiscardHandler),
	}, NewSettings(loadConfig(t, yaml), nil))
	s := httptest.NewServer(f.Gateway)
	t.Cleanup(func() { s.Close(); f.Gateway.Wait(); f.Gateway.Close() })
	f.url = s.URL
	return f
}

func loadConfig(t testing.TB, yaml string) *config.Config {
	t.Helper()
	path := filepath.Join(t.TempDir(), "haltd.yaml")
	if err := os.WriteFile(path, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(path, func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// send makes a request and answers its reply with the body read.
func (f *fixture) send(t *testing.T, method, path string, header map[string]string, body string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequest(method, f.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range header {
		req.Header.Set(name, v)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("read reply: %v", err)
	}
	return res, string(b)
}

// last is the newest event; the handler records it before its server lets go
// of the connection, but after the client has the reply.
func (f *fixture) last(t *testing.T) haltd.Event {
	t.Helper()
	f.Gateway.Wait()
	f.events.mu.Lock()
	defer f.events.mu.Unlock()
	if len(f.events.all) == 0 {
		t.Fatal("no event was recorded")
	}
	return f.events.all[len(f.events.all)-1]
}

type eventLog struct {
	mu  sync.Mutex
	all []haltd.Event
}

func (l *eventLog) Record(e haltd.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, e)
}

func (l *eventLog) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.all)
}

type meter struct {
	mu     sync.Mutex
	counts map[string]int
}

func (m *meter) add(what string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.counts[what]++
}

func (m *meter) get(what string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.counts[what]
}

func (m *meter) Request(provider, decision string) { m.add(provider + " " + decision) }
func (m *meter) Overhead(time.Duration)            { m.add("overhead") }
func (m *meter) Detect(time.Duration)              { m.add("detect") }
func (m *meter) Unread()                           { m.add("unread") }
func (m *meter) InvalidAgentID()                   { m.add("invalid agent") }
func (m *meter) InFlight(int)                      {}

type keyStore struct {
	byHash map[haltd.KeyHash]haltd.Key
}

func (s *keyStore) CreateKey(_ context.Context, k haltd.Key, h haltd.KeyHash) error {
	s.byHash[h] = k
	return nil
}
func (s *keyStore) Keys(context.Context) ([]haltd.Key, error) { return nil, nil }
func (s *keyStore) KeyHashes(context.Context) (map[haltd.KeyHash]haltd.Key, error) {
	return maps.Clone(s.byHash), nil
}
func (s *keyStore) RevokeKey(_ context.Context, id string, at time.Time) (haltd.Key, error) {
	for h, k := range s.byHash {
		if k.ID == id {
			delete(s.byHash, h)
			k.RevokedAt = &at
			return k, nil
		}
	}
	return haltd.Key{}, haltd.Errorf(haltd.CodeNotFound, "no key %s", id)
}

const (
	chatBody      = `{"model":"gpt-x","messages":[{"role":"system","content":"be brief"},{"role":"user","content":"hi"}]}`
	responsesBody = `{"model":"gpt-x","input":"hi"}`
	messagesBody  = `{"model":"claude-x","max_tokens":10,"messages":[{"role":"user","content":"hi"}]}`
	geminiBody    = `{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`

	chatReply     = `{"id":"c1","model":"gpt-x","choices":[{"index":0,"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":2}}`
	messagesReply = `{"id":"m1","model":"claude-x","type":"message","role":"assistant","content":[{"type":"text","text":"hello"}],"stop_reason":"end_turn","usage":{"input_tokens":7,"output_tokens":2}}`
)

// answer is an upstream that gives one reply.
func answer(status int, contentType, body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})
}

// answerEach is an upstream that gives one reply after the other.
func answerEach(replies <-chan string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer(200, "application/json", <-replies).ServeHTTP(w, r)
	})
}
