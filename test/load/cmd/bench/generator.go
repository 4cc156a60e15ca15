package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// sliceLimit bounds how many requests one slice sends, whatever its time.
	sliceLimit = 1_000_000
	// pacedClients is how many clients take turns at a fixed rate.
	pacedClients = 60
	// maxConnections is how many connections a target may have open at a
	// fixed rate. One that needs more does not keep up.
	maxConnections = 512
)

// slice is what one stretch of load on one target came to.
type slice struct {
	requests  int // inside the measured time
	sent      int // those and the ones that warmed up
	bodyBytes int // of the requests inside the measured time
	elapsed   time.Duration
	latency   histogram
	firstByte histogram
}

// stretch is a stretch of load on its way to a target.
type stretch struct {
	address     string
	clients     []*client
	connections []*connection // one for each client, and more at a fixed rate
	span        time.Duration

	mu     sync.Mutex
	result slice
	failed error // the first; the others tell the same
}

// generate puts a load on a target for the given time. Before the time begins
// each client has made one exchange, after which begin is called. Every reply
// is compared with the one expected, or with what a peer makes of it.
func generate(ctx context.Context, t *target, l *load, c cell, span time.Duration, begin func() error) (*slice, error) {
	n := c.Concurrency
	if c.Rate > 0 {
		n = pacedClients
	}
	s := &stretch{address: t.address, clients: l.clients(n, &t.sessions, t.peer), span: span}
	defer s.close()
	if err := s.warmUp(ctx); err != nil {
		return nil, fmt.Errorf("warm up: %w", err)
	}
	if err := begin(); err != nil {
		return nil, err
	}
	start := time.Now()
	if c.Rate > 0 {
		s.pace(ctx, start, c.Rate)
	} else {
		s.busy(ctx, start)
	}
	s.result.elapsed = time.Since(start)
	s.result.requests = s.result.latency.total
	s.result.sent += s.result.requests
	return &s.result, s.failed
}

func (s *stretch) close() {
	for _, c := range s.connections {
		c.close()
	}
}

func (s *stretch) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed == nil {
		s.failed = err
	}
}

func (s *stretch) hasFailed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed != nil
}

func (s *stretch) warmUp(ctx context.Context) error {
	for range s.clients {
		c, err := dial(ctx, s.address)
		if err != nil {
			return err
		}
		s.connections = append(s.connections, c)
	}
	var wg sync.WaitGroup
	for i, c := range s.clients {
		wg.Go(func() {
			if err := s.connections[i].exchange(c.next()); err != nil {
				s.fail(err)
			}
		})
	}
	wg.Wait()
	s.result.sent = len(s.clients)
	return s.failed
}

// busy is a closed loop: each client sends its next request when the reply to
// the last is complete.
func (s *stretch) busy(ctx context.Context, start time.Time) {
	until := start.Add(s.span)
	var sent atomic.Int64
	var failed atomic.Bool
	var wg sync.WaitGroup
	for i, client := range s.clients {
		wg.Go(func() {
			part := slice{}
			for now := time.Now(); now.Before(until) && ctx.Err() == nil && !failed.Load() && sent.Add(1) <= sliceLimit; {
				e := client.next()
				if err := s.connections[i].exchange(e); err != nil {
					failed.Store(true)
					s.fail(err)
					break
				}
				done := time.Now()
				part.latency.add(done.Sub(now))
				part.firstByte.add(s.connections[i].firstByte.Sub(now))
				part.bodyBytes += e.conversation.length(e.turn)
				now = done
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			s.result.latency.merge(&part.latency)
			s.result.firstByte.merge(&part.firstByte)
			s.result.bodyBytes += part.bodyBytes
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		s.fail(err)
	}
}

// pace is an open loop: requests start at fixed times, whatever the replies
// do. The clients take turns, and a request takes a connection that is free.
func (s *stretch) pace(ctx context.Context, start time.Time, rate int) {
	free := make(chan *connection, maxConnections)
	for _, c := range s.connections {
		free <- c
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	for i := range int(s.span.Seconds() * float64(rate)) {
		due := start.Add(time.Duration(i) * time.Second / time.Duration(rate))
		select {
		case <-time.After(time.Until(due)):
		case <-ctx.Done():
			s.fail(ctx.Err())
		}
		if s.hasFailed() {
			return
		}
		began, e := time.Now(), s.clients[i%len(s.clients)].next()
		wg.Go(func() {
			c, err := s.connection(ctx, free)
			if err == nil {
				err = c.exchange(e)
			}
			if err != nil {
				s.fail(err)
				return
			}
			s.note(e, time.Since(began), c.firstByte.Sub(began))
			free <- c
		})
	}
}

// connection is a free one, or a new one when there is none.
func (s *stretch) connection(ctx context.Context, free <-chan *connection) (*connection, error) {
	select {
	case c := <-free:
		return c, nil
	default:
	}
	c, err := dial(ctx, s.address)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.connections = append(s.connections, c)
	if n := len(s.connections); n > maxConnections {
		return nil, fmt.Errorf("it does not keep up: %d connections are open", n)
	}
	return c, nil
}

func (s *stretch) note(e exchange, took, firstByte time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.result.latency.add(took)
	s.result.firstByte.add(firstByte)
	s.result.bodyBytes += e.conversation.length(e.turn)
}
