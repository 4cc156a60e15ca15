package gateway

import (
	"context"
	"sync"
)

// finishingCalls are those whose clients may have their whole answer, while
// haltd has still to write down what they were. The channel of each is closed
// when that is done.
type finishingCalls struct {
	mu    sync.Mutex
	calls map[*exchange]chan struct{}
}

func (f *finishingCalls) add(x *exchange) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.calls == nil {
		f.calls = map[*exchange]chan struct{}{}
	}
	if f.calls[x] == nil {
		f.calls[x] = make(chan struct{})
	}
}

func (f *finishingCalls) remove(x *exchange) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if done := f.calls[x]; done != nil {
		close(done)
		delete(f.calls, x)
	}
}

// of are the calls of an agent, or of all where it is "".
func (f *finishingCalls) of(agent string) (list []<-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for x, done := range f.calls {
		if agent == "" || x.event.Agent == agent {
			list = append(list, done)
		}
	}
	return list
}

// await waits until calls have finished.
func await(ctx context.Context, calls []<-chan struct{}) {
	for _, done := range calls {
		select {
		case <-done:
		case <-ctx.Done():
			return
		}
	}
}

// awaitObservation lets the bookkeeping of the agent's calls that are answered
// be done first, so that a call is judged with the reply before it.
func (g *Gateway) awaitObservation(x *exchange) {
	calls := g.finishing.of(x.event.Agent)
	if len(calls) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(x.r.Context(), observationWait)
	defer cancel()
	await(ctx, calls)
}

// AwaitRecords waits until the calls that were answered before are recorded.
func (g *Gateway) AwaitRecords(ctx context.Context) { await(ctx, g.finishing.of("")) }
