package record

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/haltd/haltd"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestBatching(t *testing.T) {
	store := &memory{}
	run(t, store, Options{Batch: 5, Interval: 100 * time.Millisecond}, func(t *testing.T, r *Recorder) {
		r.Record(event(1))
		time.Sleep(99 * time.Millisecond)
		synctest.Wait()
		equal(t, "batches before the interval has passed", store.sizes(), nil)
		r.Record(event(2))
		time.Sleep(time.Millisecond)
		synctest.Wait()
		equal(t, "batches after the interval", store.sizes(), []int{2})

		recordN(r, 3, 5)
		synctest.Wait()
		equal(t, "half a batch does not wait", store.sizes(), []int{2, 3})

		release := store.block()
		recordN(r, 6, 8)
		synctest.Wait()
		recordN(r, 9, 15) // queue up behind a slow write
		release()
		if err := r.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		equal(t, "no batch is larger than Batch", store.sizes(), []int{2, 3, 3, 5, 2})
		equal(t, "order", store.ids(), count(1, 15))
		equal(t, "stats", r.Stats(), Stats{Written: 15})
	})
}

func TestIdleRecorderHasNoTimer(t *testing.T) {
	store := &memory{}
	run(t, store, Options{}, func(t *testing.T, r *Recorder) {
		r.Record(event(1))
		if err := r.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		before := time.Now()
		wake := time.NewTimer(1000 * time.Hour)
		<-wake.C // time jumps straight to the next timer; nothing of the Recorder's may run on the way
		equal(t, "time passed", time.Since(before), 1000*time.Hour)
		equal(t, "tries", store.attempts(), 1)
	})
}

func TestFullQueueDrops(t *testing.T) {
	store := &memory{}
	run(t, store, Options{Queue: 5, Batch: 2}, func(t *testing.T, r *Recorder) {
		release := store.block()
		recordN(r, 1, 2)
		synctest.Wait() // these are with the store now and still count
		recordN(r, 3, 7)
		equal(t, "stats while full", r.Stats(), Stats{Pending: 5, Dropped: 2})
		release()
		if err := r.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.Record(event(8))
		if err := r.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		equal(t, "ids", store.ids(), []int{1, 2, 3, 4, 5, 8})
	})
}

// A store that stands still costs the excerpts of what comes later before it
// costs events: they are what fills the memory.
func TestLongQueueKeepsNoExcerpts(t *testing.T) {
	store := &memory{}
	run(t, store, Options{Queue: 3 * excerptShare}, func(t *testing.T, r *Recorder) {
		release := store.block()
		for id := 1; id <= 5; id++ {
			e := event(id)
			e.Excerpt = &haltd.Excerpt{Prompt: "hello"}
			r.Record(e)
		}
		release()
		if err := r.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		var kept []bool
		for _, e := range store.batches[0] {
			kept = append(kept, e.Excerpt != nil)
		}
		equal(t, "which events kept their excerpts", kept, []bool{true, true, true, false, false})
	})
}

func TestStoreFailsAndRecovers(t *testing.T) {
	store := &memory{fail: func([]haltd.Event) error { return errDown }}
	var log bytes.Buffer
	run(t, store, Options{Batch: 2, Logger: slog.New(slog.NewTextHandler(&log, nil))}, func(t *testing.T, r *Recorder) {
		recordN(r, 1, 5)
		time.Sleep(time.Minute)
		synctest.Wait()
		if !errors.Is(r.Degraded(), errDown) {
			t.Errorf("Degraded is %v, want %v", r.Degraded(), errDown)
		}
		equal(t, "stats while the store fails", r.Stats(), Stats{Pending: 5})
		if n := store.attempts(); n < 10 || n > 25 {
			t.Errorf("%d tries in a minute, want some, further and further apart", n)
		}

		store.setFail(nil)
		time.Sleep(maxBackoff)
		synctest.Wait()
		equal(t, "ids", store.ids(), count(1, 5))
		equal(t, "Degraded", r.Degraded(), nil)
	})
	equal(t, "lines of log, one for each change", strings.Count(log.String(), "\n"), 2)
}

func TestFlushTriesAtOnce(t *testing.T) {
	store := &memory{fail: func([]haltd.Event) error { return errDown }}
	run(t, store, Options{}, func(t *testing.T, r *Recorder) {
		r.Record(event(1))
		time.Sleep(time.Minute)
		synctest.Wait()

		short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		err := r.Flush(short)
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, errDown) {
			t.Errorf("Flush while the store fails: %v; want the deadline and the cause", err)
		}

		store.setFail(nil)
		before := time.Now()
		if err := r.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		equal(t, "time that Flush took", time.Since(before), 0)
	})
}

func TestPoisonIsDividedOut(t *testing.T) {
	for name, refusal := range map[string]error{
		"an invalid event": haltd.Errorf(haltd.CodeInvalid, "not JSON"),
		"an unknown error": errors.New("no such column"),
	} {
		t.Run(name, func(t *testing.T) {
			store := &memory{fail: func(batch []haltd.Event) error {
				if slices.ContainsFunc(batch, func(e haltd.Event) bool { return e.ID == 2 }) {
					return refusal
				}
				return nil
			}}
			run(t, store, Options{Batch: 4}, func(t *testing.T, r *Recorder) {
				events, _ := r.Subscribe(10)
				recordN(r, 1, 6)
				if err := r.Flush(t.Context()); err != nil {
					t.Fatal(err)
				}
				want := []int{1, 3, 4, 5, 6}
				equal(t, "ids written", store.ids(), want)
				equal(t, "stats", r.Stats(), Stats{Written: 5, Rejected: 1})
				equal(t, "Degraded once others are written", r.Degraded(), nil)
				for _, id := range want {
					equal(t, "event sent to the subscriber", int((<-events).ID), id)
				}
			})
		})
	}
}

// The store goes down while a refused batch is written event by event: what
// is left of it waits like any other.
func TestStoreFailsWhileDividing(t *testing.T) {
	store := &memory{}
	down := true
	store.fail = func(batch []haltd.Event) error {
		switch {
		case len(batch) > 1, batch[0].ID == 3:
			return errors.New("refused")
		case batch[0].ID == 2 && down:
			return errDown
		}
		return nil
	}
	run(t, store, Options{}, func(t *testing.T, r *Recorder) {
		recordN(r, 1, 4)
		time.Sleep(time.Minute)
		synctest.Wait()
		equal(t, "stats while the store fails", r.Stats(), Stats{Pending: 3, Written: 1})
		store.mu.Lock()
		down = false
		store.mu.Unlock()
		if err := r.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		equal(t, "ids", store.ids(), []int{1, 2, 4})
		equal(t, "stats", r.Stats(), Stats{Written: 3, Rejected: 1})
	})
}

func TestCloseLosesNothing(t *testing.T) {
	store := &memory{}
	run(t, store, Options{Batch: 7}, func(t *testing.T, r *Recorder) {
		var wg sync.WaitGroup
		for w := range 4 {
			wg.Go(func() { recordN(r, w*100+1, w*100+100) })
		}
		wg.Wait()
		before := time.Now()
		if err := r.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		equal(t, "time that Close took", time.Since(before), 0)
		got := store.ids()
		slices.Sort(got)
		equal(t, "ids", got, count(1, 400))

		r.Record(event(999))
		equal(t, "stats after a late event", r.Stats(), Stats{Written: 400, Dropped: 1})
		if err := r.Close(t.Context()); err != nil {
			t.Errorf("second Close: %v", err)
		}
	})
}

func TestCloseSaysWhatIsLost(t *testing.T) {
	store := &memory{fail: func([]haltd.Event) error { return errDown }}
	run(t, store, Options{}, func(t *testing.T, r *Recorder) {
		recordN(r, 1, 3)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := r.Close(ctx)
		if err == nil || !strings.Contains(err.Error(), "3 events") || !errors.Is(err, errDown) {
			t.Errorf("Close: %v; want an error that counts 3 events and names the cause", err)
		}
	})
}

func TestSubscribersSeeWhatIsCommitted(t *testing.T) {
	store := &memory{fail: func([]haltd.Event) error { return errDown }}
	run(t, store, Options{}, func(t *testing.T, r *Recorder) {
		quick, stopQuick := r.Subscribe(10)
		slow, _ := r.Subscribe(2)
		gone, stopGone := r.Subscribe(10)
		stopGone()
		stopGone()
		recordN(r, 1, 3)
		time.Sleep(time.Second)
		synctest.Wait()
		equal(t, "events sent before the commit", len(quick), 0)

		store.setFail(nil)
		if err := r.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		equal(t, "quick", drain(quick, 3), "1 2 3")
		equal(t, "slow gets what fits and the end", drain(slow, 3), "1 2 closed")
		equal(t, "gone", drain(gone, 1), "closed")

		r.Record(event(4))
		if err := r.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		equal(t, "quick at the end", drain(quick, 2), "4 closed")
		stopQuick()
		late, _ := r.Subscribe(1)
		equal(t, "a subscriber after Close", drain(late, 1), "closed")
	})
}

func drain(c <-chan haltd.Event, n int) string {
	var got []string
	for range n {
		if e, ok := <-c; ok {
			got = append(got, fmt.Sprint(int(e.ID)))
		} else {
			got = append(got, "closed")
		}
	}
	return strings.Join(got, " ")
}

func TestRetention(t *testing.T) {
	store := &memory{}
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var passed atomic.Int64 // a duration
	var keep atomic.Value
	keep.Store(Retention{})
	opts := Options{
		Clock:     func() time.Time { return noon.Add(time.Duration(passed.Load())) },
		Retention: func() Retention { return keep.Load().(Retention) },
	}
	run(t, store, opts, func(t *testing.T, r *Recorder) {
		synctest.Wait()
		equal(t, "prunes that keep everything", store.prunes(), nil)
		keep.Store(Retention{Events: 24 * time.Hour})
		time.Sleep(pruneEvery)
		synctest.Wait()
		passed.Store(int64(pruneEvery))
		keep.Store(Retention{Events: 24 * time.Hour, Excerpts: 2 * time.Hour})
		time.Sleep(pruneEvery)
		synctest.Wait()
		equal(t, "prunes", store.prunes(), []string{"events 2026-02-28 12:00:00", "excerpts 2026-03-01 11:00:00", "events 2026-02-28 13:00:00"})
		equal(t, "what is kept for its time, also while events are kept for ever", store.forgets(), []time.Time{noon, noon, noon.Add(time.Hour)})
	})
}

func TestRetentionAtStart(t *testing.T) {
	store := &memory{}
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	opts := Options{Clock: func() time.Time { return now }, Retention: func() Retention { return Retention{Events: time.Hour} }}
	run(t, store, opts, func(t *testing.T, r *Recorder) {
		synctest.Wait()
		equal(t, "prunes", store.prunes(), []string{"events 2026-03-01 11:00:00"})
	})
}

func TestRecordDoesNotAllocate(t *testing.T) {
	store := &memory{}
	release := store.block()
	r := New(store, Options{Queue: 1 << 20})
	defer func() {
		release()
		if err := r.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	r.mu.Lock()
	r.pending = make([]haltd.Event, 0, 4096)
	r.mu.Unlock()
	e := event(1)
	if got := testing.AllocsPerRun(1000, func() { r.Record(e) }); got > 0 {
		t.Errorf("%v allocations per event, want 0", got)
	}
}

func BenchmarkRecord(b *testing.B) {
	r := New(discard{}, Options{Queue: 1 << 30})
	e := event(1)
	b.ReportAllocs()
	for b.Loop() {
		r.Record(e)
	}
	if err := r.Close(context.Background()); err != nil {
		b.Fatal(err)
	}
}

type discard struct{}

func (discard) AppendEvents(context.Context, []haltd.Event) error       { return nil }
func (discard) PruneEvents(context.Context, time.Time) (int64, error)   { return 0, nil }
func (discard) PruneAudits(context.Context, time.Time) (int64, error)   { return 0, nil }
func (discard) PruneExcerpts(context.Context, time.Time) (int64, error) { return 0, nil }
func (discard) Forget(context.Context, time.Time) error                 { return nil }

// Whoever has seen an event has seen all that came before it, however many
// record at once.
func TestIDsGrowInTheOrderOfTheQueue(t *testing.T) {
	store := &memory{}
	r := New(store, Options{Batch: 7})
	var recording sync.WaitGroup
	for range 8 {
		recording.Go(func() {
			for range 200 {
				r.Record(haltd.Event{Agent: "bot"})
			}
		})
	}
	recording.Wait()
	if err := r.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	last := haltd.EventID(0)
	written := 0
	for _, batch := range store.batches {
		for _, e := range batch {
			if e.ID <= last {
				t.Fatalf("id %v was written after %v", e.ID, last)
			}
			last = e.ID
			written++
		}
	}
	if written != 1600 {
		t.Errorf("%d events of 1600 were written", written)
	}
}
