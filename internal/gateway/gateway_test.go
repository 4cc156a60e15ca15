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
	"sync/atomic"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/config"
	"github.com/haltd/haltd/internal/control"
	"github.com/haltd/haltd/internal/judge"
	"github.com/haltd/haltd/internal/ledger"
	"github.com/haltd/haltd/internal/state/memory"
	"github.com/haltd/haltd/internal/store/sqlite"
	"github.com/haltd/haltd/test/harness"
)

// fixture is a gateway before upstreams of the test's own.
type fixture struct {
	*Gateway
	url     string
	events  *eventLog
	meter   *meter
	keys    *keyStore
	ring    *Keyring
	clock   *clock
	setup   setup
	control *control.Control
	judge   *judge.Judge
	store   *sqlite.Store
	limits  *countedLimits
	close   func() // ends it before the test does

	sent, served atomic.Int64 // calls whose reply was read, and calls that were recorded
}

// setup is what differs from one fixture to the other.
type setup struct {
	yaml  string
	data  string // folder of the store; "" for a new one
	clock *clock
	// price is what tokens cost; nil for a tenth of a cent each.
	price pricing
	// control stands between control and the store.
	control func(haltd.ControlStore) haltd.ControlStore
	// judge replaces neighbours of the judge.
	judge func(*judge.Options)
	// attempts stands between the gateway and what it remembers of requests.
	attempts func(Attempts) Attempts
}

// pricing prices tokens, and knows nothing else of a model.
type pricing func(provider, model string, u haltd.Usage) (haltd.Money, bool)

func (p pricing) Cost(provider, model string, u haltd.Usage) (haltd.Money, bool) {
	return p(provider, model, u)
}
func (pricing) MaxOutput(string, string) int64    { return 0 }
func (pricing) HidesThoughts(string, string) bool { return false }

// clock goes on from a noon in March and can be put forward.
type clock struct {
	began time.Time
	ahead atomic.Int64
}

func newClock() *clock { return &clock{began: time.Now()} }

var noon = time.Date(2026, 3, 11, 12, 0, 0, 0, time.UTC)

func (c *clock) now() time.Time { return noon.Add(time.Since(c.began) + time.Duration(c.ahead.Load())) }

func (c *clock) advance(d time.Duration) { c.ahead.Add(int64(d)) }

// newFixture starts a gateway with this configuration; UPSTREAM in it stands
// for the address of the handler.
func newFixture(t testing.TB, upstream http.Handler, yaml string) *fixture {
	t.Helper()
	if yaml == "" {
		yaml = providersYAML
	}
	return startFixture(t, strings.ReplaceAll(yaml, "UPSTREAM", newUpstream(t, upstream)))
}

const providersYAML = "providers:\n  openai: {base_url: UPSTREAM}\n  anthropic: {base_url: UPSTREAM}\n  gemini: {base_url: UPSTREAM}\n"

// adminToken is that of every gateway under test.
const adminToken = "the-admin-token"

func startFixture(t testing.TB, yaml string) *fixture {
	t.Helper()
	return setup{yaml: yaml}.start(t)
}

func (s setup) start(t testing.TB) *fixture {
	t.Helper()
	if s.clock == nil {
		s.clock = newClock()
	}
	if s.data == "" {
		s.data = t.TempDir()
	}
	f := &fixture{
		events: &eventLog{clock: s.clock}, meter: &meter{counts: map[string]int{}}, clock: s.clock, setup: s,
		keys: &keyStore{byHash: map[haltd.KeyHash]haltd.Key{}},
	}
	var err error
	f.ring, err = NewKeyring(context.Background(), f.keys, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	cfg := loadConfig(t, s.yaml)
	price := s.price
	if price == nil {
		price = func(_, _ string, u haltd.Usage) (haltd.Money, bool) {
			return haltd.Money(u.Input+u.Output) * haltd.Dollar / 1000, true
		}
	}
	closeJudge := f.newJudge(t, cfg, price)
	var attempts Attempts = f.limits
	if s.attempts != nil {
		attempts = s.attempts(attempts)
	}
	f.Gateway = New(Options{
		Keys: f.ring, AdminToken: adminToken, Recorder: f.events, Meter: f.meter, Usage: f.meter, Prices: price, Judge: f.judge,
		Attempts: attempts, Replies: f.limits, Guesses: f.limits,
		Clock: f.clock.now, Logger: slog.New(slog.DiscardHandler),
	}, NewSettings(cfg, nil))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer f.served.Add(1)
		f.Gateway.ServeHTTP(w, r)
	}))
	f.close = sync.OnceFunc(func() { server.Close(); f.Gateway.Wait(); f.Gateway.Close(); closeJudge() })
	t.Cleanup(f.close)
	f.url = server.URL
	return f
}

// restart ends a fixture and starts another over the same store.
func (f *fixture) restart(t *testing.T) *fixture {
	t.Helper()
	f.persist(t)
	f.close()
	return f.setup.start(t)
}

// persist writes the events that went to the recorder.
func (f *fixture) persist(t *testing.T) {
	t.Helper()
	f.Gateway.Wait()
	f.events.mu.Lock()
	defer f.events.mu.Unlock()
	var events []haltd.Event
	for i := range f.events.all {
		if e := &f.events.all[i]; e.ID == 0 {
			f.events.Stamp(e)
			events = append(events, *e)
		}
	}
	if err := f.store.AppendEvents(t.Context(), events); err != nil {
		t.Fatal(err)
	}
}

// newJudge makes a judge over a store.
func (f *fixture) newJudge(t testing.TB, cfg *config.Config, price pricing) (end func()) {
	t.Helper()
	ctx, log := context.Background(), slog.New(slog.DiscardHandler)
	var err error
	if f.store, err = sqlite.Open(ctx, filepath.Join(f.setup.data, "haltd.db")); err != nil {
		t.Fatal(err)
	}
	node, err := f.store.Join(ctx, haltd.Node{ID: haltd.NewName("nod_")}, time.Hour)
	if err == nil {
		err = f.store.ChargeHeld(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	var standings haltd.ControlStore = f.store
	if f.setup.control != nil {
		standings = f.setup.control(standings)
	}
	f.control, err = control.New(ctx, control.Options{
		Store: standings, Incidents: f.store, Journal: f.events,
		Cut: func(target haltd.Target) { f.Gateway.Cut(target) }, Notify: func() {}, Clock: f.clock.now, Logger: log,
	}, cfg.Defaults.Policy, cfg.Agents)
	if err != nil {
		t.Fatal(err)
	}
	ledgers := ledger.Open(f.store, node.ID, func(context.Context) error { return nil }, f.clock.now, log)
	f.limits = &countedLimits{State: memory.New(1000, 1000, 1e6)}
	end = func() { f.control.Close(ctx); _ = ledgers.Close(ctx); f.store.Close() }
	options := judge.Options{
		Agents: f.control, Incidents: f.control, Marks: f.control, Budgets: ledgers, Sessions: f.store,
		States: f.limits,
		Prices: price, Record: f.events.Record, Key: []byte("a key of the tests"),
		Meter: f.meter, Clock: f.clock.now, Logger: log,
	}
	if f.setup.judge != nil {
		f.setup.judge(&options)
	}
	f.judge = judge.New(options)
	return end
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
// It waits until the calls before it were recorded, so that the newest event is that of
// the newest call.
func (f *fixture) send(t *testing.T, method, path string, header map[string]string, body string) (*http.Response, string) {
	t.Helper()
	if err := harness.Until(t.Context(), func() bool { return f.served.Load() >= f.sent.Load() }); err != nil {
		t.Fatalf("%d of %d calls were recorded: %v", f.served.Load(), f.sent.Load(), err)
	}
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
	f.sent.Add(1)
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

	clock *clock
	ids   haltd.EventIDs
}

func (l *eventLog) Record(e haltd.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, e)
}

// Stamp and Announce make the log a journal.
func (l *eventLog) Stamp(e *haltd.Event) { e.ID = l.ids.Next(l.clock.now()) }

func (*eventLog) Abandon([]haltd.Event) {}

func (l *eventLog) Announce(events []haltd.Event) {
	for _, e := range events {
		l.Record(e)
	}
}

func (l *eventLog) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.all)
}

type meter struct {
	inFlight atomic.Int64
	overhead atomic.Int64 // of the last call, in nanoseconds

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

func (m *meter) Request(provider, decision string)             { m.add(provider + " " + decision) }
func (m *meter) Overhead(d time.Duration)                      { m.add("overhead"); m.overhead.Store(int64(d)) }
func (m *meter) Detect(time.Duration)                          { m.add("detect") }
func (m *meter) Rung(a haltd.Action, by haltd.Check)           { m.add(a.String() + " " + string(by)) }
func (m *meter) Outcome(s haltd.IncidentStatus)                { m.add(string(s)) }
func (m *meter) Count(what string)                             { m.add(what) }
func (m *meter) Panic(where string)                            { m.add("panic " + where) }
func (m *meter) Usage(string, haltd.Usage, haltd.Money)        {}
func (m *meter) Upstream(string, time.Duration, time.Duration) {}
func (m *meter) InFlight(delta int)                            { m.inFlight.Add(int64(delta)) }

type keyStore struct {
	byHash map[haltd.KeyHash]haltd.Key
}

func (s *keyStore) CreateKey(_ context.Context, k haltd.Key, h haltd.KeyHash) error {
	s.byHash[h] = k
	return nil
}
func (s *keyStore) Keys(context.Context) ([]haltd.Key, error)           { return nil, nil }
func (s *keyStore) UseKeys(context.Context, map[string]time.Time) error { return nil }
func (s *keyStore) KeyHashes(context.Context) (map[haltd.KeyHash]haltd.Key, error) {
	return maps.Clone(s.byHash), nil
}
func (s *keyStore) ChangeKey(_ context.Context, id string, change func(*haltd.Key) error) (haltd.Key, error) {
	for h, k := range s.byHash {
		if k.ID == id {
			err := change(&k)
			if err == nil {
				s.byHash[h] = k
			}
			return k, err
		}
	}
	return haltd.Key{}, haltd.Errorf(haltd.CodeNotFound, "no key %s", id)
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

// newUpstream starts an upstream and answers its address.
func newUpstream(t testing.TB, h http.Handler) string {
	up := httptest.NewServer(h)
	t.Cleanup(up.Close)
	return up.URL
}
