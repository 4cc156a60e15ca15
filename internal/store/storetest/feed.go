package storetest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/haltd/haltd"
)

// committed are the events of the commits after a position, which are there.
func committed(t *testing.T, s Store, after int64, limit int) (ids []int, last int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	events, last, err := s.Committed(ctx, after, limit)
	if err != nil {
		t.Fatalf("Committed after %d: %v", after, err)
	}
	ids = []int{}
	for _, e := range events {
		ids = append(ids, int(e.ID))
	}
	return ids, last
}

// eventFeed: events come in the order in which they were written, whatever
// their ids, and as they were.
func eventFeed(t *testing.T, s Store) {
	if p, err := s.Position(t.Context()); err != nil || p != 0 {
		t.Errorf("position %d, %v; want 0", p, err)
	}
	late := call(9, start, "a", "s")
	add(t, s, late, call(3, start, "b", "t"))
	commit(t, s, haltd.Change{Events: []haltd.Event{call(5, start, "a", "s")}})
	add(t, s, call(1, start, "a", "s"))
	add(t, s, call(1, start, "a", "s"), call(7, start, "a", "s")) // the first is there already
	ids, last := committed(t, s, 0, 100)
	equal(t, "events in the order of their commits", ids, []int{9, 3, 5, 1, 7})
	if p, err := s.Position(t.Context()); err != nil || p != last {
		t.Errorf("position %d, %v; want that of the last commit, %d", p, err, last)
	}
	first, next := committed(t, s, 0, 1)
	equal(t, "the first commit, whole", first, []int{9, 3})
	rest, end := committed(t, s, next, 100)
	equal(t, "those after it", rest, []int{5, 1, 7})
	equal(t, "their position", end, last)
	events, _, err := s.Committed(t.Context(), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "an event", events[0], late)

	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, _, err := s.Committed(ctx, last, 10); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Committed after the last: %v, want the end of the context", err)
	}
	_, _, err = s.Committed(t.Context(), last+1, 10)
	wantCode(t, "commits after one that the store has not had", err, haltd.CodeNotFound)
	if err := s.Forget(t.Context(), time.Now().Add(24*time.Hour)); err != nil {
		t.Fatal(err)
	}
	_, _, err = s.Committed(t.Context(), 0, 10)
	wantCode(t, "commits that have gone", err, haltd.CodeNotFound)
	add(t, s, call(20, start, "a", "s"))
	ids, _ = committed(t, s, last, 10)
	equal(t, "who had seen all goes on", ids, []int{20})
}

// eventFeedConcurrent writes from many places: who follows misses nothing and
// gets nothing twice.
func eventFeedConcurrent(t *testing.T, s Store) {
	const writers, each = 4, 25
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				if err := s.AppendEvents(t.Context(), []haltd.Event{call(1+w*each+i, start, "a", "s")}); err != nil {
					t.Errorf("AppendEvents: %v", err)
				}
			}
		})
	}
	seen := map[int]bool{}
	for last := int64(0); len(seen) < writers*each && !t.Failed(); {
		var ids []int
		ids, last = committed(t, s, last, 10)
		for _, id := range ids {
			if seen[id] {
				t.Errorf("event %d comes again", id)
			}
			seen[id] = true
		}
	}
	wg.Wait()
}
