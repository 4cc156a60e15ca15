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
	Period     haltd.Period
	Hard       haltd.Money
	Start, End time.Time // of the period
}

// Stop is an incident that stopped an agent, with the budgets that would have
// ended it and what the agent has spent of each by now.
type Stop struct {
	Budgets []Budget
	Spent   []haltd.Money
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
	case i.Kind == haltd.IncidentSession:
		return nil, "The session had used what it may."
	}
	b := i.Settings.Budgets
	for _, p := range []struct {
		period haltd.Period
		hard   haltd.Money
	}{{haltd.Daily, b.Day.HardUSD}, {haltd.Monthly, b.Month.HardUSD}} {
		if p.hard > 0 {
			budgets = append(budgets, Budget{p.period, p.hard, policy.PeriodStart(p.period, zone, i.Time), policy.PeriodEnd(p.period, zone, i.Time)})
		}
	}
	if len(budgets) == 0 {
		reason = "The agent had no hard budget in dollars that would have ended it."
	}
	return budgets, reason
}

// Save estimates what the oldest of some stops of an agent saved: it had no
// reason to end before its tightest budget did. stops are the newest first. What
// was left of a budget is saved once: a later stop of the same period takes it,
// because an agent that was stopped again had been resumed and gone on. Nor was
// more left of it than a later stop found it to allow: somebody had lowered it.
func Save(stops []Stop) (s Saved) {
	type period struct {
		of  haltd.Period
		end time.Time
	}
	saved, tightest := map[period]haltd.Money{}, map[period]haltd.Money{}
	for _, stop := range stops {
		s = Saved{}
		for k, b := range stop.Budgets {
			if hard, ok := tightest[period{b.Period, b.End}]; ok {
				b.Hard = min(b.Hard, hard)
			}
			tightest[period{b.Period, b.End}] = b.Hard
			left := max(b.Hard-stop.Spent[k]-saved[period{b.Period, b.End}], 0)
			if s.Amount != nil && left >= *s.Amount {
				continue
			}
			s.Amount = &left
			s.Reason = fmt.Sprintf("What was left of the %s hard budget of %s after %s.", b.Period.Adjective(), b.Hard.Rounded(), stop.Spent[k].Rounded())
			if before := saved[period{b.Period, b.End}]; before > 0 {
				s.Reason = fmt.Sprintf("What was left of the %s hard budget of %s after %s, less the %s that later stops saved.",
					b.Period.Adjective(), b.Hard.Rounded(), stop.Spent[k].Rounded(), before.Rounded())
			}
		}
		for _, b := range stop.Budgets {
			saved[period{b.Period, b.End}] += *s.Amount
		}
	}
	return s
}

// WholeHours parts a time into the hours that the record has sums of, and the
// rest from hour on, which its events tell. Without a whole hour, since is not
// before hour.
func WholeHours(from, to time.Time) (since, hour time.Time) {
	return from.UTC().Truncate(time.Hour), to.UTC().Truncate(time.Hour)
}
