package lock

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A lock is held by one, and who waits for it waits as long as its context
// lasts.
func TestALockIsHeldByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Lock
		if err := l.Acquire(t.Context()); err != nil || l.TryAcquire() {
			t.Fatalf("two hold one lock, %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := l.Acquire(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("waiting ended with %v, want the end of its context", err)
		}
		got := make(chan error, 1)
		go func() { got <- l.Acquire(t.Context()) }()
		synctest.Wait()
		l.Release()
		if err := <-got; err != nil || l.TryAcquire() {
			t.Errorf("who waited has no lock that is its own: %v", err)
		}
	})
}

// The context is for the wait: a lock that nobody holds is acquired without one.
func TestAFreeLockAsksNoContext(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	var l Lock
	if err := l.Acquire(ended); err != nil {
		t.Error(err)
	}
}

// However many wait, leave and release at once: one holds the lock at a time, nobody
// who waits is forgotten, and nothing is left behind.
func TestManyShareALock(t *testing.T) {
	var l Lock
	var holders, held, left atomic.Int64
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			for k := range 500 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration((i+k)%40)*time.Microsecond)
				err := l.Acquire(ctx)
				cancel()
				if err != nil {
					left.Add(1)
					continue
				}
				if holders.Add(1) != 1 {
					t.Error("two hold one lock")
				}
				if held.Add(1); k%8 == 0 {
					time.Sleep(20 * time.Microsecond)
				}
				holders.Add(-1)
				l.Release()
			}
		})
	}
	all.Wait()
	if held.Load()+left.Load() != 16*500 || left.Load() == 0 || !l.TryAcquire() || l.waiting != 0 {
		t.Errorf("%d held it, %d left; %d wait", held.Load(), left.Load(), l.waiting)
	}
}

// Keys do not wait for each other, and those that nobody uses are forgotten.
func TestKeysDoNotWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var k Keyed
		for _, key := range []string{"a", "b"} {
			if err := k.Acquire(t.Context(), key); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := k.Acquire(ctx, "a"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("two hold the lock of one key: %v", err)
		}
		got := make(chan error, 1)
		go func() { got <- k.Acquire(t.Context(), "a") }()
		synctest.Wait()
		k.Release("a")
		if err := <-got; err != nil {
			t.Error(err)
		}
		k.Release("a")
		k.Release("b")
		if len(k.locks) > 0 {
			t.Errorf("%d keys are remembered that nobody uses", len(k.locks))
		}
	})
}
