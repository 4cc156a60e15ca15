package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/haltd/haltd"
)

// changesAfter are the changes after a version, which are there.
func changesAfter(t *testing.T, s Store, after int64) []haltd.Change {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	list, err := s.Changes(ctx, after)
	if err != nil {
		t.Fatalf("Changes after %d: %v", after, err)
	}
	return list
}

func version(t *testing.T, s Store) int64 {
	t.Helper()
	c, err := s.Control(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return c.Version
}

// changesTold: each change comes with what it changed, in its order, and not
// with what nobody follows.
func changesTold(t *testing.T, s Store) {
	equal(t, "version of an empty store", version(t, s), int64(0))
	stopped, rule, bypass := killed("a", "s"), haltd.Rule{ID: "rul", Name: "r", CreatedAt: start, UpdatedAt: start}, haltd.Bypass{On: true, By: "ann", At: start}
	override := haltd.MustOverride(`{"kill_switch": {"enabled": true, "threshold": 7.5}}`)
	target := haltd.Target{Agent: "a", Session: "s"}
	want := []haltd.Change{
		{Node: "n", Standing: &stopped, Cut: &target}, {Node: "n", Agent: "a", Override: &override},
		{Node: "m", Rule: &rule}, {Node: "m", DeleteRule: "rul"}, {Bypass: &bypass},
	}
	for i, c := range want {
		c.Seen = version(t, s)
		c.Events = []haltd.Event{{ID: haltd.EventID(i + 1), Time: start, Type: haltd.EventPolicy, Agent: "a"}}
		commit(t, s, c)
	}
	commit(t, s, haltd.Change{Mark: &haltd.Mark{Agent: "a", Session: "s", Round: 1}})
	if err := s.CreateKey(t.Context(), haltd.Key{ID: "key_a", Agent: "a", CreatedAt: start}, haltd.HashKey("haltd_1")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.RevokeKey(t.Context(), "key_a", start); err != nil {
		t.Fatal(err)
	}
	if err := s.SavePriceFile(t.Context(), []byte(`{}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ForgetSessions(t.Context(), "n", []haltd.Target{target, {Agent: "a", Session: "none"}}, start.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteAgent(t.Context(), "m", "a"); err != nil {
		t.Fatal(err)
	}
	want = append(want, haltd.Change{Keys: true}, haltd.Change{Keys: true}, haltd.Change{Prices: true},
		haltd.Change{Node: "n", Forgotten: []haltd.Target{target}}, haltd.Change{Node: "m", Deleted: "a"})
	got := changesAfter(t, s, 0)
	last := int64(0)
	for i := range got {
		if got[i].Version <= last {
			t.Errorf("change %d has version %d, after %d", i, got[i].Version, last)
		}
		last, got[i].Version, got[i].Seen = got[i].Version, 0, 0
	}
	equal(t, "changes", got, want)
	equal(t, "version", version(t, s), last)
	equal(t, "changes after the one before the last", len(changesAfter(t, s, last-1)), 1)
	// A node that has seen more than the store has, because that was set back,
	// is told so, and changes nothing before it has looked.
	_, err := s.Changes(t.Context(), last+1)
	wantCode(t, "changes after one that the store has not had", err, haltd.CodeNotFound)
	wantCode(t, "a change by a node that has seen more", s.Commit(t.Context(), haltd.Change{Node: "n", Seen: last + 1, Standing: &stopped}), haltd.CodeConflict)
}

// changesAwaited: who follows is told as soon as there is something.
func changesAwaited(t *testing.T, s Store) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := s.Changes(ctx, 0); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Changes of an empty store: %v, want the end of the context", err)
	}
	told := make(chan []haltd.Change, 1)
	go func() {
		list, err := s.Changes(t.Context(), 0)
		if err != nil {
			t.Error(err)
		}
		told <- list
	}()
	stand(t, s, killed("a", ""))
	select {
	case list := <-told:
		equal(t, "changes", len(list), 1)
	case <-time.After(5 * time.Second):
		t.Error("the change is not told")
	}
}

// changesInOrder commits from many places: who follows misses none.
func changesInOrder(t *testing.T, s Store) {
	const changes = 40
	var wg sync.WaitGroup
	for i := range changes {
		wg.Go(func() {
			standing := killed(fmt.Sprint("agent-", i), "")
			if err := s.Commit(t.Context(), haltd.Change{Node: fmt.Sprint(i % 3), Standing: &standing}); err != nil {
				t.Errorf("Commit: %v", err)
			}
		})
	}
	seen := map[string]bool{}
	for last := int64(0); len(seen) < changes && !t.Failed(); {
		for _, c := range changesAfter(t, s, last) {
			seen[c.Standing.Agent], last = true, c.Version
		}
	}
	wg.Wait()
}

// changesConflict: a node that does not know what another changed has to look
// again before it changes the same.
func changesConflict(t *testing.T, s Store) {
	a, session, b := killed("a", ""), killed("a", "s"), killed("b", "")
	override, bypass, rule := haltd.MustOverride(`{"kill_switch": {"enabled": true}}`), haltd.Bypass{On: true, At: start}, haltd.Rule{ID: "rul", Name: "r"}
	events := []haltd.Event{{ID: 1, Time: start, Type: haltd.EventPolicy, Agent: "a"}}
	refused := func(what string, want bool, c haltd.Change) {
		t.Helper()
		err := s.Commit(t.Context(), c)
		if want {
			wantCode(t, what, err, haltd.CodeConflict)
		} else if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	refused("the first", false, haltd.Change{Node: "n", Standing: &a})
	refused("by the same node", false, haltd.Change{Node: "n", Standing: &a})
	refused("by another that knows nothing of it", true, haltd.Change{Node: "m", Standing: &a, Events: events})
	refused("a session of the same agent", true, haltd.Change{Node: "m", Standing: &session})
	refused("another agent", false, haltd.Change{Node: "m", Standing: &b})
	refused("another matter", false, haltd.Change{Node: "m", Agent: "a", Override: &override})
	refused("by another that knows of it", false, haltd.Change{Node: "m", Seen: version(t, s), Standing: &a})
	refused("by nobody in particular", false, haltd.Change{Standing: &a})
	refused("the override", true, haltd.Change{Node: "n", Agent: "a", Override: &override})
	refused("the bypass, first", false, haltd.Change{Node: "n", Bypass: &bypass})
	refused("the bypass, second", true, haltd.Change{Node: "m", Bypass: &bypass})
	refused("a rule, first", false, haltd.Change{Node: "n", Rule: &rule})
	refused("a rule, second", true, haltd.Change{Node: "m", DeleteRule: "rul"})
	refused("what was never refused", false, haltd.Change{Node: "m", Events: events})

	// Of two kills that come together, one is made with its incident.
	var wg sync.WaitGroup
	made := make([]bool, 10)
	for i := range made {
		wg.Go(func() {
			standing, one := killed("c", ""), incident(fmt.Sprint("inc_", i), start)
			made[i] = s.Commit(t.Context(), haltd.Change{Node: fmt.Sprint(i), Standing: &standing, Incident: &one}) == nil
		})
	}
	wg.Wait()
	n := 0
	for _, ok := range made {
		if ok {
			n++
		}
	}
	equal(t, "kills that were made", n, 1)
	list, _, err := s.Incidents(t.Context(), haltd.IncidentQuery{})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "incidents", len(list), 1)
}
