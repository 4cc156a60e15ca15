package sqlite

import "sync"

// bell wakes those who wait for something to be written.
type bell struct {
	mu   sync.Mutex
	next chan struct{} // closed when it rings
}

// wait is closed when the bell rings next. Who looks after asking for it
// misses nothing.
func (b *bell) wait() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next == nil {
		b.next = make(chan struct{})
	}
	return b.next
}

func (b *bell) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next != nil {
		close(b.next)
		b.next = nil
	}
}
