package record

import (
	"sync"

	"github.com/haltd/haltd"
)

// watchers are those who follow the record as it is written.
type watchers struct {
	mu     sync.Mutex
	chans  map[chan haltd.Event]bool
	closed bool
}

func (w *watchers) add(buffer int) (<-chan haltd.Event, func()) {
	c := make(chan haltd.Event, max(buffer, 1))
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		close(c)
		return c, func() {}
	}
	if w.chans == nil {
		w.chans = map[chan haltd.Event]bool{}
	}
	w.chans[c] = true
	return c, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.remove(c)
	}
}

func (w *watchers) remove(c chan haltd.Event) {
	if w.chans[c] {
		delete(w.chans, c)
		close(c)
	}
}

func (w *watchers) send(events []haltd.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.chans {
		for i := range events {
			select {
			case c <- events[i]:
				continue
			default:
			}
			w.remove(c)
			break
		}
	}
}

func (w *watchers) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	for c := range w.chans {
		w.remove(c)
	}
}
