package memory

import (
	"context"
	"sync"
	"time"

	"github.com/haltd/haltd/detect"
)

// expireAfter is how long the state of a session or window is kept that nobody
// uses. What is older means nothing to the detectors.
const expireAfter = 24 * time.Hour

// Detectors keeps the state of the detectors: the windows of agents and what
// is known of sessions. It evicts the least recently used ones when it takes
// too much memory. Decisions about agents are not here and are never evicted.
type Detectors struct {
	windows  *recent[sessionKey, *entry[windowState]]
	sessions *recent[sessionKey, *entry[sessionState]]
}

type sessionKey struct {
	agent, session string
	shadow         bool
}

type windowState struct {
	calls   detect.Window
	similar detect.Rejections
}

type sessionState struct {
	session detect.Session
	note    detect.Note
	counted int // what of its weight its generation includes
}

// entry is a value that one call at a time may use.
type entry[T any] struct {
	mu    sync.Mutex
	used  time.Time
	since time.Time
	value T
}

// touch marks a value as used, after resetting one that has expired.
func (e *entry[T]) touch(now time.Time) *T {
	if !e.used.IsZero() && now.Sub(e.used) > expireAfter {
		var zero T
		e.value = zero
	}
	e.used = now
	return &e.value
}

// NewDetectors keeps at least the last keep sessions and windows, or fewer
// when their state takes more than the given number of words of eight bytes.
func NewDetectors(keep, words int) *Detectors {
	d := &Detectors{
		windows:  newRecent[sessionKey, *entry[windowState]](keep),
		sessions: newRecent[sessionKey, *entry[sessionState]](keep),
	}
	d.sessions.maxWeight = words / 2
	return d
}

// Update runs f while nobody else uses the state of the session or the window
// of its agent. It never fails.
func (d *Detectors) Update(_ context.Context, p detect.Place, now time.Time, f func(detect.Memory)) error {
	windowKey := sessionKey{agent: p.Agent, shadow: p.Shadow}
	if p.WindowPerSession {
		windowKey.session = p.Session
	}
	w, _ := d.windows.getOrSet(windowKey, newEntry[windowState])
	l, joined := d.sessions.getOrSet(sessionKey{p.Agent, p.Session, p.Shadow}, newEntry[sessionState])
	// Always in this order, so that two calls never wait for each other.
	var agent *detect.Window
	if p.WindowPerSession && p.OneAgent {
		a, _ := d.windows.getOrSet(sessionKey{agent: p.Agent, shadow: p.Shadow}, newEntry[windowState])
		a.mu.Lock()
		defer a.mu.Unlock()
		agent = &windowOf(a, p, now).calls
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	known := l.touch(now)
	if joined {
		known.counted = 0
	}
	shared := windowOf(w, p, now)
	f(detect.Memory{Window: &shared.calls, Agent: agent, Similar: &shared.similar, Session: &known.session, Note: &known.note})
	weight := known.session.Weight()
	d.sessions.addWeight(weight - known.counted)
	known.counted = weight
	return nil
}

// windowOf is the window as it is now: empty when a person has emptied it.
func windowOf(e *entry[windowState], p detect.Place, now time.Time) *windowState {
	w := e.touch(now)
	if p.Since.After(e.since) { // an older one is a reply that was on its way
		w.calls.Clear()
		w.similar = detect.Rejections{}
		e.since = p.Since
	}
	return w
}

func newEntry[T any]() *entry[T] { return &entry[T]{} }
