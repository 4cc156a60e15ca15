package record

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/haltd/haltd"
)

// failingStore takes no events.
type failingStore struct{ EventAppender }

func (failingStore) AppendEvents(context.Context, []haltd.Event) error {
	time.Sleep(time.Millisecond)
	return haltd.Errorf(haltd.CodeUnavailable, "the disk is full")
}

// Who only tries to flush learns at once that the store fails; who flushes
// waits as long as it may.
func TestTryFlushDoesNotWaitForAStoreThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(failingStore{}, Options{})
		r.Record(haltd.Event{Type: haltd.EventCall})
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		began := time.Now()
		for range 2 {
			if err := r.TryFlush(ctx); haltd.ErrorCode(err) != haltd.CodeUnavailable || time.Since(began) > 10*time.Millisecond {
				t.Errorf("after %v: %v; want the store's error at once", time.Since(began), err)
			}
		}
		if err := r.Flush(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) < 5*time.Second {
			t.Errorf("after %v: %v; want it to wait", time.Since(began), err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		_ = r.Close(ended)
	})
}
