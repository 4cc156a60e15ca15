package lock

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A lock is held by one, and who waits for it waits as long as its context
// lasts.
func TestALockIsHeldByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New()
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
	if err := New().Acquire(ended); err != nil {
		t.Error(err)
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
