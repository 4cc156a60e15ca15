package state

import (
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
)

// mostLater is how much may be under way that nobody waits for.
const mostLater = 1024

// Later runs what a call does not have to wait for: a state that is shared is
// a round trip away. A nil Later runs it at once, which is right for a state
// that is at hand.
type Later struct {
	log     *slog.Logger
	running chan struct{}
	group   sync.WaitGroup
}

// NewLater makes one; it logs the faults of haltd in what it runs.
func NewLater(log *slog.Logger) *Later {
	return &Later{log: log, running: make(chan struct{}, mostLater)}
}

// Do runs f beside the caller, or at once where too much is under way already.
func (l *Later) Do(f func()) {
	if l == nil {
		f()
		return
	}
	select {
	case l.running <- struct{}{}:
	default:
		l.run(f)
		return
	}
	l.group.Go(func() {
		defer func() { <-l.running }()
		l.run(f)
	})
}

func (l *Later) run(f func()) {
	defer func() {
		if p := recover(); p != nil {
			l.log.Error("a fault of haltd in what follows a call; please report it", "error", fmt.Sprintf("%v\n%s", p, debug.Stack()))
		}
	}()
	f()
}

// Wait returns when all that was begun has ended.
func (l *Later) Wait() {
	if l != nil {
		l.group.Wait()
	}
}
