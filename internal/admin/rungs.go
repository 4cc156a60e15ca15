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
	// Shadow is a word: a boolean that is left out cannot be told from false.
	Shadow string `query:"shadow" enum:"true,false" default:"false" doc:"Count what would have been done while the switch was off, once a session, instead of what was done."`
}

// rungCounts is how often each rung was taken, and what came of it.
type rungCounts struct {
	Since     time.Time `json:"since"`
	Steered   int       `json:"steered" doc:"Stalls in which the model was told what it repeats."`
	Recovered int       `json:"recovered" doc:"Of those steered: the next rounds brought something new, or the turn ended."`
	Stopped   int       `json:"stopped" doc:"Of those steered: it went on repeating itself, and the next rung followed."`
	Halted    int       `json:"halted" doc:"Turns that were ended until a person writes."`
	Continued int       `json:"continued" doc:"Of those halted: a person wrote, and the session went on."`
	Rejected  int       `json:"rejected" doc:"Loops that were answered 429 for a while."`
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
	shadow := in.Shadow == "true"
	if shadow {
		if err := s.countShadowSteers(ctx, in, &n); err != nil {
			return nil, err
		}
	}
	for _, kind := range [...]haltd.IncidentKind{haltd.IncidentSteer, haltd.IncidentKillSwitch} {
		q := haltd.IncidentQuery{Agent: strings.ToLower(in.Agent), Kind: kind, Shadow: &shadow, Since: since, Page: haltd.Page{Limit: 200}}
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
	case haltd.Reject:
		n.Rejected++
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

// countShadowSteers counts the sessions that would have been steered. Such a
// session has no incident before it would have been stopped.
func (s *server) countShadowSteers(ctx context.Context, in *rungsInput, n *rungCounts) error {
	events, err := s.deps.Events.Events(ctx, haltd.EventQuery{
		Types: []haltd.EventType{haltd.EventSteer}, Agent: strings.ToLower(in.Agent), Since: n.Since, Limit: mostCounted,
	})
	if err != nil {
		return err
	}
	sessions := map[haltd.Target]bool{}
	for i := range events {
		if e := &events[i]; e.Shadow {
			sessions[haltd.Target{Agent: e.Agent, Session: e.Session}] = true
		}
	}
	n.Steered, n.More = len(sessions), len(events) == mostCounted
	return nil
}
