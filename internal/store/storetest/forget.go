package storetest

import (
	"testing"
	"time"

	"github.com/haltd/haltd"
)

func deleteAgent(t *testing.T, s Store) {
	add(t, s, call(1, start, "a", "s"), call(2, start, "b", "s"))
	commit(t, s, haltd.Change{Agent: "a", Override: new(haltd.MustOverride(`{"time_zone": "UTC"}`))})
	wantCode(t, "deleting an unknown agent", s.DeleteAgent(t.Context(), "n", "nobody"), haltd.CodeNotFound)
	if err := s.DeleteAgent(t.Context(), "n", "a"); err != nil {
		t.Fatal(err)
	}
	_, err := s.Agent(t.Context(), "a")
	wantCode(t, "the agent", err, haltd.CodeNotFound)
	_, err = s.Session(t.Context(), "a", "s")
	wantCode(t, "its session", err, haltd.CodeNotFound)
	wantCode(t, "deleting it again", s.DeleteAgent(t.Context(), "n", "a"), haltd.CodeNotFound)
	equal(t, "events left", ids(t, s, haltd.EventQuery{}), []int{2})
	equal(t, "control", control(t, s), nothing)
	list, _, err := s.Agents(t.Context(), haltd.AgentQuery{})
	if err != nil || len(list) != 1 || list[0].ID != "b" {
		t.Errorf("agents %+v, error %v; want b alone", list, err)
	}
	spent, err := s.Spent(t.Context(), "a", start)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "what the record knows it spent", spent, haltd.Spending{})
	stats, err := s.Stats(t.Context(), haltd.StatsQuery{Since: start, Until: start.Add(time.Minute), Step: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "what all have cost", stats.Totals.Cost, 2*haltd.Dollar)

	note := haltd.Event{ID: 3, Time: start.Add(time.Hour), Type: haltd.EventPolicy, Agent: "a"}
	add(t, s, note)
	_, err = s.Agent(t.Context(), "a")
	wantCode(t, "the agent after an event that is no call", err, haltd.CodeNotFound)
	add(t, s, call(4, start.Add(2*time.Hour), "a", "s"))
	back := agent(t, s, "a")
	equal(t, "seen after it came back", [2]time.Time{back.FirstSeen, back.LastSeen}, [2]time.Time{start.Add(2 * time.Hour), start.Add(2 * time.Hour)})
	equal(t, "totals after it came back", [2]any{back.Totals.Calls, back.Totals.Cost}, [2]any{int64(1), haltd.Dollar})
}

func deleteKilled(t *testing.T, s Store) {
	add(t, s, call(1, start, "a", "s"), call(2, start, "a", "t"))
	join(t, s, "n", long)
	ledger := haltd.Share{Agent: "a", Period: haltd.Daily, Start: start.Truncate(24 * time.Hour), Spent: haltd.Spending{Cost: 1, Tokens: 2}}
	saveShares(t, s, "n", ledger)
	mark := haltd.Mark{Agent: "a", Session: "s", ActivatedAt: start, Round: 1}
	commit(t, s, haltd.Change{Standing: new(killed("a", "")), Mark: &mark, Incident: new(incident("inc_a", start))})
	stand(t, s, killed("a", "t"))
	before := control(t, s)
	if err := s.DeleteAgent(t.Context(), "n", "a"); err != nil {
		t.Fatal(err)
	}
	equal(t, "control", control(t, s), before)
	equal(t, "incidents", incidentIDs(t, s, haltd.IncidentQuery{}), []string{"inc_a"})
	if _, ok, err := s.Mark(t.Context(), "a", "s"); !ok || err != nil {
		t.Errorf("mark: ok %v, error %v; want it kept", ok, err)
	}
	left, err := s.Ledgers(t.Context(), "a", start.Add(-24*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "ledgers", left, []haltd.Ledger{of(ledger)})

	blocked := call(3, start.Add(time.Hour), "a", "t")
	blocked.Type, blocked.Blocked = haltd.EventBlocked, true
	add(t, s, blocked)
	equal(t, "standing after it tried again", agent(t, s, "a").Standing, killed("a", ""))
	session, err := s.Session(t.Context(), "a", "t")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "standing of the session after it tried again", session.Standing, killed("a", "t"))

	if err := s.DeleteAgent(t.Context(), "n", "a"); err != nil {
		t.Fatal(err)
	}
	later := resumed("a", "")
	stand(t, s, later)
	back := agent(t, s, "a")
	equal(t, "standing after a person resumed it", back.Standing, later)
	equal(t, "seen then", [2]time.Time{back.FirstSeen, back.LastSeen}, [2]time.Time{later.At, later.At})
}

func pruneKeepsControl(t *testing.T, s Store) {
	commit(t, s, everything("a", 1))
	stand(t, s, killed("a", "s"))
	gone := haltd.Mark{Agent: "gone", Session: "s", ActivatedAt: start, Round: 1}
	commit(t, s, haltd.Change{Mark: &gone})
	add(t, s, call(2, start.Add(48*time.Hour), "b", "s"))
	fresh := haltd.Mark{Agent: "b", Session: "s", ActivatedAt: start, Round: 2}
	commit(t, s, haltd.Change{Mark: &fresh})
	before := control(t, s)
	if _, err := s.PruneEvents(t.Context(), start.Add(24*time.Hour)); err != nil {
		t.Fatal(err)
	}
	equal(t, "events left", ids(t, s, haltd.EventQuery{}), []int{2})
	equal(t, "control", control(t, s), before)
	equal(t, "incidents", incidentIDs(t, s, haltd.IncidentQuery{}), []string{"inc_a"})
	equal(t, "notices", noticeIDs(t, s), []string{"ntc_a"})
	for agent, want := range map[string]bool{"gone": false, "b": true} {
		if _, ok, err := s.Mark(t.Context(), agent, "s"); ok != want || err != nil {
			t.Errorf("mark of the session of %s: ok %v, error %v; want %v", agent, ok, err, want)
		}
	}
	add(t, s, call(3, start.Add(49*time.Hour), "a", "s"))
	session, err := s.Session(t.Context(), "a", "s")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "standing of a session that came back", session.Standing, killed("a", "s"))
}
