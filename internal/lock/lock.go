// Package lock has locks that are waited for only as long as a context lasts.
// They are for what may take its time while it is held, such as a write to a
// store; a mutex is for the rest. The package imports nothing of the house.
package lock

import (
	"context"
	"sync"
)

// Lock is held by one at a time. New makes it.
type Lock struct{ held chan struct{} } // full while somebody holds it

// New is a lock that nobody holds.
func New() Lock { return Lock{make(chan struct{}, 1)} }

// TryAcquire acquires the lock if nobody holds it.
func (l Lock) TryAcquire() bool {
	select {
	case l.held <- struct{}{}:
		return true
	default:
		return false
	}
}

// Acquire waits for the lock; its error is that of ctx. One that nobody holds is
// acquired whether or not ctx has ended.
func (l Lock) Acquire(ctx context.Context) error {
	if l.TryAcquire() {
		return nil
	}
	select {
	case l.held <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Release is for who holds the lock.
func (l Lock) Release() { <-l.held }

// Keyed is a lock for each key. Its zero value is ready, and it remembers only
// the keys that somebody holds or waits for.
type Keyed struct {
	mu    sync.Mutex
	locks map[string]*counted
}

// counted is a lock with the number of those who hold it or wait for it.
type counted struct {
	Lock
	users int
}

// Acquire waits for the lock of a key, as that of Lock does.
func (k *Keyed) Acquire(ctx context.Context, key string) error {
	k.mu.Lock()
	l := k.locks[key]
	if l == nil {
		if k.locks == nil {
			k.locks = map[string]*counted{}
		}
		l = &counted{Lock: New()}
		k.locks[key] = l
	}
	l.users++
	k.mu.Unlock()
	err := l.Lock.Acquire(ctx)
	if err != nil {
		k.leave(key, l)
	}
	return err
}

// Release is for who holds the lock of the key.
func (k *Keyed) Release(key string) {
	k.mu.Lock()
	l := k.locks[key]
	k.mu.Unlock()
	l.Lock.Release()
	k.leave(key, l)
}

func (k *Keyed) leave(key string, l *counted) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if l.users--; l.users == 0 {
		delete(k.locks, key)
	}
}
