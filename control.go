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

// IsHalted reports a session whose turn was ended: it goes on when a person
// writes to it.
func (s *Standing) IsHalted() bool {
	return !s.Active && s.DeactivatedBy != nil && *s.DeactivatedBy == ByHalt
}

// State is that of the session in a word.
func (s *Standing) State() SessionState {
	switch {
	case s.Active:
		return SessionActive
	case s.IsHalted():
		return SessionHalted
	}
	return SessionStopped
}

// Mark is where the rounds that count begin in a session that was seen before
// its agent was activated; see detection.Mark.
type Mark struct {
	Agent, Session string
	ActivatedAt    time.Time // the activation, or the halt, it belongs to
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
	// Node is who makes the change. Then it is refused with CodeConflict
	// where another node has changed the same since Seen, the version that
	// this node has followed the changes to: a standing of the same agent,
	// its override, the same rule, the bypass. Without a node nothing is
	// asked.
	Node string
	Seen int64
	// Version is that of the change, as ChangeFeed tells it.
	Version int64

	Standing *Standing // replaces that of its agent or session
	// Override replaces the API's override of Agent; an empty one removes it.
	Agent    string
	Override *PolicyOverride

	Bypass     *Bypass
	Rule       *Rule  // made, or replaced by id
	DeleteRule string // id; CodeNotFound when there is none
	Mark       *Mark
	// Cut ends the calls of a target that are in flight, on all nodes.
	Cut *Target
	// What the feed tells besides: sessions whose standings were forgotten,
	// an agent that was deleted with its override, and that there are other
	// gateway keys or another price table now.
	Forgotten []Target
	Deleted   string
	Keys      bool
	Prices    bool

	// Incident is raised. When one with the same Once is not older than
	// OnceFor, the whole change is refused with CodeExists.
	Incident *Incident
	Closing  *Closing
	Remark   *Remark
	Events   []Event  // with ids
	Notices  []Notice // into the outbox
}

// Closing says what became of incidents, and who says so: a person, or haltd.
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
	Version   int64 // of the newest change in it
}

// ChangeFeed tells a node what all nodes have changed.
type ChangeFeed interface {
	// Changes are those of who may call after the one with that version, in
	// the order in which they became true, without marks, incidents, events
	// and notices. It waits until there is one, and fails with the error of
	// ctx when that ends first. Changes are kept for an hour at least;
	// CodeNotFound where some after that version have gone, or where the store
	// has not had it, because it was set back: then all has to be loaded anew.
	Changes(ctx context.Context, after int64) ([]Change, error)
}

// ControlStore keeps who may call. All that it changes is told by ChangeFeed,
// in the order of the versions: a store that is written from several places
// gives them out and commits under one lock.
type ControlStore interface {
	Control(ctx context.Context) (Control, error)
	// Commit makes a change. After it returns nil the change survives a
	// crash; after an error nothing has changed.
	Commit(ctx context.Context, c Change) error
	// Mark finds the mark of a session; ok is false when there is none.
	Mark(ctx context.Context, agent, session string) (m Mark, ok bool, err error)
	// ForgetSessions forgets the standings of those sessions that have
	// neither been seen nor changed since then, and says which.
	ForgetSessions(ctx context.Context, node string, sessions []Target, since time.Time) (gone []Target, err error)
	// DeleteAgent forgets what was recorded of an agent: its events,
	// sessions and totals, and the API's override. Its standing stays: a
	// kill is not lifted by forgetting. CodeNotFound when there is none.
	DeleteAgent(ctx context.Context, node, id string) error
}

// Ledger is what all nodes have spent for an agent in a period, and what they
// hold back for calls that have not been settled.
type Ledger struct {
	Agent  string
	Period Period
	Start  time.Time // of the period
	Spent  Spending
	Held   Spending
}

// Share is the part of a ledger that one node answers for: what it has spent
// since it joined, and what it holds for its calls in flight and the next
// ones. A node says its share anew each time, so that a write that is repeated
// counts once.
type Share struct {
	Agent  string
	Period Period
	Start  time.Time
	Spent  Spending
	Held   Spending
	// Limit is what all nodes together may have spent and hold; a measure
	// that is 0 is not limited.
	Limit Spending
	// Alone lets the share go beyond the limit, as long as something is left
	// and no other node's does.
	Alone bool
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

// Adjective is the period as a budget has it: daily or monthly.
func (p Period) Adjective() string {
	if p == Daily {
		return "daily"
	}
	return "monthly"
}

// LedgerStore keeps the ledgers of agents with hard budgets. What a node holds
// when its lease ends was perhaps spent: it stays held until it is charged.
type LedgerStore interface {
	// Ledgers are those of an agent that started at or after since.
	Ledgers(ctx context.Context, agent string, since time.Time) ([]Ledger, error)
	// OpenLedger answers the ledger of an agent, period and start, of which at
	// least l.Spent is spent or held: where it says less, because the agent
	// had no budget for a while, the rest is added to what was spent. mine is
	// the share of the node in it.
	OpenLedger(ctx context.Context, node string, l Ledger) (all Ledger, mine Share, err error)
	// SaveShares replaces the shares of a node, all or none, and answers their
	// ledgers as they are then. fits is false, and nothing is written, where
	// one that has grown does not fit under its limit. CodeConflict where the
	// lease of the node has ended. After it returns nil they survive a crash.
	SaveShares(ctx context.Context, node string, shares []Share) (after []Ledger, fits bool, err error)
	// ChargeHeld charges in full what nodes held whose lease has ended.
	ChargeHeld(ctx context.Context) error
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
