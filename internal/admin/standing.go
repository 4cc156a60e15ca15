package admin

import (
	"context"
	"net/http"
	"time"

	"github.com/haltd/haltd"
)

// activation and deactivation are bodies that may be left out altogether.
type activation struct {
	Grace  int    `json:"grace_minutes,omitempty" minimum:"0" maximum:"10080" doc:"For how long a kill only warns after this."`
	Reason string `json:"reason,omitempty" maxLength:"500" doc:"Why, for the record."`
}

type deactivation struct {
	Now    bool   `json:"now,omitempty" doc:"Cut the calls in flight, too."`
	Reason string `json:"reason,omitempty" maxLength:"500" doc:"Why, for the record."`
}

type activateAgentInput struct {
	Actor
	ID   string `path:"id" doc:"Id of the agent."`
	Body *activation
}

type deactivateAgentInput struct {
	Actor
	ID   string `path:"id" doc:"Id of the agent."`
	Body *deactivation
}

// SessionTarget names a session in the path of a change.
type SessionTarget struct {
	ID    string `path:"id" doc:"Id of the session."`
	Agent string `query:"agent" doc:"Whose session; needed when more than one agent has a session of this id."`
}

type activateSessionInput struct {
	Actor
	SessionTarget
	Body *activation
}

type deactivateSessionInput struct {
	Actor
	SessionTarget
	Body *deactivation
}

func (s *server) registerStandings() {
	activate := operation(http.MethodPost, "/v1/agents/{id}/activate", "activate-agent", "Let an agent call again")
	activate.Description = "Its window is cleared, and rounds from before no longer count."
	register(s, activate, func(ctx context.Context, in *activateAgentInput) (*agentOutput, error) {
		id, err := agentID("id", in.ID)
		if err != nil {
			return nil, err
		}
		standing, err := s.activate(ctx, haltd.Target{Agent: id}, in.Actor, in.Body)
		return s.agentAfter(ctx, standing, err)
	})
	register(s, operation(http.MethodPost, "/v1/agents/{id}/deactivate", "deactivate-agent", "Stop an agent"),
		func(ctx context.Context, in *deactivateAgentInput) (*agentOutput, error) {
			id, err := agentID("id", in.ID)
			if err != nil {
				return nil, err
			}
			standing, err := s.deactivate(ctx, haltd.Target{Agent: id}, in.Actor, in.Body)
			return s.agentAfter(ctx, standing, err)
		})
	register(s, operation(http.MethodPost, "/v1/sessions/{id}/activate", "activate-session", "Let a session call again"),
		func(ctx context.Context, in *activateSessionInput) (*sessionOutput, error) {
			t, err := s.target(ctx, in.SessionTarget)
			if err != nil {
				return nil, err
			}
			standing, err := s.activate(ctx, t, in.Actor, in.Body)
			return s.sessionAfter(ctx, standing, err)
		})
	register(s, operation(http.MethodPost, "/v1/sessions/{id}/deactivate", "deactivate-session", "Stop one session of an agent"),
		func(ctx context.Context, in *deactivateSessionInput) (*sessionOutput, error) {
			t, err := s.target(ctx, in.SessionTarget)
			if err != nil {
				return nil, err
			}
			standing, err := s.deactivate(ctx, t, in.Actor, in.Body)
			return s.sessionAfter(ctx, standing, err)
		})
}

func (s *server) activate(ctx context.Context, t haltd.Target, a Actor, body *activation) (haltd.Standing, error) {
	if body == nil {
		body = &activation{}
	}
	return s.deps.Control.Activate(ctx, t, time.Duration(body.Grace)*time.Minute, a.by(), body.Reason)
}

func (s *server) deactivate(ctx context.Context, t haltd.Target, a Actor, body *deactivation) (haltd.Standing, error) {
	if body == nil {
		body = &deactivation{}
	}
	return s.deps.Control.Deactivate(ctx, t, body.Now, a.by(), body.Reason)
}

// target finds the session that is meant.
func (s *server) target(ctx context.Context, named SessionTarget) (haltd.Target, error) {
	agent, err := named.Agent, error(nil)
	if agent == "" {
		agent, err = s.agentOf(ctx, named.ID)
	} else {
		agent, err = agentID("agent", agent)
	}
	return haltd.Target{Agent: agent, Session: named.ID}, err
}

// agentAfter is the agent as a change left it. The record may not know it
// yet; the change itself does.
func (s *server) agentAfter(ctx context.Context, standing haltd.Standing, err error) (*agentOutput, error) {
	if err != nil {
		return nil, err
	}
	agent, err := s.deps.Agents.Agent(ctx, standing.Agent)
	if haltd.ErrorCode(err) == haltd.CodeNotFound {
		agent, err = haltd.Agent{ID: standing.Agent}, nil
	}
	if err != nil {
		return nil, err
	}
	return s.viewed(ctx, standingOver(agent, standing))
}

func (s *server) sessionAfter(ctx context.Context, standing haltd.Standing, err error) (*sessionOutput, error) {
	if err != nil {
		return nil, err
	}
	session, err := s.deps.Agents.Session(ctx, standing.Agent, standing.Session)
	if haltd.ErrorCode(err) == haltd.CodeNotFound {
		session, err = haltd.Session{ID: standing.Session, Agent: standing.Agent}, nil
	}
	if err != nil {
		return nil, err
	}
	session.Standing = standing
	return &sessionOutput{s.sessionNow(session)}, nil
}
