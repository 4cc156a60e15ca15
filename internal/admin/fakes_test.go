package admin

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const token = "the-admin-token-of-this-test"

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// fakeEvents keeps events in memory, newest first.
type fakeEvents struct {
	quotes map[string]haltd.IncidentExcerpt
	mu     sync.Mutex
	events []haltd.Event
	asked  []haltd.EventQuery
	stats  haltd.StatsQuery
	err    error
	unread error         // of excerpts
	noted  []haltd.Event // changes
}

func (f *fakeEvents) AppendEvents(_ context.Context, events []haltd.Event) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.events = append(f.events, events...)
	slices.SortFunc(f.events, func(a, b haltd.Event) int { return int(b.ID - a.ID) })
	return nil
}

func (f *fakeEvents) Events(_ context.Context, q haltd.EventQuery) ([]haltd.Event, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, q)
	if f.err != nil {
		return nil, f.err
	}
	var found []haltd.Event
	for _, e := range f.events {
		if len(found) == q.Limit {
			break
		}
		if q.Before != 0 && e.ID >= q.Before || q.Agent != "" && e.Agent != q.Agent ||
			q.Session != "" && e.Session != q.Session || e.Time.Before(q.Since) || !q.Until.IsZero() && !e.Time.Before(q.Until) ||
			len(q.Types) > 0 && !slices.Contains(q.Types, e.Type) {
			continue
		}
		found = append(found, e)
	}
	return found, nil
}

func (f *fakeEvents) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
}

func (f *fakeEvents) lastQuery() haltd.EventQuery {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.asked) == 0 {
		return haltd.EventQuery{}
	}
	return f.asked[len(f.asked)-1]
}

func (f *fakeEvents) PruneEvents(context.Context, time.Time) (int64, error) { return 0, nil }
func (f *fakeEvents) Forget(context.Context, time.Time) error               { return nil }
func (f *fakeEvents) LastEvent(context.Context) (haltd.EventID, error)      { return 0, nil }

func (f *fakeEvents) Excerpt(_ context.Context, id haltd.EventID) (haltd.Excerpt, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range f.events {
		if e.ID == id && e.Excerpt != nil {
			return *e.Excerpt, true, f.unread
		}
	}
	return haltd.Excerpt{}, false, f.unread
}

func (f *fakeEvents) IncidentExcerpt(_ context.Context, id string) (haltd.IncidentExcerpt, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	e, ok := f.quotes[id]
	return e, ok, f.unread
}

func (f *fakeEvents) PruneExcerpts(context.Context, time.Time) (int64, error) { return 0, nil }

func (f *fakeEvents) Stats(_ context.Context, q haltd.StatsQuery) (haltd.Stats, error) {
	f.stats = q
	return haltd.Stats{Since: q.Since, Until: q.Until, Totals: haltd.Totals{Calls: 3, Cost: haltd.Dollar}}, nil
}

// fakeAgents knows one agent with one session.
type fakeAgents struct {
	agents   haltd.AgentQuery
	sessions haltd.SessionQuery
	known    []haltd.Session // what Sessions answers
}

var east = time.FixedZone("east", 2*60*60)

func (f *fakeAgents) Agents(_ context.Context, q haltd.AgentQuery) ([]haltd.Agent, string, error) {
	f.agents = q
	if q.Cursor == "broken" {
		return nil, "", haltd.Errorf(haltd.CodeInvalid, "not from this list").In("cursor")
	}
	if q.Cursor == "second" {
		return nil, "", nil
	}
	return []haltd.Agent{{ID: "billing-bot", Active: true, FirstSeen: noon.In(east), LastSeen: noon.In(east)}}, "second", nil
}

func (f *fakeAgents) AgentCounts(context.Context, string) (haltd.AgentCounts, error) {
	return haltd.AgentCounts{Active: 1}, nil
}

func (f *fakeAgents) Agent(_ context.Context, id string) (haltd.Agent, error) {
	if id != "billing-bot" {
		return haltd.Agent{}, haltd.Errorf(haltd.CodeNotFound, "There is no agent %s", id).WithFix("Agents appear with their first call.")
	}
	return haltd.Agent{ID: id, Active: true, FirstSeen: noon.In(east), LastSeen: noon}, nil
}

func (f *fakeAgents) Sessions(_ context.Context, q haltd.SessionQuery) ([]haltd.Session, string, error) {
	f.sessions = q
	return f.known, "", nil
}

func (f *fakeAgents) Session(_ context.Context, agent, id string) (haltd.Session, error) {
	if id == "unseen" {
		return haltd.Session{}, haltd.Errorf(haltd.CodeNotFound, "There is no session %s", id)
	}
	return haltd.Session{ID: id, Agent: agent}, nil
}

type fakeKeys struct{ keys []haltd.Key }

func (f *fakeKeys) Create(_ context.Context, agent, name string, limits haltd.KeyLimits) (haltd.Key, string, error) {
	if agent == "not valid" {
		return haltd.Key{}, "", haltd.Errorf(haltd.CodeInvalid, "%q is not a valid agent id", agent).In("agent")
	}
	k := haltd.Key{ID: "key_one", Agent: agent, Name: name, CreatedAt: noon, KeyLimits: limits}
	f.keys = append(f.keys, k)
	return k, "haltd_secret", nil
}

func (f *fakeKeys) List(context.Context) ([]haltd.Key, error) { return f.keys, nil }

func (f *fakeKeys) Change(_ context.Context, id string, edit func(*haltd.Key)) (haltd.Key, error) {
	for i := range f.keys {
		if f.keys[i].ID == id {
			edit(&f.keys[i])
			return f.keys[i], nil
		}
	}
	return haltd.Key{}, haltd.Errorf(haltd.CodeNotFound, "There is no key %s", id)
}

func (f *fakeKeys) Revoke(_ context.Context, id string) (haltd.Key, error) {
	for i := range f.keys {
		if f.keys[i].ID == id {
			at := noon
			f.keys[i].RevokedAt = &at
			return f.keys[i], nil
		}
	}
	return haltd.Key{}, haltd.Errorf(haltd.CodeNotFound, "There is no key %s", id)
}

func (f *fakeKeys) AgentOf(secret string) (string, bool) {
	return "billing-bot", secret == "haltd_of-billing-bot"
}

// fakeLive publishes to its subscribers and closes those that fall behind.
type fakeLive struct {
	mu     sync.Mutex
	subs   map[chan haltd.Event]bool
	joined chan struct{} // one value per subscription
	bound  haltd.EventID // all up to it are written; 0 for all there are
}

func (f *fakeLive) committedUpTo() haltd.EventID {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.bound == 0 {
		return math.MaxInt64
	}
	return f.bound
}

func newFakeLive() *fakeLive {
	return &fakeLive{subs: map[chan haltd.Event]bool{}, joined: make(chan struct{}, 100)}
}

func (f *fakeLive) Subscribe(buffer int) (<-chan haltd.Event, func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := make(chan haltd.Event, buffer)
	f.subs[c] = true
	f.joined <- struct{}{}
	return c, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.subs, c)
	}
}

func (f *fakeLive) publish(events ...haltd.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for c := range f.subs {
		for _, e := range events {
			c <- e
		}
	}
}

// cut ends every subscription as a slow subscriber's is ended.
func (f *fakeLive) cut() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for c := range f.subs {
		close(c)
		delete(f.subs, c)
	}
}

func (f *fakeLive) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.subs)
}

func (f *fakeEvents) note(e haltd.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.noted = append(f.noted, e)
}

// world is an admin API over fakes.
type world struct {
	events *fakeEvents
	agents *fakeAgents
	keys   *fakeKeys
	live   *fakeLive
	signIn *SignIn
	notYet error
	*fakeControl
	incidents *fakeIncidents
	http.Handler
}

// Calling makes one agent known by its call alone.
func (w *world) Calling(agent string) bool { return agent == "calling" }

// Record, Flush and Subscribe make the world a recorder.
func (w *world) Record(e haltd.Event)         { w.events.note(e) }
func (w *world) Flush(context.Context) error  { return nil }
func (w *world) CommittedUpTo() haltd.EventID { return w.live.committedUpTo() }

func (w *world) Subscribe(buffer int) (<-chan haltd.Event, func()) {
	return w.live.Subscribe(buffer)
}

type fakeProcess struct{ *world }

func (p fakeProcess) Ready(context.Context) error { return p.notYet }

func (fakeProcess) Config() ([]byte, error) { return []byte("data_dir: ./data\n"), nil }

func (fakeProcess) Status() Status {
	return Status{
		Gateway: "http://127.0.0.1:7070", Admin: "http://127.0.0.1:7071", Started: noon.Add(-time.Hour), StoreBytes: 4096, Pricing: "table of 2026-02-01",
		Excerpts: "on", ExcerptsKept: 7200, BlockStatus: 400,
		Upstreams: []haltd.Upstream{
			{Name: "ollama", Kind: haltd.UpstreamProvider, BaseURL: "http://127.0.0.1:11434", State: haltd.UpstreamUnused},
			{Name: "openai", Kind: haltd.UpstreamProvider, BaseURL: "https://api.openai.com", State: haltd.UpstreamFailing,
				LastSuccess: noon.Add(-time.Minute), Status: 200, FirstByte: haltd.Duration(420 * time.Millisecond),
				LastFailure: noon, Error: "connection refused"},
		},
	}
}

// fakeSignOuts remembers digests of cookies.
type fakeSignOuts map[string]bool

func (f fakeSignOuts) SignOut(_ context.Context, digest string, _, _ time.Time) (first bool, err error) {
	first = !f[digest]
	f[digest] = true
	return first, nil
}

func (f fakeSignOuts) SignedOut(_ context.Context, digest string) (bool, error) {
	return f[digest], nil
}

func newWorld(change ...func(*Options)) *world {
	w := &world{events: &fakeEvents{}, agents: &fakeAgents{}, keys: &fakeKeys{}, live: newFakeLive(), incidents: &fakeIncidents{}}
	w.fakeControl = newFakeControl(w.incidents)
	o := Options{
		Agents: w.agents, Events: w.events, Excerpts: w.events, Incidents: w.incidents, Recorder: w, Keys: w.keys,
		Control: w, Remarks: w, Policies: w, Standings: w, Rules: w, BreakGlass: w, Spendings: w, Ledgers: w, Ingester: w, Windows: w, Calls: w,
		Access: Access{Token: token, Loopback: true, SignOuts: fakeSignOuts{}}, Process: fakeProcess{w},
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "haltd_in_flight 0\n") }),
		Version: "1.2.3",
		Clock:   func() time.Time { return noon },
	}
	for _, c := range change {
		c(&o)
	}
	o.Access.SignIn = NewSignIn(o.Clock, func() string { return "http://127.0.0.1:7071" }, o.Access.Token)
	w.signIn = o.Access.SignIn
	s := newServer(o)
	s.passwords = newPasswords(1000) // more rounds take time and prove nothing here
	w.Handler = http.HandlerFunc(s.serve)
	return w
}

// do asks with the token; headers are name, value pairs.
func (w *world) do(method, target, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Host = "127.0.0.1:7071"
	r.Header.Set("Authorization", "Bearer "+token)
	for i := 0; i < len(headers); i += 2 {
		if r.Header.Set(headers[i], headers[i+1]); headers[i] == "Host" {
			r.Host = headers[i+1]
		}
	}
	rec := httptest.NewRecorder()
	w.ServeHTTP(rec, r)
	return rec
}

// answer asks and decodes, and fails on another status.
func answer[T any](t *testing.T, w *world, method, target, body string, status int) T {
	t.Helper()
	rec := w.do(method, target, body)
	if rec.Code != status {
		t.Fatalf("%s %s = %d, want %d: %s", method, target, rec.Code, status, rec.Body)
	}
	var v T
	if err := json.Unmarshal(rec.Body.Bytes(), &v); err != nil {
		t.Fatalf("%s %s answered %q: %v", method, target, rec.Body, err)
	}
	if p, ok := any(v).(problemBody); ok && !p.isFieldSaid() {
		t.Errorf("%s %s: the field of %q is %q", method, target, p.Error.Message, p.Error.Field)
	}
	return v
}

type problemBody struct {
	Error struct{ Code, Message, Field, Fix, See string }
}

// leads is the field that a message begins with, as in "step: is too short".
var leads = regexp.MustCompile(`^([a-z][a-z0-9_.\[\]]*)(?:: | is not a field of this )`)

// isFieldSaid reports whether a field that the message names is told by itself too.
func (p problemBody) isFieldSaid() bool {
	named := leads.FindStringSubmatch(p.Error.Message)
	return named == nil || named[1] == "body" || named[1] == p.Error.Field
}

// call makes an event; higher numbers are newer.
func call(n int, agent string) haltd.Event {
	return haltd.Event{
		ID: haltd.EventID(n), Time: noon.Add(time.Duration(n) * time.Second), Type: haltd.EventCall,
		Agent: agent, Session: "s1", Client: "curl", Provider: "openai", Model: "gpt-5", Status: 200,
	}
}

var errStore = errors.New("disk on fire")
