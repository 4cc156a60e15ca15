package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/haltd/haltd"
)

func statsOf(t *testing.T, s Store, q haltd.StatsQuery) haltd.Stats {
	t.Helper()
	st, err := s.Stats(t.Context(), q)
	if err != nil {
		t.Fatalf("Stats(%+v): %v", q, err)
	}
	return st
}

// manyModels lets an agent call more models than anybody has: the sums stay
// right, and the rows few.
func manyModels(t *testing.T, s Store) {
	const models = 3 * haltd.MostModels
	first := call(1, start, "a", "s")
	batch := []haltd.Event{first}
	for i := range models {
		e := call(2+i, start, "a", "s")
		e.Model = fmt.Sprint("model-", i)
		batch = append(batch, e)
		if i%40 == 39 { // some at once, some one after the other
			add(t, s, batch...)
			batch = nil
		}
	}
	add(t, s, batch...)
	next := models + 2
	again := call(next, start, "a", "s")
	elsewhere, later, other := call(next+1, start, "a", "s"), call(next+2, start.Add(time.Hour), "a", "s"), call(next+3, start, "b", "s")
	elsewhere.Provider, elsewhere.Model, later.Model, other.Model = "anthropic", "opus", "new-1", "new-2"
	add(t, s, again, elsewhere, later, other)

	whole := haltd.StatsQuery{Since: start, Until: start.Add(2 * time.Hour), Step: time.Hour, By: "model"}
	st := statsOf(t, s, whole)
	equal(t, "calls of all", st.Totals.Calls, int64(models+5))
	equal(t, "cost of all", st.Totals.Cost, haltd.Money(models+5)*haltd.Dollar)
	equal(t, "providers", groups(statsOf(t, s, with(whole, "a", "provider"))), map[string]int64{"openai": models + 3, "anthropic": 1})
	of := groups(statsOf(t, s, with(whole, "a", "model")))
	equal(t, "calls of a model that was there before", of["gpt-5"], 2)
	after := haltd.StatsQuery{Since: start.Add(time.Hour), Until: start.Add(time.Hour + 1), Step: time.Hour, By: "model"}
	equal(t, "the next hour", groups(statsOf(t, s, after)), map[string]int64{"new-1": 1})
	equal(t, "calls of others", of[haltd.Other], models+2-haltd.MostModels)
	equal(t, "a new model of another agent", groups(statsOf(t, s, with(whole, "b", "model"))), map[string]int64{"new-2": 1})
	spent, err := s.Spent(t.Context(), "a", start)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "what it has spent", spent.Cost, haltd.Money(models+4)*haltd.Dollar)
}

// manyProviders is for reports, which name providers as they like.
func manyProviders(t *testing.T, s Store) {
	const calls = 2 * haltd.MostModels
	for i := range calls {
		e := call(1+i, start, "a", "s")
		e.Provider = fmt.Sprint("provider-", i)
		add(t, s, e)
	}
	st := statsOf(t, s, haltd.StatsQuery{Since: start, Until: start.Add(time.Hour), Step: time.Hour, By: "provider"})
	equal(t, "calls of all", st.Totals.Calls, calls)
	if n := groups(st)[haltd.Other]; n < calls/4 {
		t.Errorf("%d calls of other providers; want most that are too many", n)
	}
}

func with(q haltd.StatsQuery, agent, by string) haltd.StatsQuery {
	q.Agent, q.By = agent, by
	return q
}

// groups are the calls by name.
func groups(st haltd.Stats) map[string]int64 {
	calls := map[string]int64{}
	for _, g := range st.Groups {
		calls[g.Name] = g.Calls
	}
	return calls
}
