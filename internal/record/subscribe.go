package record

import (
	"sync"

	"github.com/haltd/haltd"
)

// subscribers follow the record as it is written.
type subscribers struct {
	mu     sync.Mutex
	chans  map[chan haltd.Event]bool
	closed bool
}

func (s *subscribers) add(buffer int) (<-chan haltd.Event, func()) {
	c := make(chan haltd.Event, max(buffer, 1))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		close(c)
		return c, func() {}
	}
	if s.chans == nil {
		s.chans = map[chan haltd.Event]bool{}
	}
	s.chans[c] = true
	return c, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.remove(c)
	}
}

func (s *subscribers) remove(c chan haltd.Event) {
	if s.chans[c] {
		delete(s.chans, c)
		close(c)
	}
}

func (s *subscribers) send(events []haltd.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.chans {
		for i := range events {
			select {
			case c <- events[i]:
				continue
			default:
			}
			s.remove(c)
			break
		}
	}
}

func (s *subscribers) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for c := range s.chans {
		s.remove(c)
	}
}
