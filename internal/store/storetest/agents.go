package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/haltd/haltd"
)

func agents(t *testing.T, s Store) {
	late := call(3, start.Add(time.Hour), "billing-bot", "s")
	add(t, s, late)
	add(t, s, call(1, start, "billing-bot", "s"), call(2, start, "billing-bot", ""))
	add(t, s, haltd.Event{ID: 4, Time: start, Type: haltd.EventError, Client: "sdk"})

	got, err := s.Agent(t.Context(), "billing-bot")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "agent", got, haltd.Agent{
		ID: "billing-bot", Active: true, Standing: active("billing-bot", ""), FirstSeen: start, LastSeen: late.Time,
		Totals: haltd.Totals{Calls: 3, Tokens: haltd.Usage{Input: 300, Output: 30, CacheRead: 15, CacheWrite: 3}, Cost: 3 * haltd.Dollar},
	})
	list, next, err := s.Agents(t.Context(), haltd.AgentQuery{})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "agents", list, []haltd.Agent{got})
	equal(t, "next", next, "")
	_, err = s.Agent(t.Context(), "nobody")
	wantCode(t, "unknown agent", err, haltd.CodeNotFound)

	add(t, s, call(5, start, "sdk", "s"))
	shared, err := s.Agent(t.Context(), "sdk")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "an agent named after its client is shared", shared.Shared, true)
}

// totals says which events count for what.
func totals(t *testing.T, s Store) {
	for i, c := range []struct {
		name  string
		event haltd.Event
		want  haltd.Totals
	}{
		{"a call", haltd.Event{Type: haltd.EventCall, Status: 200}, haltd.Totals{Calls: 1}},
		{"a call that failed", haltd.Event{Type: haltd.EventCall, Status: 500}, haltd.Totals{Calls: 1, Errors: 1}},
		{"a call cut short", haltd.Event{Type: haltd.EventCall, Status: 200, Error: "upstream_cut"}, haltd.Totals{Calls: 1, Errors: 1}},
		{"a blocked call", haltd.Event{Type: haltd.EventBlocked, Status: 429, Blocked: true}, haltd.Totals{Calls: 1, Blocked: 1}},
		{"the call that killed", haltd.Event{Type: haltd.EventKillSwitch, Status: 400, Blocked: true}, haltd.Totals{Calls: 1, Blocked: 1}},
		{"a call that could not be forwarded", haltd.Event{Type: haltd.EventError, Status: 502, Error: haltd.CodeUpstream}, haltd.Totals{Errors: 1}},
		{"another path", haltd.Event{Type: haltd.EventPass, Status: 404}, haltd.Totals{}},
		{"a policy change", haltd.Event{Type: haltd.EventPolicy}, haltd.Totals{}},
		{"an alert", haltd.Event{Type: haltd.EventAlert}, haltd.Totals{}},
		{"a warning", haltd.Event{Type: haltd.EventWarning, Status: 200}, haltd.Totals{}},
		{"growth", haltd.Event{Type: haltd.EventGrowth}, haltd.Totals{}},
		{"tokens and cost", haltd.Event{Type: haltd.EventCall, Status: 200, Tokens: haltd.Usage{Input: 4, Output: 3, CacheRead: 2, CacheWrite: 1}, Cost: 5},
			haltd.Totals{Calls: 1, Tokens: haltd.Usage{Input: 4, Output: 3, CacheRead: 2, CacheWrite: 1}, Cost: 5}},
	} {
		agent := fmt.Sprint("agent-", i)
		c.event.ID, c.event.Time, c.event.Agent = haltd.EventID(i+1), start, agent
		add(t, s, c.event)
		got, err := s.Agent(t.Context(), agent)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, c.name, got.Totals, c.want)
	}
}

func agentListing(t *testing.T, s Store) {
	names := []string{"a_1", "a%2", "ab3", `a\4`, "b5"}
	for i, name := range names {
		// Two share a last_seen, so that a page may end between them.
		add(t, s, call(i+1, start.Add(time.Duration(i/2)*time.Second), name, "s"))
	}
	for size := 1; size <= len(names)+1; size++ {
		var got []string
		q := haltd.AgentQuery{Page: haltd.Page{Limit: size}}
		for {
			page, next, err := s.Agents(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range page {
				got = append(got, a.ID)
			}
			if q.Cursor = next; next == "" {
				break
			}
		}
		equal(t, fmt.Sprintf("agents by pages of %d", size), got, []string{"b5", `a\4`, "ab3", "a%2", "a_1"})
	}
	for search, want := range map[string][]string{
		"a_": {"a_1"}, "%": {"a%2"}, `\`: {`a\4`}, "5": {"b5"}, "zed": {}, "b": {"b5", "ab3"},
	} {
		page, _, err := s.Agents(t.Context(), haltd.AgentQuery{Search: search})
		if err != nil {
			t.Fatal(err)
		}
		got := []string{}
		for _, a := range page {
			got = append(got, a.ID)
		}
		equal(t, fmt.Sprintf("search %q", search), got, want)
	}
}

func sessions(t *testing.T, s Store) {
	newest := call(3, start.Add(time.Hour), "a", "s")
	newest.Model, newest.Client = "gpt-6", "codex"
	unnamed := haltd.Event{ID: 4, Time: start.Add(2 * time.Hour), Type: haltd.EventAlert, Agent: "a", Session: "s"}
	add(t, s, call(1, start, "a", "s"), newest, unnamed)
	scored := call(2, start.Add(time.Minute), "a", "s")
	scored.Score = 10.5
	add(t, s, scored)

	got, err := s.Session(t.Context(), "a", "s")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "session", got, haltd.Session{
		ID: "s", Agent: "a", Client: "codex", Model: "gpt-6", Standing: active("a", "s"), PeakScore: 10.5, FirstSeen: start, LastSeen: unnamed.Time,
		Totals: haltd.Totals{Calls: 3, Tokens: haltd.Usage{Input: 300, Output: 30, CacheRead: 15, CacheWrite: 3}, Cost: 3 * haltd.Dollar},
	})
	_, err = s.Session(t.Context(), "a", "other")
	wantCode(t, "unknown session", err, haltd.CodeNotFound)
	_, err = s.Session(t.Context(), "b", "s")
	wantCode(t, "session of another agent", err, haltd.CodeNotFound)
}

func sessionListing(t *testing.T, s Store) {
	for i, c := range []struct{ agent, session string }{{"a", "one"}, {"b", "two"}, {"a", "t_ree"}, {"a", "four"}} {
		add(t, s, call(i+1, start.Add(time.Duration(i)*time.Second), c.agent, c.session))
	}
	for name, c := range map[string]struct {
		q    haltd.SessionQuery
		want []string
	}{
		"all":      {haltd.SessionQuery{}, []string{"four", "t_ree", "two", "one"}},
		"of agent": {haltd.SessionQuery{Agent: "a"}, []string{"four", "t_ree", "one"}},
		"search":   {haltd.SessionQuery{Search: "o"}, []string{"four", "two", "one"}},
		"escaped":  {haltd.SessionQuery{Search: "_"}, []string{"t_ree"}},
		"both":     {haltd.SessionQuery{Agent: "a", Search: "o"}, []string{"four", "one"}},
	} {
		got := []string{}
		c.q.Limit = 1
		for {
			page, next, err := s.Sessions(t.Context(), c.q)
			if err != nil {
				t.Fatal(err)
			}
			for _, session := range page {
				got = append(got, session.ID)
			}
			if c.q.Cursor = next; next == "" {
				break
			}
		}
		equal(t, name, got, c.want)
	}
}

func cursors(t *testing.T, s Store) {
	add(t, s, call(1, start, "a", "s"), call(2, start, "b", "s"))
	_, next, err := s.Agents(t.Context(), haltd.AgentQuery{Page: haltd.Page{Limit: 1}})
	if err != nil {
		t.Fatal(err)
	}
	for _, cursor := range []string{"x", "!", next + "A", next[1:]} {
		_, _, err := s.Agents(t.Context(), haltd.AgentQuery{Page: haltd.Page{Cursor: cursor}})
		wantCode(t, fmt.Sprintf("agents after %q", cursor), err, haltd.CodeInvalid)
	}
	_, _, err = s.Sessions(t.Context(), haltd.SessionQuery{Page: haltd.Page{Cursor: next}})
	wantCode(t, "sessions after a cursor of agents", err, haltd.CodeInvalid)
}
