package memory

import (
	"context"
	"sync"
	"time"

	"github.com/haltd/haltd/detect"
)

// forget is when what the detectors know of a session or window is too old
// to mean anything.
const forget = 24 * time.Hour

// Detectors keeps the windows and ledgers of the detectors. It holds the
// most recently used ones, within a bound of memory, and forgets those of a day
// ago; what was decided about an agent is not here and is not forgotten.
type Detectors struct {
	windows  *recent[sessionKey, *held[detect.Window]]
	sessions *recent[sessionKey, *held[ledger]]
}

type sessionKey struct{ agent, session string }

type ledger struct {
	session detect.Session
	told    detect.Level
	counted int // of its weight, in the generation it is in
}

// held is a value that one request at a time may use.
type held[T any] struct {
	mu    sync.Mutex
	used  time.Time
	value T
}

// use empties a value that has not been used for a day.
func (h *held[T]) use(now time.Time) *T {
	if !h.used.IsZero() && now.Sub(h.used) > forget {
		var empty T
		h.value = empty
	}
	h.used = now
	return &h.value
}

// NewDetectors keeps at least the last keep sessions and windows, or as many
// of them as weigh the given number of words (eight bytes each).
func NewDetectors(keep, words int) *Detectors {
	d := &Detectors{
		windows:  newRecent[sessionKey, *held[detect.Window]](keep),
		sessions: newRecent[sessionKey, *held[ledger]](keep),
	}
	d.sessions.weight = words / 2
	return d
}

// With runs f while nobody else holds the state of the session, or the
// window of its agent. It never fails.
func (d *Detectors) With(_ context.Context, agent, session string, windowPerSession bool, now time.Time,
	f func(w *detect.Window, l *detect.Session, told *detect.Level)) error {
	windowKey := sessionKey{agent: agent}
	if windowPerSession {
		windowKey.session = session
	}
	w, _ := d.windows.getOrSet(windowKey, newHeld[detect.Window])
	l, joined := d.sessions.getOrSet(sessionKey{agent, session}, newHeld[ledger])
	// Always in this order, so that two requests never wait for each other.
	w.mu.Lock()
	defer w.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	known := l.use(now)
	if joined {
		known.counted = 0
	}
	f(w.use(now), &known.session, &known.told)
	weight := known.session.Weight()
	d.sessions.weigh(weight - known.counted)
	known.counted = weight
	return nil
}

func newHeld[T any]() *held[T] { return &held[T]{} }
