package admin

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/haltd/haltd"
)

// maxBuckets is a year of hours.
const maxBuckets = 366 * 24

type statsInput struct {
	Since string   `query:"since" doc:"RFC 3339, or a span before now such as 7d. A day before until by default."`
	Until string   `query:"until" doc:"RFC 3339, or a span before now. Now by default."`
	Step  string   `query:"step" default:"1h" doc:"Width of a bucket in whole hours, such as 1h or 1d."`
	Agent string   `query:"agent" doc:"Only this agent."`
	IDs   []string `query:"id,explode" maxItems:"100" doc:"Only these agents, by their ids; repeat it."`
	By    string   `query:"by" enum:"agent,provider,model" doc:"Sum per agent, provider or model too, the most expensive first."`

	Limit  int  `query:"limit" minimum:"1" maximum:"1000" doc:"How many groups at most; 100 by default."`
	Offset int  `query:"offset" minimum:"0" maximum:"1000000" doc:"How many groups to leave out first."`
	Series bool `query:"series" doc:"The calls of each step for each group, too."`
}

type statsOutput struct{ Body haltd.Stats }

func (s *server) registerStats() {
	register(s, operation(http.MethodGet, "/v1/stats", "get-stats", "Calls, tokens and cost over time"),
		func(ctx context.Context, in *statsInput) (*statsOutput, error) {
			q, err := in.query(s.deps.Clock())
			if err != nil {
				return nil, err
			}
			stats, err := s.deps.Events.Stats(ctx, q)
			return &statsOutput{statsInUTC(stats)}, err
		})
}

// query widens the time to whole hours, so that the running hour is in it.
func (in *statsInput) query(now time.Time) (haltd.StatsQuery, error) {
	q := haltd.StatsQuery{Agent: strings.ToLower(in.Agent), By: in.By, Limit: in.Limit, Offset: in.Offset, Series: in.Series}
	for _, id := range in.IDs {
		q.Agents = append(q.Agents, strings.ToLower(id))
	}
	until, err := instant("until", in.Until, now)
	if err != nil {
		return q, err
	}
	if until.IsZero() {
		until = now.UTC()
	}
	since, err := instant("since", in.Since, now)
	if err != nil {
		return q, err
	}
	if since.IsZero() {
		since = until.Add(-24 * time.Hour)
	}
	step, ok := span(in.Step)
	if !ok || step <= 0 || step%time.Hour != 0 {
		return q, haltd.Errorf(haltd.CodeInvalid, "%q is not a number of whole hours", in.Step).In("step").WithFix("Use for example 1h, 6h or 1d.")
	}
	q.Since, q.Step = since.Truncate(time.Hour), step
	q.Until = until.Add(time.Hour - 1).Truncate(time.Hour)
	if !q.Since.Before(q.Until) {
		return q, haltd.Errorf(haltd.CodeInvalid, "%s is not before until", since.Format(time.RFC3339)).In("since").WithFix("Swap since and until.")
	}
	if q.Until.Sub(q.Since)/step > maxBuckets {
		return q, haltd.Errorf(haltd.CodeInvalid, "%s gives more than %d buckets", in.Step, maxBuckets).In("step").WithFix("Take a wider step or a shorter time.")
	}
	return q, nil
}

func statsInUTC(s haltd.Stats) haltd.Stats {
	s.Since, s.Until = s.Since.UTC(), s.Until.UTC()
	if s.Buckets == nil {
		s.Buckets = []haltd.StatBucket{}
	}
	for i := range s.Buckets {
		s.Buckets[i].Start = s.Buckets[i].Start.UTC()
	}
	return s
}
