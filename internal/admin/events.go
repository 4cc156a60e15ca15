package admin

import (
	"context"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/haltd/haltd"
)

var eventTypes = []string{
	string(haltd.EventCall), string(haltd.EventPass), string(haltd.EventBlocked), string(haltd.EventKillSwitch), string(haltd.EventHalt), string(haltd.EventSteer),
	string(haltd.EventWarning), string(haltd.EventGrowth), string(haltd.EventPolicy), string(haltd.EventAlert),
	string(haltd.EventError),
}

// EventFilter is what every reading of events can select by. (The API is
// made from exported fields, embedded ones included.)
type EventFilter struct {
	Agent    string   `query:"agent" doc:"Only events of this agent."`
	Session  string   `query:"session" doc:"Only events of this session."`
	Client   string   `query:"client" doc:"Only events of this client family."`
	Provider string   `query:"provider" doc:"Only calls to this provider."`
	Model    string   `query:"model" doc:"Only calls of this model."`
	Type     []string `query:"type,explode" doc:"Only events of these types (event_type); repeat it or separate by commas: llm_call, pass_through, blocked, kill_switch, halt, steer, warning, growth, policy_change, alert, error."`
	Blocked  string   `query:"blocked" enum:"true,false" doc:"Only events that were blocked, or only those that were not."`
	Since    string   `query:"since" doc:"Only events from then on: RFC 3339, or a span before now such as 1h or 7d."`
	Until    string   `query:"until" doc:"Only events before then: RFC 3339, or a span before now."`
}

func (f *EventFilter) query(now time.Time) (haltd.EventQuery, error) {
	q := haltd.EventQuery{
		Agent: strings.ToLower(f.Agent), Session: f.Session, Client: f.Client, Provider: f.Provider, Model: f.Model,
	}
	var err error
	if q.Since, err = instant("since", f.Since, now); err != nil {
		return q, err
	}
	if q.Until, err = instant("until", f.Until, now); err != nil {
		return q, err
	}
	if f.Blocked != "" {
		blocked := f.Blocked == "true"
		q.Blocked = &blocked
	}
	for _, list := range f.Type {
		for name := range strings.SplitSeq(list, ",") {
			if !slices.Contains(eventTypes, name) {
				return q, haltd.Errorf(haltd.CodeInvalid, "%q is not an event type", name).In("type").
					WithFix("%s", suggestion(name, eventTypes))
			}
			q.Types = append(q.Types, haltd.EventType(name))
		}
	}
	return q, nil
}

// selects says of one event what the store's query says of many.
func selects(q *haltd.EventQuery, e *haltd.Event) bool {
	return (q.Agent == "" || q.Agent == e.Agent) &&
		(q.Session == "" || q.Session == e.Session) &&
		(q.Client == "" || q.Client == e.Client) &&
		(q.Provider == "" || q.Provider == e.Provider) &&
		(q.Model == "" || q.Model == e.Model) &&
		(q.Blocked == nil || *q.Blocked == e.Blocked) &&
		(len(q.Types) == 0 || slices.Contains(q.Types, e.Type)) &&
		!e.Time.Before(q.Since) &&
		(q.Until.IsZero() || e.Time.Before(q.Until))
}

type eventsInput struct {
	EventFilter
	Paging
}

type eventsOutput struct {
	Body struct {
		Events []haltd.Event `json:"events"`
		Next   *string       `json:"next" doc:"Cursor of the next page; null on the last."`
	}
}

type eventInput struct {
	ID string `path:"id" doc:"Id of the event."`
}

type eventOutput struct {
	Body struct {
		haltd.Event
		Excerpt *haltd.Excerpt `json:"excerpt,omitempty" doc:"What was said, where excerpts are stored."`
	}
}

func (s *server) registerEvents() {
	register(s, operation(http.MethodGet, "/v1/events", "list-events", "Events, the newest first"), s.events)
	register(s, operation(http.MethodGet, "/v1/events/{id}", "get-event", "One event"), s.event)
	s.registerExport()
	s.registerStream()
}

func (s *server) events(ctx context.Context, in *eventsInput) (*eventsOutput, error) {
	q, err := in.query(s.deps.Clock())
	if err != nil {
		return nil, err
	}
	if in.Cursor != "" {
		if q.Before, err = haltd.ParseEventID(in.Cursor); err != nil || q.Before <= 0 {
			return nil, haltd.Errorf(haltd.CodeInvalid, "%q is not the next of an earlier page", in.Cursor).In("cursor").
				WithFix("Leave it out to start at the newest event.")
		}
	}
	events, next, err := s.eventPage(ctx, q, in.Limit)
	if err != nil {
		return nil, err
	}
	out := &eventsOutput{}
	out.Body.Events = events
	if next != 0 {
		out.Body.Next = nextOf(next.String())
	}
	return out, nil
}

// eventPage reads one page and the cursor of the one after it, 0 where there
// is none. It asks for one event more to know.
func (s *server) eventPage(ctx context.Context, q haltd.EventQuery, limit int) ([]haltd.Event, haltd.EventID, error) {
	q.Limit = limit + 1
	found, err := s.deps.Events.Events(ctx, q)
	if err != nil {
		return nil, 0, err
	}
	next := haltd.EventID(0)
	if len(found) > limit {
		found = found[:limit]
		next = found[limit-1].ID
	}
	events := make([]haltd.Event, len(found))
	for i := range found {
		events[i] = eventInUTC(found[i])
	}
	return events, next, nil
}

func (s *server) event(ctx context.Context, in *eventInput) (*eventOutput, error) {
	id, err := haltd.ParseEventID(in.ID)
	if err != nil {
		return nil, err
	}
	if id < math.MaxInt64 {
		found, err := s.deps.Events.Events(ctx, haltd.EventQuery{Before: id + 1, Limit: 1})
		if err != nil {
			return nil, err
		}
		if len(found) == 1 && found[0].ID == id {
			return s.withExcerpt(ctx, eventInUTC(found[0]))
		}
	}
	return nil, haltd.Errorf(haltd.CodeNotFound, "There is no event %s", in.ID).
		WithFix("It may be older than the record is kept; GET /v1/events lists what there is.")
}

func (s *server) withExcerpt(ctx context.Context, e haltd.Event) (*eventOutput, error) {
	excerpt, ok, err := s.deps.Excerpts.Excerpt(ctx, e.ID)
	if err != nil {
		return nil, err
	}
	out := &eventOutput{}
	out.Body.Event = e
	if ok {
		out.Body.Excerpt = &excerpt
	}
	return out, nil
}

func eventInUTC(e haltd.Event) haltd.Event {
	e.Time = e.Time.UTC()
	return e
}
