package control

import (
	"testing"
	"time"

	"github.com/haltd/haltd"
)

// A budget that was spent is told of again when its period is over, and only
// then; whatever happened to the process between.
func TestBudgetsRecoverWithTheirPeriod(t *testing.T) {
	for _, tc := range []struct {
		name     string
		kind     haltd.IncidentKind
		period   haltd.Period
		zone     string
		spent    time.Time
		recovers bool
		notices  int
	}{
		{"hard, yesterday", haltd.IncidentBudgetHard, haltd.Daily, "UTC", noon.AddDate(0, 0, -1), true, 1},
		{"hard, today", haltd.IncidentBudgetHard, haltd.Daily, "UTC", noon.Add(-time.Hour), false, 0},
		{"hard, this morning there, where it is tomorrow", haltd.IncidentBudgetHard, haltd.Daily, "Pacific/Auckland", noon.Add(-2 * time.Hour), true, 1},
		{"hard, last month", haltd.IncidentBudgetHard, haltd.Monthly, "UTC", noon.AddDate(0, -1, 0), true, 1},
		{"hard, this month", haltd.IncidentBudgetHard, haltd.Monthly, "UTC", noon.AddDate(0, 0, -5), false, 0},
		{"soft closes without a word", haltd.IncidentBudgetSoft, haltd.Daily, "UTC", noon.AddDate(0, 0, -1), true, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t)
			verdict := &haltd.Verdict{Findings: []haltd.Finding{{Check: "budget", Name: string(tc.period)}}}
			i := incident("inc_a", "s")
			i.Kind, i.Time, i.Verdict = tc.kind, tc.spent, verdict
			i.Settings = haltd.DefaultPolicy()
			i.Settings.TimeZone = tc.zone
			if err := b.store.Commit(t.Context(), haltd.Change{Incident: &i}); err != nil {
				t.Fatal(err)
			}
			b = b.reopen(t)
			for range 2 { // the second time there is nothing left to do
				if err := b.RecoverBudgets(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			got, err := b.store.Incident(t.Context(), "inc_a")
			if err != nil || (got.Status == haltd.IncidentResumed) != tc.recovers {
				t.Errorf("incident %q, %v; want it resumed: %v", got.Status, err, tc.recovers)
			}
			notices, err := b.store.Notices(t.Context(), 10)
			if err != nil || len(notices) != tc.notices {
				t.Fatalf("%d notices, %v; want %d", len(notices), err, tc.notices)
			}
			if tc.notices > 0 && (!notices[0].Recovery || notices[0].Topic != haltd.IncidentBudgetHard || notices[0].Incident != "inc_a") {
				t.Errorf("notice %+v", notices[0])
			}
		})
	}
}
