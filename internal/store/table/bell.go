package table

import "sync"

// Bell wakes those who wait for something to be written.
type Bell struct {
	mu   sync.Mutex
	next chan struct{} // closed when it rings
}

// Wait is closed when the bell rings next. Who looks after asking for it
// misses nothing.
func (b *Bell) Wait() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next == nil {
		b.next = make(chan struct{})
	}
	return b.next
}

// Ring wakes all who wait.
func (b *Bell) Ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next != nil {
		close(b.next)
		b.next = nil
	}
}
