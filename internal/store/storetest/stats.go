package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/haltd/haltd"
)

var hour = start.Truncate(time.Hour)

func stats(t *testing.T, s Store) {
	failed := call(4, start.Add(2*time.Hour), "b", "s")
	failed.Status = 500
	add(t, s,
		call(1, start, "a", "s"),
		call(2, start.Add(29*time.Minute), "b", "s"),
		call(3, start.Add(30*time.Minute), "a", "s"), // the next hour
		failed,
		haltd.Event{ID: 5, Time: start, Type: haltd.EventBlocked, Blocked: true}, // of no agent
	)
	one := haltd.Totals{Calls: 1, Tokens: haltd.Usage{Input: 100, Output: 10, CacheRead: 5, CacheWrite: 1}, Cost: haltd.Dollar}
	first := haltd.Totals{Calls: 3, Blocked: 1, Tokens: haltd.Usage{Input: 200, Output: 20, CacheRead: 10, CacheWrite: 2}, Cost: 2 * haltd.Dollar}
	third := one
	third.Errors = 1

	for _, c := range []struct {
		name string
		q    haltd.StatsQuery
		want haltd.Stats
	}{
		{
			"hours, cut to whole ones, the empty included",
			haltd.StatsQuery{Since: start, Until: start.Add(3 * time.Hour), Step: time.Hour},
			haltd.Stats{
				Since: hour, Until: hour.Add(4 * time.Hour),
				Totals: haltd.Totals{Calls: 5, Blocked: 1, Errors: 1, Tokens: haltd.Usage{Input: 400, Output: 40, CacheRead: 20, CacheWrite: 4}, Cost: 4 * haltd.Dollar},
				Buckets: []haltd.StatBucket{
					{Start: hour, Totals: first}, {Start: hour.Add(time.Hour), Totals: one},
					{Start: hour.Add(2 * time.Hour), Totals: third}, {Start: hour.Add(3 * time.Hour)},
				},
			},
		},
		{
			"a step of two hours",
			haltd.StatsQuery{Since: hour.Add(-time.Hour), Until: hour.Add(2 * time.Hour), Step: 2 * time.Hour},
			haltd.Stats{
				Since: hour.Add(-time.Hour), Until: hour.Add(2 * time.Hour),
				Totals:  haltd.Totals{Calls: 4, Blocked: 1, Tokens: haltd.Usage{Input: 300, Output: 30, CacheRead: 15, CacheWrite: 3}, Cost: 3 * haltd.Dollar},
				Buckets: []haltd.StatBucket{{Start: hour.Add(-time.Hour), Totals: first}, {Start: hour.Add(time.Hour), Totals: one}},
			},
		},
		{
			"one agent",
			haltd.StatsQuery{Since: hour, Until: hour.Add(time.Hour), Step: time.Hour, Agent: "a"},
			haltd.Stats{Since: hour, Until: hour.Add(time.Hour), Totals: one, Buckets: []haltd.StatBucket{{Start: hour, Totals: one}}},
		},
		{
			"an unknown agent",
			haltd.StatsQuery{Since: hour, Until: hour.Add(time.Hour), Step: time.Hour, Agent: "zed"},
			haltd.Stats{Since: hour, Until: hour.Add(time.Hour), Buckets: []haltd.StatBucket{{Start: hour}}},
		},
	} {
		got, err := s.Stats(t.Context(), c.q)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		equal(t, c.name, got, c.want)
	}
}

func statsGroups(t *testing.T, s Store) {
	dear := call(3, start, "b", "s")
	dear.Model, dear.Provider, dear.Cost = "opus", "anthropic", 5*haltd.Dollar
	add(t, s, call(1, start, "a", "s"), call(2, start, "a", "s"), dear)
	q := haltd.StatsQuery{Since: hour, Until: hour.Add(time.Hour), Step: time.Hour}
	for by, want := range map[string][]string{"agent": {"b", "a"}, "provider": {"anthropic", "openai"}, "model": {"opus", "gpt-5"}} {
		q.By = by
		got, err := s.Stats(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		names := []string{}
		for _, g := range got.Groups {
			names = append(names, g.Name)
		}
		equal(t, "groups by "+by, names, want)
		equal(t, "totals of the second by "+by, got.Groups[1].Totals,
			haltd.Totals{Calls: 2, Tokens: haltd.Usage{Input: 200, Output: 20, CacheRead: 10, CacheWrite: 2}, Cost: 2 * haltd.Dollar})
	}

	var many []haltd.Event
	for i := range 120 {
		many = append(many, call(100+i, start, fmt.Sprint("agent-", i), "s"))
	}
	add(t, s, many...)
	q.By = "agent"
	got, err := s.Stats(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "number of groups", len(got.Groups), 100)
}

func statsInvalid(t *testing.T, s Store) {
	good := haltd.StatsQuery{Since: hour, Until: hour.Add(time.Hour), Step: time.Hour}
	for name, change := range map[string]func(*haltd.StatsQuery){
		"no step":              func(q *haltd.StatsQuery) { q.Step = 0 },
		"half an hour":         func(q *haltd.StatsQuery) { q.Step = 30 * time.Minute },
		"an hour and a half":   func(q *haltd.StatsQuery) { q.Step = 90 * time.Minute },
		"an endless step":      func(q *haltd.StatsQuery) { q.Step = (1<<63 - 1) / time.Hour * time.Hour },
		"until before since":   func(q *haltd.StatsQuery) { q.Until = hour.Add(-time.Hour) },
		"no time at all":       func(q *haltd.StatsQuery) { q.Since, q.Until = time.Time{}, time.Time{} },
		"too many buckets":     func(q *haltd.StatsQuery) { q.Until = hour.Add(2001 * time.Hour) },
		"since the first year": func(q *haltd.StatsQuery) { q.Since = time.Time{} },
		"by an unknown column": func(q *haltd.StatsQuery) { q.By = "cost; DROP TABLE events" },
	} {
		q := good
		change(&q)
		_, err := s.Stats(t.Context(), q)
		wantCode(t, name, err, haltd.CodeInvalid)
	}
	good.Until = hour.Add(2000 * time.Hour)
	got, err := s.Stats(t.Context(), good)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "buckets of the longest answer", len(got.Buckets), 2000)
}
