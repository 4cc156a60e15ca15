package redis

import (
	"context"
	"sync"
)

// turns has the calls of this node that need the same lock ask Redis for it
// one after the other.
type turns struct {
	mu      sync.Mutex
	waiting map[string]*turn
}

type turn struct {
	taken chan struct{}
	users int
}

// take waits for the turn of the caller.
func (t *turns) take(ctx context.Context, key string) error {
	t.mu.Lock()
	w := t.waiting[key]
	if w == nil {
		w = &turn{taken: make(chan struct{}, 1)}
		t.waiting[key] = w
	}
	w.users++
	t.mu.Unlock()
	select {
	case w.taken <- struct{}{}:
		return nil
	default:
	}
	select {
	case w.taken <- struct{}{}:
		return nil
	case <-ctx.Done():
		t.leave(key, w)
		return ctx.Err()
	}
}

func (t *turns) end(key string) {
	t.mu.Lock()
	w := t.waiting[key]
	t.mu.Unlock()
	<-w.taken
	t.leave(key, w)
}

func (t *turns) leave(key string, w *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if w.users--; w.users == 0 {
		delete(t.waiting, key)
	}
}
