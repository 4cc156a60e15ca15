package memory

import (
	"bytes"
	"context"
	"hash/maphash"
	"sync"
	"time"

	"github.com/haltd/haltd/internal/detection"
	"github.com/haltd/haltd/internal/lock"
	"github.com/haltd/haltd/internal/recent"
	"github.com/haltd/haltd/internal/state"
)

// expireAfter is how long the state of a session or window is kept that nobody
// uses. What is older means nothing to the detectors.
const expireAfter = 24 * time.Hour

// Detectors keeps the state of the detectors: the windows of agents and what
// is known of sessions. It evicts the least recently used ones when it takes
// too much memory. Decisions about agents are not here and are never evicted.
type Detectors struct {
	seed     maphash.Seed
	windows  *recent.Cache[uint64, *entry[detection.WindowMemory]] // both by the seeded hash of a sessionKey, because they are many
	sessions *recent.Cache[uint64, *entry[session]]
}

type sessionKey struct {
	agent, session string
	shadow         bool
}

func (d *Detectors) hash(k sessionKey) uint64 { return maphash.Comparable(d.seed, k) }

// entry is a value that one call at a time may use: whoever holds its
// lock. What else is here belongs to that call.
type entry[T any] struct {
	held    lock.Lock
	used    time.Time
	counted int // what of its weight its generation includes
	version uint64
	changed chan struct{} // closed at the next commit; nil while nobody waits
	value   T
}

func newEntry[T any]() *entry[T] { return new(entry[T]) }

// lock waits until nobody else uses the value, and says how long.
func (e *entry[T]) lock(ctx context.Context) (waited time.Duration, err error) {
	if e.held.TryAcquire() {
		return 0, nil
	}
	asked := time.Now()
	err = e.held.Acquire(ctx)
	return time.Since(asked), err
}

func (e *entry[T]) unlock() { e.held.Release() }

// touch marks a value as used, after resetting one that has expired.
func (e *entry[T]) touch(now time.Time) *T {
	if !e.used.IsZero() && now.Sub(e.used) > expireAfter {
		var zero T
		e.value = zero
	}
	e.used = now
	return &e.value
}

// session is what is known of one: as calls use it or, while it is idle, as
// bytes. Most idle sessions had one call and never have another; written they
// take a fifth of the memory.
type session struct {
	memory  *detection.SessionMemory // nil while it is written
	written []byte
}

// memories are those of sessions that are written: each call needs one for a moment.
var memories = sync.Pool{New: func() any { return new(detection.SessionMemory) }}

// open is the session as calls use it.
func (s *session) open() *detection.SessionMemory {
	if s.memory == nil {
		s.memory = memories.Get().(*detection.SessionMemory)
		if s.written != nil {
			_ = s.memory.UnmarshalBinary(s.written) // this process wrote it: it can be read
			s.written = nil
		}
	}
	return s.memory
}

// close ends the use of a session and says what it weighs from now on.
func (s *session) close() (weight int) {
	if s.memory == nil || !s.memory.Session.Idle() {
		return s.weight()
	}
	var buffer [256]byte
	b, _ := s.memory.AppendBinary(buffer[:0]) // never fails
	*s.memory = detection.SessionMemory{}
	memories.Put(s.memory)
	s.memory, s.written = nil, bytes.Clone(b)
	return s.weight()
}

func (s *session) weight() int {
	if s.memory != nil {
		return s.memory.Session.Weight()
	}
	return len(s.written) / 8
}

// NewDetectors keeps at least the last keep sessions and windows, or fewer
// when their state takes more than the given number of words of eight bytes.
func NewDetectors(keep, words int) *Detectors {
	d := &Detectors{
		seed:     maphash.MakeSeed(),
		windows:  recent.New[uint64, *entry[detection.WindowMemory]](keep),
		sessions: recent.New[uint64, *entry[session]](keep),
	}
	d.sessions.MaxWeight = words / 2
	return d
}

// lease is what one call holds.
type lease struct {
	of      *Detectors
	agent   *entry[detection.WindowMemory] // nil where it is the window
	window  *entry[detection.WindowMemory]
	session *entry[session]
	ended   bool
	waited  time.Duration // until it was given out
}

// Acquire is the state of a session and the window of its agent, which nobody
// else uses until the lease ends. It fails only when ctx ends first.
func (d *Detectors) Acquire(ctx context.Context, p state.Place, now time.Time) (state.Lease, error) {
	l, err := d.acquire(ctx, p, now)
	if err != nil {
		return nil, err
	}
	return l, nil
}

func (d *Detectors) acquire(ctx context.Context, p state.Place, now time.Time) (*lease, error) {
	windowKey := sessionKey{agent: p.Agent, shadow: p.Shadow}
	if p.WindowPerSession {
		windowKey.session = p.Session
	}
	w, _ := d.windows.GetOrSet(d.hash(windowKey), newEntry[detection.WindowMemory])
	s, joined := d.sessions.GetOrSet(d.hash(sessionKey{p.Agent, p.Session, p.Shadow}), newEntry[session])
	l := &lease{of: d, window: w, session: s}
	// Always in this order, so that two calls never wait for each other.
	if p.CountsApart() {
		agent, _ := d.windows.GetOrSet(d.hash(sessionKey{agent: p.Agent, session: p.Caller, shadow: p.Shadow}), newEntry[detection.WindowMemory])
		waited, err := agent.lock(ctx)
		if err != nil {
			return nil, err
		}
		l.agent, l.waited = agent, waited
	}
	waited, err := w.lock(ctx)
	if l.waited += waited; err != nil {
		l.unlockAgent()
		return nil, err
	}
	waited, err = s.lock(ctx)
	if l.waited += waited; err != nil {
		w.unlock()
		l.unlockAgent()
		return nil, err
	}
	if joined {
		s.counted = 0
	}
	s.touch(now)
	w.touch(now).EmptyBefore(p.Since)
	if l.agent != nil {
		l.agent.touch(now).EmptyBefore(p.Since)
	}
	return l, nil
}

// Memory implements state.Lease.
func (l *lease) Memory() detection.Memory {
	var agent *detection.WindowMemory
	if l.agent != nil {
		agent = &l.agent.value
	}
	return detection.MemoryOf(&l.window.value, agent, l.session.value.open(), l.session.version)
}

// Exclusive implements state.Lease.
func (l *lease) Exclusive() bool { return true }

// Commit implements state.Lease. It never fails.
func (l *lease) Commit(context.Context) error {
	s := l.session
	weight := s.value.close()
	l.of.sessions.AddWeight(weight - s.counted)
	s.counted = weight
	s.version++
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
	l.Release()
	return nil
}

// Release implements state.Lease.
func (l *lease) Release() {
	if l.ended {
		return
	}
	l.ended = true
	l.session.unlock()
	l.window.unlock()
	l.unlockAgent()
}

func (l *lease) unlockAgent() {
	if l.agent != nil {
		l.agent.unlock()
	}
}

// Await returns as soon as the state of a session has changed since it had
// that version, and fails when ctx ends first.
func (d *Detectors) Await(ctx context.Context, p state.Place, version uint64) error {
	s, ok := d.sessions.Peek(d.hash(sessionKey{p.Agent, p.Session, p.Shadow}))
	if !ok {
		return nil // it was evicted
	}
	if _, err := s.lock(ctx); err != nil {
		return err
	}
	if s.version != version {
		s.unlock()
		return nil
	}
	if s.changed == nil {
		s.changed = make(chan struct{})
	}
	changed := s.changed
	s.unlock()
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
