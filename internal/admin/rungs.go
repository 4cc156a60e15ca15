package admin

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/haltd/haltd"
)

// mostCounted is how many incidents of a kind are counted for one answer, the
// newest first.
const mostCounted = 2000

type rungsInput struct {
	Since string `query:"since" default:"24h" doc:"From then on: RFC 3339, or a span before now such as 1h or 7d."`
	Agent string `query:"agent" doc:"Only this agent."`
}

// rungCounts is how often each rung was taken, and what came of it.
type rungCounts struct {
	Since     time.Time `json:"since"`
	Steered   int       `json:"steered" doc:"Stalls in which the model was told what it repeats."`
	Recovered int       `json:"recovered" doc:"Of those steered: the next rounds brought something new, or the turn ended."`
	Stopped   int       `json:"stopped" doc:"Of those steered: it went on repeating itself, and the next rung followed."`
	Halted    int       `json:"halted" doc:"Turns that were ended until a person writes."`
	Continued int       `json:"continued" doc:"Of those halted: a person wrote, and the session went on."`
	Killed    int       `json:"killed" doc:"Agents and sessions that were stopped until somebody resumes them."`
	More      bool      `json:"more" doc:"There are more incidents than were counted; take a shorter time."`
}

type rungsOutput struct{ Body rungCounts }

func (s *server) registerRungs() {
	register(s, operation(http.MethodGet, "/v1/stats/rungs", "get-rungs", "How often agents were steered, halted and killed, and what came of it"), s.rungs)
}

func (s *server) rungs(ctx context.Context, in *rungsInput) (*rungsOutput, error) {
	since, err := instant("since", in.Since, s.deps.Clock())
	if err != nil {
		return nil, err
	}
	n := rungCounts{Since: since.UTC()}
	done := false
	for _, kind := range [...]haltd.IncidentKind{haltd.IncidentSteer, haltd.IncidentKillSwitch} {
		q := haltd.IncidentQuery{Agent: strings.ToLower(in.Agent), Kind: kind, Shadow: &done, Since: since, Page: haltd.Page{Limit: 200}}
		for counted := 0; ; counted += q.Limit {
			if counted >= mostCounted {
				n.More = true
				break
			}
			list, next, err := s.deps.Incidents.Incidents(ctx, q)
			if err != nil {
				return nil, err
			}
			for i := range list {
				n.add(&list[i])
			}
			if q.Cursor = next; next == "" {
				break
			}
		}
	}
	return &rungsOutput{n}, nil
}

func (n *rungCounts) add(i *haltd.Incident) {
	switch i.Action {
	case haltd.Steer:
		n.Steered++
	case haltd.Halt:
		n.Halted++
	case haltd.Kill:
		n.Killed++
	}
	switch i.Status {
	case haltd.IncidentRecovered:
		n.Recovered++
	case haltd.IncidentUnmoved:
		n.Stopped++
	case haltd.IncidentContinued:
		n.Continued++
	}
}
