package state

import (
	"context"
	"time"

	"github.com/haltd/haltd/internal/detection"
)

// Place names what is remembered for a session between its calls.
type Place struct {
	Agent, Session string
	// WindowPerSession gives the session a window of its own; else it
	// shares that of its agent.
	WindowPerSession bool
	// OneAgent says that all sessions are of one caller: equal calls are
	// counted over all of them, whosever the window is.
	OneAgent bool
	// Caller tells those apart who share an agent that nobody named: equal
	// calls are counted for each of them, in a window of this name among
	// those of sessions; "" where all are one.
	Caller string
	// Shadow keeps what is only tried apart from what is enforced.
	Shadow bool
	// Since is when the window was last emptied by a person's decision: one
	// that began earlier is emptied now.
	Since time.Time
}

// CountsApart says that equal calls are counted in the window of the agent,
// while the session has one of its own.
func (p *Place) CountsApart() bool { return p.WindowPerSession && (p.OneAgent || p.Caller != "") }

// Lease is what one call has of the state of a session, from when it acquired
// it until it commits or releases it. It is used by one goroutine.
type Lease interface {
	// Memory may be changed until the lease has ended.
	Memory() detection.Memory
	// Exclusive reports whether nobody else changes the state before the lease
	// has ended: then nobody has to wait for its commit.
	Exclusive() bool
	// Commit writes what was changed, all or nothing, and ends the lease.
	// CodeConflict where another call has changed the state since it was
	// acquired: then nothing is written, and who acquires again sees what the
	// other left. CodeUnavailable where it cannot be written.
	Commit(ctx context.Context) error
	// Release ends the lease of who has only looked, or failed on the way:
	// what was changed may be lost. After Commit it does nothing, so that it
	// can be deferred.
	Release()
}
