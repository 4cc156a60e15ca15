package alert

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/haltd/haltd"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

func TestATroubledReceiverGetsItsMessageWithOneID(t *testing.T) {
	forbidden := newReceiver(t)
	for name, trouble := range map[string]http.HandlerFunc{
		"500": status(500),
		"400": status(400),
		"a redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, forbidden.URL, http.StatusTemporaryRedirect)
		},
		"hangs":    func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"hangs up": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"breaks off": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			w.Write([]byte("half"))
		},
		"slow answer": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(200)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			r := newReceiver(t, trouble, trouble, status(200))
			w.hook("ops", r)
			w.store.raise(notice(1))
			for try := range 3 {
				w.tryTime = 30 * time.Second
				if try < 2 && (name == "hangs" || name == "slow answer") {
					w.tryTime = time.Second // in which a busy machine can connect
				}
				w.settle()
				w.settle() // nothing is due yet: no second try
				w.move(time.Hour)
			}
			if diff := cmp.Diff([]string{"ntc_1", "ntc_1", "ntc_1"}, r.ids()); diff != "" {
				t.Errorf("message ids (-want +got):\n%s", diff)
			}
			d := w.only()
			if d.Status != haltd.DeliveryDelivered || d.Attempts != 3 || len(d.Answers) != 3 || d.LastAnswer() != "200 OK" {
				t.Errorf("delivery = %+v, want delivered at the third try with three answers", d)
			}
			verify(t, r)
		})
	}
	if n := len(forbidden.got()); n != 0 {
		t.Errorf("%d redirects were followed", n)
	}
}

// verify checks all signatures as a receiver would, at any time.
func verify(t *testing.T, r *receiver) {
	t.Helper()
	checker, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range r.got() {
		if err := checker.VerifyIgnoringTimestamp(q.body, q.header); err != nil {
			t.Errorf("signature of %s: %v", q.body, err)
		}
	}
}

func TestTriesGetRarerAndEnd(t *testing.T) {
	w := newWorld(t)
	r := newReceiver(t, status(503))
	w.hook("ops", r)
	w.store.raise(notice(1))
	var pauses []time.Duration
	for range mostAttempts {
		w.settle()
		d := w.only()
		pauses = append(pauses, d.NextAt.Sub(w.clock()))
		w.move(d.NextAt.Sub(w.clock()))
	}
	w.move(24 * time.Hour)
	w.settle()
	s := time.Second
	if diff := cmp.Diff([]time.Duration{1 * s, 5 * s, 25 * s, 125 * s, 625 * s, 3125 * s, 15625 * s, 0}, pauses); diff != "" {
		t.Errorf("pauses (-want +got):\n%s", diff)
	}
	d := w.only()
	if d.Status != haltd.DeliveryDead || d.Attempts != 8 || len(r.got()) != 8 {
		t.Errorf("delivery = %+v after %d tries, want dead after 8", d, len(r.got()))
	}
	if diff := cmp.Diff(map[string]int{"webhook failed": 7, "webhook dead": 1}, w.tries); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
}

func TestJitterSpreadsTries(t *testing.T) {
	for random, want := range map[float64]time.Duration{0: 800 * time.Millisecond, 0.5: time.Second, 1: 1200 * time.Millisecond} {
		s := &Service{deps: Options{Random: func() float64 { return random }}}
		if got := s.pause(1, errStore); got != want {
			t.Errorf("pause with random %v = %v, want %v", random, got, want)
		}
	}
}

func TestRetryAfterIsHonoured(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"120":                           2 * time.Minute,
		"0":                             time.Second, // the usual pause is longer
		"99999999":                      24 * time.Hour,
		"Sun, 01 Mar 2026 12:05:00 GMT": 5 * time.Minute,
		"Sun, 01 Mar 2020 12:05:00 GMT": time.Second,
		"soon":                          time.Second,
	} {
		w := newWorld(t)
		w.hook("ops", newReceiver(t, func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Retry-After", value)
			rw.WriteHeader(429)
		}))
		w.store.raise(notice(1))
		w.settle()
		if got := w.only().NextAt.Sub(noon); got != want {
			t.Errorf("Retry-After %q: next try after %v, want %v", value, got, want)
		}
	}
}

func TestAGoneReceiverSwitchesItsChannelOff(t *testing.T) {
	w := newWorld(t)
	r := newReceiver(t, status(410))
	c := w.hook("ops", r)
	w.store.raise(notice(1))
	w.settle()
	w.store.raise(notice(2))
	w.settle()
	if d := w.only(); d.Status != haltd.DeliveryDead || d.Attempts != 1 || len(r.got()) != 1 {
		t.Errorf("delivery = %+v after %d requests, want dead after one", d, len(r.got()))
	}
	got, _ := w.channel(context.Background(), c.ID)
	if got.Enabled || !strings.Contains(got.Disabled, "410 Gone") {
		t.Errorf("channel = %+v, want switched off with the reason", got)
	}
	got.Enabled = true
	if got, err := w.SaveChannel(context.Background(), got); err != nil || got.Disabled != "" || !got.Enabled {
		t.Errorf("switched on again: %+v, %v", got, err)
	}
}

func TestAGoneReceiverOfTheFileIsSwitchedOffUntilAReload(t *testing.T) {
	w := newWorld(t)
	r := newReceiver(t, status(410), status(200))
	file := []haltd.Channel{{
		ID: "file-ops", Name: "ops", Kind: haltd.ChannelWebhook, Enabled: true,
		Settings: []byte(`{"url":"` + r.URL + `","secret":"` + secret + `"}`),
	}}
	if err := w.Configure(file, nil); err != nil {
		t.Fatal(err)
	}
	w.store.raise(notice(1))
	w.settle()
	if c, _ := w.channel(context.Background(), "file-ops"); c.Enabled {
		t.Errorf("channel = %+v, want switched off", c)
	}
	if err := w.Configure(file, nil); err != nil {
		t.Fatal(err)
	}
	w.store.raise(notice(2))
	w.settle()
	if diff := cmp.Diff([]string{"ntc_1", "ntc_2"}, r.ids()); diff != "" {
		t.Errorf("message ids (-want +got):\n%s", diff)
	}
}

func TestASlowChannelDoesNotHoldUpAnother(t *testing.T) {
	w := newWorld(t)
	stuck := make(chan struct{})
	slow := newReceiver(t, func(http.ResponseWriter, *http.Request) { <-stuck })
	defer close(stuck)
	fast := newReceiver(t)
	slowID, fastID := w.hook("slow", slow).ID, w.hook("fast", fast).ID
	w.rule(haltd.AlertRule{Name: "slow", Agents: []string{"slow-bot"}, Channels: []string{slowID}})
	w.rule(haltd.AlertRule{Name: "fast", Agents: []string{"fast-bot"}, Channels: []string{fastID}})
	const backlog = 300
	for i := range backlog {
		w.store.raise(notice(i, func(n *haltd.Notice) { n.Agent = "slow-bot" }))
	}
	w.store.raise(notice(backlog, func(n *haltd.Notice) { n.Agent = "fast-bot" }))

	ctx, cancel := context.WithCancel(context.Background())
	worker := newWorker(ctx, w.Service)
	defer worker.running.Wait()
	defer cancel()
	worker.round(ctx) // the slow channel takes its lanes
	worker.round(ctx) // the fast one is found behind the backlog
	if got := <-worker.ended; got.delivery.Channel != fastID || got.delivery.Status != haltd.DeliveryDelivered {
		t.Errorf("first to end: %+v, want the fast channel's delivery", got.delivery)
	}
	if worker.load[slowID] != channelLanes {
		t.Errorf("the slow channel has %d lanes, want %d", worker.load[slowID], channelLanes)
	}
}

func TestATryThatHaltdCutsIsMadeAgain(t *testing.T) {
	w := newWorld(t)
	arrived := make(chan struct{})
	r := newReceiver(t, func(_ http.ResponseWriter, r *http.Request) { close(arrived); <-r.Context().Done() }, status(200))
	w.hook("ops", r)
	w.store.raise(notice(1))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { w.Run(ctx); close(ended) }()
	<-arrived
	cancel()
	<-ended
	if d := w.only(); d.Status != haltd.DeliveryPending || d.Attempts != 0 {
		t.Errorf("delivery = %+v, want it untouched", d)
	}
	w.settle()
	if diff := cmp.Diff([]string{"ntc_1", "ntc_1"}, r.ids()); diff != "" {
		t.Errorf("message ids (-want +got):\n%s", diff)
	}
}

func TestATryOnItsWayAtTheEndIsNotMadeAgain(t *testing.T) {
	w := newWorld(t)
	arrived, answer := make(chan struct{}), make(chan struct{})
	r := newReceiver(t, func(http.ResponseWriter, *http.Request) { close(arrived); <-answer }, status(200))
	w.hook("ops", r)
	w.store.raise(notice(1))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { w.Run(ctx); close(ended) }()
	<-arrived
	cancel()
	close(answer)
	<-ended
	if d := w.only(); d.Status != haltd.DeliveryDelivered {
		t.Errorf("delivery = %+v, want delivered", d)
	}
	w.settle()
	if len(r.got()) != 1 {
		t.Errorf("%d messages, want one", len(r.got()))
	}
}

// Whoever wakes the worker does not wait for its next look at the outbox.
func TestWakeLooksAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan struct{})
		go func() { w.Run(ctx); close(ended) }()
		synctest.Wait() // its first look found nothing
		began := time.Now()
		w.store.raise(notice(1))
		w.Wake()
		synctest.Wait()
		if left, err := w.store.Notices(ctx, 10); err != nil || len(left) != 0 || time.Since(began) != 0 {
			t.Errorf("after %v %d notices wait (%v), want none at once", time.Since(began), len(left), err)
		}
		cancel()
		<-ended
	})
}

func TestWhatTheStoreDidNotTakeIsNotSentAgain(t *testing.T) {
	w := newWorld(t)
	r := newReceiver(t)
	w.hook("ops", r)
	w.store.raise(notice(1))
	w.store.failSaves = 3
	worker := newWorker(t.Context(), w.Service)
	for range 5 {
		worker.settle()
	}
	if d := w.only(); d.Status != haltd.DeliveryDelivered || len(r.got()) != 1 {
		t.Errorf("delivery = %+v after %d requests, want delivered by one", d, len(r.got()))
	}
}

func TestFaultsOfTheStoreLeaveNoticesWhereTheyAre(t *testing.T) {
	w := newWorld(t)
	r := newReceiver(t)
	w.hook("ops", r)
	w.store.raise(notice(1))
	w.store.fail = errors.New("away")
	w.settle()
	w.store.fail = nil
	w.settle()
	if diff := cmp.Diff([]string{"ntc_1"}, r.ids()); diff != "" {
		t.Errorf("message ids (-want +got):\n%s", diff)
	}
}

func TestADeadDeliveryCanBeTriedAgain(t *testing.T) {
	w := newWorld(t)
	r := newReceiver(t, status(500))
	w.hook("ops", r)
	w.store.raise(notice(1))
	for range mostAttempts {
		w.settle()
		w.move(24 * time.Hour)
	}
	dead := w.only()
	r.mu.Lock()
	r.answers = []http.HandlerFunc{status(204)}
	r.mu.Unlock()
	if _, err := w.Retry(context.Background(), dead.ID); err != nil {
		t.Fatal(err)
	}
	w.settle()
	d := w.only()
	if d.Status != haltd.DeliveryDelivered || d.Attempts != 1 || len(d.Answers) < 2 || d.Answers[0] != "204 No Content" || !strings.HasPrefix(d.Answers[1], "500") {
		t.Errorf("delivery = %+v, want delivered, with the earlier answers", d)
	}
	if ids := slices.Compact(r.ids()); len(ids) != 1 {
		t.Errorf("message ids = %v, want one", ids)
	}
	for _, id := range []string{d.ID, "dlv_none"} {
		if _, err := w.Retry(context.Background(), id); haltd.ErrorCode(err) != haltd.CodeNotFound {
			t.Errorf("retry of %s: %v, want not found", id, err)
		}
	}
}

// A receiver that answers at length cannot fill the outbox.
func TestOldAnswersAreForgotten(t *testing.T) {
	long := strings.Repeat("x", answersBytes/2)
	if got := withAnswer([]string{long, "oldest"}, long); len(got) != 2 || got[1] != long {
		t.Errorf("%d answers are kept, want the newest two", len(got))
	}
}

func TestDeliveriesOfChannelsThatAreNoMoreAreGivenUp(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*world, haltd.Channel)
		answer string
	}{
		"deleted":      {func(w *world, c haltd.Channel) { w.DeleteChannel(context.Background(), c.ID) }, "The channel does not exist any more"},
		"switched off": {func(w *world, c haltd.Channel) { c.Enabled = false; w.SaveChannel(context.Background(), c) }, "The channel is off"},
	} {
		w := newWorld(t)
		channel := w.hook("ops", newReceiver(t, status(500)))
		w.store.raise(notice(1))
		w.settle()
		c.change(w, channel)
		w.move(time.Hour)
		w.settle()
		if d := w.only(); d.Status != haltd.DeliveryDead || !strings.HasPrefix(d.LastAnswer(), c.answer) {
			t.Errorf("%s: delivery = %+v, want given up: %s", name, d, c.answer)
		}
	}
}

func TestTheLogTellsOfChannelsThatAreOff(t *testing.T) {
	w := newWorld(t)
	for _, c := range []haltd.Channel{
		{ID: "chn_lost", Name: "a", Kind: haltd.ChannelSlack, Disabled: "its key is lost", Source: fromAPI},
		{ID: "chn_off", Name: "b", Kind: haltd.ChannelSlack, Source: fromAPI},
	} {
		if err := w.store.SaveChannel(context.Background(), c); err != nil {
			t.Fatal(err)
		}
	}
	var log strings.Builder
	w.deps.Logger = slog.New(slog.NewTextHandler(&log, nil))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	w.Run(ctx)
	if got := log.String(); !strings.Contains(got, `channel=chn_lost reason="its key is lost"`) || strings.Contains(got, "chn_off") {
		t.Errorf("the log says %q; want the channel that haltd switched off, and no other", got)
	}
}
