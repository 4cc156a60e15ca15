package control

import (
	"maps"
	"time"

	"github.com/haltd/haltd"
)

// Agent is a snapshot of an agent: its policy, and whether it and its sessions
// may call. It never changes.
type Agent struct {
	Policy   haltd.Policy
	Zone     *time.Location
	Standing haltd.Standing
	// WindowResetAt is when an activation last cleared the agent's window.
	WindowResetAt time.Time
	sessions      map[string]haltd.Standing
	pending       map[string]*pendingStop // by session; "" is the agent
}

// Stopped is the standing that keeps a session from calling: the agent's own
// or the session's, also one that is still being written. One that is halted is
// not stopped.
func (a *Agent) Stopped(session string) (haltd.Standing, bool) {
	if !a.Standing.Active {
		return a.Standing, true
	}
	if s, ok := a.sessions[session]; ok && !s.Active && !s.IsHalted() {
		return s, true
	}
	for _, of := range [...]string{"", session} {
		if p := a.pending[of]; p != nil {
			return p.standing, true
		}
	}
	return haltd.Standing{}, false
}

// Halted is the standing of a session whose turn was ended.
func (a *Agent) Halted(session string) (haltd.Standing, bool) {
	s, ok := a.sessions[session]
	return s, ok && s.IsHalted()
}

// Activated is when the session was last resumed, by itself or with its
// agent; zero when never.
func (a *Agent) Activated(session string) time.Time {
	at := a.Standing.ActivatedAt
	if s, ok := a.sessions[session]; ok && s.ActivatedAt.After(at) {
		at = s.ActivatedAt
	}
	return at
}

// InGrace reports whether a kill only warns now.
func (a *Agent) InGrace(session string, now time.Time) bool {
	return now.Before(a.Standing.GraceUntil) || now.Before(a.sessions[session].GraceUntil)
}

// setStanding makes a standing the one in force.
func (t *table) setStanding(s haltd.Standing) {
	next := *t.agent(s.Agent)
	if t.agents[s.Agent] == nil {
		next.Standing = haltd.Standing{Agent: s.Agent, Active: true}
	}
	if s.Session == "" {
		next.Standing = s
	} else {
		next.sessions = maps.Clone(next.sessions)
		if next.sessions == nil {
			next.sessions = map[string]haltd.Standing{}
		}
		next.sessions[s.Session] = s
	}
	if s.ActivatedAt.After(next.WindowResetAt) {
		next.WindowResetAt = s.ActivatedAt
	}
	t.agents[s.Agent] = &next
}

// Active reports whether a session may call.
func (a *Agent) Active(session string) bool {
	_, stopped := a.Stopped(session)
	return !stopped
}
