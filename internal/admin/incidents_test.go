package admin

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/haltd/haltd"
)

// killed is an incident of session s1 at event 10.
func killed(verdict string, change ...func(*haltd.Incident)) haltd.Incident {
	i := haltd.Incident{
		ID: "inc_a", Time: noon.Add(10 * time.Second).In(east), Kind: haltd.IncidentKillSwitch, Status: haltd.IncidentOpen, Action: haltd.Kill,
		Scope: haltd.ScopeAgent, Agent: "billing-bot", Session: "s1", Detector: "stall", Sentence: "billing-bot repeats itself.",
		Verdict: verdictFrom(verdict), Settings: haltd.DefaultPolicy(), Event: 10,
	}
	for _, c := range change {
		c(&i)
	}
	return i
}

// verdictFrom reads a verdict as it stands in the record.
func verdictFrom(text string) *haltd.Verdict {
	v := &haltd.Verdict{}
	if err := json.Unmarshal([]byte(text), v); err != nil {
		panic(err)
	}
	return v
}

// calls are events 1 to n of session s1, each a dollar.
func calls(n int) []haltd.Event {
	var events []haltd.Event
	for i := range n {
		e := call(i+1, "billing-bot")
		e.Cost = haltd.Dollar
		events = append(events, e)
	}
	return events
}

func TestIncidentFiltersReachTheStore(t *testing.T) {
	yes := true
	w := newWorld()
	w.incidents.incidents = []haltd.Incident{killed(`{}`)}
	got := answer[struct{ Incidents []haltd.Incident }](t, w, "GET",
		"/v1/incidents?agent=A&search=b&session=S&kind=growth&detector=stall&status=kept&shadow=true&stops=true&since=1h&limit=5&cursor=c", "", 200)
	want := haltd.IncidentQuery{
		Agent: "a", Search: "b", Session: "S", Kind: haltd.IncidentGrowth, Detector: "stall", Status: haltd.IncidentKept, Shadow: &yes, Stops: &yes,
		Since: noon.Add(-time.Hour), Page: haltd.Page{Limit: 5, Cursor: "c"},
	}
	if diff := cmp.Diff(want, w.incidents.asked); diff != "" {
		t.Errorf("query (-want +got):\n%s", diff)
	}
	if len(got.Incidents) != 1 || got.Incidents[0].ID != "inc_a" {
		t.Errorf("incidents = %+v", got.Incidents)
	}
	for query, names := range map[string]string{"status=closed": "status: ", "kind=loop": "kind: ", "since=soon": "since: ", "shadow=1": "shadow: "} {
		if got := answer[problemBody](t, w, "GET", "/v1/incidents?"+query, "", 400); !strings.Contains(got.Error.Message, names) {
			t.Errorf("GET /v1/incidents?%s = %+v", query, got.Error)
		}
	}
}

type moneyBody struct {
	Money struct {
		Burned      float64  `json:"burned_usd"`
		Calls       int      `json:"burned_calls"`
		Saved       *float64 `json:"saved_usd"`
		SavedReason string   `json:"saved_reason"`
	}
}

func TestWhatARunawayBurned(t *testing.T) {
	at := func(seconds int) string { return noon.Add(time.Duration(seconds) * time.Second).Format(time.RFC3339) }
	for _, c := range []struct {
		name, verdict string
		calls         int
	}{
		{"the last calls that were counted", `{"signals":[{"detector":"stall","count":4}]}`, 4},
		{"no more than there are", `{"signals":[{"detector":"stall","count":40}]}`, 9},
		{"the detector that decided", `{"signals":[{"detector":"similarity","count":7},{"detector":"stall","count":2}]}`, 2},
		{"else the first", `{"signals":[{"detector":"exact","count":3}]}`, 3},
		{"the calls that the evidence names", fmt.Sprintf(`{"signals":[{"detector":"stall","count":9,"matches":[{"time":%q},{"time":%q},{"time":%q}]}]}`, at(2), at(5), at(9)), 3},
		{"not those of other sessions", fmt.Sprintf(`{"signals":[{"detector":"stall","matches":[{"time":%q},{"time":%q}]}]}`, at(-5), at(500)), 0},
		{"nothing that is known", `{}`, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld()
			w.events.AppendEvents(t.Context(), calls(9))
			other := call(100, "billing-bot")
			other.Session = "s2"
			w.events.AppendEvents(t.Context(), []haltd.Event{other})
			w.incidents.incidents = []haltd.Incident{killed(c.verdict)}
			got := answer[moneyBody](t, w, "GET", "/v1/incidents/inc_a", "", 200).Money
			if got.Calls != c.calls || got.Burned != float64(c.calls) {
				t.Errorf("burned $%v in %d calls, want %d", got.Burned, got.Calls, c.calls)
			}
		})
	}
}

func TestWhatStoppingSaved(t *testing.T) {
	// The hours before noon cost $1 together, and the calls since $9.
	for _, c := range []struct {
		name   string
		change func(*haltd.Incident)
		saved  string
		reason string
	}{
		{"no budget", func(*haltd.Incident) {}, "none", "The agent had no hard budget in dollars that would have ended it."},
		{"a daily budget", func(i *haltd.Incident) { i.Settings.Budgets.Day.HardUSD = 60 * haltd.Dollar },
			"50", "What was left of the daily hard budget of $60.00 after $10.00."},
		{"the tighter of two", func(i *haltd.Incident) {
			i.Settings.Budgets.Day.HardUSD, i.Settings.Budgets.Month.HardUSD = 60*haltd.Dollar, 15*haltd.Dollar
		}, "5", "What was left of the monthly hard budget of $15.00 after $10.00."},
		{"an overdrawn budget", func(i *haltd.Incident) { i.Settings.Budgets.Day.HardUSD = 2 * haltd.Dollar },
			"0", "What was left of the daily hard budget of $2.00 after $10.00."},
		{"a shadow", func(i *haltd.Incident) { i.Settings.Budgets.Day.HardUSD, i.Shadow = haltd.Dollar, true },
			"none", "Nothing was stopped: haltd only tells what it would have done."},
		{"a warning", func(i *haltd.Incident) { i.Settings.Budgets.Day.HardUSD, i.Action = haltd.Dollar, haltd.Warn }, "none", "Nothing was stopped."},
		{"the budget itself", func(i *haltd.Incident) {
			i.Settings.Budgets.Day.HardUSD, i.Kind = haltd.Dollar, haltd.IncidentBudgetHard
		},
			"none", "The budget was spent."},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld()
			w.events.AppendEvents(t.Context(), calls(9))
			w.incidents.incidents = []haltd.Incident{killed(`{}`, c.change)}
			got := answer[moneyBody](t, w, "GET", "/v1/incidents/inc_a", "", 200).Money
			saved := "none"
			if got.Saved != nil {
				saved = fmt.Sprint(*got.Saved)
			}
			if saved != c.saved || got.SavedReason != c.reason {
				t.Errorf("saved %s (%s), want %s (%s)", saved, got.SavedReason, c.saved, c.reason)
			}
		})
	}
}

func TestADayBeginsInTheZoneOfThePolicy(t *testing.T) {
	w := newWorld()
	w.incidents.incidents = []haltd.Incident{killed(`{}`, func(i *haltd.Incident) {
		i.Settings.TimeZone, i.Settings.Budgets.Day.HardUSD = "Pacific/Auckland", haltd.Dollar // noon UTC is 01:00 there
	})}
	answer[moneyBody](t, w, "GET", "/v1/incidents/inc_a", "", 200)
	want := haltd.StatsQuery{Since: noon.Add(-time.Hour), Until: noon, Step: time.Hour, Agent: "billing-bot"}
	if diff := cmp.Diff(want, w.events.stats); diff != "" {
		t.Errorf("stats (-want +got):\n%s", diff)
	}
}

func TestDecidingAnIncident(t *testing.T) {
	session := func(i *haltd.Incident) { i.Scope = haltd.ScopeSession }
	for _, c := range []struct {
		name, body string
		change     func(*haltd.Incident)
		said       []string
		resumed    haltd.Target
		grace      time.Duration
	}{
		{"keep", `{"status":"kept","note":"right so"}`, nil, []string{"decide kept by ann: right so"}, haltd.Target{}, 0},
		{"a false positive", `{"status":"false_positive"}`, nil, []string{"decide false_positive by ann: "}, haltd.Target{}, 0},
		{"a false positive and resume", `{"status":"false_positive","resume":true,"grace_minutes":30,"note":"n"}`, nil,
			[]string{"decide false_positive by ann: n", "activate by ann: n"}, haltd.Target{Agent: "billing-bot"}, 30 * time.Minute},
		{"resume a session", `{"status":"resumed"}`, session, []string{"decide resumed by ann: ", "activate by ann: "},
			haltd.Target{Agent: "billing-bot", Session: "s1"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld()
			if c.change == nil {
				c.change = func(*haltd.Incident) {}
			}
			w.incidents.incidents = []haltd.Incident{killed(`{}`, c.change)}
			rec := w.do("POST", "/v1/incidents/inc_a/feedback", c.body, "X-Haltd-Actor", "ann")
			var got struct {
				ClosedBy string `json:"closed_by"`
				Money    *struct{}
			}
			if err := json.Unmarshal(rec.Body.Bytes(), &got); rec.Code != 200 || err != nil || got.ClosedBy != "ann" || got.Money == nil {
				t.Fatalf("POST = %d %s", rec.Code, rec.Body)
			}
			if diff := cmp.Diff(c.said, w.said); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
			if _, resumed := w.standings[c.resumed]; resumed != (c.resumed != haltd.Target{}) || w.grace != c.grace {
				t.Errorf("standings = %v, grace %v", w.standings, w.grace)
			}
		})
	}
}

func TestDecisionsThatBreakARule(t *testing.T) {
	w := newWorld()
	shadow := killed(`{}`, func(i *haltd.Incident) { i.ID, i.Shadow = "inc_s", true })
	w.incidents.incidents = []haltd.Incident{killed(`{}`), shadow}
	for _, c := range []struct {
		id, body string
		status   int
		names    string
	}{
		{"inc_a", `{"status":"open"}`, 400, "status: "},
		{"inc_a", `{}`, 400, "status"},
		{"inc_a", `{"status":"kept","resume":true}`, 400, "resume: "},
		{"inc_a", `{"status":"kept","grace_minutes":3}`, 400, "grace_minutes: "},
		{"inc_s", `{"status":"resumed"}`, 400, "resume: incident inc_s stopped nobody"},
		{"inc_x", `{"status":"kept"}`, 404, "inc_x"},
	} {
		got := answer[problemBody](t, w, "POST", "/v1/incidents/"+c.id+"/feedback", c.body, c.status)
		if !strings.Contains(got.Error.Message, c.names) {
			t.Errorf("POST %s %s = %+v, want %q", c.id, c.body, got.Error, c.names)
		}
	}
	if len(w.said) != 0 {
		t.Errorf("changes = %v, want none", w.said)
	}
}

func TestWhatIfOfARejection(t *testing.T) {
	w := newWorld()
	w.events.AppendEvents(t.Context(), calls(9)) // the tenth was rejected
	w.incidents.incidents = []haltd.Incident{killed(`{}`, func(i *haltd.Incident) { i.Action, i.Event = haltd.Reject, 11 })}
	for n, score := range []float64{2.5, 5, 12, 14} { // and so was the eleventh
		w.incidents.scores = append(w.incidents.scores, haltd.ScorePoint{Event: haltd.EventID(n + 8), Time: call(n+8, "").Time, Agent: "billing-bot", Session: "s1", Score: score})
	}
	for threshold, earlier := range map[string]int{"10": 0, "4": 1, "2": 2, "13": 0} {
		got := answer[whatIf](t, w, "GET", "/v1/incidents/inc_a/what-if?threshold="+threshold, "", 200)
		if got.CallsEarlier != earlier || got.Saved != haltd.Money(earlier)*haltd.Dollar {
			t.Errorf("threshold %s: %d calls earlier, $%s; want %d calls", threshold, got.CallsEarlier, got.Saved, earlier)
		}
	}
}

func TestWhatIf(t *testing.T) {
	w := newWorld()
	w.events.AppendEvents(t.Context(), calls(10))
	w.incidents.incidents = []haltd.Incident{killed(`{}`)}
	point := func(n int, agent, session string, score float64) haltd.ScorePoint {
		return haltd.ScorePoint{Event: haltd.EventID(n), Time: call(n, "").Time, Agent: agent, Session: session, Score: score}
	}
	for n, score := range []float64{0, 0, 2.5, 5, 7.5, 9, 8, 9.5, 12} {
		w.incidents.scores = append(w.incidents.scores, point(n+2, "billing-bot", "s1", score))
	}
	w.incidents.peaks = append(w.incidents.peaks, point(6, "billing-bot", "s1", 9))
	for n := range 150 {
		w.incidents.peaks = append(w.incidents.peaks, point(n, "billing-bot", fmt.Sprint(n), 8.5), point(n, "other", fmt.Sprint(n), 20))
	}
	for _, c := range []struct {
		threshold string
		first     int
		earlier   int
		others    int
	}{
		{"8.5", 7, 3, 0},
		{"8.4", 7, 3, 100},
		{"10", 10, 0, 0},
		{"12", 0, 0, 0},
	} {
		got := answer[whatIf](t, w, "GET", "/v1/incidents/inc_a/what-if?threshold="+c.threshold, "", 200)
		if first := got.First; got.FiresHere != (c.first > 0) || (first != nil) != got.FiresHere || first != nil && first.Event != haltd.EventID(c.first) {
			t.Errorf("threshold %s: fires %v at %+v, want call %d", c.threshold, got.FiresHere, first, c.first)
		}
		if got.CallsEarlier != c.earlier || got.Saved != haltd.Money(c.earlier)*haltd.Dollar || len(got.Others) != c.others {
			t.Errorf("threshold %s: %d calls earlier, $%s, %d others; want %d calls and %d others", c.threshold, got.CallsEarlier, got.Saved, len(got.Others), c.earlier, c.others)
		}
	}
	if want := noon.AddDate(0, 0, -30); !w.incidents.peaksFrom.Equal(want) {
		t.Errorf("other sessions since %v, want %v", w.incidents.peaksFrom, want)
	}
	for _, query := range []string{"", "?threshold=0", "?threshold=x", "?threshold=nan", "?threshold=inf"} {
		if got := answer[problemBody](t, w, "GET", "/v1/incidents/inc_a/what-if"+query, "", 400); !strings.Contains(got.Error.Message, "threshold") {
			t.Errorf("what-if%s = %+v", query, got.Error)
		}
	}
}
