package admin

import (
	"context"
	"math"
	"net/http"
	"slices"

	"github.com/haltd/haltd"
)

const (
	// whatIfDays is how far back other sessions are looked at.
	whatIfDays = 30
	// maxOthers is how many of them an answer holds.
	maxOthers = 100
)

type whatIfInput struct {
	ID        string  `path:"id" doc:"Id of the incident."`
	Threshold float64 `query:"threshold" required:"true" exclusiveMinimum:"0" maximum:"10000" doc:"The threshold to try."`
}

type whatIf struct {
	Threshold    float64            `json:"threshold"`
	FiresHere    bool               `json:"fires_here" doc:"Whether it would have fired in this session."`
	First        *firstPoint        `json:"first" doc:"The call at which it would have; null when it would not."`
	CallsEarlier int                `json:"calls_earlier" doc:"How many calls earlier than the incident that is."`
	Saved        haltd.Money        `json:"saved_usd" doc:"What the calls from there to the incident cost."`
	Others       []haltd.ScorePoint `json:"others" doc:"Where it would have fired in other sessions of the last 30 days, the newest first, 100 at most."`
}

// firstPoint is a call, or null in the API's description, too.
type firstPoint struct {
	_ struct{} `nullable:"true"`
	haltd.ScorePoint
}

type whatIfOutput struct{ Body whatIf }

func (s *server) registerWhatIf() {
	op := operation(http.MethodGet, "/v1/incidents/{id}/what-if", "what-if", "When another threshold would have fired")
	op.Description = "Answered from recorded scores of similarity; corroboration is not asked again."
	register(s, op, s.whatIf)
}

func (s *server) whatIf(ctx context.Context, in *whatIfInput) (*whatIfOutput, error) {
	if math.IsNaN(in.Threshold) { // which no bound refuses
		return nil, haltd.Errorf(haltd.CodeInvalid, "threshold: expected a number").WithFix("Use for example 8.5.")
	}
	incident, err := s.deps.Incidents.Incident(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	out := &whatIfOutput{whatIf{Threshold: in.Threshold, Others: []haltd.ScorePoint{}}}
	if err := s.firesHere(ctx, &incident, &out.Body); err != nil {
		return nil, err
	}
	// One more than is shown: this session may be among them.
	peaks, err := s.deps.Incidents.Peaks(ctx, in.Threshold, s.deps.Clock().AddDate(0, 0, -whatIfDays), maxOthers+1)
	if err != nil {
		return nil, err
	}
	for _, p := range peaks {
		if (p.Agent != incident.Agent || p.Session != incident.Session) && len(out.Body.Others) < maxOthers {
			out.Body.Others = append(out.Body.Others, pointInUTC(p))
		}
	}
	return out, nil
}

// firesHere finds the first call of the incident's session above the
// threshold, and what the calls from there on cost.
func (s *server) firesHere(ctx context.Context, incident *haltd.Incident, out *whatIf) error {
	scores, err := s.deps.Incidents.Scores(ctx, incident.Agent, incident.Session)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(scores, func(p haltd.ScorePoint) bool { return p.Score > out.Threshold })
	if at < 0 {
		return nil
	}
	first := pointInUTC(scores[at])
	out.FiresHere, out.First = true, &firstPoint{ScorePoint: first}
	// The last call that had arrived by then is the incident's own; its event
	// may have been written before or after that of the incident.
	arrived := 0
	for _, p := range scores[at:] {
		if !p.Time.After(incident.Time) {
			arrived++
		}
	}
	if arrived < 2 {
		return nil
	}
	out.CallsEarlier = arrived - 1
	out.Saved, err = s.costOf(ctx, haltd.EventQuery{
		Agent: incident.Agent, Session: incident.Session, Since: first.Time, Before: incident.Event,
	})
	return err
}

func pointInUTC(p haltd.ScorePoint) haltd.ScorePoint {
	p.Time = p.Time.UTC()
	return p
}
