// Package lock has locks that are waited for only as long as a context lasts.
// They are for what may take its time while it is held, such as a write to a
// store; a mutex is for the rest. The package imports nothing of the house.
package lock

import (
	"context"
	"sync"
)

// Lock is held by one at a time. Its zero value is one that nobody holds. There are
// as many as sessions are known, so that it has a channel only while it is waited for.
type Lock struct {
	mu      sync.Mutex
	held    bool
	waiting int           // those to whom it was not handed on
	next    chan struct{} // through which it is; nil where nobody has waited
}

// TryAcquire acquires the lock if nobody holds it.
func (l *Lock) TryAcquire() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	free := !l.held
	l.held = true
	return free
}

// Acquire waits for the lock; its error is that of ctx. One that nobody holds is
// acquired whether or not ctx has ended.
func (l *Lock) Acquire(ctx context.Context) error {
	next := l.acquireOrQueue()
	if next == nil {
		return nil
	}
	select {
	case <-next:
		return nil
	case <-ctx.Done():
	}
	if l.leaveQueue() {
		return ctx.Err()
	}
	<-next // it was handed on meanwhile
	return nil
}

// acquireOrQueue is the channel through which a lock comes that is held; nil of one
// that was not.
func (l *Lock) acquireOrQueue() chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.held {
		l.held = true
		return nil
	}
	if l.next == nil {
		l.next = make(chan struct{}, 1)
	}
	l.waiting++
	return l.next
}

// leaveQueue ends a wait, unless the lock was handed on to all who wait.
func (l *Lock) leaveQueue() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting == 0 {
		return false
	}
	l.waiting--
	return true
}

// Release is for who holds the lock.
func (l *Lock) Release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting == 0 {
		l.held, l.next = false, nil
		return
	}
	l.waiting--
	l.next <- struct{}{} // has room: only who holds the lock sends
}

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
		l = &counted{}
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
