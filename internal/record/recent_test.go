package record

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/haltd/haltd"
)

// slow is a store that takes a batch when the test lets it.
type slow struct {
	absent
	let chan struct{}
}

func (s *slow) AppendEvents(ctx context.Context, events []haltd.Event) error {
	select {
	case <-s.let:
		return s.absent.AppendEvents(ctx, events)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// eventually waits, in a bubble of synctest, for something that the Recorder does
// by itself.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		synctest.Wait()
		if ok() {
			return
		}
		if time.Now().After(end) {
			t.Fatal(what)
		}
	}
}

// While the store is slow, each event is copied once; what it has taken is not
// kept for longer than the rest, and the file does not grow without end.
func TestRecent(t *testing.T) { synctest.Test(t, recentCopies) }

func recentCopies(t *testing.T) {
	path := filepath.Join(t.TempDir(), "recent.jsonl")
	store := &slow{absent: absent{took: map[haltd.EventID]int{}}, let: make(chan struct{})}
	recent := spoolAt(t, path)
	r := New(store, Options{Recent: recent, Interval: time.Millisecond, Batch: 5})
	record := func(n int) {
		for i := range n {
			r.Record(haltd.Event{Time: time.Now(), Agent: fmt.Sprint(i), Type: haltd.EventCall, Excerpt: &haltd.Excerpt{Prompt: "hush"}})
		}
	}
	record(10)
	eventually(t, "ten events are not copied", func() bool { return recent.Waiting() == 10 })
	record(3)
	eventually(t, "three more are not copied", func() bool { return recent.Waiting() == 13 })
	store.let <- struct{}{} // five of the ten
	eventually(t, "nothing was written", func() bool { return r.Stats().Written >= 5 })
	r.recent.most.Store(1)
	record(1)
	eventually(t, "what is written is still kept", func() bool { return recent.Waiting() <= 9 })
	if left := idsIn(t, path); len(left) != 9 {
		t.Errorf("%d events in the file, want the nine that are not written", len(left))
	}

	// The process is killed: what the store has not taken is there for the next.
	crashed := spoolAt(t, path)
	defer crashed.Close()
	if err := Recover(t.Context(), &store.absent, crashed); err != nil {
		t.Fatal(err)
	}
	if n := store.count(); n != 14 || crashed.size != 0 {
		t.Errorf("%d events after the crash and %d bytes left, want 14 and none", n, crashed.size)
	}
	close(store.let)
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// idsIn are the events of a file as another process finds them.
func idsIn(t *testing.T, path string) (ids []haltd.EventID) {
	t.Helper()
	s := spoolAt(t, path)
	defer s.Close()
	events, _, _, err := s.next(1000)
	if err != nil {
		t.Fatal(err)
	}
	for i := range events {
		ids = append(ids, events[i].ID)
	}
	return ids
}

// The file is empty again when the store has taken all, however the writes and
// the copies met.
func TestRecentIsEmptyWhenAllIsWritten(t *testing.T) { synctest.Test(t, recentEmpty) }

func recentEmpty(t *testing.T) {
	path := filepath.Join(t.TempDir(), "recent.jsonl")
	store := &slow{absent: absent{took: map[haltd.EventID]int{}}, let: make(chan struct{}, 1)}
	r := New(store, Options{Recent: spoolAt(t, path), Interval: time.Millisecond, Batch: 7})
	var done sync.WaitGroup
	done.Go(func() {
		for range 50 {
			time.Sleep(10 * time.Millisecond)
			store.let <- struct{}{}
		}
		close(store.let)
	})
	for range 4 {
		done.Go(func() {
			for range 150 {
				r.Record(haltd.Event{Time: time.Now(), Agent: "a"})
				time.Sleep(time.Millisecond)
			}
		})
	}
	done.Wait()
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left := idsIn(t, path); len(left) > 0 || store.count() != 600 {
		t.Errorf("%d events are left in the file, %d of 600 written", len(left), store.count())
	}
	for id, n := range store.took {
		if n != 1 {
			t.Errorf("event %s was written %d times", id, n)
		}
	}
}
