package load

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"go.uber.org/goleak"
)

// callOf is the call with this number: all formats in turn, a third of them
// streams.
func callOf(number int) call {
	return call{number, callFormats[number%len(callFormats)], number%3 == 0}
}

// leaves is true of some of the streams.
func leaves(number int) bool { return number%51 == 0 }

// TestEveryCallIsPassedOnAndRecorded makes thousands of calls, 64 at a time.
// No byte of a reply may differ, no event may be missing, and nothing may be
// left behind. HALTD_CALLS says how many; 200,000 need -timeout 30m.
func TestEveryCallIsPassedOnAndRecorded(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	// Cleanups of this inner test end all that it started before the leak
	// check looks.
	t.Run("load", func(t *testing.T) {
		const concurrency = 64
		calls := times(t, "HALTD_CALLS", 3_000, 1_000)
		ctx := limited(t, time.Duration(calls)*10*time.Millisecond)
		up := newUpstream(t, newReplies(t))
		config, client := writeConfig(t, up.URL, 0), newClient(t)
		n := startNode(t, config, client)

		received := makeCalls(ctx, t, n.Gateway, client, calls, concurrency)
		if err := up.awaitConns(ctx, func(_, busy int) bool { return busy == 0 }); err != nil {
			t.Fatalf("after the last call: %v", err)
		}
		checkReplies(t, up, received)
		n.Stop(t)
		if err := up.awaitConns(ctx, func(open, _ int) bool { return open == 0 }); err != nil {
			t.Errorf("after haltd stopped: %v", err)
		}
		checkRecord(t, recordOf(t, config, client), calls)
	})
}

// makeCalls makes calls 0 to n-1 and answers what came back for each. The
// clients of some leave before the reply is complete.
func makeCalls(ctx context.Context, t *testing.T, gateway string, client *http.Client, calls, concurrency int) []digest {
	t.Helper()
	received := make([]digest, calls)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range concurrency {
		wg.Go(func() {
			for !t.Failed() {
				number := int(next.Add(1)) - 1
				if number >= calls {
					return
				}
				var err error
				if leaves(number) {
					err = callOf(number).leave(ctx, client, gateway)
				} else {
					received[number], err = callOf(number).do(ctx, client, gateway)
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return received
}

func checkReplies(t *testing.T, up *upstream, received []digest) {
	t.Helper()
	for number, got := range received {
		if leaves(number) {
			continue
		}
		if sent, ok := up.reply(number); !ok || got != sent {
			t.Fatalf("call %d (%+v): the client did not receive what the upstream sent", number, callOf(number))
		}
	}
}

// checkRecord finds exactly one event for each call, with what only that
// call can have.
func checkRecord(t *testing.T, events []haltd.Event, calls int) {
	t.Helper()
	if len(events) != calls {
		t.Errorf("%d events for %d calls", len(events), calls)
	}
	seen := make([]bool, calls)
	for _, e := range events {
		number := numberOf(&e)
		if number < 0 || number >= calls || seen[number] {
			t.Fatalf("event %s, session %q, model %q: not a call, or a second event of it", e.ID, e.Session, e.Model)
		}
		seen[number] = true
		checkEvent(t, &e, callOf(number))
		if t.Failed() {
			return
		}
	}
}

func checkEvent(t *testing.T, e *haltd.Event, c call) {
	t.Helper()
	if e.Type != haltd.EventCall || e.Status != http.StatusOK || e.Format != c.format || e.Stream != c.stream ||
		e.Agent != c.agent() {
		t.Errorf("call %+v is recorded as %+v", c, e)
	}
	wantError, complete := "", true
	if leaves(c.number) {
		wantError, complete = "client_left", false
	}
	if e.Error != wantError || e.Unread != "" || complete && (e.Estimated || e.Tokens.Output == 0) {
		t.Errorf("call %d: error %q, unread %q, tokens %+v (estimated: %v); want error %q and a reply that was read",
			c.number, e.Error, e.Unread, e.Tokens, e.Estimated, wantError)
	}
}
