package admin

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/economics"
)

// maxOthers is how many other sessions an answer holds.
const maxOthers = 100

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
	Others       []haltd.ScorePoint `json:"others" doc:"Where it would have fired in other sessions of the agent, in the last 30 days, the newest first, 100 at most."`
}

// firstPoint is a call, or null in the API's description, too.
type firstPoint struct {
	_ struct{} `nullable:"true"`
	haltd.ScorePoint
}

type whatIfOutput struct{ Body whatIf }

func (s *server) registerWhatIf() {
	op := operation(http.MethodGet, "/v1/incidents/{id}/what-if", "what-if", "When another threshold would have fired")
	op.Description = "Of similarity alone, from recorded scores, by the rules that held for the incident: a call that nothing corroborated does not fire, " +
		"and a resume begins anew. The lines of stall cannot be tried afterwards."
	register(s, op, s.whatIf)
}

func (s *server) whatIf(ctx context.Context, in *whatIfInput) (*whatIfOutput, error) {
	if math.IsNaN(in.Threshold) { // which no bound refuses
		return nil, haltd.Errorf(haltd.CodeInvalid, "expected a number").In("threshold").WithFix("Use for example 8.5.")
	}
	incident, err := s.deps.Incidents.Incident(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	out := &whatIfOutput{whatIf{Threshold: in.Threshold}}
	if err := s.firesHere(ctx, &incident, &out.Body); err != nil {
		return nil, err
	}
	// One more than is shown: this session may be among them.
	peaks, err := s.deps.Incidents.Peaks(ctx, haltd.PeakQuery{
		Agent: incident.Agent, Threshold: in.Threshold, Corroborated: incident.Settings.KillSwitch.RequireCorroboration,
		Since: economics.LookBack(s.deps.Clock()), Limit: maxOthers + 1,
	})
	if err != nil {
		return nil, err
	}
	out.Body.Others = economics.Others(&incident, peaks, maxOthers)
	for i := range out.Body.Others {
		out.Body.Others[i] = pointInUTC(out.Body.Others[i])
	}
	return out, nil
}

// firesHere finds where the threshold would have fired in the incident's
// session, and what the calls from there on cost.
func (s *server) firesHere(ctx context.Context, incident *haltd.Incident, out *whatIf) error {
	scores, err := s.deps.Incidents.Scores(ctx, incident.Agent, incident.Session)
	if err != nil {
		return err
	}
	resumes, err := s.resumes(ctx, incident)
	if err != nil {
		return err
	}
	fired, ok := economics.Try(incident, scores, resumes, out.Threshold)
	if !ok {
		return nil
	}
	out.FiresHere, out.First, out.CallsEarlier = true, &firstPoint{ScorePoint: pointInUTC(fired.First)}, fired.Earlier
	if fired.Earlier == 0 {
		return nil
	}
	out.Saved, err = s.costOf(ctx, haltd.EventQuery{
		Agent: incident.Agent, Session: incident.Session, Since: fired.First.Time, Before: incident.Event,
	})
	return err
}

// resumes are when somebody let the agent or the session of an incident go on.
func (s *server) resumes(ctx context.Context, i *haltd.Incident) (at []time.Time, err error) {
	q := haltd.EventQuery{Types: []haltd.EventType{haltd.EventPolicy}, Agent: i.Agent}
	for {
		events, next, err := s.eventPage(ctx, q, newestCalls)
		if err != nil {
			return nil, fmt.Errorf("read when %s was resumed: %w", i.Agent, err)
		}
		for k := range events {
			if events[k].Resumes(i.Session) {
				at = append(at, events[k].Time)
			}
		}
		if q.Before = next; next == 0 {
			return at, nil
		}
	}
}

func pointInUTC(p haltd.ScorePoint) haltd.ScorePoint {
	p.Time = p.Time.UTC()
	return p
}
