package load

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"testing"

	"github.com/haltd/haltd/test/harness"
	"go.uber.org/goleak"
)

// TestClientsThatLeaveFreeTheirConnections has a provider that takes two
// connections. If one client in fifty kept its own after leaving in the
// middle of a stream, nobody could call any more.
func TestClientsThatLeaveFreeTheirConnections(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	t.Run("load", func(t *testing.T) {
		ctx := limited(t, 0)
		together := newMeeting(2)
		up := newUpstream(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return
			}
			if !wantsStream(body) {
				if together.attend(r.Context()) == nil {
					writeChat(w)
				}
				return
			}
			streamChat(w, 1)
			<-r.Context().Done() // the rest never comes
		}))
		client := newClient(t)
		n := startNode(t, writeConfig(t, up.URL, 2), client)
		leaveStreams(ctx, t, n.Gateway, client, 50, 5)

		ctx, cancel := context.WithTimeoutCause(ctx, harness.Patience, errors.New("two calls did not get through together"))
		defer cancel()
		var wg sync.WaitGroup
		for i := range 2 {
			wg.Go(func() {
				if _, err := (call{number: 100 + i, format: "openai-chat"}).do(ctx, client, n.Gateway); err != nil {
					t.Errorf("after fifty clients left: %v", errors.Join(err, context.Cause(ctx)))
				}
			})
		}
		wg.Wait()
		n.Stop(t)
	})
}

// leaveStreams opens streams, some at a time, and leaves each in the middle.
func leaveStreams(ctx context.Context, t *testing.T, gateway string, client *http.Client, streams, atATime int) {
	t.Helper()
	numbers := make(chan int, streams)
	for i := range streams {
		numbers <- i
	}
	close(numbers)
	var wg sync.WaitGroup
	for range atATime {
		wg.Go(func() {
			for i := range numbers {
				if err := (call{i, "openai-chat", true}).leave(ctx, client, gateway); err != nil {
					t.Errorf("stream %d: %v", i, err)
					return
				}
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// meeting lets nobody go before all are there.
type meeting struct {
	wanted int
	all    chan struct{}

	mu    sync.Mutex
	there int
}

func newMeeting(wanted int) *meeting { return &meeting{wanted: wanted, all: make(chan struct{})} }

func (m *meeting) attend(ctx context.Context) error {
	m.mu.Lock()
	if m.there++; m.there == m.wanted {
		close(m.all)
	}
	m.mu.Unlock()
	select {
	case <-m.all:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
