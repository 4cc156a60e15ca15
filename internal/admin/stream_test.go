package admin

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/haltd/haltd"
)

type pagedEvents struct {
	*fakeEvents
	before func() error
}

func (p *pagedEvents) Events(ctx context.Context, q haltd.EventQuery) ([]haltd.Event, error) {
	if err := p.before(); err != nil {
		return nil, err
	}
	return p.fakeEvents.Events(ctx, q)
}

func readAll(resp *http.Response) error {
	_, err := io.Copy(io.Discard, resp.Body)
	return err
}

// listener is an open stream inside a synctest bubble.
type listener struct {
	mu     sync.Mutex
	text   strings.Builder
	header http.Header
	status int
	leave  context.CancelFunc
	ended  chan struct{}
}

func (l *listener) Header() http.Header    { return l.header }
func (l *listener) WriteHeader(status int) { l.status = status }
func (l *listener) Flush()                 {}
func (l *listener) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// heard is what arrived since it was last asked, as short words.
func (l *listener) heard() []string {
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	words := []string{}
	for message := range strings.SplitSeq(strings.TrimSpace(l.text.String()), "\n\n") {
		switch {
		case strings.HasPrefix(message, "retry:"), message == "":
		case strings.HasPrefix(message, ":"):
			words = append(words, "beat")
		case strings.HasPrefix(message, "event: lagged"):
			words = append(words, "lagged")
		default:
			id, rest, _ := strings.Cut(strings.TrimPrefix(message, "id: "), "\n")
			if !strings.HasPrefix(rest, "event: event\ndata: {\"id\":\""+id+`"`) {
				words = append(words, "bad: "+message)
				continue
			}
			words = append(words, strings.TrimLeft(strings.TrimPrefix(id, "evt_"), "0"))
		}
	}
	l.text.Reset()
	return words
}

func listen(t *testing.T, w *world, target string, lastEventID string) *listener {
	ctx, leave := context.WithCancel(t.Context())
	l := &listener{header: http.Header{}, leave: leave, ended: make(chan struct{})}
	r := httptest.NewRequestWithContext(ctx, "GET", target, nil)
	r.Host = "localhost"
	r.Header.Set("Authorization", "Bearer "+token)
	if lastEventID != "" {
		r.Header.Set("Last-Event-ID", lastEventID)
	}
	go func() {
		defer close(l.ended)
		w.ServeHTTP(l, r)
	}()
	synctest.Wait()
	return l
}

func (l *listener) expect(t *testing.T, when string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(append([]string{}, want...), l.heard()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", when, diff)
	}
}

func TestStreamSendsSelectedEventsAsTheyHappen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		fill(w, 2)
		l := listen(t, w, "/v1/events/stream?agent=a&type=llm_call", "")
		w.live.publish(call(3, "a"), call(4, "b"), call(5, "a"))
		l.expect(t, "after three events", "3", "5")
		time.Sleep(heartbeat)
		l.expect(t, "after a quiet while", "beat")
		if got := l.header.Get("Content-Type"); got != "text/event-stream" {
			t.Errorf("Content-Type = %q", got)
		}
		l.leave()
		<-l.ended
		if n := w.live.count(); n != 0 {
			t.Errorf("%d subscriptions are left", n)
		}
	})
}

func TestStreamResumesFromTheStoreAndSendsNothingTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		fill(w, 5)
		l := listen(t, w, "/v1/events/stream", haltd.EventID(2).String())
		w.live.publish(call(5, "a"), call(6, "a"))
		l.expect(t, "after resuming", "3", "4", "5", "6")
		l.leave()
		<-l.ended
	})
}

func TestStreamThatLaggedCatchesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		fill(w, 2)
		l := listen(t, w, "/v1/events/stream", "")
		w.live.publish(call(3, "a"))
		l.expect(t, "before it lags", "3")
		w.live.cut()
		synctest.Wait()
		w.events.AppendEvents(t.Context(), []haltd.Event{call(3, "a"), call(4, "a"), call(5, "a")})
		time.Sleep(resubscribeAfter)
		l.expect(t, "after it lagged", "4", "5")
		w.live.publish(call(6, "a"))
		l.expect(t, "when it is back", "6")
		l.leave()
		<-l.ended
	})
}

func TestStreamSaysWhenTooMuchWasMissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		fill(w, backlogLimit+5)
		l := listen(t, w, "/v1/events/stream", haltd.EventID(1).String())
		got := l.heard()
		if len(got) != backlogLimit+1 || got[0] != "lagged" || got[1] != "6" {
			t.Errorf("heard %d messages that begin with %v, want lagged and then the newest %d", len(got), got[:2], backlogLimit)
		}
		l.leave()
		<-l.ended
	})
}

func TestStreamRefusesABadLastEventID(t *testing.T) {
	if rec := newWorld().do("GET", "/v1/events/stream", "", "Last-Event-ID", "seven"); rec.Code != 400 {
		t.Errorf("status = %d, want 400", rec.Code)
	}
}

func TestStreamThatCannotReadTheStoreIsAnError(t *testing.T) {
	w := newWorld()
	w.events.fail(errStore)
	answer[problemBody](t, w, "GET", "/v1/events/stream", "", 500)
	if n := w.live.count(); n != 0 {
		t.Errorf("%d subscriptions are left", n)
	}
}

// Over a real connection: headers arrive at once, and the end of the server's
// context ends the stream.
func TestStreamEndsWhenTheServerStops(t *testing.T) {
	w := newWorld()
	ctx, stop := context.WithCancel(t.Context())
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		merged, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(ctx, cancel)()
		w.ServeHTTP(rw, r.WithContext(merged))
	}))
	srv.Start()
	defer srv.Close()
	req, _ := http.NewRequest("GET", srv.URL+"/v1/events/stream", nil)
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := srv.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	<-w.live.joined
	w.live.publish(call(7, "a"))
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() && lines.Text() != "id: "+haltd.EventID(7).String() {
	}
	if lines.Err() != nil {
		t.Fatalf("the event did not arrive: %v", lines.Err())
	}
	stop()
	for lines.Scan() {
	}
	if lines.Err() != nil {
		t.Errorf("the stream ended with %v, want a clean end", lines.Err())
	}
}

// Event 4 is written before event 3: whoever goes on after an id misses none of
// them and gets none twice.
func TestStreamGoesOnAcrossEventsThatAreWrittenLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		fill(w, 2)
		w.events.AppendEvents(t.Context(), []haltd.Event{call(4, "a")})
		w.live.bound = 2
		l := listen(t, w, "/v1/events/stream", haltd.EventID(1).String())
		l.expect(t, "while 3 is not written", "2")
		l.leave()
		<-l.ended
		l = listen(t, w, "/v1/events/stream", haltd.EventID(2).String())
		w.live.publish(call(3, "a"), call(4, "a"))
		l.expect(t, "when 3 is written", "3", "4")
		l.leave()
		<-l.ended
	})
}
