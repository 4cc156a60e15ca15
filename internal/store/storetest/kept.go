package storetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/haltd/haltd"
)

const day = 24 * time.Hour

func forget(t *testing.T, s Store, now time.Time) {
	t.Helper()
	if err := s.Forget(t.Context(), now); err != nil {
		t.Fatalf("Forget: %v", err)
	}
}

func pruneBefore(t *testing.T, s Store, at time.Time) {
	t.Helper()
	if _, err := s.PruneEvents(t.Context(), at); err != nil {
		t.Fatalf("PruneEvents: %v", err)
	}
}

func statsOf(t *testing.T, s Store, q haltd.StatsQuery) haltd.Stats {
	t.Helper()
	st, err := s.Stats(t.Context(), q)
	if err != nil {
		t.Fatalf("Stats(%+v): %v", q, err)
	}
	return st
}

func sumsKept(t *testing.T, s Store) {
	add(t, s, call(1, start, "a", "s"), call(2, start.Add(90*day), "a", "s"), call(3, start.Add(haltd.KeepSums), "a", "s"))
	pruneBefore(t, s, start.Add(haltd.KeepSums))
	for _, c := range []struct {
		name  string
		now   time.Time
		calls int64
	}{
		{"in time", start.Add(haltd.KeepSums), 3},
		{"an hour later", start.Add(haltd.KeepSums + time.Hour), 2},
		{"90 days later", start.Add(haltd.KeepSums + 90*day), 2},
		{"all but the last", start.Add(haltd.KeepSums + 91*day), 1},
	} {
		forget(t, s, c.now)
		st := statsOf(t, s, haltd.StatsQuery{Since: start, Until: start.Add(2 * haltd.KeepSums), Step: day})
		equal(t, "calls "+c.name, st.Totals.Calls, c.calls)
	}
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

func ledgersKept(t *testing.T, s Store) {
	now := time.Date(2026, 3, 31, 23, 0, 0, 0, time.UTC)
	join(t, s, "n", long)
	at := func(p haltd.Period, start time.Time) haltd.Share {
		return haltd.Share{Agent: "a", Period: p, Start: start, Spent: haltd.Spending{Cost: 1}}
	}
	today, month := at(haltd.Daily, now.Truncate(day)), at(haltd.Monthly, time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
	abroad := at(haltd.Monthly, month.Start.Add(-14*time.Hour)) // where the month begins first
	saveShares(t, s, "n", today, month, abroad, at(haltd.Daily, now.Add(-haltd.KeepLedgers-1)), at(haltd.Monthly, month.Start.AddDate(0, -2, 0)))
	forget(t, s, now)
	left, err := s.Ledgers(t.Context(), "a", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "ledgers left", left, []haltd.Ledger{of(today), of(abroad), of(month)})
}

func agentsKept(t *testing.T, s Store) {
	long, lately := start, start.Add(haltd.KeepSums)
	now := lately.Add(2 * time.Hour)
	add(t, s, call(1, long, "silent", "s"), call(2, long, "killed", "s"), call(3, long, "resumed", "s"), call(4, long, "limited", "s"),
		call(5, long, "with-session", "s"), call(6, long, "deleted", "s"), call(7, long, "deleted-killed", "s"), call(8, lately, "recent", "s"))
	stand(t, s, killed("killed", ""), resumed("resumed", ""), killed("with-session", "s"), killed("deleted-killed", ""))
	commit(t, s, haltd.Change{Agent: "limited", Override: new(haltd.MustOverride(`{"time_zone": "UTC"}`))})
	for _, id := range []string{"deleted", "deleted-killed"} {
		if err := s.DeleteAgent(t.Context(), "n", id); err != nil {
			t.Fatal(err)
		}
	}
	before := control(t, s)

	forget(t, s, now)
	equal(t, "agents while their events are kept", agentIDs(t, s), []string{"killed", "limited", "recent", "resumed", "silent", "with-session"})
	pruneBefore(t, s, lately)
	forget(t, s, now)
	equal(t, "agents after", agentIDs(t, s), []string{"killed", "limited", "recent", "resumed", "with-session"})
	equal(t, "who may call", control(t, s), before)

	add(t, s, call(9, now, "new", "s"), call(10, now, "silent", "s"))
	for _, id := range []string{"new", "silent"} {
		a := agent(t, s, id)
		equal(t, "calls of "+id, a.Totals.Calls, 1)
		equal(t, "first seen of "+id, a.FirstSeen, now)
	}
	equal(t, "events of one that came back", ids(t, s, haltd.EventQuery{Agent: "silent"}), []int{10})
}

func agentIDs(t *testing.T, s Store) []string {
	t.Helper()
	agents, _, err := s.Agents(t.Context(), haltd.AgentQuery{})
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, a := range agents {
		list = append(list, a.ID)
	}
	slices.Sort(list)
	return list
}

func incidentsKept(t *testing.T, s Store) {
	raised := map[string]func(*haltd.Incident){
		"open":          func(*haltd.Incident) {},
		"shadow":        func(i *haltd.Incident) { i.Shadow = true },
		"growth":        func(i *haltd.Incident) { i.Kind = haltd.IncidentGrowth },
		"budget":        func(i *haltd.Incident) { i.Kind = haltd.IncidentBudgetHard },
		"decided":       func(i *haltd.Incident) { i.Status = haltd.IncidentKept },
		"stops-agent":   func(*haltd.Incident) {},
		"stops-session": func(i *haltd.Incident) { i.Status = haltd.IncidentKept },
		"fresh":         func(i *haltd.Incident) { i.Time = start.Add(time.Hour) },
	}
	for id, change := range raised {
		i := incident(id, start)
		change(&i)
		raise(t, s, i)
	}
	agent, session := killed("a", ""), killed("b", "s")
	agent.Incident, session.Incident = "stops-agent", "stops-session"
	stand(t, s, agent, session)
	left := func() []string {
		list := incidentIDs(t, s, haltd.IncidentQuery{})
		slices.Sort(list)
		return list
	}
	pruneBefore(t, s, start)
	equal(t, "in time", len(left()), len(raised))
	pruneBefore(t, s, start.Add(time.Hour))
	equal(t, "after the retention", left(), []string{"budget", "decided", "fresh", "stops-agent", "stops-session"})
	forget(t, s, start.Add(haltd.KeepSums))
	equal(t, "decided, in time", left(), []string{"budget", "decided", "fresh", "stops-agent", "stops-session"})
	forget(t, s, start.Add(haltd.KeepSums+time.Second))
	equal(t, "decided, later", left(), []string{"budget", "fresh", "stops-agent", "stops-session"})
	stand(t, s, resumed("a", ""), resumed("b", "s"))
	pruneBefore(t, s, start.Add(time.Hour))
	forget(t, s, start.Add(haltd.KeepSums+time.Second))
	equal(t, "when they stop nobody any more", left(), []string{"budget", "fresh"})
}

func sessionsForgotten(t *testing.T, s Store) {
	since := start.Add(haltd.KeepStopped)
	blocked := call(1, since, "a", "tries")
	blocked.Type, blocked.Blocked = haltd.EventBlocked, true
	add(t, s, blocked, call(2, start, "a", "silent"), call(3, since, "b", "silent"))
	changed := killed("a", "changed")
	changed.At = since
	stand(t, s, killed("a", "tries"), killed("a", "silent"), killed("a", "never-seen"), changed, killed("b", "silent"), killed("a", "unasked"))
	pruneBefore(t, s, since.Add(day)) // a standing keeps when its session last called
	asked := []haltd.Target{{Agent: "a", Session: "tries"}, {Agent: "a", Session: "silent"}, {Agent: "a", Session: "never-seen"},
		{Agent: "a", Session: "changed"}, {Agent: "b", Session: "silent"}, {Agent: "a", Session: "unknown"}}
	for _, c := range []struct {
		name       string
		since      time.Time
		gone, left []haltd.Target
	}{
		{"in time", start, nil, append(slices.Clone(asked[:5]), haltd.Target{Agent: "a", Session: "unasked"})},
		{"later", since, asked[1:3], []haltd.Target{asked[0], asked[3], asked[4], {Agent: "a", Session: "unasked"}}},
		{"later still", since.Add(time.Second), []haltd.Target{asked[0], asked[3], asked[4]}, []haltd.Target{{Agent: "a", Session: "unasked"}}},
	} {
		gone, err := s.ForgetSessions(t.Context(), "n", asked, c.since)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, c.name+": gone", gone, c.gone)
		left := []haltd.Target{}
		for _, st := range control(t, s).Standings {
			left = append(left, haltd.Target{Agent: st.Agent, Session: st.Session})
		}
		equal(t, c.name+": left", sorted(left), sorted(c.left))
	}
	pruneBefore(t, s, since.Add(day))
	_, err := s.Session(t.Context(), "a", "tries")
	wantCode(t, "a session without a standing", err, haltd.CodeNotFound)
}

// deletingStopped forgets all of a stopped session but when it last called.
func deletingStopped(t *testing.T, s Store) {
	tries := start.Add(haltd.KeepStopped)
	add(t, s, call(1, start, "a", "s"), call(2, tries, "a", "s"))
	stand(t, s, killed("a", "s"))
	if err := s.DeleteAgent(t.Context(), "n", "a"); err != nil {
		t.Fatal(err)
	}
	_, err := s.Session(t.Context(), "a", "s")
	wantCode(t, "the session", err, haltd.CodeNotFound)
	list, _, err := s.Sessions(t.Context(), haltd.SessionQuery{})
	if err != nil || len(list) != 0 {
		t.Errorf("sessions %+v, error %v; want none", list, err)
	}
	gone, err := s.ForgetSessions(t.Context(), "n", []haltd.Target{{Agent: "a", Session: "s"}}, tries)
	if err != nil || len(gone) != 0 {
		t.Errorf("gone %v, error %v; want it stopped for as long as if nobody had deleted its agent", gone, err)
	}
	later := tries.Add(time.Hour)
	add(t, s, call(3, later, "a", "s"))
	session, err := s.Session(t.Context(), "a", "s")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "calls after it came back", session.Totals.Calls, 1)
	equal(t, "standing then", session.Standing, killed("a", "s"))
}

func sorted(list []haltd.Target) []haltd.Target {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b haltd.Target) int {
		return strings.Compare(a.Agent+" "+a.Session, b.Agent+" "+b.Session)
	})
	return list
}
