package admin

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/haltd/haltd"
)

// incidentMoney is what a runaway cost, and what stopping it saved.
type incidentMoney struct {
	Burned      haltd.Money  `json:"burned_usd" doc:"What the repeating calls cost."`
	Calls       int          `json:"burned_calls" doc:"How many calls that is."`
	Saved       *haltd.Money `json:"saved_usd" nullable:"true" doc:"An estimate: what was left of the hard budget. Null where there is none."`
	SavedReason string       `json:"saved_reason" doc:"How the estimate came about, or why there is none."`
}

const (
	// newestCalls is how far back the calls of a session are looked at.
	newestCalls = 1000
	// arrival is how long before it was judged a call may have arrived: a
	// long body takes its time, and so does a throttle.
	arrival = time.Minute
)

func (s *server) moneyOf(ctx context.Context, i *haltd.Incident) (incidentMoney, error) {
	calls, err := s.repeats(ctx, i)
	if err != nil {
		return incidentMoney{}, err
	}
	m := incidentMoney{Calls: len(calls)}
	for _, c := range calls {
		m.Burned += c.Cost
	}
	m.Saved, m.SavedReason, err = s.saved(ctx, i)
	return m, err
}

// repeats are the calls that speak for an incident: those its evidence names,
// else as many of the session's last calls as it counts.
func (s *server) repeats(ctx context.Context, i *haltd.Incident) ([]haltd.Event, error) {
	sig := i.Verdict.Decisive(i.Detector)
	if sig == nil || sig.Count == 0 && len(sig.Matches) == 0 {
		return nil, nil
	}
	calls, err := s.Events.Events(ctx, haltd.EventQuery{
		Types: []haltd.EventType{haltd.EventCall}, Agent: i.Agent, Session: i.Session,
		Until: i.Time.Add(time.Millisecond), Limit: newestCalls,
	})
	if err != nil {
		return nil, fmt.Errorf("read the calls of an incident: %w", err)
	}
	if len(sig.Matches) > 0 {
		return matched(calls, sig), nil
	}
	return calls[:min(sig.Count, len(calls))], nil
}

// matched finds the calls that evidence names by the time at which they were
// judged: each is the last that had arrived by then.
func matched(calls []haltd.Event, sig *haltd.Signal) []haltd.Event {
	var found []haltd.Event
	taken := map[haltd.EventID]bool{}
	for _, m := range slices.Backward(sig.Matches) {
		for _, c := range calls {
			if c.Time.After(m.Time) || taken[c.ID] {
				continue
			}
			if m.Time.Sub(c.Time) <= arrival {
				taken[c.ID] = true
				found = append(found, c)
			}
			break
		}
	}
	return found
}

// saved estimates what an agent that was stopped would have spent: it had no
// reason to end before its budget did.
func (s *server) saved(ctx context.Context, i *haltd.Incident) (*haltd.Money, string, error) {
	b := i.Settings.Budgets
	switch {
	case i.Shadow:
		return nil, "Nothing was stopped: haltd only tells what it would have done.", nil
	case !i.Action.Stops():
		return nil, "Nothing was stopped.", nil
	case i.Kind == haltd.IncidentBudgetHard:
		return nil, "The budget was spent.", nil
	case b.Day.HardUSD == 0 && b.Month.HardUSD == 0:
		return nil, "The agent had no hard budget in dollars that would have ended it.", nil
	}
	var least *haltd.Money
	reason := ""
	for _, p := range []struct {
		word  string
		hard  haltd.Money
		start time.Time
	}{
		{"daily", b.Day.HardUSD, periodStart(i, haltd.Daily)},
		{"monthly", b.Month.HardUSD, periodStart(i, haltd.Monthly)},
	} {
		if p.hard == 0 {
			continue
		}
		spent, err := s.spent(ctx, i.Agent, p.start, i.Time)
		if err != nil {
			return nil, "", err
		}
		if left := max(p.hard-spent, 0); least == nil || left < *least {
			least = &left
			reason = fmt.Sprintf("What was left of the %s hard budget of $%s after $%s.", p.word, cents(p.hard), cents(spent))
		}
	}
	return least, reason, nil
}

// cents is an amount as a person reads it.
func cents(m haltd.Money) string { return fmt.Sprintf("%.2f", m.Dollars()) }

// periodStart is when the day or month of an incident began, in the zone of
// the agent's policy.
func periodStart(i *haltd.Incident, p haltd.Period) time.Time {
	zone, err := time.LoadLocation(i.Settings.TimeZone)
	if err != nil {
		zone = time.UTC
	}
	year, month, day := i.Time.In(zone).Date()
	if p == haltd.Monthly {
		day = 1
	}
	return time.Date(year, month, day, 0, 0, 0, 0, zone)
}

// spent is what an agent had spent between two times: whole hours from the
// sums, and the last one from its calls.
func (s *server) spent(ctx context.Context, agent string, from, to time.Time) (haltd.Money, error) {
	hour := to.UTC().Truncate(time.Hour)
	from = from.UTC().Truncate(time.Hour)
	var sum haltd.Money
	if from.Before(hour) {
		stats, err := s.Events.Stats(ctx, haltd.StatsQuery{Since: from, Until: hour, Step: hour.Sub(from), Agent: agent})
		if err != nil {
			return 0, fmt.Errorf("sum what an agent spent: %w", err)
		}
		sum = stats.Totals.Cost
	}
	q := haltd.EventQuery{Agent: agent, Since: hour, Until: to}
	rest, err := s.costOf(ctx, q)
	return sum + rest, err
}

// costOf sums the cost of all events that a query selects.
func (s *server) costOf(ctx context.Context, q haltd.EventQuery) (haltd.Money, error) {
	var sum haltd.Money
	for {
		events, next, err := s.eventPage(ctx, q, newestCalls)
		if err != nil {
			return 0, fmt.Errorf("sum the cost of calls: %w", err)
		}
		for i := range events {
			sum += events[i].Cost
		}
		if q.Before = next; next == 0 {
			return sum, nil
		}
	}
}
