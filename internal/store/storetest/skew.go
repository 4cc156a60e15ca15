package storetest

import (
	"testing"
	"time"

	"github.com/haltd/haltd"
)

// skew has nodes whose clocks are hours apart write the same. What nodes agree
// on goes by the order of the commits and by the clock of the store.
func skew(t *testing.T, s Store) {
	ahead, behind := start.Add(3*time.Hour), start.Add(-2*time.Hour)

	// Who began tomorrow lives no longer than who began yesterday.
	for id, began := range map[string]time.Time{"ahead": ahead.Add(24 * time.Hour), "behind": behind.Add(-24 * time.Hour)} {
		if _, err := s.Join(t.Context(), haltd.Node{ID: id, Number: haltd.NoNumber, StartedAt: began}, long); err != nil {
			t.Fatal(err)
		}
		if err := s.Renew(t.Context(), id, brief); err != nil {
			t.Fatal(err)
		}
		await(t, "the lease of "+id+" ends", func() bool { return !alive(t, s, id) })
	}

	// The later word counts, whenever it says that it was said.
	on, off := resumed("a", ""), killed("a", "")
	on.At, on.ActivatedAt, off.At = ahead, ahead, behind
	commit(t, s, haltd.Change{Node: "ahead", Standing: &on})
	commit(t, s, haltd.Change{Node: "behind", Seen: version(t, s), Standing: &off})
	changes := changesAfter(t, s, 0)
	equal(t, "changes, in the order of their commits", []bool{changes[0].Standing.Active, changes[1].Standing.Active}, []bool{true, false})
	for _, standing := range control(t, s).Standings {
		equal(t, "who was resumed by a node ahead and then stopped by one behind is active", standing.Active, false)
	}

	// What is raised once is, by whichever clock.
	for _, c := range []struct {
		id   string
		at   time.Time
		code string
	}{{"inc_first", start, ""}, {"inc_ahead", ahead, haltd.CodeExists}, {"inc_behind", behind, haltd.CodeExists}} {
		i := incident(c.id, c.at)
		i.Once, i.OnceFor = "same", 24*time.Hour
		wantCode(t, c.id, s.Commit(t.Context(), haltd.Change{Incident: &i}), c.code)
	}

	// A delivery that one node tries is no other's, however late that believes
	// it is.
	n := notice("n", start)
	notify(t, s, n)
	dispatch(t, s, "n", delivery("d", "slack", n, behind))
	equal(t, "claimed by the node behind", len(claim(t, s, haltd.Claim{Now: behind, Lease: long, Limit: 10})), 1)
	equal(t, "claimed again by the node ahead", len(claim(t, s, haltd.Claim{Now: ahead.Add(1000 * time.Hour), Lease: long, Limit: 10})), 0)

	// Events are all there, told in the order of their commits, and summed up in
	// the hours that they name.
	add(t, s, call(30, ahead, "a", "s"))
	add(t, s, call(10, behind, "a", "s"), call(20, start, "a", "s"))
	told, _ := committed(t, s, 0, 100)
	equal(t, "events in the order of their commits", told, []int{30, 10, 20})
	equal(t, "events of both clocks, the newest id first", ids(t, s, haltd.EventQuery{Agent: "a"}), []int{30, 20, 10})
	sums, err := s.Stats(t.Context(), haltd.StatsQuery{Since: behind, Until: ahead.Add(time.Hour), Step: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "calls of all hours", [2]int64{sums.Totals.Calls, int64(sums.Totals.Cost)}, [2]int64{3, int64(3 * haltd.Dollar)})
	sessions, _, err := s.Sessions(t.Context(), haltd.SessionQuery{Agent: "a"})
	if err != nil || len(sessions) != 1 || !sessions[0].FirstSeen.Equal(behind) || !sessions[0].LastSeen.Equal(ahead) {
		t.Errorf("sessions %+v, %v; want one from the node behind to the node ahead", sessions, err)
	}
}
