package admin

import (
	"context"
	"fmt"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/economics"
)

// mostStopsAdded is how many stops an estimate adds up.
const mostStopsAdded = 1000

type savingsInput struct {
	Since string `query:"since" default:"24h" doc:"From then on: RFC 3339, or a span before now such as 24h or 7d."`
}

type savingsOutput struct {
	Body struct {
		Saved   haltd.Money `json:"saved_usd" doc:"An estimate: what was left of hard budgets, each counted once."`
		Counted int         `json:"counted" doc:"Stops of agents whose hard budget makes an estimate possible."`
		Stops   []stopPoint `json:"stops" doc:"All that stopped an agent or a session, the newest first, 1,000 at most."`
		More    bool        `json:"more" doc:"There are older stops that are not in it."`
	}
}

type stopPoint struct {
	Incident string    `json:"incident"`
	Agent    string    `json:"agent"`
	Time     time.Time `json:"time"`
}

// savings adds up what the stops of a time have saved, with the figures that
// the incidents tell one by one.
func (s *server) savings(ctx context.Context, in *savingsInput) (*savingsOutput, error) {
	now := s.deps.Clock()
	since, err := instant("since", in.Since, now)
	if err != nil {
		return nil, err
	}
	yes := true
	stops, next, err := s.deps.Incidents.Incidents(ctx, haltd.IncidentQuery{Stops: &yes, Since: since, Page: haltd.Page{Limit: mostStopsAdded}})
	if err != nil {
		return nil, fmt.Errorf("read what was stopped: %w", err)
	}
	out := &savingsOutput{}
	out.Body.More = next != ""
	out.Body.Stops = make([]stopPoint, len(stops))
	sums := spentSums{s: s, now: now, known: map[period]map[string]haltd.Money{}}
	charged := charges{s: s}
	byAgent := map[string][]economics.Stop{}
	for n := range stops {
		i := &stops[n]
		out.Body.Stops[n] = stopPoint{i.ID, i.Agent, i.Time.UTC()}
		stop, err := charged.stopOf(ctx, i, sums.of)
		if err != nil {
			return nil, err
		}
		if len(stop.Budgets) == 0 {
			continue
		}
		// The newest come first: what they saved, an older one did not.
		byAgent[i.Agent] = append(byAgent[i.Agent], stop)
		if saved := economics.Save(byAgent[i.Agent]); saved.Amount != nil {
			out.Body.Saved += *saved.Amount
			out.Body.Counted++
		}
	}
	return out, nil
}

type period struct{ start, end time.Time }

// spentSums is what agents have spent in the periods of budgets, read for all
// agents at once.
type spentSums struct {
	s     *server
	now   time.Time
	known map[period]map[string]haltd.Money
}

func (p *spentSums) of(ctx context.Context, agent string, b economics.Budget) (haltd.Money, error) {
	of := period{b.Start.UTC(), earliest(b.End, p.now).UTC()}
	if of.start.Truncate(time.Hour) != of.start || of.end != p.now.UTC() && of.end.Truncate(time.Hour) != of.end {
		return p.s.spent(ctx, agent, of.start, of.end) // sums are of whole hours
	}
	sums, ok := p.known[of]
	if !ok {
		until := of.end.Add(time.Hour - 1).Truncate(time.Hour)
		q := haltd.StatsQuery{Since: of.start, Until: until, Step: until.Sub(of.start), By: "agent", Limit: mostAgents}
		stats, err := p.s.deps.Events.Stats(ctx, q)
		if err != nil {
			return 0, fmt.Errorf("sum what agents spent: %w", err)
		}
		sums = map[string]haltd.Money{}
		for _, g := range stats.Groups {
			sums[g.Name] = g.Cost
		}
		p.known[of] = sums
	}
	if sum, ok := sums[agent]; ok || len(sums) < mostAgents {
		return sum, nil
	}
	return p.s.spent(ctx, agent, of.start, of.end)
}

// mostAgents is how many agents are summed at once.
const mostAgents = 10_000
