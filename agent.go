package haltd

import (
	"context"
	"strings"
	"time"
)

// Agent is what an operator names, limits and kills. It appears by itself
// with its first call.
type Agent struct {
	ID            string         `json:"id"`
	Active        bool           `json:"active"`
	DeactivatedBy *DeactivatedBy `json:"deactivated_by"`
	// Standing says since when and by whose will.
	Standing Standing `json:"standing"`
	// Shared marks a default agent, named after a client family because
	// nobody named it: many users share it, so window and kill are per
	// session.
	Shared    bool      `json:"shared"`
	FirstSeen time.Time `json:"first_seen"`
	LastSeen  time.Time `json:"last_seen"`
	Totals    Totals    `json:"totals"`
}

// DeactivatedBy says who switched an agent off.
type DeactivatedBy string

// The ways an agent or a session becomes inactive.
const (
	ByKillSwitch DeactivatedBy = "kill_switch"
	ByManual     DeactivatedBy = "manual"
	ByHalt       DeactivatedBy = "halt" // a session, until a person writes to it
)

// Session is one conversation or run of an agent.
type Session struct {
	ID     string `json:"id"`
	Agent  string `json:"agent"`
	Client string `json:"client"`
	Model  string `json:"model"` // of the newest call
	// Standing is that of the session; its agent may be inactive as well.
	Standing Standing     `json:"standing"`
	State    SessionState `json:"state" enum:"active,halted,stopped"`
	// AgentInactive says that nothing of the session passes, however the
	// session itself stands.
	AgentInactive bool `json:"agent_inactive,omitempty" doc:"The agent is inactive, so that no call of the session passes."`
	// PeakScore is the highest similarity score of its calls.
	PeakScore float64   `json:"peak_score"`
	FirstSeen time.Time `json:"first_seen"`
	LastSeen  time.Time `json:"last_seen"`
	Totals    Totals    `json:"totals"`
}

// SessionState is its standing in a word.
type SessionState string

// The states of a session.
const (
	SessionActive  SessionState = "active"
	SessionHalted  SessionState = "halted" // until a person writes to it
	SessionStopped SessionState = "stopped"
)

// Totals is what a set of calls added up to.
type Totals struct {
	Calls   int64 `json:"calls"` // all of them, the blocked ones among them
	Blocked int64 `json:"blocked"`
	Errors  int64 `json:"errors"` // calls that ended without a complete 2xx reply and were not blocked
	Tokens  Usage `json:"tokens"`
	Cost    Money `json:"cost_usd"`
}

// AgentID lowercases name and says whether it is a valid agent id: 1 to 128
// letters, digits and . _ : @ -, the first a letter or digit.
func AgentID(name string) (id string, ok bool) {
	id = strings.ToLower(name)
	for i := range len(id) {
		c := id[i]
		alphanumeric := c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
		if !alphanumeric && (i == 0 || strings.IndexByte("._:@-", c) < 0) {
			return id, false
		}
	}
	return id, len(id) >= 1 && len(id) <= 128
}

// AgentQuery selects agents; zero fields select all.
type AgentQuery struct {
	Search string // part of the id
	Active *bool
	State  AgentState
	IDs    []string // only these
	Sort   Sort
	Page
}

// AgentState is an agent's standing in a word.
type AgentState string

// The states of an agent.
const (
	AgentActive   AgentState = "active"
	AgentStopped  AgentState = "stopped"  // by the kill switch
	AgentInactive AgentState = "inactive" // by a person
)

// AgentCounts is how many agents are in each state.
type AgentCounts struct {
	Active   int64 `json:"active"`
	Stopped  int64 `json:"stopped" doc:"By the kill switch."`
	Inactive int64 `json:"inactive" doc:"Switched off by a person."`
}

// Sort is what a listing is ordered by, the most first.
type Sort string

// The orders of agents and sessions.
const (
	SortLastSeen Sort = ""
	SortCost     Sort = "cost"
	SortCalls    Sort = "calls"
	SortBlocked  Sort = "blocked"
)

// SessionQuery selects sessions; zero fields select all.
type SessionQuery struct {
	Agent  string
	Search string // part of the id
	State  SessionState
	Sort   Sort
	Page
}

// Page asks for one page of a listing. Cursor is the Next of the page
// before, or empty.
type Page struct {
	Limit  int
	Cursor string
}

// AgentStore reads what the record knows of agents and sessions. Listings
// are newest last-seen first; next is empty on the last page. A cursor that
// this store did not hand out is CodeInvalid, an unknown id CodeNotFound.
type AgentStore interface {
	Agents(ctx context.Context, q AgentQuery) (agents []Agent, next string, err error)
	Agent(ctx context.Context, id string) (Agent, error)
	// AgentCounts counts all agents whose id holds a text.
	AgentCounts(ctx context.Context, search string) (AgentCounts, error)
	Sessions(ctx context.Context, q SessionQuery) (sessions []Session, next string, err error)
	// Session finds one session of an agent; session ids are unique per
	// agent only.
	Session(ctx context.Context, agent, id string) (Session, error)
}
