package admin

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/haltd/haltd"
)

// The dearest incidents come first, page by page.
func TestIncidentsByCost(t *testing.T) {
	w := newWorld()
	w.events.AppendEvents(t.Context(), calls(9))
	for n, count := range []int{2, 5, 1, 4} {
		w.incidents.incidents = append(w.incidents.incidents, killed(fmt.Sprintf(`{"signals":[{"detector":"stall","count":%d}]}`, count),
			func(i *haltd.Incident) { i.ID = fmt.Sprint("inc_", n) }))
	}
	type page struct {
		Incidents []struct {
			ID     string
			Burned float64 `json:"burned_usd"`
		}
		Next *string
	}
	var got []string
	for cursor := ""; ; {
		p := answer[page](t, w, "GET", "/v1/incidents?sort=cost&limit=3"+cursor, "", 200)
		for _, i := range p.Incidents {
			got = append(got, fmt.Sprint(i.ID, " $", i.Burned))
		}
		if p.Next == nil {
			break
		}
		cursor = "&cursor=" + *p.Next
	}
	if diff := cmp.Diff([]string{"inc_1 $5", "inc_3 $4", "inc_0 $2", "inc_2 $1"}, got); diff != "" {
		t.Errorf("by cost (-want +got):\n%s", diff)
	}
}

// What is older than all that is compared by cost is listed after it.
func TestIncidentsByCostLeaveNoneOut(t *testing.T) {
	w := newWorld()
	const all = mostSorted + 150
	for n := range all {
		w.incidents.incidents = append(w.incidents.incidents, killed(`{}`, func(i *haltd.Incident) { i.ID = fmt.Sprint("inc_", n) }))
	}
	listed, pages := map[string]bool{}, 0
	for cursor := ""; ; pages++ {
		p := answer[struct {
			Incidents []struct{ ID string }
			Next      *string
		}](t, w, "GET", "/v1/incidents?sort=cost&limit=100"+cursor, "", 200)
		for _, i := range p.Incidents {
			listed[i.ID] = true
		}
		if p.Next == nil {
			break
		}
		cursor = "&cursor=" + *p.Next
	}
	if len(listed) != all || pages != 11 {
		t.Errorf("%d pages after the first list %d of %d incidents", pages, len(listed), all)
	}
}

func TestRemarks(t *testing.T) {
	w := newWorld()
	w.incidents.incidents = []haltd.Incident{killed(`{}`)}
	rec := w.do("POST", "/v1/incidents/inc_a/remarks", `{"acknowledge":true,"text":" I look at it. "}`, "X-Haltd-Actor", "ann")
	if rec.Code != 200 {
		t.Fatalf("POST = %d %s", rec.Code, rec.Body)
	}
	if diff := cmp.Diff([]string{"remark seen=true by ann: I look at it."}, w.said); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	for _, body := range []string{`{}`, `{"text":"  "}`} {
		if got := answer[problemBody](t, w, "POST", "/v1/incidents/inc_a/remarks", body, 400); !strings.Contains(got.Error.Message, "text: ") {
			t.Errorf("POST %s = %+v", body, got.Error)
		}
	}
}

// What stops save together is what their incidents tell one by one.
func TestSavings(t *testing.T) {
	w := newWorld()
	w.events.AppendEvents(t.Context(), calls(9))
	budget := func(i *haltd.Incident) { i.Settings.Budgets.Day.HardUSD = 30 * haltd.Dollar }
	again := func(i *haltd.Incident) { budget(i); i.ID, i.Time = "inc_b", i.Time.Add(-time.Second) }
	free := func(i *haltd.Incident) { i.ID, i.Agent = "inc_c", "other" }
	w.incidents.incidents = []haltd.Incident{killed(`{}`, budget), killed(`{}`, again), killed(`{}`, free)}
	got := answer[struct {
		Saved   float64 `json:"saved_usd"`
		Counted int
		Stops   []struct{ Incident string }
	}](t, w, "GET", "/v1/savings?since=24h", "", 200)
	if got.Saved != 30 || got.Counted != 2 || len(got.Stops) != 3 {
		t.Errorf("savings = %+v, want $30 once, of two of three stops", got)
	}
}
