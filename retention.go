package haltd

import (
	"context"
	"time"
)

// How long what is no event is kept, whatever the retention of events. Who
// calls chooses names, so that nothing that is kept by name is kept for ever,
// but for what a person has said and for a killed agent.
const (
	// KeepSums is how long hourly sums, incidents that somebody decided
	// about, and agents that do not call any more are kept.
	KeepSums = 400 * 24 * time.Hour
	// KeepStopped is how long a session is remembered, after its last
	// request, to have been stopped by the kill switch or resumed.
	KeepStopped = 30 * 24 * time.Hour
	// KeepLedgers is how long a ledger is kept after its period began:
	// longer than any period lasts.
	KeepLedgers = 40 * 24 * time.Hour
)

// MostModels is how many models of an agent have sums of their own in an
// hour. What it calls beyond them is summed up as Other.
const (
	MostModels = 100
	Other      = "other"
)

// RetentionStore deletes what has been kept for its time.
type RetentionStore interface {
	// PruneEvents deletes what is older than t: events with their excerpts,
	// sessions by when they were last seen, deliveries that have ended,
	// incidents that nobody decided about. It says how many events went.
	// Totals of agents and hours stay, and so do a session with a standing
	// and an incident that stopped somebody who is still stopped.
	PruneEvents(ctx context.Context, t time.Time) (int64, error)
	// Forget deletes hourly sums and decided incidents, ledgers, and agents of
	// which nothing else is known; see KeepSums and KeepLedgers. A standing
	// never goes.
	Forget(ctx context.Context, now time.Time) error
}
