package admin

import (
	"context"
	"time"

	"github.com/haltd/haltd"
)

// Control changes who may call. Each change is durable before it returns.
// What breaks a rule is CodeInvalid and names the field, an unknown incident
// CodeNotFound.
type Control interface {
	Activate(ctx context.Context, t haltd.Target, grace time.Duration, by, why string) (haltd.Standing, error)
	// Deactivate stops new calls; now cuts those in flight as well.
	Deactivate(ctx context.Context, t haltd.Target, now bool, by, why string) (haltd.Standing, error)
	Policy(agent string) (effective haltd.Policy, own haltd.PolicyOverride)
	// Override changes what an agent has of its own, and makes the agent
	// when it is new.
	Override(ctx context.Context, agent, by string, change func(*haltd.PolicyOverride) error) (haltd.Policy, error)
	Decide(ctx context.Context, incident string, status haltd.IncidentStatus, by, note string) (haltd.Incident, error)
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

// Spendings tells what an agent has spent in the current periods.
type Spendings interface {
	Spending(ctx context.Context, agent string) ([]haltd.PeriodSpending, error)
}

// Ingester judges a call that was not made through the gateway.
type Ingester interface {
	Ingest(ctx context.Context, in haltd.Ingest) (haltd.IngestAnswer, error)
}

// Windows shows what similarity compares the next call of an agent with. An
// empty session is the agent's own window.
type Windows interface {
	Window(ctx context.Context, agent, session string) (haltd.WindowView, error)
}
