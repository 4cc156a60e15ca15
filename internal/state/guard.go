package state

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/policy"
)

const (
	// Patience is how long a question to the shared state is waited for. Who
	// asks in vain goes on with the state of this node.
	Patience = 100 * time.Millisecond
	// startPatience is the same at the start, when no call waits.
	startPatience = 2 * time.Second
	// mostFailures is how many questions may fail in a row before nobody asks
	// any more.
	mostFailures = 3
	// While nobody asks, the state is probed after these pauses.
	firstProbe, longestProbe = 100 * time.Millisecond, 2 * time.Second
)

// Remote is a state that may be out of reach.
type Remote interface {
	Port
	// Ping reports whether it answers and can be written, and connects where
	// that is needed.
	Ping(ctx context.Context) error
}

// GuardOptions are what a guard needs. All but Patience are.
type GuardOptions struct {
	Remote Remote
	Local  func() Port // a new one, which is empty
	Nodes  func() int  // how many share the state, as last seen
	// Patience is how long a question is waited for where that is not Patience.
	Patience time.Duration
	Logger   *slog.Logger
}

// Guard is the state of a node that shares one with others. While the shared
// one does not answer, a breaker is open and the node goes on with a state of
// its own, empty at first, with limits divided by the number of nodes. A probe
// in the background closes the breaker: no call is risked for it.
type Guard struct {
	o GuardOptions

	mu       sync.Mutex
	failures int
	why      error
	open     atomic.Bool
	own      atomic.Pointer[Port] // for who has no answer; empty again after each outage
	probing  sync.WaitGroup
	closing  chan struct{}
}

var _ Port = (*Guard)(nil)

// NewGuard asks the remote state whether it answers and begins with the local
// one where it does not.
func NewGuard(ctx context.Context, o GuardOptions) *Guard {
	o.Patience = cmp.Or(o.Patience, Patience)
	g := &Guard{o: o, closing: make(chan struct{})}
	g.empty()
	if err := g.ping(ctx, startPatience); err != nil {
		g.mu.Lock()
		g.trip(err)
		g.mu.Unlock()
	}
	return g
}

func (g *Guard) empty() {
	own := g.o.Local()
	g.own.Store(&own)
}

// Close ends the probe.
func (g *Guard) Close() {
	close(g.closing)
	g.probing.Wait()
}

// Degraded is why the node goes on with a state of its own; nil where it does
// not.
func (g *Guard) Degraded() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.why
}

func (g *Guard) ping(ctx context.Context, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := g.o.Remote.Ping(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return unanswered(patience)
	}
	return err
}

func unanswered(patience time.Duration) error {
	return haltd.Errorf(haltd.CodeUnavailable, "no answer within %v", patience)
}

// bounded asks, and waits as long as ctx lasts: a client that makes a new
// connection does not heed it. An answer that comes too late is given to late.
func bounded[T any](ctx context.Context, ask func(context.Context) (T, error), late func(T)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := ask(ctx)
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		if late != nil {
			go func() { late((<-done).value) }()
		}
		var none T
		return none, ctx.Err()
	}
}

// try asks the shared state, unless the breaker is open, and for who has no
// answer the state of this node.
func try[T any](ctx context.Context, g *Guard, remote, local func(context.Context, Port) (T, error), late func(T)) (T, error) {
	if g.open.Load() {
		return local(ctx, *g.own.Load())
	}
	limited, cancel := context.WithTimeout(ctx, g.o.Patience)
	value, err := bounded(limited, func(ctx context.Context) (T, error) { return remote(ctx, g.o.Remote) }, late)
	cancel()
	if g.isFailure(ctx, err) {
		return local(ctx, *g.own.Load())
	}
	return value, err
}

// tell is try for what has no answer.
func (g *Guard) tell(ctx context.Context, f func(context.Context, Port) error) error {
	both := func(ctx context.Context, p Port) (struct{}, error) { return struct{}{}, f(ctx, p) }
	_, err := try(ctx, g, both, both, nil)
	return err
}

// isFailure reports whether the shared state failed, counts that, and opens the
// breaker after the last failure that may be.
func (g *Guard) isFailure(ctx context.Context, err error) bool {
	late := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
	if haltd.ErrorCode(err) != haltd.CodeUnavailable && (!late || ctx.Err() != nil) {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if late {
		err = unanswered(g.o.Patience)
	}
	if g.failures++; g.failures >= mostFailures {
		g.trip(err)
	}
	return true
}

// succeeded ends a row of failures. Only a lease does, which is written: a Redis
// whose memory is full, or which has become a replica, goes on answering who
// reads.
func (g *Guard) succeeded() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.failures = 0
}

// trip opens the breaker. The caller holds mu.
func (g *Guard) trip(why error) {
	if g.open.Swap(true) {
		return
	}
	g.why = why
	g.o.Logger.Error("the shared state is out of reach: windows and limits are this node's own until it is back", "dependency", "state", "count", max(g.o.Nodes(), 1), "error", why)
	g.probing.Go(g.probe)
}

// probe asks until the shared state answers, and closes the breaker. The first
// question that fails after that opens it again.
func (g *Guard) probe() {
	for pause := firstProbe; ; pause = min(2*pause, longestProbe) {
		select {
		case <-g.closing:
			return
		case <-time.After(pause):
		}
		err := g.ping(context.Background(), g.o.Patience)
		g.mu.Lock()
		if g.why = err; err == nil {
			g.failures = mostFailures - 1
			g.open.Store(false)
			g.empty()
			g.mu.Unlock()
			g.o.Logger.Info("the shared state is back", "dependency", "state")
			return
		}
		g.mu.Unlock()
	}
}

// share is what this node may take of limits that all nodes have together.
func (g *Guard) share(draws []policy.Draw) []policy.Draw {
	n := g.o.Nodes()
	if n <= 1 || len(draws) == 0 {
		return draws
	}
	own := make([]policy.Draw, len(draws))
	for i, d := range draws {
		d.Limit = d.Limit.Divide(n)
		own[i] = d
	}
	return own
}

// Open implements the port.
func (g *Guard) Open(ctx context.Context, q Question, now time.Time) (Answer, error) {
	if q.Place != nil { // who waits no longer may change what was asked
		place := *q.Place
		q.Place = &place
	}
	a, err := try(ctx, g, func(ctx context.Context, p Port) (Answer, error) {
		a, err := p.Open(ctx, q, now)
		if a.Lease != nil {
			a.Lease = &guarded{Lease: a.Lease, guard: g}
		}
		return a, err
	}, func(ctx context.Context, p Port) (Answer, error) {
		own := q // the other may still be asked
		own.Claim.Draws, own.Claim.Shadows = g.share(q.Claim.Draws), g.share(q.Claim.Shadows)
		return p.Open(ctx, own, now)
	}, func(a Answer) {
		if a.Lease != nil {
			a.Lease.Release()
		}
	})
	if _, shared := a.Lease.(*guarded); shared {
		g.succeeded()
	}
	return a, err
}

// Acquire implements the port.
func (g *Guard) Acquire(ctx context.Context, p Place, now time.Time) (Lease, error) {
	a, err := g.Open(ctx, Question{Place: &p}, now)
	return a.Lease, err
}

// guarded is a lease of the shared state.
type guarded struct {
	Lease
	guard     *Guard
	committed bool
}

// Commit fails where the shared state went away meanwhile: what was changed is
// lost.
func (l *guarded) Commit(ctx context.Context) error {
	l.committed = true
	limited, cancel := context.WithTimeout(ctx, l.guard.o.Patience)
	defer cancel()
	_, err := bounded(limited, func(ctx context.Context) (struct{}, error) { return struct{}{}, l.Lease.Commit(ctx) }, nil)
	l.guard.isFailure(ctx, err)
	return err
}

// Release leaves alone what was committed, or may still be.
func (l *guarded) Release() {
	if !l.committed {
		l.Lease.Release()
	}
}

// Await implements the port.
func (g *Guard) Await(ctx context.Context, p Place, version uint64) error {
	if g.open.Load() {
		return (*g.own.Load()).Await(ctx, p, version)
	}
	_, err := bounded(ctx, func(ctx context.Context) (struct{}, error) { return struct{}{}, g.o.Remote.Await(ctx, p, version) }, nil)
	return err
}

// Charge implements the port.
func (g *Guard) Charge(ctx context.Context, draws []policy.Draw, now time.Time) error {
	none := struct{}{}
	_, err := try(ctx, g,
		func(ctx context.Context, p Port) (struct{}, error) { return none, p.Charge(ctx, draws, now) },
		func(ctx context.Context, p Port) (struct{}, error) { return none, p.Charge(ctx, g.share(draws), now) }, nil)
	return err
}

// Ended implements the port.
func (g *Guard) Ended(ctx context.Context, digest uint64, how haltd.Ending) error {
	return g.tell(ctx, func(ctx context.Context, p Port) error { return p.Ended(ctx, digest, how) })
}

// Reply implements the port.
func (g *Guard) Reply(ctx context.Context, agent, reply string) (haltd.PastReply, error) {
	ask := func(ctx context.Context, p Port) (haltd.PastReply, error) { return p.Reply(ctx, agent, reply) }
	return try(ctx, g, ask, ask, nil)
}

// SaveReply implements the port.
func (g *Guard) SaveReply(ctx context.Context, agent, reply string, past haltd.PastReply) error {
	return g.tell(ctx, func(ctx context.Context, p Port) error { return p.SaveReply(ctx, agent, reply, past) })
}

// unsettled is what a reply was charged; nil for none.
type unsettled *haltd.Unsettled

// Unsettled implements the port.
func (g *Guard) Unsettled(ctx context.Context, agent, reply string) (haltd.Unsettled, bool, error) {
	return g.unsettled(ctx, func(ctx context.Context, p Port) (haltd.Unsettled, bool, error) {
		return p.Unsettled(ctx, agent, reply)
	})
}

// TakeUnsettled implements the port.
func (g *Guard) TakeUnsettled(ctx context.Context, agent, reply string) (haltd.Unsettled, bool, error) {
	return g.unsettled(ctx, func(ctx context.Context, p Port) (haltd.Unsettled, bool, error) {
		return p.TakeUnsettled(ctx, agent, reply)
	})
}

func (g *Guard) unsettled(ctx context.Context, f func(context.Context, Port) (haltd.Unsettled, bool, error)) (haltd.Unsettled, bool, error) {
	ask := func(ctx context.Context, p Port) (unsettled, error) {
		u, ok, err := f(ctx, p)
		if err != nil || !ok {
			return nil, err
		}
		return &u, nil
	}
	u, err := try(ctx, g, ask, ask, nil)
	if u == nil {
		return haltd.Unsettled{}, false, err
	}
	return *u, true, err
}

// SaveUnsettled implements the port.
func (g *Guard) SaveUnsettled(ctx context.Context, agent, reply string, u haltd.Unsettled) error {
	return g.tell(ctx, func(ctx context.Context, p Port) error { return p.SaveUnsettled(ctx, agent, reply, u) })
}

// Use implements the port.
func (g *Guard) Use(ctx context.Context, digest uint64, now time.Time) (time.Time, error) {
	ask := func(ctx context.Context, p Port) (time.Time, error) { return p.Use(ctx, digest, now) }
	return try(ctx, g, ask, ask, nil)
}
