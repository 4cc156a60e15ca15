package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
)

// sendConnections is how many connections send has busy at once.
const sendConnections = 16

// send makes n exchanges with a target, each as soon as a connection is free.
func (t *target) send(ctx context.Context, n int, next func(i int) exchange) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var begun atomic.Int64
	var wg sync.WaitGroup
	for range min(sendConnections, n) {
		c, err := dial(ctx, t.address)
		if err != nil {
			cancel(err)
			break
		}
		wg.Go(func() {
			defer c.close()
			for ctx.Err() == nil {
				i := int(begun.Add(1)) - 1
				if i >= n {
					return
				}
				if err := c.exchange(next(i)); err != nil {
					cancel(fmt.Errorf("%s, call %d: %w", t.name, i+1, err))
				}
			}
		})
	}
	wg.Wait()
	t.sent += int64(n)
	return context.Cause(ctx)
}

// openStreams opens n streams at a target, some at once, and reads what comes of
// each before the upstream holds it. The caller closes them.
func (t *target) openStreams(ctx context.Context, n int, next func(i int) exchange) ([]*connection, error) {
	all, errs := make([]*connection, n), make([]error, n)
	var begun atomic.Int64
	var failed atomic.Bool
	var wg sync.WaitGroup
	for range sendConnections {
		wg.Go(func() {
			for !failed.Load() {
				i := int(begun.Add(1)) - 1
				if i >= n {
					return
				}
				all[i], errs[i] = openStream(ctx, t.address, next(i))
				if errs[i] != nil {
					failed.Store(true)
				}
			}
		})
	}
	wg.Wait()
	t.sent += int64(n)
	var open []*connection
	for i, c := range all {
		if c != nil {
			open = append(open, c)
		}
		if errs[i] != nil {
			return open, fmt.Errorf("%s, stream %d: %w", t.name, i+1, errs[i])
		}
	}
	return open, nil
}

func openStream(ctx context.Context, address string, e exchange) (*connection, error) {
	c, err := dial(ctx, address)
	if err != nil {
		return nil, err
	}
	begins := 0
	for _, w := range e.load.replies[e.conversation.turns[e.turn].reply].writes[:openWrites] {
		begins += len(w)
	}
	return c, c.begin(e, begins)
}
