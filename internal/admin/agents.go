package admin

import (
	"context"
	"net/http"
	"strings"

	"github.com/haltd/haltd"
)

// Paging is how every listing is read page by page.
type Paging struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"How many at most."`
	Cursor string `query:"cursor" doc:"The next of the page before."`
}

func (p Paging) ask() haltd.Page { return haltd.Page{Limit: p.Limit, Cursor: p.Cursor} }

// nextOf is a cursor as JSON shows it: null on the last page.
func nextOf(cursor string) *string {
	if cursor == "" {
		return nil
	}
	return &cursor
}

// choice is a filter that may be left out.
func choice(text string) *bool {
	if text == "" {
		return nil
	}
	yes := text == "true"
	return &yes
}

type agentsInput struct {
	Paging
	Search string   `query:"search" doc:"Part of the id."`
	Active string   `query:"active" enum:"true,false" doc:"Only agents that may call, or only those that may not."`
	State  string   `query:"state" enum:"active,stopped,inactive" doc:"Only agents that may call, that the kill switch stopped, or that a person stopped by hand."`
	IDs    []string `query:"id,explode" maxItems:"100" doc:"Only these agents, by their ids; repeat it."`
	Sort   string   `query:"sort" enum:"last_seen,cost,calls,blocked" default:"last_seen" doc:"Which first: the last seen, or those with the most."`
}

type listedAgent struct {
	haltd.Agent
	Policy   haltd.Policy           `json:"policy" doc:"In force: the defaults, what the file says of the agent, and the override."`
	Spending []haltd.PeriodSpending `json:"spending" doc:"In the current day and month."`
}

type agentsOutput struct {
	Body struct {
		Agents []listedAgent     `json:"agents"`
		Next   *string           `json:"next" doc:"Cursor of the next page; null on the last."`
		Counts haltd.AgentCounts `json:"counts" doc:"Of all agents that the search finds, whatever their state."`
	}
}

type agentInput struct {
	ID string `path:"id" doc:"Id of the agent."`
}

type deleteAgentInput struct {
	Actor
	ID string `path:"id" doc:"Id of the agent."`
}

type agentView struct {
	haltd.Agent
	Policy   haltd.Policy           `json:"policy" doc:"In force: the defaults, what the file says of the agent, and the override."`
	Override haltd.PolicyOverride   `json:"override" doc:"What this API has set."`
	Spending []haltd.PeriodSpending `json:"spending" doc:"In the current day and month."`
}

type agentOutput struct{ Body agentView }

type windowInput struct {
	ID      string `path:"id" doc:"Id of the agent."`
	Session string `query:"session" doc:"The window of this session instead of the agent's."`
}

type windowOutput struct{ Body haltd.WindowView }

func (s *server) registerAgents() {
	register(s, operation(http.MethodGet, "/v1/agents", "list-agents", "Agents, the last seen first"), s.agents)
	register(s, operation(http.MethodGet, "/v1/agents/{id}", "get-agent", "One agent with its policy and what it has spent"),
		func(ctx context.Context, in *agentInput) (*agentOutput, error) {
			agent, err := s.agent(ctx, strings.ToLower(in.ID))
			if err != nil {
				return nil, err
			}
			return s.viewed(ctx, agent)
		})
	remove := operation(http.MethodDelete, "/v1/agents/{id}", "delete-agent", "Forget what was recorded of an agent, and its override")
	remove.Description = "A kill stays: an agent that was stopped is stopped when it comes back."
	register(s, remove, func(ctx context.Context, in *deleteAgentInput) (*struct{}, error) {
		s.writeQueued(ctx) // or its last calls would come back after it
		return nil, s.deps.Control.Delete(ctx, strings.ToLower(in.ID), in.by())
	})
	register(s, operation(http.MethodGet, "/v1/agents/{id}/window", "get-window", "What similarity holds of an agent now"), s.window)
}

func (s *server) agents(ctx context.Context, in *agentsInput) (*agentsOutput, error) {
	agents, next, err := s.deps.Agents.Agents(ctx, haltd.AgentQuery{
		Search: strings.ToLower(in.Search), Active: choice(in.Active), State: haltd.AgentState(in.State), IDs: in.IDs, Sort: sortBy(in.Sort), Page: in.ask(),
	})
	if err != nil {
		return nil, err
	}
	out := &agentsOutput{}
	if out.Body.Counts, err = s.deps.Agents.AgentCounts(ctx, strings.ToLower(in.Search)); err != nil {
		return nil, err
	}
	out.Body.Next = nextOf(next)
	out.Body.Agents = make([]listedAgent, len(agents))
	for i := range agents {
		policy, _ := s.deps.Policies.Policy(agents[i].ID)
		spending, err := s.deps.Spendings.Spending(ctx, agents[i].ID)
		if err != nil {
			return nil, err
		}
		out.Body.Agents[i] = listedAgent{agentInUTC(agents[i]), policy, spendingInUTC(spending)}
	}
	return out, nil
}

// sortBy is the order that a listing is asked for; the last seen first where
// nothing else is.
func sortBy(name string) haltd.Sort {
	if name == "last_seen" {
		return haltd.SortLastSeen
	}
	return haltd.Sort(name)
}

func spendingInUTC(spending []haltd.PeriodSpending) []haltd.PeriodSpending {
	list := make([]haltd.PeriodSpending, len(spending))
	for i, p := range spending {
		p.Start, p.Resets = p.Start.UTC(), p.Resets.UTC()
		list[i] = p
	}
	return list
}

// agent is one agent of the record, or one that is known only because
// somebody gave it a policy, because it is stopped or because it is in its
// first call.
func (s *server) agent(ctx context.Context, id string) (haltd.Agent, error) {
	agent, err := s.deps.Agents.Agent(ctx, id)
	standing, _ := s.deps.Standings.Standing(haltd.Target{Agent: id})
	if err != nil {
		if haltd.ErrorCode(err) != haltd.CodeNotFound || !s.deps.Standings.Known(id) && !s.deps.Calls.Calling(id) {
			return haltd.Agent{}, err
		}
		agent = haltd.Agent{ID: id}
	}
	return standingOver(agent, standing), nil
}

// standingOver is an agent as a change of its standing left it; the record
// may be a moment behind.
func standingOver(a haltd.Agent, s haltd.Standing) haltd.Agent {
	a.Standing, a.Active, a.DeactivatedBy = s, s.Active, s.DeactivatedBy
	return a
}

// viewed adds to an agent what it may do and what it has spent.
func (s *server) viewed(ctx context.Context, agent haltd.Agent) (*agentOutput, error) {
	spending, err := s.deps.Spendings.Spending(ctx, agent.ID)
	if err != nil {
		return nil, err
	}
	view := agentView{Agent: agentInUTC(agent), Spending: spendingInUTC(spending)}
	view.Policy, view.Override = s.deps.Policies.Policy(agent.ID)
	return &agentOutput{view}, nil
}

func (s *server) window(ctx context.Context, in *windowInput) (*windowOutput, error) {
	view, err := s.deps.Windows.Window(ctx, strings.ToLower(in.ID), in.Session)
	if err != nil {
		return nil, err
	}
	entries := make([]haltd.WindowEntry, len(view.Entries))
	for i, e := range view.Entries {
		e.Time = e.Time.UTC()
		entries[i] = e
	}
	view.Entries = entries
	return &windowOutput{view}, nil
}

// agentID reads the id of an agent that may be new.
func agentID(field, name string) (string, error) {
	id, ok := haltd.AgentID(name)
	if !ok {
		return "", haltd.Errorf(haltd.CodeInvalid, "%q is not a valid agent id", name).In(field).
			WithFix("Use up to 128 letters, digits and . _ : @ -, beginning with a letter or digit.")
	}
	return id, nil
}

func agentInUTC(a haltd.Agent) haltd.Agent {
	a.FirstSeen, a.LastSeen = a.FirstSeen.UTC(), a.LastSeen.UTC()
	a.Standing = standingInUTC(a.Standing)
	return a
}

func standingInUTC(s haltd.Standing) haltd.Standing {
	s.At, s.ActivatedAt, s.GraceUntil = s.At.UTC(), s.ActivatedAt.UTC(), s.GraceUntil.UTC()
	return s
}
