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

type agentsInput struct {
	Paging
	Search string `query:"search" doc:"Part of the id."`
}

type agentsOutput struct {
	Body struct {
		Agents []haltd.Agent `json:"agents"`
		Next   *string       `json:"next" doc:"Cursor of the next page; null on the last."`
	}
}

type agentInput struct {
	ID string `path:"id" doc:"Id of the agent."`
}

type agentOutput struct{ Body haltd.Agent }

type sessionsInput struct {
	Paging
	Agent  string `query:"agent" doc:"Only sessions of this agent."`
	Search string `query:"search" doc:"Part of the id."`
}

type sessionsOutput struct {
	Body struct {
		Sessions []haltd.Session `json:"sessions"`
		Next     *string         `json:"next" doc:"Cursor of the next page; null on the last."`
	}
}

type sessionInput struct {
	Agent   string `path:"agent" doc:"Id of the agent."`
	Session string `path:"session" doc:"Id of the session."`
}

type sessionOutput struct{ Body haltd.Session }

func (s *server) registerAgents() {
	register(s, operation(http.MethodGet, "/v1/agents", "list-agents", "Agents, the last seen first"), s.agents)
	register(s, operation(http.MethodGet, "/v1/agents/{id}", "get-agent", "One agent"), s.agent)
	register(s, operation(http.MethodGet, "/v1/sessions", "list-sessions", "Sessions, the last seen first"), s.sessions)
	register(s, operation(http.MethodGet, "/v1/agents/{agent}/sessions/{session}", "get-session", "One session"), s.session)
}

func (s *server) agents(ctx context.Context, in *agentsInput) (*agentsOutput, error) {
	agents, next, err := s.Agents.Agents(ctx, haltd.AgentQuery{Search: strings.ToLower(in.Search), Page: in.ask()})
	if err != nil {
		return nil, err
	}
	out := &agentsOutput{}
	out.Body.Next = nextOf(next)
	out.Body.Agents = make([]haltd.Agent, len(agents))
	for i := range agents {
		out.Body.Agents[i] = agentInUTC(agents[i])
	}
	return out, nil
}

func (s *server) agent(ctx context.Context, in *agentInput) (*agentOutput, error) {
	agent, err := s.Agents.Agent(ctx, strings.ToLower(in.ID))
	return &agentOutput{agentInUTC(agent)}, err
}

func (s *server) sessions(ctx context.Context, in *sessionsInput) (*sessionsOutput, error) {
	sessions, next, err := s.Agents.Sessions(ctx, haltd.SessionQuery{Agent: strings.ToLower(in.Agent), Search: in.Search, Page: in.ask()})
	if err != nil {
		return nil, err
	}
	out := &sessionsOutput{}
	out.Body.Next = nextOf(next)
	out.Body.Sessions = make([]haltd.Session, len(sessions))
	for i := range sessions {
		out.Body.Sessions[i] = sessionInUTC(sessions[i])
	}
	return out, nil
}

func (s *server) session(ctx context.Context, in *sessionInput) (*sessionOutput, error) {
	session, err := s.Agents.Session(ctx, strings.ToLower(in.Agent), in.Session)
	return &sessionOutput{sessionInUTC(session)}, err
}

func agentInUTC(a haltd.Agent) haltd.Agent {
	a.FirstSeen, a.LastSeen = a.FirstSeen.UTC(), a.LastSeen.UTC()
	return a
}

func sessionInUTC(s haltd.Session) haltd.Session {
	s.FirstSeen, s.LastSeen = s.FirstSeen.UTC(), s.LastSeen.UTC()
	return s
}
