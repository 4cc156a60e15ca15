package haltd

import (
	"context"
	"crypto/rand"
	"time"
)

// Incident is a verdict that a person should look at.
type Incident struct {
	ID     string         `json:"id"`
	Time   time.Time      `json:"time"`
	Kind   IncidentKind   `json:"kind"`
	Status IncidentStatus `json:"status"`
	// Action is what was done; with Shadow, what would have been done.
	Action Action `json:"action"`
	Shadow bool   `json:"shadow"`
	Scope  Scope  `json:"scope"` // what was stopped

	Agent    string `json:"agent"`
	Session  string `json:"session"`
	Client   string `json:"client"`
	Trace    string `json:"trace_id,omitempty"` // that the call belongs to
	Provider string `json:"provider"`
	Model    string `json:"model"`

	Reason   Reason `json:"reason"`
	Detector Check  `json:"detector,omitempty" enum:"inactive,budget,hours,rate,rule,exact,session,similarity,stall,growth" doc:"The check that decided: a detector, budget or session."`
	Sentence string `json:"sentence"` // for a person

	Verdict  *Verdict `json:"verdict,omitempty"` // with its evidence
	Settings Policy   `json:"settings"`          // in force then
	Event    EventID  `json:"event"`

	ClosedAt *time.Time `json:"closed_at"`
	ClosedBy string     `json:"closed_by,omitempty"` // who decided
	Note     string     `json:"note,omitempty"`

	// SeenAt and SeenBy are of who acknowledged it first; it stays open.
	SeenAt   *time.Time `json:"seen_at,omitempty" doc:"When somebody acknowledged it; it stays open."`
	SeenBy   string     `json:"seen_by,omitempty" doc:"Who acknowledged it."`
	Comments []Comment  `json:"comments,omitempty" doc:"What people said about it, the oldest first."`

	// Excerpt goes into the record with the incident and is read by itself:
	// see ExcerptStore.
	Excerpt *IncidentExcerpt `json:"-"`

	// Once keeps the same thing from being raised again within OnceFor;
	// empty for a kill, of which the agent's state allows only one.
	Once    string        `json:"-"`
	OnceFor time.Duration `json:"-"`
}

// StatusWords tell what became of it, in the words of the pages and commands. What
// stopped nobody is closed, not kept stopped.
func (i *Incident) StatusWords() string {
	switch i.Status {
	case IncidentOpen:
		return "Open"
	case IncidentResumed:
		return "Resumed"
	case IncidentRecovered:
		return "Recovered"
	case IncidentUnmoved:
		return "Not recovered"
	case IncidentContinued:
		return "Continued by a person"
	case IncidentFalsePositive:
		return "Marked as wrong"
	case IncidentKept:
		switch {
		case i.Action == Kill && !i.Shadow:
			return "Kept stopped"
		case i.Action == Halt && !i.Shadow:
			return "Kept halted"
		}
		return "Closed"
	}
	return string(i.Status)
}

// Comment is what a person said about an incident.
type Comment struct {
	Time time.Time `json:"time"`
	By   string    `json:"by"`
	Text string    `json:"text"`
}

// MaxComments is how many comments an incident takes.
const MaxComments = 100

// Remark is an acknowledgement of an incident, a comment on it, or both.
type Remark struct {
	Incident string // its id; CodeNotFound when there is none
	Seen     bool
	Text     string // a comment; CodeConflict where there are MaxComments
	By       string
	At       time.Time
}

// Stops reports whether an agent or a session is off because of the incident.
func (i *Incident) Stops() bool {
	return (i.Action == Kill || i.Action == Halt) && !i.Shadow
}

// IncidentKind is what an alert rule matches.
type IncidentKind string

// The kinds of incidents.
const (
	IncidentKillSwitch IncidentKind = "kill_switch" // similarity or stall: killed, rejected, or would have; exact: rejected
	IncidentGrowth     IncidentKind = "growth"
	IncidentBudgetSoft IncidentKind = "budget_soft"
	IncidentBudgetHard IncidentKind = "budget_hard"
	IncidentSession    IncidentKind = "session_limit"
	IncidentSteer      IncidentKind = "steer" // a stall was steered; its status says what came of it
)

// IncidentStatus is what became of an incident: what a person decided, or what
// haltd saw come of it.
type IncidentStatus string

// The states of an incident.
const (
	IncidentOpen          IncidentStatus = "open"
	IncidentResumed       IncidentStatus = "resumed"
	IncidentKept          IncidentStatus = "kept"
	IncidentFalsePositive IncidentStatus = "false_positive"
	IncidentRecovered     IncidentStatus = "recovered" // the rounds after a steer brought something new
	IncidentUnmoved       IncidentStatus = "unmoved"   // it went on after a steer, and the next rung followed
	IncidentContinued     IncidentStatus = "continued" // a person wrote to the session that was halted
)

// letters are those that random names use: no digits, because some clients
// try again when a message holds a number such as 503, and no vowels, so that
// no words appear.
const letters = "bcdfghjkmnpqrstvwxz"

// NewName makes a random name such as inc_rkdwmtbcdfgh.
func NewName(prefix string) string {
	var b [12]byte
	rand.Read(b[:])
	for i := range b {
		b[i] = letters[int(b[i])%len(letters)]
	}
	return prefix + string(b[:])
}

// IncidentQuery selects incidents, newest first; zero fields select all.
type IncidentQuery struct {
	Agent    string
	Search   string // part of the agent's name or of the incident's id
	Session  string
	Kind     IncidentKind
	Detector Check
	Status   IncidentStatus
	Shadow   *bool
	Stops    *bool // what stopped an agent or a session; see Incident.Stops
	Since    time.Time
	Page
}

// IncidentCount is how many incidents are alike in what a list is filtered by.
type IncidentCount struct {
	Kind     IncidentKind   `json:"kind"`
	Detector Check          `json:"detector,omitempty" enum:"inactive,budget,hours,rate,rule,exact,session,similarity,stall,growth"`
	Status   IncidentStatus `json:"status"`
	Action   Action         `json:"action" enum:"allow,warn,throttle,steer,reject,block,halt,kill"`
	Shadow   bool           `json:"shadow"`
	Count    int64          `json:"count"`
}

// ScorePoint is the similarity score of one recorded call.
type ScorePoint struct {
	Event   EventID   `json:"event"`
	Time    time.Time `json:"time"`
	Agent   string    `json:"agent"`
	Session string    `json:"session"`
	Score   float64   `json:"score"`
	// Unmet says why the score would not have killed where corroboration is
	// asked for; empty where nothing was missing.
	Unmet string `json:"unmet,omitempty" doc:"Why the score alone would not have killed."`
}

// Fires reports whether the call is stopped by a threshold under the rules of
// the judge.
func (p ScorePoint) Fires(threshold float64, corroborated bool) bool {
	return p.Score > threshold && (!corroborated || p.Unmet == "")
}

// PeakQuery asks where a threshold would have fired.
type PeakQuery struct {
	Agent     string
	Threshold float64
	// Corroborated leaves out what a second signal did not agree with.
	Corroborated bool
	Since        time.Time
	Limit        int
}

// IncidentStore reads incidents and the scores behind them. An unknown id is
// CodeNotFound, a cursor that this store did not hand out CodeInvalid.
type IncidentStore interface {
	Incidents(ctx context.Context, q IncidentQuery) (incidents []Incident, next string, err error)
	Incident(ctx context.Context, id string) (Incident, error)
	// IncidentCounts counts all incidents that a query selects, whatever its
	// page, the most frequent first.
	IncidentCounts(ctx context.Context, q IncidentQuery) ([]IncidentCount, error)
	// Scores are the scores of a session's calls, oldest first.
	Scores(ctx context.Context, agent, session string) ([]ScorePoint, error)
	// Peaks are, for sessions of an agent with a call that fires, their first
	// such call; newest first.
	Peaks(ctx context.Context, q PeakQuery) ([]ScorePoint, error)
}
