package alert

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

var errStore = errors.New("disk on fire")

// fakeStore keeps everything in memory, deliveries newest first.
type fakeStore struct {
	mu         sync.Mutex
	notices    []haltd.Notice
	deliveries []haltd.Delivery
	channels   []haltd.Channel
	rules      []haltd.AlertRule
	claimed    map[string]bool
	failSaves  int // that many calls of SaveDelivery fail
	fail       error
}

func (f *fakeStore) raise(ns ...haltd.Notice) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.notices = append(f.notices, ns...)
}

func (f *fakeStore) Notices(_ context.Context, limit int) ([]haltd.Notice, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.notices[:min(limit, len(f.notices))]), f.fail
}

func (f *fakeStore) Dispatch(_ context.Context, notice string, ds []haltd.Delivery) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, n := range f.notices {
		if n.ID == notice {
			f.notices = slices.Delete(f.notices, i, i+1)
			for _, d := range ds {
				f.deliveries = slices.Insert(f.deliveries, 0, d)
			}
			break
		}
	}
	return nil
}

func (f *fakeStore) Claim(_ context.Context, q haltd.Claim) ([]haltd.Delivery, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var due []haltd.Delivery
	taken := map[string]int{}
	for _, d := range slices.Backward(f.deliveries) {
		free := q.Busy[d.Channel]+taken[d.Channel] < q.Lanes
		if d.Status == haltd.DeliveryPending && !d.NextAt.After(q.Now) && !f.claimed[d.ID] && free && len(due) < q.Limit {
			due = append(due, d)
			taken[d.Channel]++
			f.claimed[d.ID] = true
		}
	}
	return due, nil
}

func (f *fakeStore) SaveDelivery(_ context.Context, d haltd.Delivery) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failSaves > 0 {
		f.failSaves--
		return errStore
	}
	for i := range f.deliveries {
		if f.deliveries[i].ID == d.ID {
			delete(f.claimed, d.ID)
			f.deliveries[i] = d
		}
	}
	return nil
}

func (f *fakeStore) Deliveries(_ context.Context, q haltd.DeliveryQuery) ([]haltd.Delivery, string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var found []haltd.Delivery
	for _, d := range f.deliveries {
		if (q.Status == "" || q.Status == d.Status) && (q.Channel == "" || q.Channel == d.Channel) &&
			(q.Incident == "" || q.Incident == d.Notice.Incident) {
			found = append(found, d)
		}
	}
	skip, _ := strconv.Atoi(q.Cursor)
	found = found[min(skip, len(found)):]
	if len(found) <= q.Limit {
		return found, "", nil
	}
	return found[:q.Limit], strconv.Itoa(skip + q.Limit), nil
}

func (f *fakeStore) Channels(context.Context) ([]haltd.Channel, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.channels), nil
}

func (f *fakeStore) SaveChannel(_ context.Context, c haltd.Channel) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.channels = append(slices.DeleteFunc(f.channels, func(o haltd.Channel) bool { return o.ID == c.ID }), c)
	return nil
}

func (f *fakeStore) DeleteChannel(_ context.Context, id string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.channels = slices.DeleteFunc(f.channels, func(o haltd.Channel) bool { return o.ID == id })
	return nil
}

func (f *fakeStore) AlertRules(context.Context) ([]haltd.AlertRule, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.rules), nil
}

func (f *fakeStore) SaveAlertRule(_ context.Context, r haltd.AlertRule) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules = append(slices.DeleteFunc(f.rules, func(o haltd.AlertRule) bool { return o.ID == r.ID }), r)
	return nil
}

func (f *fakeStore) DeleteAlertRule(_ context.Context, id string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	before := len(f.rules)
	f.rules = slices.DeleteFunc(f.rules, func(o haltd.AlertRule) bool { return o.ID == id })
	if len(f.rules) == before {
		return haltd.Errorf(haltd.CodeNotFound, "There is no alert rule %s", id)
	}
	return nil
}

// world is a service over fakes whose clock the test moves.
type world struct {
	*Service
	t     *testing.T
	store *fakeStore
	mu    sync.Mutex
	now   time.Time
	tries map[string]int // by kind and result
}

func newWorld(t *testing.T, change ...func(*Options)) *world {
	t.Helper()
	w := &world{t: t, store: &fakeStore{claimed: map[string]bool{}}, now: noon, tries: map[string]int{}}
	o := Options{
		Outbox: w.store, Channels: w.store, Rules: w.store,
		IncidentURL: func(id string) string { return "https://haltd.example/incidents/" + id },
		Clock:       w.clock, Random: func() float64 { return 0.5 }, Metrics: w,
	}
	for _, c := range change {
		c(&o)
	}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	w.Service = s
	w.allow("127.0.0.0/8", "::1")
	return w
}

func (w *world) AlertDelivery(channel, result string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tries[channel+" "+result]++
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) move(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

func (w *world) allow(hosts ...string) {
	w.t.Helper()
	if err := w.Configure(nil, hosts); err != nil {
		w.t.Fatal(err)
	}
}

// settle does what Run does until nothing is left to do now.
func (w *world) settle() {
	worker := newWorker(w.t.Context(), w.Service)
	worker.settle()
}

func (w *worker) settle() {
	w.round(context.Background())
	for len(w.load) > 0 {
		w.end(<-w.ended)
		w.round(context.Background())
	}
}

// hook adds a webhook channel that calls a receiver.
func (w *world) hook(name string, r *receiver) haltd.Channel {
	w.t.Helper()
	return w.add(name, haltd.ChannelWebhook, map[string]any{"url": r.URL + "/hook", "secret": secret})
}

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

func (w *world) add(name string, kind haltd.ChannelKind, settings map[string]any) haltd.Channel {
	w.t.Helper()
	raw, _ := json.Marshal(settings)
	c, err := w.SaveChannel(context.Background(), haltd.Channel{Name: name, Kind: kind, Enabled: true, Settings: raw})
	if err != nil {
		w.t.Fatalf("add channel %s: %v", name, err)
	}
	return c
}

func (w *world) rule(r haltd.AlertRule) haltd.AlertRule {
	w.t.Helper()
	r.Name, r.Enabled = cmpOr(r.Name, "rule"), true
	r, err := w.SaveAlertRule(context.Background(), r)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// only is the one delivery there is.
func (w *world) only() haltd.Delivery {
	w.t.Helper()
	ds, _, _ := w.store.Deliveries(context.Background(), haltd.DeliveryQuery{Page: haltd.Page{Limit: 10}})
	if len(ds) != 1 {
		w.t.Fatalf("there are %d deliveries, want 1", len(ds))
	}
	return ds[0]
}

// notice makes the n-th notice.
func notice(n int, change ...func(*haltd.Notice)) haltd.Notice {
	made := haltd.Notice{
		ID: fmt.Sprintf("ntc_%d", n), Time: noon.Add(time.Duration(n) * time.Second), Topic: haltd.IncidentKillSwitch,
		Agent: "billing-bot", Session: "ses_8f2k9x3m", Incident: fmt.Sprintf("inc_%d", n), Sentence: "billing-bot repeated itself and was stopped.",
	}
	for _, c := range change {
		c(&made)
	}
	return made
}

// receiver is an HTTP server that keeps what it is sent. The answers are
// given in their order, the last one for good.
type receiver struct {
	*httptest.Server
	mu       sync.Mutex
	requests []request
	answers  []http.HandlerFunc
}

type request struct {
	header http.Header
	body   []byte
}

func newReceiver(t *testing.T, answers ...http.HandlerFunc) *receiver {
	r := &receiver{answers: answers}
	r.Server = httptest.NewServer(http.HandlerFunc(r.serve))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) serve(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	r.mu.Lock()
	r.requests = append(r.requests, request{req.Header, body})
	answer := status(200)
	if n := len(r.answers); n > 0 {
		answer = r.answers[0]
		if n > 1 {
			r.answers = r.answers[1:]
		}
	}
	r.mu.Unlock()
	answer(w, req)
}

func (r *receiver) got() []request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.requests)
}

// ids are the message ids that arrived, in order.
func (r *receiver) ids() []string {
	var ids []string
	for _, q := range r.got() {
		ids = append(ids, q.header.Get("Webhook-Id"))
	}
	return ids
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}
