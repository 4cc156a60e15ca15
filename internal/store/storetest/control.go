package storetest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/haltd/haltd"
)

// active is the standing of whoever nobody ever stopped.
func active(agent, session string) haltd.Standing {
	return haltd.Standing{Agent: agent, Session: session, Active: true}
}

// killed is the standing after a kill.
func killed(agent, session string) haltd.Standing {
	return haltd.Standing{
		Agent: agent, Session: session, DeactivatedBy: new(haltd.ByKillSwitch),
		Incident: "inc_" + agent, By: "haltd", Why: "said the same 5 times", At: start,
	}
}

// resumed is the standing after a person has looked at the kill.
func resumed(agent, session string) haltd.Standing {
	at := start.Add(time.Minute)
	return haltd.Standing{
		Agent: agent, Session: session, Active: true, By: "admin", Why: "fixed the prompt",
		At: at, ActivatedAt: at, GraceUntil: at.Add(30 * time.Minute),
	}
}

func commit(t *testing.T, s Store, c haltd.Change) {
	t.Helper()
	if err := s.Commit(t.Context(), c); err != nil {
		t.Fatalf("Commit: %v", err)
	}
}

func stand(t *testing.T, s Store, standings ...haltd.Standing) {
	t.Helper()
	for _, standing := range standings {
		commit(t, s, haltd.Change{Standing: &standing})
	}
}

func control(t *testing.T, s Store) haltd.Control {
	t.Helper()
	c, err := s.Control(t.Context())
	if err != nil {
		t.Fatalf("Control: %v", err)
	}
	c.Version = 0 // see changes.go
	return c
}

func agent(t *testing.T, s Store, id string) haltd.Agent {
	t.Helper()
	a, err := s.Agent(t.Context(), id)
	if err != nil {
		t.Fatalf("Agent(%q): %v", id, err)
	}
	return a
}

// nothing is what decides who may call before anybody said so.
var nothing = haltd.Control{Standings: []haltd.Standing{}, Overrides: map[string]haltd.PolicyOverride{}, Rules: []haltd.Rule{}}

func emptyControl(t *testing.T, s Store) {
	add(t, s, call(1, start, "a", "s"))
	equal(t, "control", control(t, s), nothing)
	commit(t, s, haltd.Change{})
	equal(t, "control after a change of nothing", control(t, s), nothing)
}

func agentStandings(t *testing.T, s Store) {
	add(t, s, call(1, start, "a", "s"), call(2, start, "b", "s"))
	manual := haltd.Standing{Agent: "b", DeactivatedBy: new(haltd.ByManual), By: "admin", At: start}
	for _, want := range []haltd.Standing{killed("a", ""), resumed("a", ""), killed("a", "")} {
		stand(t, s, want, manual)
		a := agent(t, s, "a")
		equal(t, "standing", a.Standing, want)
		equal(t, "active", a.Active, want.Active)
		equal(t, "deactivated_by", a.DeactivatedBy, want.DeactivatedBy)
		equal(t, "first and last seen", [2]time.Time{a.FirstSeen, a.LastSeen}, [2]time.Time{start, start})
		equal(t, "standings", control(t, s).Standings, []haltd.Standing{want, manual})
	}
	stand(t, s, active("a", ""))
	equal(t, "standings after one is simply active again", control(t, s).Standings, []haltd.Standing{manual})
}

func sessionStandings(t *testing.T, s Store) {
	add(t, s, call(1, start, "a", "one"), call(2, start, "a", "two"), call(3, start, "b", "one"))
	for _, want := range []haltd.Standing{killed("a", "one"), resumed("a", "one")} {
		stand(t, s, want)
		equal(t, "standings", control(t, s).Standings, []haltd.Standing{want})
		for id, want := range map[[2]string]haltd.Standing{
			{"a", "one"}: want, {"a", "two"}: active("a", "two"), {"b", "one"}: active("b", "one"),
		} {
			got, err := s.Session(t.Context(), id[0], id[1])
			if err != nil {
				t.Fatal(err)
			}
			equal(t, fmt.Sprintf("session %v", id), got.Standing, want)
		}
	}
	list, _, err := s.Sessions(t.Context(), haltd.SessionQuery{Agent: "a", Search: "one"})
	if err != nil || len(list) != 1 {
		t.Fatalf("%d sessions, error %v; want 1", len(list), err)
	}
	equal(t, "standing in the listing", list[0].Standing, resumed("a", "one"))
	equal(t, "standing of the agent", agent(t, s, "a").Standing, active("a", ""))
}

func agentsByStanding(t *testing.T, s Store) {
	add(t, s, call(1, start, "a", "s"), call(2, start.Add(time.Second), "b", "s"), call(3, start.Add(2*time.Second), "c", "s"))
	stand(t, s, killed("a", ""), resumed("b", ""), killed("c", "s"))
	for want, list := range map[bool][]string{true: {"c", "b"}, false: {"a"}} {
		page, _, err := s.Agents(t.Context(), haltd.AgentQuery{Active: &want})
		if err != nil {
			t.Fatal(err)
		}
		got := []string{}
		for _, a := range page {
			got = append(got, a.ID)
		}
		equal(t, fmt.Sprintf("agents with active %v", want), got, list)
	}
}

func overrides(t *testing.T, s Store) {
	one := haltd.MustOverride(`{
		"kill_switch": {"enabled": true, "stall": "warn", "threshold": 7.5},
		"budgets": {"day": {"hard_usd": 0.333333333}, "reserve_tokens": 1},
		"allowed_hours": [{"days": ["mon"], "from": "08:00", "to": "18:00"}],
		"time_zone": "Europe/Berlin"
	}`)
	two := haltd.MustOverride(`{"kill_switch": {"enabled": false}}`)
	events := []haltd.Event{{ID: 1, Time: start, Type: haltd.EventPolicy, Agent: "a"}}
	commit(t, s, haltd.Change{Agent: "a", Override: &one, Events: events})
	add(t, s, call(2, start, "b", "s"))
	commit(t, s, haltd.Change{Agent: "b", Override: &two})
	equal(t, "overrides", control(t, s).Overrides, map[string]haltd.PolicyOverride{"a": one, "b": two})
	commit(t, s, haltd.Change{Agent: "a", Override: &two})
	equal(t, "overrides after one was replaced", control(t, s).Overrides, map[string]haltd.PolicyOverride{"a": two, "b": two})
	stand(t, s, killed("a", ""))
	equal(t, "overrides after a kill", control(t, s).Overrides, map[string]haltd.PolicyOverride{"a": two, "b": two})
	commit(t, s, haltd.Change{Agent: "a", Override: &haltd.PolicyOverride{}})
	equal(t, "overrides after one was emptied", control(t, s).Overrides, map[string]haltd.PolicyOverride{"b": two})
}

func bypass(t *testing.T, s Store) {
	for _, want := range []haltd.Bypass{
		{On: true, By: "admin", Why: "haltd is the problem", At: start}, {By: "admin", At: start.Add(time.Hour)},
	} {
		commit(t, s, haltd.Change{Bypass: &want})
		equal(t, "bypass", control(t, s).Bypass, want)
	}
}

func rule(id string, priority int) haltd.Rule {
	return haltd.Rule{
		ID: id, Name: "rule " + id, Enabled: true, Priority: priority,
		Condition: haltd.RuleCondition{ModelPattern: "*opus*", PromptTokensMin: new(int64(0)), HourMin: new(22), DayOfWeek: []string{"sat"}},
		Action:    haltd.RuleThrottle, Config: haltd.RuleConfig{DelayMS: 100}, CreatedAt: start, UpdatedAt: start,
	}
}

func rules(t *testing.T, s Store) {
	low, high, late := rule("z", 1), rule("y", 9), rule("x", 1)
	for _, r := range []haltd.Rule{low, high, late} {
		commit(t, s, haltd.Change{Rule: &r})
	}
	equal(t, "rules, the highest first", control(t, s).Rules, []haltd.Rule{high, low, late})
	low.Enabled, low.UpdatedAt = false, start.Add(time.Hour)
	commit(t, s, haltd.Change{Rule: &low})
	equal(t, "rules after one was replaced", control(t, s).Rules, []haltd.Rule{high, low, late})
	commit(t, s, haltd.Change{DeleteRule: "y"})
	equal(t, "rules after one was deleted", control(t, s).Rules, []haltd.Rule{low, late})
	wantCode(t, "deleting it again", s.Commit(t.Context(), haltd.Change{DeleteRule: "y"}), haltd.CodeNotFound)
}

func marks(t *testing.T, s Store) {
	want := haltd.Mark{Agent: "a", Session: "s", ActivatedAt: start, Round: 1<<64 - 2, Count: 3}
	for range 2 {
		commit(t, s, haltd.Change{Mark: &want})
		got, ok, err := s.Mark(t.Context(), "a", "s")
		if err != nil || !ok {
			t.Fatalf("Mark: ok %v, error %v", ok, err)
		}
		equal(t, "mark", got, want)
		want.ActivatedAt, want.Round, want.Count = start.Add(time.Hour), 7, 0
	}
	for _, other := range [][2]string{{"a", "other"}, {"b", "s"}} {
		if got, ok, err := s.Mark(t.Context(), other[0], other[1]); ok || err != nil {
			t.Errorf("mark of %v: %+v, ok %v, error %v; want none", other, got, ok, err)
		}
	}
}

func changeMakesAgent(t *testing.T, s Store) {
	policy := haltd.Event{ID: 1, Time: start, Type: haltd.EventPolicy, Agent: "by-override"}
	for id, c := range map[string]haltd.Change{
		"by-standing": {Standing: new(killed("by-standing", ""))},
		"by-session":  {Standing: new(killed("by-session", "s"))},
		"by-override": {Agent: "by-override", Override: new(haltd.MustOverride(`{"time_zone": "UTC"}`)), Events: []haltd.Event{policy}},
	} {
		commit(t, s, c)
		a := agent(t, s, id)
		equal(t, id+": seen", [2]time.Time{a.FirstSeen, a.LastSeen}, [2]time.Time{start, start})
		equal(t, id+": totals", a.Totals, haltd.Totals{})
	}
	err := s.Commit(t.Context(), haltd.Change{Agent: "never", Override: new(haltd.MustOverride(`{"time_zone": "UTC"}`))})
	wantCode(t, "an override of a new agent at no time", err, haltd.CodeInvalid)
}

func changeEvents(t *testing.T, s Store) {
	add(t, s, call(1, start, "a", "s"))
	kill := call(2, start.Add(time.Second), "a", "s")
	kill.Type, kill.Blocked, kill.Score = haltd.EventKillSwitch, true, 12
	change := haltd.Change{Standing: new(killed("a", "")), Events: []haltd.Event{call(1, start, "a", "s"), kill}}
	commit(t, s, change)
	commit(t, s, change)
	add(t, s, kill)
	equal(t, "ids", ids(t, s, haltd.EventQuery{Agent: "a", Session: "s"}), []int{2, 1})
	a := agent(t, s, "a")
	equal(t, "calls and blocked", [2]int64{a.Totals.Calls, a.Totals.Blocked}, [2]int64{2, 1})
	session, err := s.Session(t.Context(), "a", "s")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "peak score", session.PeakScore, 12)
	stats, err := s.Stats(t.Context(), haltd.StatsQuery{Since: start, Until: start.Add(time.Minute), Step: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "totals of the hour", stats.Totals, a.Totals)
}

// everything is a change with all its parts.
func everything(id string, event int) haltd.Change {
	raised := incident("inc_"+id, start)
	raised.Agent = id
	blocked := call(event, start, id, "s")
	blocked.Type, blocked.Blocked, blocked.Incident = haltd.EventKillSwitch, true, raised.ID
	blocked.Excerpt = &haltd.Excerpt{Prompt: "what " + id + " said"}
	return haltd.Change{
		Standing: new(killed(id, "")), Agent: id, Override: new(haltd.MustOverride(`{"time_zone": "Asia/Tokyo"}`)),
		Bypass: &haltd.Bypass{On: true, By: id, At: start}, Rule: new(rule("rul_"+id, 1)),
		Mark:     &haltd.Mark{Agent: id, Session: "s", ActivatedAt: start, Round: 1, Count: 1},
		Incident: &raised, Events: []haltd.Event{blocked}, Notices: []haltd.Notice{notice("ntc_"+id, start)},
	}
}

func changeAtomic(t *testing.T, s Store) {
	first := incident("inc_first", start)
	first.Once, first.OnceFor = "same", time.Hour
	commit(t, s, haltd.Change{Incident: &first, Notices: []haltd.Notice{notice("ntc_first", start)}})
	for name, c := range map[string]struct {
		change func(*haltd.Change)
		code   string
	}{
		"an unknown rule to delete":    {func(c *haltd.Change) { c.DeleteRule = "rul_none" }, haltd.CodeNotFound},
		"an unknown incident to close": {func(c *haltd.Change) { c.Closing = &haltd.Closing{ID: "inc_none"} }, haltd.CodeNotFound},
		"an incident raised before":    {func(c *haltd.Change) { c.Incident.Once, c.Incident.OnceFor = "same", time.Hour }, haltd.CodeExists},
		"an incident's id again":       {func(c *haltd.Change) { c.Incident.ID = "inc_first" }, haltd.CodeInvalid},
		"a notice's id again":          {func(c *haltd.Change) { c.Notices = append(c.Notices, notice("ntc_first", start)) }, haltd.CodeInvalid},
		"an event without id":          {func(c *haltd.Change) { c.Events = append(c.Events, haltd.Event{Agent: "a"}) }, haltd.CodeInvalid},
	} {
		change := everything("a", 1)
		c.change(&change)
		wantCode(t, name, s.Commit(t.Context(), change), c.code)
		equal(t, name+": control", control(t, s), nothing)
		equal(t, name+": events", ids(t, s, haltd.EventQuery{}), []int{})
		equal(t, name+": incidents", incidentIDs(t, s, haltd.IncidentQuery{}), []string{"inc_first"})
		equal(t, name+": notices", noticeIDs(t, s), []string{"ntc_first"})
		_, err := s.Agent(t.Context(), "a")
		wantCode(t, name+": agent", err, haltd.CodeNotFound)
		if _, ok, err := s.Mark(t.Context(), "a", "s"); ok || err != nil {
			t.Errorf("%s: mark %v, error %v; want none", name, ok, err)
		}
	}
	// What was rolled back is made anew.
	commit(t, s, everything("a", 1))
	equal(t, "events in the end", ids(t, s, haltd.EventQuery{Agent: "a", Session: "s"}), []int{1})
}

func changeRefused(t *testing.T, s Store) {
	broken := incident("inc_a", start)
	broken.Verdict = brokenVerdict()
	for name, c := range map[string]haltd.Change{
		"standing of nobody":        {Standing: &haltd.Standing{At: start}},
		"override of nobody":        {Override: new(haltd.MustOverride(`{"time_zone": "UTC"}`)), Events: []haltd.Event{call(1, start, "a", "s")}},
		"rule without id":           {Rule: &haltd.Rule{Name: "x"}},
		"mark of no session":        {Mark: &haltd.Mark{Agent: "a"}},
		"mark of no agent":          {Mark: &haltd.Mark{Session: "s"}},
		"incident without id":       {Incident: new(incident("", start))},
		"incident's broken verdict": {Incident: &broken},
		"closing of nothing":        {Closing: &haltd.Closing{Status: haltd.IncidentResumed}},
		"notice without id":         {Notices: []haltd.Notice{notice("", start)}},
	} {
		wantCode(t, name, s.Commit(t.Context(), c), haltd.CodeInvalid)
	}
}

func changesConcurrent(t *testing.T, s Store) {
	const writers, rounds = 4, 5
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for r := range rounds {
				n := 1 + w*rounds + r
				if err := s.Commit(t.Context(), everything(fmt.Sprint("agent-", n), n)); err != nil {
					t.Errorf("Commit: %v", err)
				}
				if _, err := s.Control(t.Context()); err != nil {
					t.Errorf("Control: %v", err)
				}
				if err := s.AppendEvents(t.Context(), []haltd.Event{call(1000+n, start, "shared", "s")}); err != nil {
					t.Errorf("AppendEvents: %v", err)
				}
			}
		})
	}
	wg.Wait()
	const all = writers * rounds
	c := control(t, s)
	equal(t, "standings, overrides and rules", [3]int{len(c.Standings), len(c.Overrides), len(c.Rules)}, [3]int{all, all, all})
	equal(t, "incidents", len(incidentIDs(t, s, haltd.IncidentQuery{})), all)
	equal(t, "notices", len(noticeIDs(t, s)), all)
	equal(t, "events", len(ids(t, s, haltd.EventQuery{})), 2*all)
}
