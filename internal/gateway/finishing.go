package gateway

import (
	"context"
	"sync"
	"time"
)

const (
	// observationLimit is how long a call waits for the bookkeeping of its
	// agent's call before it.
	observationLimit = 50 * time.Millisecond
	// finishingPoll is how often it looks. The bookkeeping takes less, as a rule.
	finishingPoll = 200 * time.Microsecond
)

// finishingCalls are those whose clients may have their whole answer, while
// haltd has still to write down what they were.
type finishingCalls struct {
	mu    sync.Mutex
	calls map[*exchange]bool
}

func (f *finishingCalls) add(x *exchange) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.calls == nil {
		f.calls = map[*exchange]bool{}
	}
	f.calls[x] = true
}

func (f *finishingCalls) remove(x *exchange) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.calls, x)
}

// of lists the calls of an agent, or of all where it is "".
func (f *finishingCalls) of(agent string) (list []*exchange) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for x := range f.calls {
		if agent == "" || x.event.Agent == agent {
			list = append(list, x)
		}
	}
	return list
}

func (f *finishingCalls) hasAny(list []*exchange) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, x := range list {
		if f.calls[x] {
			return true
		}
	}
	return false
}

// await waits until the calls that are finishing now have finished.
func (f *finishingCalls) await(ctx context.Context, agent string) {
	list := f.of(agent)
	if len(list) == 0 {
		return
	}
	tick := time.NewTicker(finishingPoll)
	defer tick.Stop()
	for f.hasAny(list) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// awaitObservation lets the bookkeeping of the agent's calls that are answered
// be done first, so that a call is judged with the reply before it.
func (g *Gateway) awaitObservation(x *exchange) {
	if len(g.finishing.of(x.event.Agent)) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(x.r.Context(), observationLimit)
	defer cancel()
	g.finishing.await(ctx, x.event.Agent)
}

// AwaitRecords waits until the calls that were answered before are recorded.
func (g *Gateway) AwaitRecords(ctx context.Context) { g.finishing.await(ctx, "") }
