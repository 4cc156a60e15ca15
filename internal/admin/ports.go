package admin

import (
	"context"
	"math"
	"time"

	"github.com/haltd/haltd"
)

// Events reads the record. A store that does not answer is CodeUnavailable.
type Events interface {
	Events(ctx context.Context, q haltd.EventQuery) ([]haltd.Event, error)
	Stats(ctx context.Context, q haltd.StatsQuery) (haltd.Stats, error)
}

// Excerpts reads what is kept of texts; ok is false where nothing is.
type Excerpts interface {
	Excerpt(ctx context.Context, event haltd.EventID) (e haltd.Excerpt, ok bool, err error)
	IncidentExcerpt(ctx context.Context, incident string) (e haltd.IncidentExcerpt, ok bool, err error)
}

// Recorder hands out events as they happen and takes those of changes.
type Recorder interface {
	// Subscribe sends events after they are written. The channel is closed
	// when its reader does not keep up and when haltd stops; the function
	// ends the subscription.
	Subscribe(buffer int) (<-chan haltd.Event, func())
	// CommittedUpTo is an event id: all events up to it are in the store, those
	// after it are yet to be sent to subscribers, in the order of their ids.
	CommittedUpTo() haltd.EventID
	// Record takes the event of somebody's change and does not block.
	Record(haltd.Event)
	// Flush writes what waits to be recorded. It fails when the context ends
	// first.
	Flush(ctx context.Context) error
}

// noRecorder records nothing and sends nothing.
type noRecorder struct{}

func (noRecorder) Record(haltd.Event)           {}
func (noRecorder) CommittedUpTo() haltd.EventID { return math.MaxInt64 }
func (noRecorder) Flush(context.Context) error  { return nil }
func (noRecorder) Subscribe(int) (<-chan haltd.Event, func()) {
	return make(chan haltd.Event), func() {}
}

// Keyring makes and ends gateway keys, with the errors of haltd.KeyStore.
type Keyring interface {
	Create(ctx context.Context, agent, name string, limits haltd.KeyLimits) (key haltd.Key, secret string, err error)
	List(ctx context.Context) ([]haltd.Key, error)
	// Change changes the name and the limits of a key; CodeConflict where it is
	// revoked.
	Change(ctx context.Context, id string, edit func(*haltd.Key)) (haltd.Key, error)
	Revoke(ctx context.Context, id string) (haltd.Key, error)
	// AgentOf is the agent of a gateway key in force.
	AgentOf(secret string) (agent string, ok bool)
}

// Process is the haltd that serves the API.
type Process interface {
	// Ready is CodeUnavailable while haltd cannot serve.
	Ready(ctx context.Context) error
	// Config is the effective configuration as YAML, without secrets.
	Config() ([]byte, error)
	Status() Status
}

// Prices are the price table in force. What is wrong with a table is
// CodeInvalid and names the field.
type Prices interface {
	Prices() haltd.PriceList
	// LoadPrices puts a newer table in force and keeps it.
	LoadPrices(ctx context.Context, file []byte) error
	// ResetPrices goes back to the built-in one.
	ResetPrices(ctx context.Context) error
}

// Control changes who may call. Each change is durable before it returns. An
// unknown agent or incident is CodeNotFound.
type Control interface {
	Activate(ctx context.Context, t haltd.Target, grace time.Duration, by, why string) (haltd.Standing, error)
	// Deactivate stops new calls; cut ends those in flight as well.
	Deactivate(ctx context.Context, t haltd.Target, cut bool, by, why string) (haltd.Standing, error)
	Decide(ctx context.Context, incident string, status haltd.IncidentStatus, by, note string) (haltd.Incident, error)
	// Reopen undoes a decision about an incident.
	Reopen(ctx context.Context, incident, by string) (haltd.Incident, error)
	// Delete removes what was recorded of an agent and its override. A kill
	// stays.
	Delete(ctx context.Context, agent, by string) error
}

// Remarks takes what people say about incidents that are not decided by it. An
// unknown incident is CodeNotFound, one comment too many CodeConflict.
type Remarks interface {
	Remark(ctx context.Context, r haltd.Remark) (haltd.Incident, error)
}

// Policies are those of agents. What is not valid is CodeInvalid and names the
// field.
type Policies interface {
	Policy(agent string) (effective haltd.Policy, own haltd.PolicyOverride)
	// Override changes what an agent has of its own, durably, and makes the
	// agent when it is new.
	Override(ctx context.Context, agent, by string, change func(*haltd.PolicyOverride) error) (haltd.Policy, error)
}

// Standings tells who may call now.
type Standings interface {
	// Standing is that of an agent or session; changed is false when nobody
	// ever changed it, and then it is plainly active.
	Standing(t haltd.Target) (s haltd.Standing, changed bool)
	// Known reports an agent that has a policy of its own, by API or in the
	// configuration, or that may not call; it need not ever have called.
	Known(agent string) bool
	// Stopped are the agents that have a stopped session of this id.
	Stopped(session string) []string
}

// Rules are the operator's rules. An unknown id is CodeNotFound.
type Rules interface {
	Rules() []haltd.Rule // in the order in which they are asked
	// SaveRule makes a rule, or replaces the one with its id.
	SaveRule(ctx context.Context, r haltd.Rule, by string) (haltd.Rule, error)
	DeleteRule(ctx context.Context, id, by string) error
}

// BreakGlass is the switch that ends all enforcement but manual
// deactivation.
type BreakGlass interface {
	Bypass() haltd.Bypass
	SetBypass(ctx context.Context, on bool, by, why string) (haltd.Bypass, error)
}

// Spendings tells what an agent or a gateway key has spent in the current periods.
type Spendings interface {
	Spending(ctx context.Context, agent string) ([]haltd.PeriodSpending, error)
	// KeySpending is that of a gateway key, of budgets of its own; nil where it
	// has none.
	KeySpending(ctx context.Context, k haltd.Key) ([]haltd.PeriodSpending, error)
}

// Ledgers are what an agent's budgets were charged, in all periods since then. It
// may be more than the record has: calls that a crash ended are charged in full,
// and there is no event of them.
type Ledgers interface {
	Ledgers(ctx context.Context, agent string, since time.Time) ([]haltd.Ledger, error)
}

// Ingester judges a call that was not made through the gateway.
type Ingester interface {
	Ingest(ctx context.Context, in haltd.Ingest) (haltd.IngestAnswer, error)
}

// Calls are those in flight.
type Calls interface {
	// Calling reports an agent that has one; it may be its first, of which
	// nothing is recorded yet.
	Calling(agent string) bool
}

// Windows shows what similarity compares the next call of an agent with. An
// empty session is the agent's own window.
type Windows interface {
	Window(ctx context.Context, agent, session string) (haltd.WindowView, error)
}
