package storetest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/haltd/haltd"
)

// long is a lease that does not end during a test, and brief one that does.
const long, brief = time.Hour, 30 * time.Millisecond

func join(t *testing.T, s Store, id string, lease time.Duration) haltd.Node {
	t.Helper()
	n, err := s.Join(t.Context(), haltd.Node{ID: id, Number: haltd.NoNumber, Host: "web-" + id, Version: "1", StartedAt: start}, lease)
	if err != nil {
		t.Fatalf("Join(%q): %v", id, err)
	}
	return n
}

// await waits for what the clock of the store brings.
func await(t *testing.T, what string, happened func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); !happened(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: it did not happen in 5 s", what)
		}
	}
}

func alive(t *testing.T, s Store, id string) bool {
	t.Helper()
	list, err := s.Nodes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range list {
		if n.ID == id {
			return n.Alive
		}
	}
	return false
}

func nodeNumbers(t *testing.T, s Store) {
	for i, id := range []string{"a", "b", "c"} {
		n := join(t, s, id, long)
		equal(t, "number of "+id, n.Number, i)
		equal(t, "what was said of "+id, [3]any{n.Host, n.Version, n.StartedAt}, [3]any{"web-" + id, "1", start})
	}
	list, err := s.Nodes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, id := range []string{"a", "b", "c"} {
		equal(t, "what is listed of "+id, [5]any{list[i].ID, list[i].Number, list[i].Host, list[i].Version, list[i].StartedAt.Equal(start)}, [5]any{id, i, "web-" + id, "1", true})
	}
	_, err = s.Join(t.Context(), haltd.Node{ID: "a", StartedAt: start}, long)
	wantCode(t, "joining under an id that is taken", err, haltd.CodeExists)
	if err := s.Leave(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	equal(t, "who left is alive", alive(t, s, "b"), false)
	equal(t, "the number of who left is free", join(t, s, "d", long).Number, 1)
	again, err := s.Join(t.Context(), haltd.Node{ID: "e", Number: 7, StartedAt: start}, long)
	if err != nil || again.Number != 7 {
		t.Errorf("who had number 7, which is free, gets %d, %v", again.Number, err)
	}
	for _, id := range []string{"b", "nobody"} {
		if err := s.Leave(t.Context(), id); err != nil {
			t.Errorf("leaving twice, or without having joined: %v", err)
		}
	}
}

func nodesConcurrent(t *testing.T, s Store) {
	var mu sync.Mutex
	numbers := map[int]bool{}
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			n, err := s.Join(t.Context(), haltd.Node{ID: fmt.Sprint(i), Number: haltd.NoNumber, StartedAt: start}, long)
			mu.Lock()
			defer mu.Unlock()
			if err != nil || numbers[n.Number] {
				t.Errorf("number %d, %v; want one that nobody has", n.Number, err)
			}
			numbers[n.Number] = true
		})
	}
	wg.Wait()
}

func nodeLeases(t *testing.T, s Store) {
	join(t, s, "gone", long)
	join(t, s, "stays", long)
	for id, lease := range map[string]time.Duration{"gone": brief, "stays": long} {
		if err := s.Renew(t.Context(), id, lease); err != nil {
			t.Fatal(err)
		}
	}
	// Once its lease has ended a node cannot renew it: others may have taken
	// over.
	await(t, "the lease ends", func() bool { return !alive(t, s, "gone") })
	wantCode(t, "renewing a lease that has ended", s.Renew(t.Context(), "gone", long), haltd.CodeConflict)
	wantCode(t, "renewing a lease that never was", s.Renew(t.Context(), "nobody", long), haltd.CodeConflict)
	equal(t, "who renewed is alive", alive(t, s, "stays"), true)
	// It may only be cut off, and go on recording under its number: that is
	// nobody else's, and its own again when it comes back.
	equal(t, "the number of who comes while another is gone", join(t, s, "next", long).Number, 2)
	back, err := s.Join(t.Context(), haltd.Node{ID: "back", Number: 0, StartedAt: start}, long)
	if err != nil || back.Number != 0 {
		t.Errorf("who was gone comes back as number %d, %v; want 0", back.Number, err)
	}
}

func lead(t *testing.T, s Store, node, task string, span time.Duration) bool {
	t.Helper()
	leads, err := s.Lead(t.Context(), node, task, span)
	if err != nil {
		t.Fatalf("Lead(%q, %q): %v", node, task, err)
	}
	return leads
}

func leaders(t *testing.T, s Store) {
	for _, id := range []string{"a", "b"} {
		join(t, s, id, long)
	}
	equal(t, "the first leads", lead(t, s, "a", "prune", long), true)
	equal(t, "the second does not", lead(t, s, "b", "prune", long), false)
	equal(t, "the first goes on", lead(t, s, "a", "prune", long), true)
	equal(t, "another task", lead(t, s, "b", "other", brief), true)
	await(t, "the span ends", func() bool { return lead(t, s, "a", "other", long) })
	if err := s.Leave(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	equal(t, "after the leader left", lead(t, s, "b", "prune", long), true)
	_, err := s.Lead(t.Context(), "a", "prune", long)
	wantCode(t, "leading without a lease", err, haltd.CodeConflict)
	join(t, s, "dies", long)
	equal(t, "a third task", lead(t, s, "dies", "third", long), true)
	if err := s.Renew(t.Context(), "dies", brief); err != nil {
		t.Fatal(err)
	}
	await(t, "a dead leader is followed", func() bool { return lead(t, s, "b", "third", long) })
}

func leadersConcurrent(t *testing.T, s Store) {
	leads := make([]bool, 10)
	var wg sync.WaitGroup
	for i := range leads {
		id := fmt.Sprint(i)
		join(t, s, id, long)
		wg.Go(func() {
			var err error
			if leads[i], err = s.Lead(t.Context(), id, "task", long); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	n := 0
	for _, is := range leads {
		if is {
			n++
		}
	}
	equal(t, "leaders", n, 1)
}

// clock: all nodes can go by the time of the store, which does not go back, and
// is that of its leases.
func clock(t *testing.T, s Store) {
	ask := func() time.Time {
		t.Helper()
		now, err := s.Now(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return now
	}
	before := ask()
	n := join(t, s, "a", long)
	after := ask()
	const tick = time.Millisecond // sqlite's clock has no finer
	if after.Before(before) || n.SeenAt.Before(before.Add(-tick)) || n.SeenAt.After(after.Add(tick)) {
		t.Errorf("it is %v, a node joins at %v, then it is %v", before, n.SeenAt, after)
	}
	if off := time.Since(after).Abs(); off > time.Minute {
		t.Errorf("the clock of the store is %v away from this machine's", off)
	}
}
