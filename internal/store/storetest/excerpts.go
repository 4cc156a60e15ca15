package storetest

import (
	"testing"
	"time"

	"github.com/haltd/haltd"
)

// said is a call with an excerpt.
func said(id int, at time.Time, agent, prompt string) haltd.Event {
	e := call(id, at, agent, "s")
	e.Excerpt = &haltd.Excerpt{Prompt: prompt}
	return e
}

// prompts are the excerpts of these events, "none" where there is none.
func prompts(t *testing.T, s Store, events ...haltd.EventID) []string {
	t.Helper()
	list := []string{}
	for _, id := range events {
		e, ok, err := s.Excerpt(t.Context(), id)
		if err != nil {
			t.Fatalf("Excerpt(%s): %v", id, err)
		}
		if !ok {
			e.Prompt = "none"
		}
		list = append(list, e.Prompt)
	}
	return list
}

func excerpts(t *testing.T, s Store) {
	want := haltd.Excerpt{Prompt: "a \"prompt\"\n\x00 – ü", Reply: "'; DROP TABLE", ToolCalls: `read {"path":"x"}`}
	e := full(1)
	e.Excerpt = &want
	add(t, s, e, call(2, start, "a", "s"))
	got, ok, err := s.Excerpt(t.Context(), 1)
	if err != nil || !ok {
		t.Fatalf("Excerpt: ok %v, error %v", ok, err)
	}
	equal(t, "excerpt", got, want)
	equal(t, "prompts", prompts(t, s, 2, 3), []string{"none", "none"})
	events, err := s.Events(t.Context(), haltd.EventQuery{})
	if err != nil {
		t.Fatal(err)
	}
	e.Excerpt = nil
	equal(t, "events, which come without", events, []haltd.Event{call(2, start, "a", "s"), e})

	add(t, s, said(1, start, "a", "another"), said(4, start, "a", "four"))
	commit(t, s, haltd.Change{Events: []haltd.Event{said(4, start, "a", "another"), said(5, start, "a", "five")}})
	equal(t, "what was said first stays", prompts(t, s, 1, 4, 5), []string{want.Prompt, "four", "five"})
}

func excerptsAtomic(t *testing.T, s Store) {
	broken := said(2, start, "a", "two")
	broken.Verdict = brokenVerdict()
	wantCode(t, "a batch with a broken event", s.AppendEvents(t.Context(), []haltd.Event{said(1, start, "a", "one"), broken}), haltd.CodeInvalid)
	change := everything("a", 3)
	change.DeleteRule = "rul_none"
	wantCode(t, "a change that cannot be made", s.Commit(t.Context(), change), haltd.CodeNotFound)
	equal(t, "prompts", prompts(t, s, 1, 2, 3), []string{"none", "none", "none"})
	commit(t, s, everything("a", 3))
	equal(t, "prompts in the end", prompts(t, s, 3), []string{"what a said"})
}

func pruneExcerpts(t *testing.T, s Store) {
	add(t, s,
		said(1, start.Add(-48*time.Hour), "a", "one"), said(2, start.Add(-time.Second), "a", "two"),
		said(3, start, "a", "three"), said(4, start.Add(time.Hour), "a", "four"),
	)
	gone, err := s.PruneExcerpts(t.Context(), start)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "excerpts gone", gone, 2)
	equal(t, "prompts left", prompts(t, s, 1, 2, 3, 4), []string{"none", "none", "three", "four"})
	equal(t, "events left", ids(t, s, haltd.EventQuery{}), []int{4, 3, 2, 1})
	if gone, err := s.PruneExcerpts(t.Context(), start); gone != 0 || err != nil {
		t.Errorf("a second prune: %d gone, error %v", gone, err)
	}
	if gone, err := s.PruneEvents(t.Context(), start.Add(time.Minute)); gone != 3 || err != nil {
		t.Errorf("a prune of events: %d gone, error %v; want 3", gone, err)
	}
	equal(t, "prompts left with the events", prompts(t, s, 3, 4), []string{"none", "four"})
}

func deleteExcerpts(t *testing.T, s Store) {
	add(t, s, said(1, start, "a", "one"), said(2, start, "b", "two"), said(3, start, "a", "three"))
	if err := s.DeleteAgent(t.Context(), "n", "a"); err != nil {
		t.Fatal(err)
	}
	equal(t, "prompts left", prompts(t, s, 1, 2, 3), []string{"none", "two", "none"})
}

// quoted is an incident with an excerpt.
func quoted(id, agent string, at time.Time) haltd.Incident {
	i := incident(id, at)
	i.Agent, i.Excerpt = agent, &haltd.IncidentExcerpt{Prompt: "p\x00 \"ü\"", Rounds: []haltd.RoundExcerpt{
		{Index: 3, Said: "again", Calls: []haltd.CallExcerpt{{Tool: "read", Arguments: `{"path":"x"}`, Result: "none", Error: true}}, Answer: "go on"},
	}}
	return i
}

func incidentExcerpts(t *testing.T, s Store) {
	old, young, other, bare := quoted("inc_old", "a", start.Add(-time.Hour)), quoted("inc_young", "a", start), quoted("inc_other", "b", start), incident("inc_bare", start)
	raise(t, s, old, young, other, bare)
	kept := func() (list []string) {
		t.Helper()
		for _, id := range []string{"inc_old", "inc_young", "inc_other", "inc_bare", "inc_none"} {
			got, ok, err := s.IncidentExcerpt(t.Context(), id)
			if err != nil {
				t.Fatalf("IncidentExcerpt(%s): %v", id, err)
			}
			if ok {
				equal(t, id, got, *old.Excerpt)
				list = append(list, id)
			}
		}
		return list
	}
	equal(t, "excerpts", kept(), []string{"inc_old", "inc_young", "inc_other"})
	young.Excerpt = nil
	got, err := s.Incident(t.Context(), young.ID)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "the incident, which comes without", got, young)
	gone, err := s.PruneExcerpts(t.Context(), start)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "excerpts gone", gone, 1)
	equal(t, "excerpts after a prune", kept(), []string{"inc_young", "inc_other"})
	add(t, s, call(1, start, "a", "s"))
	if err := s.DeleteAgent(t.Context(), "n", "a"); err != nil {
		t.Fatal(err)
	}
	equal(t, "excerpts after a delete", kept(), []string{"inc_other"})
}
