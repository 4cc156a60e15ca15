package haltd

import (
	"context"
	"time"
)

// Standing is whether an agent, or one session of it, may call, and since
// when and by whose will.
type Standing struct {
	Agent   string `json:"agent"`
	Session string `json:"session,omitempty"` // empty for the agent itself

	Active        bool           `json:"active"`
	DeactivatedBy *DeactivatedBy `json:"deactivated_by"`
	Incident      string         `json:"incident,omitempty"` // that stopped it
	// By and Why are who changed it last, and what they said.
	By  string    `json:"by,omitempty"`
	Why string    `json:"why,omitempty"`
	At  time.Time `json:"at,omitzero"`
	// ActivatedAt is when it was last activated. What the detectors knew
	// before is forgotten: rounds and windows from then on count.
	ActivatedAt time.Time `json:"activated_at,omitzero"`
	// GraceUntil is until when a kill only warns.
	GraceUntil time.Time `json:"grace_until,omitzero"`
}

// Mark is where the rounds that count begin in a session that was seen before
// its agent was activated; see detect.Mark.
type Mark struct {
	Agent, Session string
	ActivatedAt    time.Time // the activation it belongs to
	Round          uint64
	Count          int
}

// Bypass is the break-glass switch: while it is on, nothing but manual
// deactivation is enforced.
type Bypass struct {
	On  bool      `json:"on"`
	By  string    `json:"by,omitempty"`
	Why string    `json:"why,omitempty"`
	At  time.Time `json:"at,omitzero"`
}

// Change is something that becomes true at once: its parts are written in one
// transaction or not at all. Nil and empty parts change nothing.
type Change struct {
	Standing *Standing // replaces that of its agent or session
	// Override replaces the API's override of Agent; an empty one removes it.
	Agent    string
	Override *PolicyOverride

	Bypass     *Bypass
	Rule       *Rule  // made, or replaced by id
	DeleteRule string // id; CodeNotFound when there is none
	Mark       *Mark

	// Incident is raised. When one with the same Once is not older than
	// OnceFor, the whole change is refused with CodeExists.
	Incident *Incident
	Closing  *Closing
	Events   []Event  // with ids
	Notices  []Notice // into the outbox
}

// Closing is a person's decision about incidents.
type Closing struct {
	// ID names one incident; CodeNotFound when there is none. Without it,
	// all open incidents are closed that stopped the agent as a whole or,
	// with a session, that session alone.
	ID             string
	Agent, Session string
	Status         IncidentStatus
	By, Note       string
	At             time.Time
}

// Control is all that decides who may call, as it is loaded at the start.
type Control struct {
	Standings []Standing // those that differ from simply active
	Overrides map[string]PolicyOverride
	Rules     []Rule
	Bypass    Bypass
}

// ControlStore keeps who may call.
type ControlStore interface {
	Control(ctx context.Context) (Control, error)
	// Commit makes a change. After it returns nil the change survives a
	// crash; after an error nothing has changed.
	Commit(ctx context.Context, c Change) error
	// Mark finds the mark of a session; ok is false when there is none.
	Mark(ctx context.Context, agent, session string) (m Mark, ok bool, err error)
	// ForgetSessions forgets the standings of those sessions that have
	// neither been seen nor changed since then, and says which.
	ForgetSessions(ctx context.Context, sessions []Target, since time.Time) (gone []Target, err error)
	// DeleteAgent forgets what was recorded of an agent: its events,
	// sessions and totals, and the API's override. Its standing stays: a
	// kill is not lifted by forgetting. CodeNotFound when there is none.
	DeleteAgent(ctx context.Context, id string) error
}

// Ledger is what an agent has spent in a period, and what is held back for
// calls that have not been settled.
type Ledger struct {
	Agent  string
	Period Period
	Start  time.Time // of the period
	Spent  Spending
	Held   Spending
}

// Spending is an amount in both measures of a budget.
type Spending struct {
	Cost   Money `json:"cost_usd"`
	Tokens int64 `json:"tokens"`
}

// Add sums two amounts.
func (s Spending) Add(t Spending) Spending { return Spending{s.Cost + t.Cost, s.Tokens + t.Tokens} }

// Sub takes t away.
func (s Spending) Sub(t Spending) Spending { return Spending{s.Cost - t.Cost, s.Tokens - t.Tokens} }

// Period is a span of a budget.
type Period string

// The periods.
const (
	Daily   Period = "day"
	Monthly Period = "month"
)

// LedgerStore keeps the ledgers of agents with hard budgets. What is held
// when the process ends without saying so was perhaps spent: whoever loads a
// ledger charges it in full.
type LedgerStore interface {
	// Ledgers are those of an agent that started at or after since.
	Ledgers(ctx context.Context, agent string, since time.Time) ([]Ledger, error)
	// SaveLedgers replaces ledgers by agent, period and start. After it
	// returns nil they survive a crash.
	SaveLedgers(ctx context.Context, ls []Ledger) error
	// Spent is what the record knows an agent has spent since then, in
	// whole hours.
	Spent(ctx context.Context, agent string, since time.Time) (Spending, error)
}

// Target is what a person activates or deactivates: an agent or, with a
// session, that session of it alone.
type Target struct{ Agent, Session string }

// PeriodSpending is how much of a budget is spent in the current period.
type PeriodSpending struct {
	Period Period    `json:"period"`
	Start  time.Time `json:"start"`
	Resets time.Time `json:"resets"`
	Spent  Spending  `json:"spent"`
	Held   Spending  `json:"held"` // for calls that are on their way
	Budget Budget    `json:"budget"`
}
