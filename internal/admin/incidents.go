package admin

import (
	"context"
	"net/http"
	"time"

	"github.com/haltd/haltd"
)

// IncidentFilter selects incidents.
type IncidentFilter struct {
	Agent    string `query:"agent" doc:"Only incidents of this agent."`
	Search   string `query:"search" maxLength:"200" doc:"Part of the agent's name, or of the incident's id."`
	Session  string `query:"session" doc:"Only incidents of this session."`
	Kind     string `query:"kind" enum:"kill_switch,growth,budget_soft,budget_hard,session_limit,steer" doc:"Only incidents of this kind."`
	Detector string `query:"detector" enum:"stall,similarity,growth,exact" doc:"Only incidents that this detector decided."`
	Status   string `query:"status" enum:"open,resumed,continued,recovered,unmoved,kept,false_positive" doc:"Only incidents in this state."`
	Shadow   string `query:"shadow" enum:"true,false" doc:"Only what would have been done, or only what was done."`
	Stops    string `query:"stops" enum:"true,false" doc:"Only what stopped an agent or a session, or only what did not."`
	Since    string `query:"since" doc:"Only incidents from then on: RFC 3339, or a span before now such as 1h or 7d."`
}

type incidentsInput struct {
	Paging
	IncidentFilter
	Sort string `query:"sort" enum:"newest,stops,cost" default:"newest" doc:"The newest first; or what stopped somebody first; or what cost the most, of the newest 1,000, and then the older ones."`
}

type listedIncident struct {
	haltd.Incident
	Burned haltd.Money `json:"burned_usd" doc:"What the repeating calls cost."`
	Calls  int         `json:"burned_calls" doc:"How many calls that is."`
}

type incidentsOutput struct {
	Body struct {
		Incidents []listedIncident `json:"incidents"`
		Next      *string          `json:"next" doc:"Cursor of the next page; null on the last."`
	}
}

type incidentCountsOutput struct {
	Body struct {
		Counts []haltd.IncidentCount `json:"counts" doc:"Of incidents that are alike; the most frequent first."`
		Total  int64                 `json:"total"`
	}
}

type remarkInput struct {
	Actor
	ID   string `path:"id" doc:"Id of the incident."`
	Body struct {
		Acknowledge bool   `json:"acknowledge,omitempty" doc:"Say that you have seen it; it stays open."`
		Text        string `json:"text,omitempty" maxLength:"2000" doc:"A comment; an incident takes 100."`
	}
}

type incidentInput struct {
	ID string `path:"id" doc:"Id of the incident."`
}

type incidentView struct {
	haltd.Incident
	Money    incidentMoney `json:"money"`
	TraceURL string        `json:"trace_url,omitempty" doc:"The page of its trace, where admin.trace_url says how to find it."`
}

type incidentOutput struct{ Body incidentView }

type incidentExcerptOutput struct {
	Body struct {
		Excerpt *haltd.IncidentExcerpt `json:"excerpt,omitempty" doc:"What was said in the rounds that prove it; left out where nothing is kept of it."`
	}
}

type feedbackInput struct {
	Actor
	ID   string `path:"id" doc:"Id of the incident."`
	Body struct {
		Status string `json:"status" enum:"open,resumed,kept,false_positive" doc:"What you decide; resumed lets the agent call again. open undoes a decision: who was resumed by it is stopped again."`
		Expect string `json:"expect,omitempty" enum:"open,resumed,continued,recovered,unmoved,kept,false_positive" doc:"The status that you saw. Where somebody else has decided since, nothing is changed, and the answer is 409 and says who."`
		Note   string `json:"note,omitempty" maxLength:"2000"`
		Resume bool   `json:"resume,omitempty" doc:"With false_positive: let the agent call again, too."`
		Grace  int    `json:"grace_minutes,omitempty" minimum:"0" maximum:"10080" doc:"For how long a kill only warns after it is resumed."`
	}
}

func (s *server) registerIncidents() {
	register(s, operation(http.MethodGet, "/v1/incidents", "list-incidents", "Incidents, the newest first"), s.incidents)
	register(s, operation(http.MethodGet, "/v1/incidents/{id}", "get-incident", "One incident, with what it cost and saved"),
		func(ctx context.Context, in *incidentInput) (*incidentOutput, error) {
			incident, err := s.deps.Incidents.Incident(ctx, in.ID)
			if err != nil {
				return nil, err
			}
			return s.priced(ctx, incident)
		})
	register(s, operation(http.MethodGet, "/v1/incidents/{id}/excerpt", "get-incident-excerpt", "What was said in the rounds that prove an incident"),
		func(ctx context.Context, in *incidentInput) (*incidentExcerptOutput, error) {
			if _, err := s.deps.Incidents.Incident(ctx, in.ID); err != nil {
				return nil, err
			}
			out := &incidentExcerptOutput{}
			excerpt, ok, err := s.deps.Excerpts.IncidentExcerpt(ctx, in.ID)
			if ok {
				out.Body.Excerpt = &excerpt
			}
			return out, err
		})
	register(s, operation(http.MethodGet, "/v1/incidents/counts", "count-incidents", "How many incidents there are, by what lists are filtered by"), s.incidentCounts)
	register(s, operation(http.MethodGet, "/v1/savings", "get-savings", "What stopping agents has saved, an estimate"), s.savings)
	register(s, operation(http.MethodPost, "/v1/incidents/{id}/remarks", "remark-on-incident", "Acknowledge an incident, comment on it, or both"), s.remark)
	register(s, operation(http.MethodPost, "/v1/incidents/{id}/feedback", "decide-incident", "Say what you make of an incident"), s.decide)
	s.registerWhatIf()
}

func (s *server) priced(ctx context.Context, incident haltd.Incident) (*incidentOutput, error) {
	money, err := s.moneyOf(ctx, &incident)
	return &incidentOutput{incidentView{incidentInUTC(incident), money, s.deps.TracePage(incident.Trace)}}, err
}

// decide writes the decision before it resumes: resuming closes what is open,
// and would take a label for a plain resume.
func (s *server) decide(ctx context.Context, in *feedbackInput) (*incidentOutput, error) {
	incident, err := s.deps.Incidents.Incident(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if expect := haltd.IncidentStatus(in.Body.Expect); expect != "" && expect != incident.Status {
		return nil, decidedSince(&incident)
	}
	status := haltd.IncidentStatus(in.Body.Status)
	if status == haltd.IncidentOpen {
		return s.reopen(ctx, in, &incident)
	}
	resume := in.Body.Resume || status == haltd.IncidentResumed
	switch {
	case resume && status == haltd.IncidentKept:
		return nil, haltd.Errorf(haltd.CodeInvalid, "what is kept stopped cannot be resumed as well").In("resume").WithFix("Use the status resumed or false_positive.")
	case resume && !incident.Stops():
		return nil, haltd.Errorf(haltd.CodeInvalid, "incident %s stopped nobody", incident.ID).In("resume").WithFix("Use the status kept, or false_positive without resume.")
	case !resume && in.Body.Grace != 0:
		return nil, haltd.Errorf(haltd.CodeInvalid, "only a resume can have a grace time").In("grace_minutes").WithFix("Add \"resume\": true, or leave it out.")
	}
	decided, err := s.deps.Control.Decide(ctx, incident.ID, status, in.by(), in.Body.Note)
	if err != nil {
		return nil, err
	}
	if resume {
		t := haltd.Target{Agent: incident.Agent}
		if incident.Scope == haltd.ScopeSession {
			t.Session = incident.Session
		}
		grace := time.Duration(in.Body.Grace) * time.Minute
		if _, err := s.deps.Control.Activate(ctx, t, grace, in.by(), in.Body.Note); err != nil {
			return nil, err
		}
	}
	return s.priced(ctx, decided)
}

// reopen undoes a decision.
func (s *server) reopen(ctx context.Context, in *feedbackInput, i *haltd.Incident) (*incidentOutput, error) {
	if i.Status == haltd.IncidentOpen {
		return nil, haltd.Errorf(haltd.CodeInvalid, "incident %s is open, there is no decision to undo", i.ID).In("status").WithFix("Use the status resumed, kept or false_positive.")
	}
	if in.Body.Resume || in.Body.Grace != 0 || in.Body.Note != "" {
		return nil, haltd.Errorf(haltd.CodeInvalid, "open undoes a decision and takes no other field").In("status").WithFix("Leave out note, resume and grace_minutes.")
	}
	incident, err := s.deps.Control.Reopen(ctx, in.ID, in.by())
	if err != nil {
		return nil, err
	}
	return s.priced(ctx, incident)
}

// decidedSince tells of a decision that somebody else was quicker with.
func decidedSince(i *haltd.Incident) error {
	if i.Status == haltd.IncidentOpen {
		return haltd.Errorf(haltd.CodeConflict, "Incident %s was opened again meanwhile; nothing was changed", i.ID).WithFix("Look at it again, then decide.")
	}
	at := ""
	if i.ClosedAt != nil {
		at = " at " + i.ClosedAt.UTC().Format("15:04:05 MST")
	}
	return haltd.Errorf(haltd.CodeConflict, "%s has decided already%s: %s; nothing was changed", i.ClosedBy, at, i.StatusWords()).
		WithFix("Look at it again; the decision can be changed or undone.")
}

func incidentInUTC(i haltd.Incident) haltd.Incident {
	i.Time = i.Time.UTC()
	if i.ClosedAt != nil {
		at := i.ClosedAt.UTC()
		i.ClosedAt = &at
	}
	if i.SeenAt != nil {
		at := i.SeenAt.UTC()
		i.SeenAt = &at
	}
	return i
}
