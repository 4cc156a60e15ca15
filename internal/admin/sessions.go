package admin

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/haltd/haltd"
)

type sessionsInput struct {
	Paging
	Agent  string `query:"agent" doc:"Only sessions of this agent."`
	Search string `query:"search" doc:"Part of the id."`
	State  string `query:"state" enum:"active,halted,stopped" doc:"Only sessions in this state."`
	Sort   string `query:"sort" enum:"last_seen,cost,calls" default:"last_seen" doc:"Which first: the last seen, or those with the most."`
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

func (s *server) registerSessions() {
	register(s, operation(http.MethodGet, "/v1/sessions", "list-sessions", "Sessions, the last seen first"), s.sessions)
	register(s, operation(http.MethodGet, "/v1/agents/{agent}/sessions/{session}", "get-session", "One session"),
		func(ctx context.Context, in *sessionInput) (*sessionOutput, error) {
			session, err := s.session(ctx, haltd.Target{Agent: strings.ToLower(in.Agent), Session: in.Session})
			return &sessionOutput{session}, err
		})
}

func (s *server) sessions(ctx context.Context, in *sessionsInput) (*sessionsOutput, error) {
	sessions, next, err := s.deps.Agents.Sessions(ctx, haltd.SessionQuery{Agent: strings.ToLower(in.Agent), Search: in.Search,
		State: haltd.SessionState(in.State), Sort: sortBy(in.Sort), Page: in.ask()})
	if err != nil {
		return nil, err
	}
	out := &sessionsOutput{}
	out.Body.Next = nextOf(next)
	out.Body.Sessions = make([]haltd.Session, len(sessions))
	for i := range sessions {
		out.Body.Sessions[i] = s.sessionNow(sessions[i])
	}
	return out, nil
}

// session is one session of the record, or one that is known only because it
// is stopped.
func (s *server) session(ctx context.Context, t haltd.Target) (haltd.Session, error) {
	session, err := s.deps.Agents.Session(ctx, t.Agent, t.Session)
	standing, _ := s.deps.Standings.Standing(t)
	switch {
	case haltd.ErrorCode(err) == haltd.CodeNotFound && !standing.Active:
		session = haltd.Session{ID: t.Session, Agent: t.Agent}
	case err != nil:
		return haltd.Session{}, err
	}
	session.Standing = standing
	return s.sessionNow(session), nil
}

// agentOf finds whose session is meant when only its id is given.
func (s *server) agentOf(ctx context.Context, session string) (string, error) {
	agents := s.deps.Standings.Stopped(session)
	if len(agents) == 0 {
		var err error
		if agents, err = s.agentsWith(ctx, session); err != nil {
			return "", err
		}
	}
	switch len(agents) {
	case 0:
		return "", haltd.Errorf(haltd.CodeNotFound, "There is no session %s", session).
			WithFix("GET /v1/sessions lists them; with ?agent= a session that has not called yet can be named, too.")
	case 1:
		return agents[0], nil
	}
	return "", haltd.Errorf(haltd.CodeInvalid, "session %s exists for more than one agent: %s", session, strings.Join(agents, ", ")).In("agent").
		WithFix("Say which with ?agent=.")
}

// agentsWith are the agents that have a session of this id in the record.
func (s *server) agentsWith(ctx context.Context, session string) ([]string, error) {
	var agents []string
	q := haltd.SessionQuery{Search: session, Page: haltd.Page{Limit: 1000}}
	for {
		found, next, err := s.deps.Agents.Sessions(ctx, q)
		if err != nil {
			return nil, err
		}
		for i := range found {
			if found[i].ID == session {
				agents = append(agents, found[i].Agent)
			}
		}
		if q.Cursor = next; next == "" {
			slices.Sort(agents)
			return slices.Compact(agents), nil
		}
	}
}

// sessionNow is a session with how its agent stands.
func (s *server) sessionNow(session haltd.Session) haltd.Session {
	agent, _ := s.deps.Standings.Standing(haltd.Target{Agent: session.Agent})
	session.AgentInactive = !agent.Active
	return sessionInUTC(session)
}

func sessionInUTC(s haltd.Session) haltd.Session {
	s.FirstSeen, s.LastSeen = s.FirstSeen.UTC(), s.LastSeen.UTC()
	s.Standing = standingInUTC(s.Standing)
	s.State = s.Standing.State()
	return s
}
