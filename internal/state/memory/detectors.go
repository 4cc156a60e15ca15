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
	windows  *recent[sessionKey, *held[window]]
	sessions *recent[sessionKey, *held[ledger]]
}

type sessionKey struct {
	agent, session string
	shadow         bool
}

type window struct {
	calls   detect.Window
	similar detect.Rejections
}

type ledger struct {
	session detect.Session
	note    detect.Note
	counted int // of its weight, in the generation it is in
}

// held is a value that one call at a time may use.
type held[T any] struct {
	mu    sync.Mutex
	used  time.Time
	since time.Time
	value T
}

// use empties a value that has not been used for a day.
func (h *held[T]) use(now time.Time) *T {
	if !h.used.IsZero() && now.Sub(h.used) > forget {
		h.empty()
	}
	h.used = now
	return &h.value
}

func (h *held[T]) empty() {
	var empty T
	h.value = empty
}

// NewDetectors keeps at least the last keep sessions and windows, or as many
// of them as weigh the given number of words (eight bytes each).
func NewDetectors(keep, words int) *Detectors {
	d := &Detectors{
		windows:  newRecent[sessionKey, *held[window]](keep),
		sessions: newRecent[sessionKey, *held[ledger]](keep),
	}
	d.sessions.weight = words / 2
	return d
}

// With runs f while nobody else holds the memory of the session, or the
// window of its agent. It never fails.
func (d *Detectors) With(_ context.Context, p detect.Place, now time.Time, f func(detect.Memory)) error {
	windowKey := sessionKey{agent: p.Agent, shadow: p.Shadow}
	if p.WindowPerSession {
		windowKey.session = p.Session
	}
	w, _ := d.windows.getOrSet(windowKey, newHeld[window])
	l, joined := d.sessions.getOrSet(sessionKey{p.Agent, p.Session, p.Shadow}, newHeld[ledger])
	// Always in this order, so that two calls never wait for each other.
	w.mu.Lock()
	defer w.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	known := l.use(now)
	if joined {
		known.counted = 0
	}
	shared := w.use(now)
	if p.Since.After(w.since) { // an older one is a reply that was on its way
		shared.calls.Clear()
		shared.similar = detect.Rejections{}
		w.since = p.Since
	}
	f(detect.Memory{Window: &shared.calls, Similar: &shared.similar, Session: &known.session, Note: &known.note})
	weight := known.session.Weight()
	d.sessions.weigh(weight - known.counted)
	known.counted = weight
	return nil
}

func newHeld[T any]() *held[T] { return &held[T]{} }
