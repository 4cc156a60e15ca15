package storetest

import (
	"testing"
	"time"

	"github.com/haltd/haltd"
)

func ledgers(t *testing.T, s Store) {
	day := start.Truncate(24 * time.Hour)
	month := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC).Add(-time.Hour) // begins earlier in another zone
	daily := haltd.Ledger{Agent: "a", Period: haltd.Daily, Start: day,
		Spent: haltd.Spending{Cost: 123_456_789_012_345_678, Tokens: 5}, Held: haltd.Spending{Cost: 1, Tokens: 2}}
	monthly := haltd.Ledger{Agent: "a", Period: haltd.Monthly, Start: month, Spent: haltd.Spending{Cost: 7}}
	other := haltd.Ledger{Agent: "b", Period: haltd.Daily, Start: day}
	save := func(list ...haltd.Ledger) {
		t.Helper()
		if err := s.SaveLedgers(t.Context(), list); err != nil {
			t.Fatalf("SaveLedgers: %v", err)
		}
	}
	since := func(agent string, at time.Time) []haltd.Ledger {
		t.Helper()
		list, err := s.Ledgers(t.Context(), agent, at)
		if err != nil {
			t.Fatalf("Ledgers: %v", err)
		}
		return list
	}
	save()
	equal(t, "none", since("a", time.Time{}), []haltd.Ledger{})
	save(daily, monthly)
	save(other)
	equal(t, "all", since("a", month), []haltd.Ledger{daily, monthly})
	equal(t, "those of the day", since("a", day), []haltd.Ledger{daily})
	equal(t, "those of another", since("b", month), []haltd.Ledger{other})
	daily.Spent, daily.Held = haltd.Spending{Cost: 9, Tokens: 9}, haltd.Spending{}
	tomorrow := daily
	tomorrow.Start = day.Add(24 * time.Hour)
	save(daily, tomorrow)
	equal(t, "after one was replaced", since("a", month), []haltd.Ledger{daily, tomorrow, monthly})
	if _, err := s.PruneEvents(t.Context(), day.Add(48*time.Hour)); err != nil {
		t.Fatal(err)
	}
	equal(t, "after a prune", since("a", month), []haltd.Ledger{daily, tomorrow, monthly})
}

func spent(t *testing.T, s Store) {
	other := call(3, start.Add(time.Hour), "a", "s")
	other.Model = "gpt-6"
	add(t, s, call(1, start.Add(-time.Hour), "a", "s"), call(2, hour, "a", "s"), other, call(4, start, "b", "s"))
	one := haltd.Spending{Cost: haltd.Dollar, Tokens: 110}
	for name, c := range map[string]struct {
		agent string
		since time.Time
		want  haltd.Spending
	}{
		"from the start of the hour": {"a", start, one.Add(one)},
		"from earlier on":            {"a", start.Add(-time.Hour), one.Add(one).Add(one)},
		"from the last hour":         {"a", start.Add(time.Hour), one},
		"nothing yet":                {"a", start.Add(2 * time.Hour), haltd.Spending{}},
		"another agent":              {"b", start, one},
		"an unknown agent":           {"zed", start, haltd.Spending{}},
	} {
		got, err := s.Spent(t.Context(), c.agent, c.since)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, name, got, c.want)
	}
}
