package app

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/alert"
	"github.com/haltd/haltd/internal/record"
	"github.com/haltd/haltd/internal/store/sqlite"
	"github.com/haltd/haltd/test/harness"
)

// full is a store that takes no events.
type full struct{ *sqlite.Store }

func (full) AppendEvents(context.Context, []haltd.Event) error {
	return haltd.Errorf(haltd.CodeUnavailable, "the disk is full")
}

// lines is a log.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// An alert about a store that fails, which goes past the outbox, is over when
// the watch is.
func TestTheWatchWaitsForItsAlerts(t *testing.T) {
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "haltd.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	arrived := make(chan struct{}, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // or nobody notices that the sender leaves
		arrived <- struct{}{}
		<-r.Context().Done()
	}))
	defer receiver.Close()
	var log lines
	logger := slog.New(slog.NewTextHandler(&log, nil))
	alerts, err := alert.New(alert.Options{Outbox: store, Channels: store, Rules: store, Logger: logger})
	if err != nil {
		t.Fatal(err)
	}
	if err := alerts.Configure([]haltd.Channel{{
		ID: "hook", Kind: haltd.ChannelWebhook, Enabled: true, Settings: fmt.Appendf(nil, `{"url":%q,"secret":"whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="}`, receiver.URL),
	}}, []string{"127.0.0.1"}); err != nil {
		t.Fatal(err)
	}
	now := time.Unix(0, 0)
	a := &App{opts: Options{Clock: func() time.Time { return now }}, log: logger, alerts: alerts, recorder: record.New(full{store}, record.Options{Interval: time.Millisecond})}
	a.recorder.Record(haltd.Event{Agent: "a"})
	if err := harness.Until(t.Context(), func() bool { return a.recorder.Degraded() != nil }); err != nil {
		t.Fatalf("the recorder does not notice that its store fails: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	w := watcher{app: a}
	w.store(ctx)
	now = now.Add(storePatience)
	w.store(ctx)
	select {
	case <-arrived:
	case <-time.After(20 * time.Second):
		t.Fatalf("nobody was told that the store fails; the log: %s", log.String())
	}
	cancel()
	w.sending.Wait()
	if !strings.Contains(log.String(), "an alert did not arrive") {
		t.Errorf("the alert is still being sent; the log: %s", log.String())
	}
	ended, stop := context.WithCancel(t.Context())
	stop()
	_ = a.recorder.Close(ended) // it cannot write
}
