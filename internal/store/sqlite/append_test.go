package sqlite

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/haltd/haltd"
)

// Batches of many rows, in which sessions are new, remembered and only in the
// file, and events are there already: each is written once, and with what belongs
// to it.
func TestBatchesOfManyRows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "record.db")
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	events := make([]haltd.Event, 400)
	want := map[string]haltd.Totals{}
	for i := range events {
		e := event(i+1, start.Add(time.Duration(i)*time.Second))
		e.Agent, e.Session = fmt.Sprint("a", i%3), fmt.Sprint("s", i%171)
		e.Tokens.Input, e.Cost = int64(i), haltd.Money(i)
		events[i] = e
		for _, key := range []string{e.Agent, e.Agent + "/" + e.Session, "all"} {
			sum := want[key]
			sum.Calls++
			sum.Tokens.Input += e.Tokens.Input
			sum.Cost += e.Cost
			want[key] = sum
		}
	}
	s := openTest(t, path)
	add := func(from, to int) {
		t.Helper()
		if err := s.AppendEvents(t.Context(), events[from:to]); err != nil {
			t.Fatal(err)
		}
	}
	add(0, 100)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openTest(t, path) // remembers none of them
	add(171, 250)         // calls of sessions that are all in the file
	add(50, 101)          // of which one event is new
	add(20, 260)
	add(130, 400)

	got, err := s.Events(t.Context(), haltd.EventQuery{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(events) {
		t.Fatalf("%d events, want %d", len(got), len(events))
	}
	for i, e := range got {
		if w := events[len(events)-1-i]; e.ID != w.ID || e.Agent != w.Agent || e.Session != w.Session || e.Cost != w.Cost {
			t.Errorf("event %d of %s/%s, want %d of %s/%s", e.ID, e.Agent, e.Session, w.ID, w.Agent, w.Session)
		}
	}
	sessions, _, err := s.Sessions(t.Context(), haltd.SessionQuery{Page: haltd.Page{Limit: 1000}})
	if err != nil {
		t.Fatal(err)
	}
	agents, _, err := s.Agents(t.Context(), haltd.AgentQuery{})
	if err != nil {
		t.Fatal(err)
	}
	stats, err := s.Stats(t.Context(), haltd.StatsQuery{Since: start, Until: start.Add(time.Hour), Step: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]haltd.Totals{"all": stats.Totals}
	for _, a := range agents {
		sums[a.ID] = a.Totals
	}
	for _, session := range sessions {
		sums[session.Agent+"/"+session.ID] = session.Totals
	}
	if diff := cmp.Diff(want, sums); diff != "" {
		t.Errorf("totals (-of the events +stored):\n%s", diff)
	}
}
