package economics

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/haltd/haltd"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// at is so many seconds after noon.
func at(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }

// calls are n calls of a dollar, the first a second after noon and then one a
// second, the newest first.
func calls(n int) (events []haltd.Event) {
	for i := n; i > 0; i-- {
		events = append(events, haltd.Event{ID: haltd.EventID(i), Time: at(i), Cost: haltd.Dollar})
	}
	return events
}

func matches(times ...time.Time) (ms []haltd.Match) {
	for _, t := range times {
		ms = append(ms, haltd.Match{Time: t})
	}
	return ms
}

func TestBurn(t *testing.T) {
	stall := func(s haltd.Signal) haltd.Signal { s.Detector = haltd.DetectorStall; return s }
	for _, tc := range []struct {
		name    string
		signals []haltd.Signal
		calls   int
		want    int
	}{
		{"the last calls that were counted", []haltd.Signal{stall(haltd.Signal{Count: 4})}, 9, 4},
		{"no more than there are", []haltd.Signal{stall(haltd.Signal{Count: 40})}, 9, 9},
		{"the detector that decided", []haltd.Signal{{Detector: haltd.DetectorSimilarity, Count: 7}, stall(haltd.Signal{Count: 2})}, 9, 2},
		{"else the first", []haltd.Signal{{Detector: haltd.DetectorExact, Count: 3}}, 9, 3},
		{"the calls that the evidence names, not those it counts", []haltd.Signal{stall(haltd.Signal{Count: 9, Matches: matches(at(2), at(5), at(9))})}, 9, 3},
		{"all calls of a streak, more than its evidence names", []haltd.Signal{stall(haltd.Signal{Family: haltd.FamilyStreak, Count: 7, Matches: matches(at(9))})}, 9, 7},
		{"a call that had arrived before it was judged", []haltd.Signal{stall(haltd.Signal{Matches: matches(at(9 + 60))})}, 9, 1},
		{"not one that arrived long before", []haltd.Signal{stall(haltd.Signal{Matches: matches(at(9 + 61))})}, 9, 0},
		{"not one that arrived later", []haltd.Signal{stall(haltd.Signal{Matches: matches(at(0))})}, 9, 0},
		{"two that were judged together are two calls", []haltd.Signal{stall(haltd.Signal{Matches: matches(at(9), at(9))})}, 9, 2},
		{"no calls", []haltd.Signal{stall(haltd.Signal{Count: 4})}, 0, 0},
		{"no evidence", nil, 9, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			i := &haltd.Incident{Detector: "stall", Verdict: &haltd.Verdict{Signals: tc.signals}}
			if got, want := Burn(i, calls(tc.calls)), (Burned{haltd.Money(tc.want) * haltd.Dollar, tc.want}); got != want {
				t.Errorf("burned %+v, want %+v", got, want)
			}
		})
	}
	if i := (&haltd.Incident{Detector: "budget"}); Repeats(i) || Burn(i, calls(3)) != (Burned{}) {
		t.Error("an incident without a verdict burned something")
	}
}

func TestOfAgent(t *testing.T) {
	for _, tc := range []struct {
		signal haltd.Signal
		window haltd.Scope
		want   bool
	}{
		{haltd.Signal{Detector: haltd.DetectorSimilarity}, haltd.ScopeAgent, true},
		{haltd.Signal{Detector: haltd.DetectorSimilarity}, haltd.ScopeSession, false},
		{haltd.Signal{Detector: haltd.DetectorSimilarity, Family: haltd.FamilyStreak}, haltd.ScopeSession, true},
		{haltd.Signal{Detector: haltd.DetectorStall}, haltd.ScopeAgent, false},
	} {
		i := &haltd.Incident{Detector: haltd.Check(tc.signal.Detector), Verdict: &haltd.Verdict{Signals: []haltd.Signal{tc.signal}}}
		i.Settings.KillSwitch.WindowScope = tc.window
		if got := OfAgent(i); got != tc.want {
			t.Errorf("%+v in the window of a %s: %v, want %v", tc.signal, tc.window, got, tc.want)
		}
	}
}

func TestSaved(t *testing.T) {
	const usd = haltd.Dollar
	budgets := func(day, month haltd.Money) (p haltd.Policy) {
		p.Budgets.Day.HardUSD, p.Budgets.Month.HardUSD = day, month
		return p
	}
	for _, tc := range []struct {
		name     string
		incident haltd.Incident
		spent    []haltd.Money // of each budget
		saved    string
		reason   string
	}{
		{"no budget", haltd.Incident{Action: haltd.Kill}, nil, "none", "The agent had no hard budget in dollars that would have ended it."},
		{"a daily budget", haltd.Incident{Action: haltd.Kill, Settings: budgets(60*usd, 0)}, []haltd.Money{10 * usd}, "50", "What was left of the daily hard budget of $60.00 after $10.00."},
		{"the tighter of two", haltd.Incident{Action: haltd.Reject, Settings: budgets(60*usd, 15*usd)}, []haltd.Money{10 * usd, 10 * usd}, "5", "What was left of the monthly hard budget of $15.00 after $10.00."},
		{"the first of equals", haltd.Incident{Action: haltd.Kill, Settings: budgets(5*usd, 9*usd)}, []haltd.Money{1 * usd, 5 * usd}, "4", "What was left of the daily hard budget of $5.00 after $1.00."},
		{"an overdrawn budget", haltd.Incident{Action: haltd.Kill, Settings: budgets(2*usd, 0)}, []haltd.Money{10 * usd}, "0", "What was left of the daily hard budget of $2.00 after $10.00."},
		{"a shadow", haltd.Incident{Action: haltd.Kill, Shadow: true, Settings: budgets(usd, 0)}, nil, "none", "Nothing was stopped: haltd only tells what it would have done."},
		{"a warning", haltd.Incident{Action: haltd.Warn, Settings: budgets(usd, 0)}, nil, "none", "Nothing was stopped."},
		{"a throttle", haltd.Incident{Action: haltd.Throttle, Settings: budgets(usd, 0)}, nil, "none", "Nothing was stopped."},
		{"the budget itself", haltd.Incident{Action: haltd.Block, Kind: haltd.IncidentBudgetHard, Settings: budgets(usd, 0)}, nil, "none", "The budget was spent."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.incident.Time = noon
			found, reason := Budgets(&tc.incident, time.UTC)
			if len(found) != len(tc.spent) {
				t.Fatalf("%d budgets, want %d", len(found), len(tc.spent))
			}
			s := Saved{Reason: reason}
			if len(found) > 0 {
				s = Save([]Stop{{found, tc.spent}})
			}
			saved := "none"
			if s.Amount != nil {
				saved = fmt.Sprint(s.Amount.Dollars())
			}
			if saved != tc.saved || s.Reason != tc.reason {
				t.Errorf("saved %s (%s), want %s (%s)", saved, s.Reason, tc.saved, tc.reason)
			}
		})
	}
}

// What is left of a budget is saved once, however often its agent is stopped.
func TestStopsOfOnePeriodShareWhatWasLeft(t *testing.T) {
	const usd = haltd.Dollar
	stop := func(day int, spentDay, spentMonth haltd.Money) Stop {
		i := &haltd.Incident{Action: haltd.Kill, Time: noon.AddDate(0, 0, day)}
		i.Settings.Budgets.Day.HardUSD, i.Settings.Budgets.Month.HardUSD = 10*usd, 20*usd
		budgets, _ := Budgets(i, time.UTC)
		return Stop{budgets, []haltd.Money{spentDay, spentMonth}}
	}
	for _, tc := range []struct {
		name  string
		stops []Stop // the newest first
		saved haltd.Money
	}{
		{"one", []Stop{stop(0, 4*usd, 4*usd)}, 6 * usd},
		{"the second of a day takes the rest", []Stop{stop(0, 6*usd, 6*usd), stop(0, 6*usd, 6*usd)}, 0},
		{"another day", []Stop{stop(1, 2*usd, 6*usd), stop(0, 4*usd, 6*usd)}, 6 * usd},
		{"the month holds them together", []Stop{stop(2, usd, 3*usd), stop(1, usd, 3*usd), stop(0, usd, 3*usd)}, 0},
	} {
		if got := Save(tc.stops); got.Amount == nil || *got.Amount != tc.saved {
			t.Errorf("%s: %+v, want $%s", tc.name, got, tc.saved)
		}
	}
}

func TestBudgetsBeginInTheZoneOfThePolicy(t *testing.T) {
	auckland, err := time.LoadLocation("Pacific/Auckland")
	if err != nil {
		t.Fatal(err)
	}
	i := &haltd.Incident{Action: haltd.Kill, Time: noon} // 01:00 of the next day there
	i.Settings.Budgets.Day.HardUSD, i.Settings.Budgets.Month.HardUSD = haltd.Dollar, haltd.Dollar
	for zone, want := range map[*time.Location][2]time.Time{
		time.UTC: {noon.Add(-12 * time.Hour), noon.Add(-12 * time.Hour)}, // the first of March
		auckland: {noon.Add(-time.Hour), noon.Add(-25 * time.Hour)},
	} {
		got, _ := Budgets(i, zone)
		if len(got) != 2 || !got[0].Start.Equal(want[0]) || !got[1].Start.Equal(want[1]) {
			t.Errorf("%s: budgets %+v, want them to begin at %v", zone, got, want)
		}
	}
}

func TestWholeHours(t *testing.T) {
	east := time.FixedZone("", 5*3600+1800)
	for _, tc := range []struct{ from, to, since, hour time.Time }{
		{noon, noon.Add(90 * time.Minute), noon, noon.Add(time.Hour)},
		{noon.Add(-30 * time.Minute).In(east), noon.Add(time.Minute).In(east), noon.Add(-time.Hour), noon},
		{noon.Add(time.Minute), noon.Add(2 * time.Minute), noon, noon},
	} {
		if since, hour := WholeHours(tc.from, tc.to); since != tc.since || hour != tc.hour {
			t.Errorf("from %v to %v: sums from %v to %v, want %v to %v", tc.from, tc.to, since, hour, tc.since, tc.hour)
		}
	}
}

func TestTry(t *testing.T) {
	i := &haltd.Incident{Agent: "bot", Session: "s", Time: at(10)}
	var scores []haltd.ScorePoint // of the calls at seconds 2 to 11; the last came after the incident
	for n, score := range []float64{0, 0, 2.5, 5, 7.5, 9, 8, 9.5, 12, 14} {
		scores = append(scores, haltd.ScorePoint{Event: haltd.EventID(n + 2), Time: at(n + 2), Agent: "bot", Session: "s", Score: score})
	}
	for _, tc := range []struct {
		threshold float64
		first     haltd.EventID // 0: it does not fire
		earlier   int
	}{
		{2, 4, 6}, {8.5, 7, 3}, {9, 9, 1}, {10, 10, 0}, {13, 11, 0}, {14, 0, 0},
	} {
		got, ok := Try(i, scores, nil, tc.threshold)
		if ok != (tc.first != 0) || got.First.Event != tc.first || got.Earlier != tc.earlier {
			t.Errorf("threshold %v: fires %v at call %d, %d calls earlier; want call %d, %d earlier", tc.threshold, ok, got.First.Event, got.Earlier, tc.first, tc.earlier)
		}
	}
}

func TestTryAsksForCorroboration(t *testing.T) {
	i := &haltd.Incident{Agent: "bot", Session: "s", Time: at(5)}
	scores := []haltd.ScorePoint{{Event: 1, Time: at(1), Score: 6, Unmet: "no second signal"}, {Event: 2, Time: at(2), Score: 7}}
	for corroborated, want := range map[bool]haltd.EventID{true: 2, false: 1} {
		i.Settings.KillSwitch.RequireCorroboration = corroborated
		if got, ok := Try(i, scores, nil, 5); !ok || got.First.Event != want {
			t.Errorf("with corroboration %v: fires %v at call %d, want call %d", corroborated, ok, got.First.Event, want)
		}
	}
}

func TestTryDoesNotLookAcrossAResume(t *testing.T) {
	i := &haltd.Incident{Agent: "bot", Session: "s", Time: at(20)}
	var scores []haltd.ScorePoint // a loop that was stopped and resumed at 10, the one of the incident, and what came after
	for n, score := range []float64{5, 12, 0, 6, 11, 13} {
		scores = append(scores, haltd.ScorePoint{Event: haltd.EventID(n), Time: at(4 + 4*n), Score: score})
	}
	resumes := []time.Time{at(1), at(10), at(22)}
	for threshold, want := range map[float64]haltd.EventID{4: 3, 10: 4} {
		if got, ok := Try(i, scores, resumes, threshold); !ok || got.First.Event != want {
			t.Errorf("threshold %v: fires %v at call %d, want call %d", threshold, ok, got.First.Event, want)
		}
	}
	if got, ok := Try(i, scores, resumes, 12); ok {
		t.Errorf("threshold 12 fires at call %d, which is after the resume", got.First.Event)
	}
}

func TestOthers(t *testing.T) {
	i := &haltd.Incident{Agent: "bot", Session: "s"}
	p := func(agent, session string) haltd.ScorePoint { return haltd.ScorePoint{Agent: agent, Session: session} }
	peaks := []haltd.ScorePoint{p("bot", "s"), p("bot", "t"), p("other", "s"), p("other", "u")}
	if diff := cmp.Diff([]haltd.ScorePoint{p("bot", "t"), p("other", "s")}, Others(i, peaks, 2)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := Others(i, peaks[:1], 2); got == nil || len(got) != 0 {
		t.Errorf("of the incident's own session alone: %v, want an empty list", got)
	}
	if got := LookBack(noon); got != noon.AddDate(0, 0, -30) {
		t.Errorf("others since %v, want 30 days", got)
	}
}

func TestRun(t *testing.T) {
	var r Run
	for i, tokens := range []int64{100, 50, 30, 20} {
		r.Add(tokens, i >= 2)
	}
	if r != (Run{Tokens: 200, Saved: 50}) || r.Share() != .25 {
		t.Errorf("%+v, a share of %v; want 50 of 200", r, r.Share())
	}
	if sum := r.Plus(Run{Tokens: 50}); sum != (Run{Tokens: 250, Saved: 50}) || sum.Share() != .2 {
		t.Errorf("with another run %+v, a share of %v; want 50 of 250", sum, sum.Share())
	}
	if (Run{}).Share() != 0 {
		t.Error("nothing has a share")
	}
}
