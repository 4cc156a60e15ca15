package admin

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/economics"
)

// incidentMoney is what a runaway cost, and what stopping it saved.
type incidentMoney struct {
	Burned      haltd.Money  `json:"burned_usd" doc:"What the repeating calls cost."`
	Calls       int          `json:"burned_calls" doc:"How many calls that is."`
	Saved       *haltd.Money `json:"saved_usd" nullable:"true" doc:"An estimate: what is left of the hard budget, as far as no later stop of the same day or month saved it. Null where there is none."`
	SavedReason string       `json:"saved_reason" doc:"How the estimate came about, or why there is none."`
}

// newestCalls is how far back the calls of a session are looked at.
const newestCalls = 1000

func (s *server) moneyOf(ctx context.Context, i *haltd.Incident) (incidentMoney, error) {
	burned, err := s.burned(ctx, i)
	if err != nil {
		return incidentMoney{}, err
	}
	saved, err := s.saved(ctx, i)
	return incidentMoney{Burned: burned.Cost, Calls: burned.Calls, Saved: saved.Amount, SavedReason: saved.Reason}, err
}

// burned is what the calls cost that speak for an incident. After a minute all
// of them are on disk, and the sum is kept: a list asks for many.
func (s *server) burned(ctx context.Context, i *haltd.Incident) (economics.Burned, error) {
	if !economics.Repeats(i) {
		return economics.Burned{}, nil
	}
	if sum, ok := s.burns.get(i.ID); ok {
		return sum, nil
	}
	calls, err := s.callsUpTo(ctx, i)
	if err != nil {
		return economics.Burned{}, err
	}
	sum := economics.Burn(i, calls)
	if s.deps.Clock().Sub(i.Time) > time.Minute {
		s.burns.put(i.ID, sum)
	}
	return sum, nil
}

// callsUpTo are the last calls of an incident's session, or of its agent, the
// newest first, as many as its evidence may speak of.
func (s *server) callsUpTo(ctx context.Context, i *haltd.Incident) ([]haltd.Event, error) {
	q := haltd.EventQuery{
		Types: []haltd.EventType{haltd.EventCall}, Agent: i.Agent, Session: i.Session,
		Until: i.Time.Add(time.Millisecond), Limit: newestCalls,
	}
	if decisive := i.Verdict.Decisive(i.Detector); len(decisive.Matches) == 0 || decisive.Family == haltd.FamilyStreak {
		q.Limit = min(max(decisive.Count, 1), newestCalls)
	}
	if economics.OfAgent(i) {
		q.Session = ""
	}
	calls, err := s.deps.Events.Events(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("read the calls of an incident: %w", err)
	}
	return calls, nil
}

// mostBurns is how many sums of incidents are kept.
const mostBurns = 10_000

// burns keeps what the calls of incidents cost.
type burns struct {
	mu   sync.Mutex
	sums map[string]economics.Burned
}

func (b *burns) get(id string) (economics.Burned, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	sum, ok := b.sums[id]
	return sum, ok
}

func (b *burns) put(id string, sum economics.Burned) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.sums == nil || len(b.sums) >= mostBurns {
		b.sums = map[string]economics.Burned{}
	}
	b.sums[id] = sum
}

// saved estimates what an incident saved. Later stops of the same periods come
// first: what they saved, this one did not.
func (s *server) saved(ctx context.Context, i *haltd.Incident) (economics.Saved, error) {
	own, reason := economics.Budgets(i, zoneOf(i))
	if len(own) == 0 {
		return economics.Saved{Reason: reason}, nil
	}
	later, err := s.laterStops(ctx, i, own[len(own)-1].End)
	if err != nil {
		return economics.Saved{}, err
	}
	known := map[economics.Budget]haltd.Money{} // all are of one agent
	recorded := func(ctx context.Context, agent string, b economics.Budget) (_ haltd.Money, err error) {
		if sum, ok := known[b]; ok {
			return sum, nil
		}
		// Who was resumed has spent more since.
		known[b], err = s.spent(ctx, agent, b.Start, earliest(b.End, latest(s.deps.Clock(), i.Time)))
		return known[b], err
	}
	charged := charges{s: s}
	var stops []economics.Stop
	for _, other := range append(later, *i) {
		stop, err := charged.stopOf(ctx, &other, recorded)
		if err != nil {
			return economics.Saved{}, err
		}
		if len(stop.Budgets) > 0 {
			stops = append(stops, stop)
		}
	}
	return economics.Save(stops), nil
}

// maxStops is how many later stops of an agent are looked at.
const maxStops = 200

// laterStops are the incidents of an agent after one and before a time, the
// newest first.
func (s *server) laterStops(ctx context.Context, i *haltd.Incident, end time.Time) ([]haltd.Incident, error) {
	all, _, err := s.deps.Incidents.Incidents(ctx, haltd.IncidentQuery{Agent: i.Agent, Since: i.Time, Page: haltd.Page{Limit: maxStops}})
	if err != nil {
		return nil, fmt.Errorf("read the later stops of an agent: %w", err)
	}
	return slices.DeleteFunc(all, func(other haltd.Incident) bool {
		return other.ID == i.ID || other.Agent != i.Agent || !other.Time.Before(end) || other.Time.Before(i.Time)
	}), nil
}

func zoneOf(i *haltd.Incident) *time.Location {
	zone, err := time.LoadLocation(i.Settings.TimeZone)
	if err != nil {
		return time.UTC
	}
	return zone
}

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// spent is what an agent had spent between two times: whole hours from the
// sums, and the last one from its calls.
func (s *server) spent(ctx context.Context, agent string, from, to time.Time) (haltd.Money, error) {
	since, hour := economics.WholeHours(from, to)
	var sum haltd.Money
	if since.Before(hour) {
		stats, err := s.deps.Events.Stats(ctx, haltd.StatsQuery{Since: since, Until: hour, Step: hour.Sub(since), Agent: agent})
		if err != nil {
			return 0, fmt.Errorf("sum what an agent spent: %w", err)
		}
		sum = stats.Totals.Cost
	}
	rest, err := s.costOf(ctx, haltd.EventQuery{Agent: agent, Since: hour, Until: to})
	return sum + rest, err
}

// charges are the ledgers of agents, each read once.
type charges struct {
	s     *server
	known map[string][]haltd.Ledger
}

// stopOf is what an incident stopped, with what was spent of each budget that
// makes an estimate possible. recorded is what the record has of that.
func (c *charges) stopOf(ctx context.Context, i *haltd.Incident, recorded func(ctx context.Context, agent string, b economics.Budget) (haltd.Money, error)) (economics.Stop, error) {
	budgets, _ := economics.Budgets(i, zoneOf(i))
	stop := economics.Stop{Budgets: budgets, Spent: make([]haltd.Money, len(budgets))}
	for n, b := range budgets {
		sum, err := recorded(ctx, i.Agent, b)
		if err != nil {
			return stop, err
		}
		if stop.Spent[n], err = c.atLeast(ctx, sum, i.Agent, b); err != nil {
			return stop, err
		}
	}
	return stop, nil
}

// atLeast is what was spent of a budget: as recorded, or as charged where that is more.
func (c *charges) atLeast(ctx context.Context, recorded haltd.Money, agent string, b economics.Budget) (haltd.Money, error) {
	ledgers, ok := c.known[agent]
	if !ok {
		past, err := c.s.deps.Ledgers.Ledgers(ctx, agent, time.Time{})
		if err != nil {
			return 0, fmt.Errorf("read what the budgets of an agent were charged: %w", err)
		}
		now, err := c.s.deps.Spendings.Spending(ctx, agent)
		if err != nil {
			return 0, fmt.Errorf("read what an agent has spent: %w", err)
		}
		for _, p := range now { // of which the ledgers on disk are a little behind
			ledgers = append(ledgers, haltd.Ledger{Period: p.Period, Start: p.Start, Spent: p.Spent})
		}
		ledgers = append(ledgers, past...)
		if c.known == nil {
			c.known = map[string][]haltd.Ledger{}
		}
		c.known[agent] = ledgers
	}
	for _, l := range ledgers {
		if l.Period == b.Period && l.Start.Equal(b.Start) {
			return max(recorded, l.Spent.Cost), nil
		}
	}
	return recorded, nil
}

// costOf sums the cost of all events that a query selects.
func (s *server) costOf(ctx context.Context, q haltd.EventQuery) (haltd.Money, error) {
	var sum haltd.Money
	for {
		events, next, err := s.eventPage(ctx, q, newestCalls)
		if err != nil {
			return 0, fmt.Errorf("sum the cost of calls: %w", err)
		}
		sum += economics.Cost(events)
		if q.Before = next; next == 0 {
			return sum, nil
		}
	}
}
