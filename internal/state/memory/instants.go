package memory

import (
	"sync"
	"time"
)

// instants keeps times as what has passed since the first of them: a third of the
// memory, and without a pointer that the collector would follow. The clock may be set
// meanwhile.
type instants struct {
	once  sync.Once
	first time.Time
}

// instant is a time that is kept; 0 is none.
type instant int64

func (i *instants) keep(t time.Time) instant {
	if t.IsZero() {
		return 0
	}
	i.once.Do(func() { i.first = t.Add(-1) }) // so that it is not 0 itself
	return instant(t.Sub(i.first))
}

func (i *instants) time(kept instant) time.Time {
	if kept == 0 {
		return time.Time{}
	}
	return i.first.Add(time.Duration(kept))
}
