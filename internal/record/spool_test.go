package record

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/haltd/haltd"
)

// absent is a store that is gone at times, and counts what it takes.
type absent struct {
	mu   sync.Mutex
	gone bool
	took map[haltd.EventID]int
}

func (s *absent) AppendEvents(_ context.Context, events []haltd.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone {
		return haltd.Errorf(haltd.CodeUnavailable, "gone")
	}
	for i := range events {
		s.took[events[i].ID]++
	}
	return nil
}

func (s *absent) PruneEvents(context.Context, time.Time) (int64, error)   { return 0, nil }
func (s *absent) Forget(context.Context, time.Time) error                 { return nil }
func (s *absent) PruneExcerpts(context.Context, time.Time) (int64, error) { return 0, nil }
func (s *absent) PruneAudits(context.Context, time.Time) (int64, error)   { return 0, nil }

func (s *absent) set(gone bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = gone
}

func (s *absent) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.took)
}

func spoolAt(t *testing.T, path string) *Spool {
	t.Helper()
	s, err := OpenSpool(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Events wait on disk while the store is gone, also for the next process, and
// each arrives once.
func TestSpool(t *testing.T) { synctest.Test(t, spool) }

func spool(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spool.jsonl")
	store := &absent{gone: true, took: map[haltd.EventID]int{}}
	spool := spoolAt(t, path)
	r := New(store, Options{Spool: spool, Interval: time.Millisecond})
	record := func(n int) {
		for i := range n {
			r.Record(haltd.Event{Time: time.Now(), Agent: fmt.Sprint(i), Type: haltd.EventCall, Cost: 7, Excerpt: &haltd.Excerpt{Prompt: "hush"}})
		}
		if err := r.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	record(10)
	if got := spool.Waiting(); got != 10 || r.Stats().Pending != 10 || r.Degraded() == nil || r.TryFlush(t.Context()) == nil {
		t.Errorf("%d events wait, %+v, %v; want 10 and the store said to be gone", got, r.Stats(), r.Degraded())
	}
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := spool.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || len(text) == 0 {
		t.Fatalf("%d bytes, %v", len(text), err)
	}
	// A crash may have left half a line.
	if err := os.WriteFile(path, append(text, `{"id":"evt_`...), 0o600); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second) // it starts later, and its events have other numbers
	spool = spoolAt(t, path)
	defer spool.Close()
	r = New(store, Options{Spool: spool, Interval: time.Millisecond, After: 1 << 40})
	defer r.Close(context.Background())
	if spool.Waiting() != 10 || r.TryFlush(t.Context()) == nil {
		t.Errorf("%d events wait for the next process, want 10, and nobody told that all is written", spool.Waiting())
	}
	record(5)
	store.set(false)
	eventually(t, "fifteen events have not arrived", func() bool { return store.count() == 15 && r.Degraded() == nil })
	for id, n := range store.took {
		if n != 1 {
			t.Errorf("event %s arrived %d times", id, n)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Size() != 0 {
		t.Errorf("the file has %d bytes, %v; want none", info.Size(), err)
	}
}

// What does not fit on disk is dropped and counted.
func TestSpoolIsBounded(t *testing.T) {
	spool := spoolAt(t, filepath.Join(t.TempDir(), "spool.jsonl"))
	defer spool.Close()
	spool.most = 2000
	r := New(&absent{gone: true}, Options{Spool: spool, Interval: time.Millisecond, Batch: 1})
	defer r.Close(context.Background())
	for range 20 {
		r.Record(haltd.Event{Time: time.Now(), Agent: "a"})
	}
	if err := r.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := r.Stats(); s.Dropped == 0 || int64(s.Pending)+s.Dropped != 20 || spool.size > spool.most {
		t.Errorf("%+v, %d bytes; want some dropped, and all counted", s, spool.size)
	}
}

// slowToTake is a store that is back and has yet to take what waits on disk.
type slowToTake struct {
	*absent
	until haltd.EventID // the last event that it does not take yet
}

func (s *slowToTake) AppendEvents(ctx context.Context, events []haltd.Event) error {
	if events[0].ID <= s.until {
		return haltd.Errorf(haltd.CodeUnavailable, "later")
	}
	return s.absent.AppendEvents(ctx, events)
}

// What has no room on disk is written at once where the store is back, and the
// record is not whole before the rest is there as well.
func TestAFullSpoolDoesNotKeepEventsFromTheStore(t *testing.T) {
	spool := spoolAt(t, filepath.Join(t.TempDir(), "spool.jsonl"))
	defer spool.Close()
	spool.most = 2000
	store := &slowToTake{absent: &absent{took: map[haltd.EventID]int{}}, until: 20}
	r := New(store, Options{Spool: spool, Interval: time.Millisecond, Batch: 1})
	defer r.Close(context.Background())
	for id := haltd.EventID(1); id <= 40; id++ {
		r.Record(haltd.Event{ID: id, Time: time.Now(), Agent: "a"})
	}
	if err := r.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := r.Stats(); s.Dropped == 0 || s.Dropped >= 20 || store.count() != 20 || spool.size > spool.most {
		t.Errorf("%+v, %d in the store, %d bytes; want those dropped that came while the store took none, and the last 20 written", s, store.count(), spool.size)
	}
	if r.Degraded() == nil {
		t.Error("the record is said to be whole while events wait on disk")
	}
}

// Whoever asks for the counts while the spool writes to disk holds up no call.
func TestStatsDoNotWaitForTheSpoolWithTheQueueLocked(t *testing.T) {
	spool := spoolAt(t, filepath.Join(t.TempDir(), "spool.jsonl"))
	r := New(&absent{took: map[haltd.EventID]int{}}, Options{Spool: spool})
	spool.mu.Lock() // as while it writes
	asked := make(chan struct{})
	go func() {
		r.Stats()
		close(asked)
	}()
	recorded := make(chan struct{})
	go func() {
		for range 1000 {
			r.Record(haltd.Event{Agent: "a"})
			runtime.Gosched()
		}
		close(recorded)
	}()
	select {
	case <-recorded:
	case <-time.After(20 * time.Second):
		t.Error("an event waits for the disk")
	}
	spool.mu.Unlock()
	<-asked
	if err := r.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
