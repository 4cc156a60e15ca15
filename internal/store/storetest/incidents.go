package storetest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/haltd/haltd"
)

// incident is an open kill with every field set.
func incident(id string, at time.Time) haltd.Incident {
	return haltd.Incident{
		ID: id, Time: at, Kind: haltd.IncidentKillSwitch, Status: haltd.IncidentOpen, Action: haltd.Kill, Scope: haltd.ScopeAgent,
		Agent: "a", Session: "s", Client: "sdk", Provider: "openai", Model: "gpt-5",
		Reason: haltd.ReasonLoop, Detector: "stall", Sentence: `It ran "ls" <5> times & got the same.`,
		Verdict: verdict(), Settings: haltd.DefaultPolicy(), Event: 1 << 40,
	}
}

func raise(t *testing.T, s Store, incidents ...haltd.Incident) {
	t.Helper()
	for _, i := range incidents {
		commit(t, s, haltd.Change{Incident: &i})
	}
}

// incidentIDs pages through a listing, two at a time.
func incidentIDs(t *testing.T, s Store, q haltd.IncidentQuery) []string {
	t.Helper()
	list := []string{}
	for q.Limit = 2; ; {
		page, next, err := s.Incidents(t.Context(), q)
		if err != nil {
			t.Fatalf("Incidents(%+v): %v", q, err)
		}
		for _, i := range page {
			list = append(list, i.ID)
		}
		if q.Cursor = next; next == "" {
			return list
		}
	}
}

func incidents(t *testing.T, s Store) {
	closed := incident("inc_closed", start.Add(time.Second))
	closed.Status, closed.Shadow, closed.Verdict = haltd.IncidentKept, true, nil
	closed.ClosedAt, closed.ClosedBy, closed.Note = new(start.Add(time.Hour)), "admin", "right so"
	want := []haltd.Incident{closed, incident("inc_open", start)}
	raise(t, s, want...)
	got, next, err := s.Incidents(t.Context(), haltd.IncidentQuery{})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "incidents", got, want)
	equal(t, "next", next, "")
	for _, w := range want {
		got, err := s.Incident(t.Context(), w.ID)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, w.ID, got, w)
	}
	_, err = s.Incident(t.Context(), "inc_none")
	wantCode(t, "unknown incident", err, haltd.CodeNotFound)
}

func incidentListing(t *testing.T, s Store) {
	list := make([]haltd.Incident, 5)
	for i := range list {
		// Two at a time, so that a page may end between them.
		list[i] = incident(fmt.Sprint(i+1), start.Add(time.Duration(i/2)*time.Second))
	}
	list[0].Agent, list[1].Session = "b", "t"
	list[2].Kind, list[3].Status, list[4].Shadow = haltd.IncidentGrowth, haltd.IncidentResumed, true
	list[2].Detector, list[2].Action = "growth", haltd.Warn
	raise(t, s, list...)
	yes, no := true, false
	for name, c := range map[string]struct {
		q    haltd.IncidentQuery
		want []string
	}{
		"all":        {haltd.IncidentQuery{}, []string{"5", "4", "3", "2", "1"}},
		"agent":      {haltd.IncidentQuery{Agent: "b"}, []string{"1"}},
		"session":    {haltd.IncidentQuery{Session: "t"}, []string{"2"}},
		"kind":       {haltd.IncidentQuery{Kind: haltd.IncidentGrowth}, []string{"3"}},
		"status":     {haltd.IncidentQuery{Status: haltd.IncidentResumed}, []string{"4"}},
		"shadow":     {haltd.IncidentQuery{Shadow: &yes}, []string{"5"}},
		"no shadow":  {haltd.IncidentQuery{Shadow: &no}, []string{"4", "3", "2", "1"}},
		"since":      {haltd.IncidentQuery{Since: start.Add(time.Second)}, []string{"5", "4", "3"}},
		"none":       {haltd.IncidentQuery{Agent: "zed"}, []string{}},
		"both":       {haltd.IncidentQuery{Agent: "a", Session: "s", Status: haltd.IncidentOpen}, []string{"5", "3"}},
		"search":     {haltd.IncidentQuery{Search: "B"}, []string{"1"}},
		"search id":  {haltd.IncidentQuery{Search: "4"}, []string{"4"}},
		"wildcard":   {haltd.IncidentQuery{Search: "_"}, []string{}},
		"detector":   {haltd.IncidentQuery{Detector: "growth"}, []string{"3"}},
		"stops":      {haltd.IncidentQuery{Stops: &yes}, []string{"4", "2", "1"}},
		"no stops":   {haltd.IncidentQuery{Stops: &no}, []string{"5", "3"}},
		"not a word": {haltd.IncidentQuery{Agent: "a' OR '1'='1"}, []string{}},
	} {
		equal(t, name, incidentIDs(t, s, c.q), c.want)
	}
	_, next, err := s.Incidents(t.Context(), haltd.IncidentQuery{Page: haltd.Page{Limit: 1}})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = s.Agents(t.Context(), haltd.AgentQuery{Page: haltd.Page{Cursor: next}})
	wantCode(t, "agents after a cursor of incidents", err, haltd.CodeInvalid)
	_, _, err = s.Incidents(t.Context(), haltd.IncidentQuery{Page: haltd.Page{Cursor: "x"}})
	wantCode(t, "incidents after a broken cursor", err, haltd.CodeInvalid)
}

func incidentOnce(t *testing.T, s Store) {
	for _, c := range []struct {
		id, once string
		after    time.Duration
		code     string
	}{
		{"inc_first", "growth/s", 0, ""},
		{"inc_again", "growth/s", time.Hour, haltd.CodeExists},
		{"inc_just", "growth/s", 24*time.Hour - time.Microsecond, haltd.CodeExists},
		{"inc_other", "growth/t", time.Hour, ""},
		{"inc_plain", "", time.Hour, ""},
		{"inc_simple", "", time.Hour, ""},
		{"inc_later", "growth/s", 24 * time.Hour, ""},
		{"inc_soon", "growth/s", 25 * time.Hour, haltd.CodeExists},
	} {
		i := incident(c.id, start.Add(c.after))
		i.Once, i.OnceFor = c.once, 24*time.Hour
		err := s.Commit(t.Context(), haltd.Change{Incident: &i, Notices: []haltd.Notice{notice("ntc_"+c.id, i.Time)}})
		wantCode(t, c.id, err, c.code)
	}
	equal(t, "incidents", incidentIDs(t, s, haltd.IncidentQuery{}), []string{"inc_later", "inc_simple", "inc_plain", "inc_other", "inc_first"})
	equal(t, "notices", noticeIDs(t, s), []string{"ntc_inc_first", "ntc_inc_other", "ntc_inc_plain", "ntc_inc_simple", "ntc_inc_later"})
}

func incidentOnceConcurrent(t *testing.T, s Store) {
	var wg sync.WaitGroup
	results := make(chan error, 8)
	for n := range cap(results) {
		wg.Go(func() {
			i := incident(fmt.Sprint("inc_", n), start)
			i.Once, i.OnceFor = "same", time.Hour
			results <- s.Commit(t.Context(), haltd.Change{Incident: &i})
		})
	}
	wg.Wait()
	close(results)
	codes := map[string]int{}
	for err := range results {
		codes[haltd.ErrorCode(err)]++
	}
	equal(t, "outcomes", codes, map[string]int{"": 1, haltd.CodeExists: 7})
	equal(t, "kept", len(incidentIDs(t, s, haltd.IncidentQuery{})), 1)
}

func closingOne(t *testing.T, s Store) {
	want := incident("inc_a", start)
	want.Shadow = true // one that is named is closed, whatever it is
	raise(t, s, want, incident("inc_b", start))
	for n, status := range []haltd.IncidentStatus{haltd.IncidentKept, haltd.IncidentFalsePositive} {
		at := start.Add(time.Duration(n) * time.Hour)
		note := fmt.Sprint("note ", n)
		commit(t, s, haltd.Change{Closing: &haltd.Closing{ID: "inc_a", Status: status, By: "admin", Note: note, At: at}})
		want.Status, want.ClosedAt, want.ClosedBy, want.Note = status, &at, "admin", note
		got, err := s.Incident(t.Context(), "inc_a")
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "the closed incident", got, want)
	}
	equal(t, "open ones", incidentIDs(t, s, haltd.IncidentQuery{Status: haltd.IncidentOpen}), []string{"inc_b"})
	err := s.Commit(t.Context(), haltd.Change{Closing: &haltd.Closing{ID: "inc_none", Status: haltd.IncidentKept, At: start}})
	wantCode(t, "closing an unknown incident", err, haltd.CodeNotFound)
}

func closingAll(t *testing.T, s Store) {
	list := map[string]func(*haltd.Incident){
		"s":      func(*haltd.Incident) {},
		"t":      func(i *haltd.Incident) { i.Session, i.Scope = "t", haltd.ScopeSession },
		"still":  func(i *haltd.Incident) { i.Session, i.Scope = "u", haltd.ScopeSession },
		"other":  func(i *haltd.Incident) { i.Agent = "b" },
		"shadow": func(i *haltd.Incident) { i.Shadow = true },
		"growth": func(i *haltd.Incident) { i.Kind = haltd.IncidentGrowth },
		"kept":   func(i *haltd.Incident) { i.Status = haltd.IncidentKept },
	}
	for id, change := range list {
		i := incident(id, start)
		change(&i)
		raise(t, s, i)
	}
	for _, c := range []struct {
		session string
		want    map[string]haltd.IncidentStatus
	}{
		{"t", map[string]haltd.IncidentStatus{"t": haltd.IncidentResumed}},
		{"", map[string]haltd.IncidentStatus{"t": haltd.IncidentResumed, "s": haltd.IncidentResumed}},
	} {
		commit(t, s, haltd.Change{Closing: &haltd.Closing{Agent: "a", Session: c.session, Status: haltd.IncidentResumed, By: "admin", At: start}})
		for id := range list {
			want := haltd.IncidentOpen
			if id == "kept" {
				want = haltd.IncidentKept
			}
			if w, ok := c.want[id]; ok {
				want = w
			}
			got, err := s.Incident(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, fmt.Sprintf("status of %q after closing session %q", id, c.session), got.Status, want)
		}
	}
	commit(t, s, haltd.Change{Closing: &haltd.Closing{Agent: "a", Status: haltd.IncidentResumed, At: start}}) // none open is fine
}
