package record

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"github.com/haltd/haltd"
)

// maxHeld is how many events may wait for one before them. More would mean that
// somebody took an id and forgot it: then order is given up for once.
const maxHeld = 10_000

// order sends events to subscribers in the order of their ids, though they are
// not written in that order: a kill is on disk before the calls in the queue
// that came first. So whoever has seen an event has seen all before it, and an
// id says where to go on.
type order struct {
	mu    sync.Mutex
	taken []takenID     // not all of them written, by id
	held  []haltd.Event // written, but not all before them are
}

type takenID struct {
	id    haltd.EventID
	ended bool // written, or will never be
}

// take notes an id that was given to an event. Ids come in their order.
func (o *order) take(id haltd.EventID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.taken = append(o.taken, takenID{id: id})
}

// committedUpTo is the id up to which all events are written, or will never be.
func (o *order) committedUpTo() haltd.EventID {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.bound() - 1
}

func (o *order) bound() haltd.EventID {
	if len(o.taken) == 0 {
		return math.MaxInt64
	}
	return o.taken[0].id
}

// end notes that events are written or, with lost, that they never will be. It
// sends those that nothing before them keeps any more.
func (o *order) end(events []haltd.Event, lost bool, send func([]haltd.Event)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range events {
		if at, ok := slices.BinarySearchFunc(o.taken, events[i].ID, func(t takenID, id haltd.EventID) int { return cmp.Compare(t.id, id) }); ok {
			o.taken[at].ended = true
		}
	}
	if !lost {
		o.held = append(o.held, events...)
	}
	first := slices.IndexFunc(o.taken, func(t takenID) bool { return !t.ended })
	if len(o.held) > maxHeld || first < 0 {
		first = len(o.taken)
	}
	o.taken = slices.Delete(o.taken, 0, first)
	slices.SortStableFunc(o.held, func(a, b haltd.Event) int { return cmp.Compare(a.ID, b.ID) })
	n, _ := slices.BinarySearchFunc(o.held, o.bound(), func(e haltd.Event, id haltd.EventID) int { return cmp.Compare(e.ID, id) })
	if n > 0 {
		send(o.held[:n])
		o.held = slices.Delete(o.held, 0, n)
	}
}
