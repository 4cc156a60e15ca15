package load

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/haltd/haltd"
	"go.uber.org/goleak"
)

// TestShutdownUnderLoadLosesNothing stops haltd while some streams are in the
// middle and other calls come and go.
func TestShutdownUnderLoadLosesNothing(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	t.Run("load", func(t *testing.T) {
		const openStreams, callers, before = 20, 16, 500
		ctx := limited(t, 0)
		goOn := make(chan struct{})
		up := newUpstream(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			switch {
			case err != nil:
			case wantsStream(body):
				streamChat(w, 10)
				select {
				case <-goOn:
					streamChat(w, 10)
					endChat(w)
				case <-r.Context().Done():
				}
			default:
				writeChat(w)
			}
		}))
		config, client := writeConfig(t, up.URL, 0), newClient(t)
		n := startNode(t, config, client)

		finish := openAndHold(ctx, t, n.Gateway, client, openStreams)
		others := callUntilRefused(ctx, t, n.Gateway, client, openStreams, callers, before)
		select {
		case <-others.enough:
		case <-ctx.Done():
			t.Fatal(context.Cause(ctx))
		}
		stopped := make(chan struct{})
		go func() { defer close(stopped); n.Stop(t) }()
		awaitRefusal(ctx, t, n.Gateway)
		close(goOn)
		for number, got := range finish() {
			if sent, ok := up.reply(number); !ok || got != sent {
				t.Errorf("stream %d was cut by the shutdown", number)
			}
		}
		<-stopped
		others.wait()
		checkAnswered(t, recordOf(t, config, client), others, openStreams)
	})
}

// openAndHold opens streams 0 to count-1 and reads the first bytes of each.
// finish reads the rest and answers what each stream was.
func openAndHold(ctx context.Context, t *testing.T, gateway string, client *http.Client, count int) (finish func() []digest) {
	t.Helper()
	replies := make([]*http.Response, count)
	first := make([][]byte, count)
	for number := range count {
		res, err := call{number, "openai-chat", true}.send(ctx, client, gateway)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { res.Body.Close() })
		replies[number], first[number] = res, make([]byte, 1)
		if _, err := io.ReadFull(res.Body, first[number]); err != nil {
			t.Fatalf("stream %d: %v", number, err)
		}
	}
	return func() []digest {
		digests := make([]digest, count)
		for number, res := range replies {
			rest, err := io.ReadAll(res.Body)
			if err != nil {
				t.Errorf("stream %d: %v", number, err)
			}
			digests[number] = digestOf(append(first[number], rest...))
		}
		return digests
	}
}

// comers are callers that go on until haltd takes no more calls.
type comers struct {
	enough chan struct{} // closed after the wanted number of answers
	wait   func()

	mu       sync.Mutex
	answered map[int]bool // by number: every call made, true when it was answered
}

// callUntilRefused numbers its calls from first on.
func callUntilRefused(ctx context.Context, t *testing.T, gateway string, client *http.Client, first, callers, wanted int) *comers {
	c := &comers{enough: make(chan struct{}), answered: map[int]bool{}}
	var next, answers atomic.Int64
	next.Store(int64(first))
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for {
				number := int(next.Add(1)) - 1
				_, err := call{number: number, format: "openai-chat"}.do(ctx, client, gateway)
				c.mu.Lock()
				c.answered[number] = err == nil
				c.mu.Unlock()
				if other := (*statusError)(nil); errors.As(err, &other) {
					t.Error(err)
				}
				if err != nil {
					return
				}
				if answers.Add(1) == int64(wanted) {
					close(c.enough)
				}
			}
		})
	}
	c.wait = wg.Wait
	return c
}

// awaitRefusal waits until the gateway takes no new connections.
func awaitRefusal(ctx context.Context, t *testing.T, gateway string) {
	t.Helper()
	address := strings.TrimPrefix(gateway, "http://")
	for {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		switch {
		case errors.Is(err, syscall.ECONNREFUSED):
			return
		case ctx.Err() != nil:
			t.Fatal(context.Cause(ctx))
		case err == nil:
			conn.Close()
		}
	}
}

// checkAnswered finds an event for each call that was answered, and for a
// call that was not at most one: the connection may have ended between the
// request and its answer.
func checkAnswered(t *testing.T, events []haltd.Event, others *comers, streams int) {
	t.Helper()
	recorded := map[int]bool{}
	for _, e := range events {
		number := numberOf(&e)
		_, made := others.answered[number]
		if recorded[number] || !made && (number < 0 || number >= streams) {
			t.Fatalf("event %s, session %q, model %q: not a call, or a second event of it", e.ID, e.Session, e.Model)
		}
		recorded[number] = true
		if number < streams && (e.Failed() || e.Unread != "" || e.Finish != "stop") {
			t.Errorf("stream %d finished and is recorded as %+v", number, e)
		}
	}
	for number := range streams {
		if !recorded[number] {
			t.Errorf("stream %d has no event", number)
		}
	}
	for number, answered := range others.answered {
		if answered && !recorded[number] {
			t.Errorf("call %d was answered and has no event", number)
		}
	}
}
