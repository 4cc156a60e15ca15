package economics

import (
	"fmt"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/policy"
)

// Budget is a hard budget that would have ended an agent that was stopped
// before.
type Budget struct {
	Period haltd.Period
	Hard   haltd.Money
	Start  time.Time // of the period
}

// Saved is an estimate of what stopping saved; Amount is nil where there is
// none, and Reason says why, or how it came about.
type Saved struct {
	Amount *haltd.Money
	Reason string
}

// Budgets are the hard budgets in dollars that would have ended the agent of
// an incident, in the zone of its policy. Where there are none, the reason is
// what stands in the place of an estimate.
func Budgets(i *haltd.Incident, zone *time.Location) (budgets []Budget, reason string) {
	switch {
	case i.Shadow:
		return nil, "Nothing was stopped: haltd only tells what it would have done."
	case !i.Action.Stops():
		return nil, "Nothing was stopped."
	case i.Kind == haltd.IncidentBudgetHard:
		return nil, "The budget was spent."
	}
	b := i.Settings.Budgets
	for _, p := range []struct {
		period haltd.Period
		hard   haltd.Money
	}{{haltd.Daily, b.Day.HardUSD}, {haltd.Monthly, b.Month.HardUSD}} {
		if p.hard > 0 {
			budgets = append(budgets, Budget{p.period, p.hard, policy.PeriodStart(p.period, zone, i.Time)})
		}
	}
	if len(budgets) == 0 {
		reason = "The agent had no hard budget in dollars that would have ended it."
	}
	return budgets, reason
}

// Save estimates what a stopped agent would have spent: it had no reason to
// end before its tightest budget did. spent is what it had spent of each
// budget.
func Save(budgets []Budget, spent []haltd.Money) (s Saved) {
	for i, b := range budgets {
		left := max(b.Hard-spent[i], 0)
		if s.Amount != nil && left >= *s.Amount {
			continue
		}
		s.Amount = &left
		s.Reason = fmt.Sprintf("What was left of the %s hard budget of $%.2f after $%.2f.", adjective(b.Period), b.Hard.Dollars(), spent[i].Dollars())
	}
	return s
}

func adjective(p haltd.Period) string {
	if p == haltd.Daily {
		return "daily"
	}
	return "monthly"
}

// WholeHours parts a time into the hours that the record has sums of, and the
// rest from hour on, which its events tell. Without a whole hour, since is not
// before hour.
func WholeHours(from, to time.Time) (since, hour time.Time) {
	return from.UTC().Truncate(time.Hour), to.UTC().Truncate(time.Hour)
}
