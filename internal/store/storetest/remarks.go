package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/haltd/haltd"
)

func remarks(t *testing.T, s Store) {
	want := incident("inc_a", start)
	raise(t, s, want)
	look := func(what string) {
		t.Helper()
		got, err := s.Incident(t.Context(), "inc_a")
		if err != nil {
			t.Fatal(err)
		}
		equal(t, what, got, want)
	}
	at := start.Add(time.Minute)
	commit(t, s, haltd.Change{Remark: &haltd.Remark{Incident: "inc_a", Seen: true, By: "ann", At: at}})
	want.SeenAt, want.SeenBy = &at, "ann"
	look("an acknowledged incident")
	commit(t, s, haltd.Change{Remark: &haltd.Remark{Incident: "inc_a", Seen: true, By: "ben", Text: "It <waits> for \"me\".", At: at.Add(time.Hour)}})
	want.Comments = []haltd.Comment{{Time: at.Add(time.Hour), By: "ben", Text: "It <waits> for \"me\"."}}
	look("an incident that somebody else commented on: the first has acknowledged it")
	for n := range haltd.MaxComments - 1 {
		commit(t, s, haltd.Change{Remark: &haltd.Remark{Incident: "inc_a", By: "ann", Text: fmt.Sprint(n), At: at}})
	}
	err := s.Commit(t.Context(), haltd.Change{Remark: &haltd.Remark{Incident: "inc_a", By: "ann", Text: "one more", At: at}})
	wantCode(t, "one comment too many", err, haltd.CodeConflict)
	err = s.Commit(t.Context(), haltd.Change{Remark: &haltd.Remark{Incident: "inc_none", By: "ann", Seen: true, At: at}})
	wantCode(t, "a remark on an unknown incident", err, haltd.CodeNotFound)
}

func incidentCounts(t *testing.T, s Store) {
	growth, shadow, kept := incident("3", start), incident("4", start), incident("5", start)
	growth.Kind, growth.Detector, growth.Action, growth.Agent = haltd.IncidentGrowth, "growth", haltd.Warn, "b"
	shadow.Shadow = true
	kept.Status = haltd.IncidentKept
	raise(t, s, incident("1", start), incident("2", start), growth, shadow, kept)
	got, err := s.IncidentCounts(t.Context(), haltd.IncidentQuery{Page: haltd.Page{Limit: 1}})
	if err != nil {
		t.Fatal(err)
	}
	kill := haltd.IncidentCount{Kind: haltd.IncidentKillSwitch, Detector: "stall", Status: haltd.IncidentOpen, Action: haltd.Kill, Count: 2}
	would, closed := kill, kill
	would.Shadow, would.Count = true, 1
	closed.Status, closed.Count = haltd.IncidentKept, 1
	equal(t, "counts", got, []haltd.IncidentCount{kill,
		{Kind: haltd.IncidentGrowth, Detector: "growth", Status: haltd.IncidentOpen, Action: haltd.Warn, Count: 1}, closed, would})
	got, err = s.IncidentCounts(t.Context(), haltd.IncidentQuery{Search: "A", Status: haltd.IncidentKept})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "counts of a search", got, []haltd.IncidentCount{closed})
}

func agentOrder(t *testing.T, s Store) {
	var events []haltd.Event
	for n := range 6 { // a calls three times, b twice, c once; c costs the most
		e := call(n+1, start.Add(time.Duration(n)*time.Second), "", "")
		e.Agent = []string{"a", "a", "a", "b", "b", "c"}[n]
		e.Session, e.Cost = "s-"+e.Agent, []haltd.Money{1, 1, 1, 4, 4, 9}[n]
		events = append(events, e)
	}
	add(t, s, events...)
	off := haltd.ByKillSwitch
	commit(t, s, haltd.Change{Standing: &haltd.Standing{Agent: "b", DeactivatedBy: &off, At: start}})
	hand := haltd.ByManual
	commit(t, s, haltd.Change{Standing: &haltd.Standing{Agent: "c", DeactivatedBy: &hand, At: start}})
	halt := haltd.ByHalt
	commit(t, s, haltd.Change{Standing: &haltd.Standing{Agent: "a", Session: "s-a", DeactivatedBy: &halt, At: start}})
	for name, c := range map[string]struct {
		q    haltd.AgentQuery
		want []string
	}{
		"by time":  {haltd.AgentQuery{}, []string{"c", "b", "a"}},
		"by cost":  {haltd.AgentQuery{Sort: haltd.SortCost}, []string{"c", "b", "a"}},
		"by calls": {haltd.AgentQuery{Sort: haltd.SortCalls}, []string{"a", "b", "c"}},
		"active":   {haltd.AgentQuery{State: haltd.AgentActive}, []string{"a"}},
		"stopped":  {haltd.AgentQuery{State: haltd.AgentStopped}, []string{"b"}},
		"inactive": {haltd.AgentQuery{State: haltd.AgentInactive}, []string{"c"}},
		"named":    {haltd.AgentQuery{IDs: []string{"a", "c", "zed"}}, []string{"c", "a"}},
	} {
		got := []string{}
		for c.q.Limit = 1; ; {
			page, next, err := s.Agents(t.Context(), c.q)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for _, a := range page {
				got = append(got, a.ID)
			}
			if c.q.Cursor = next; next == "" {
				break
			}
		}
		equal(t, name, got, c.want)
	}
	counts, err := s.AgentCounts(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "counts", counts, haltd.AgentCounts{Active: 1, Stopped: 1, Inactive: 1})
	for state, want := range map[haltd.SessionState][]string{
		"": {"s-c", "s-b", "s-a"}, haltd.SessionActive: {"s-c", "s-b"}, haltd.SessionHalted: {"s-a"}, haltd.SessionStopped: {},
	} {
		page, _, err := s.Sessions(t.Context(), haltd.SessionQuery{State: state, Sort: haltd.SortCost})
		if err != nil {
			t.Fatal(err)
		}
		got := []string{}
		for _, s := range page {
			got = append(got, s.ID)
		}
		equal(t, "sessions that are "+string(state), got, want)
	}
}

func statGroups(t *testing.T, s Store) {
	var events []haltd.Event
	for n := range 6 {
		e := call(n+1, start.Add(time.Duration(n%2)*time.Hour), "", "s")
		e.Agent, e.Cost = string(rune('a'+n/2)), haltd.Money(n)
		events = append(events, e)
	}
	add(t, s, events...)
	hour := start.Truncate(time.Hour)
	got, err := s.Stats(t.Context(), haltd.StatsQuery{Since: hour, Until: hour.Add(2 * time.Hour), Step: time.Hour, By: "agent", Limit: 1, Offset: 1, Series: true})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "how many groups there are", got.GroupCount, int64(3))
	if len(got.Groups) != 1 {
		t.Fatalf("%d groups, want one", len(got.Groups))
	}
	equal(t, "the second group", got.Groups[0].Name, "b")
	equal(t, "its series", got.Groups[0].Series, []int64{1, 1})
	behind, err := s.Stats(t.Context(), haltd.StatsQuery{Since: hour, Until: hour.Add(2 * time.Hour), Step: time.Hour, By: "agent", Limit: 1, Offset: 9, Series: true})
	if err != nil || len(behind.Groups) != 0 || behind.GroupCount != 3 {
		t.Errorf("behind the last group: %+v, %v", behind, err)
	}
	got, err = s.Stats(t.Context(), haltd.StatsQuery{Since: hour, Until: hour.Add(2 * time.Hour), Step: time.Hour, By: "agent", Agents: []string{"a", "c", "zed"}, Series: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Groups) != 2 || got.Groups[0].Name != "c" || got.Groups[1].Name != "a" || got.GroupCount != 2 || got.Totals.Calls != 4 {
		t.Errorf("of some agents: %+v", got)
	}
}
