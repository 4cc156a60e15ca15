package detection

import (
	"slices"
	"sync"
)

// filters tell the words that a conversation has had from new ones. They are used
// again: new ones for every request would keep the garbage collector busy. Those of
// the conversations that went on last are kept as they are, so that a request adds
// the words of its newest rounds alone.
type filters struct {
	seen, acted wordFilter

	opening uint64   // stands for the opening that seen has the words of
	rounds  []*round // whose words they have, the oldest first
}

const (
	// mostKept is how many filters are kept, of 128 KB each.
	mostKept = 48
	// worthKeeping is from how many rounds on it costs more to make them anew.
	worthKeeping = 6
)

var (
	emptyFilters = sync.Pool{New: func() any { return new(filters) }}
	kept         struct {
		sync.Mutex
		filters []*filters // the ones used last at the end
	}
)

// acquireFilters takes the filters of a conversation, of which the relations of so
// many rounds are known. Where none are kept they have the words of the opening.
func acquireFilters(s *strand, known int) *filters {
	if w := takeKept(s, known); w != nil {
		return w
	}
	w := emptyFilters.Get().(*filters)
	clear(w.seen[:])
	clear(w.acted[:])
	w.seen.add(s.opening.words)
	w.seen.add(s.opening.names)
	w.opening, w.rounds = s.opening.id(), w.rounds[:0]
	return w
}

// id stands for the words of an opening. After a compaction those of the one before are
// among them.
func (o *opening) id() uint64 {
	return fold(fold(o.digest, uint64(len(o.words))), uint64(len(o.names)))
}

func takeKept(s *strand, known int) *filters {
	kept.Lock()
	defer kept.Unlock()
	for at, w := range slices.Backward(kept.filters) {
		if w.fit(s, known) {
			kept.filters = slices.Delete(kept.filters, at, at+1)
			return w
		}
	}
	return nil
}

// fit reports filters that have the words of a conversation, and of none of its rounds
// whose relation is not known: those words are still to be new.
func (w *filters) fit(s *strand, known int) bool {
	n := len(w.rounds)
	if n > known || n == 0 || w.opening != s.opening.id() || w.rounds[n-1] != s.past[n-1].round {
		return false
	}
	for i, r := range w.rounds {
		if r != s.past[i].round {
			return false
		}
	}
	return true
}

// release keeps the filters of a conversation whose rounds were compared.
func (w *filters) release(s *strand) {
	w.rounds = slices.Grow(w.rounds[:0], len(s.past))
	for i := range s.past {
		w.rounds = append(w.rounds, s.past[i].round)
	}
	if len(w.rounds) < worthKeeping {
		w.letGo()
		return
	}
	kept.Lock()
	defer kept.Unlock()
	if len(kept.filters) == mostKept {
		kept.filters[0].letGo()
		kept.filters = slices.Delete(kept.filters, 0, 1)
	}
	kept.filters = append(kept.filters, w)
}

// letGo lets other conversations use the filters.
func (w *filters) letGo() {
	clear(w.rounds)
	w.rounds = w.rounds[:0]
	emptyFilters.Put(w)
}
