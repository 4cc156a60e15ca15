package app

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/haltd/haltd"
)

// nodeLease is that of a node that shares its store. One that ends without a
// word is taken for dead after it, and then what it held is charged.
const nodeLease = 10 * time.Second

// soleLease is that of a node whose store no other can use: it is never
// renewed.
const soleLease = 100 * 365 * 24 * time.Hour

// The tasks that one node does for all.
const (
	taskPrune   = "prune"   // what was kept for its time goes
	taskControl = "control" // sessions are forgotten, budgets start again
	taskNotices = "notices" // notices become deliveries
	taskLedgers = "ledgers" // what dead nodes held is charged
)

// member is this process among the nodes that share the store.
type member struct {
	store haltd.NodeStore
	lease time.Duration
	clock haltd.Clock
	log   *slog.Logger

	mu    sync.Mutex
	node  haltd.Node
	leads map[string]leadership
	seen  []haltd.Node // the nodes as they were when the store was last asked
}

// leadership is what is known of who leads a task.
type leadership struct {
	mine    bool
	until   time.Time // when it has to be asked again at the latest
	unknown bool      // to the store, too, when it was last asked
}

// join makes this process a node; what node says of itself is its host, version
// and start.
func join(ctx context.Context, store haltd.NodeStore, lease time.Duration, node haltd.Node, clock haltd.Clock, log *slog.Logger) (*member, error) {
	m := &member{store: store, lease: lease, clock: clock, log: log, leads: map[string]leadership{}}
	var err error
	node.ID, node.Number = haltd.NewName("nod_"), haltd.NoNumber
	m.node, err = store.Join(ctx, node, lease)
	return m, err
}

// leading is a question for a room: whether this node does a task for all. One
// that has its store to itself does, without asking.
func (m *member) leading(task string) func(context.Context) bool {
	if m.lease == soleLease {
		return func(context.Context) bool { return true }
	}
	return func(ctx context.Context) bool { return m.lead(ctx, task) }
}

// lead asks the store when half of what it said has passed. Who cannot ask
// leads as long as it was told that it does.
func (m *member) lead(ctx context.Context, task string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.clock()
	known := m.leads[task]
	if now.Before(known.until.Add(-m.lease / 2)) {
		return known.mine
	}
	limited, cancel := context.WithTimeout(ctx, m.lease/4)
	defer cancel()
	mine, err := m.store.Lead(limited, m.node.ID, task, m.lease)
	if err != nil {
		if ctx.Err() == nil && !known.unknown {
			m.log.Warn("nobody knows which node leads", "reason", task, "error", err)
			known.unknown = true
			m.leads[task] = known
		}
		return known.mine && now.Before(known.until)
	}
	m.leads[task] = leadership{mine: mine, until: now.Add(m.lease)}
	return mine
}

// run renews the lease until ctx ends and sets the clock, joins again where the
// lease has ended, and then calls rejoined with the new node. The node that
// leads charges what dead ones held.
func (m *member) run(ctx context.Context, setClock func(ctx context.Context, tries int) error, rejoined func(haltd.Node), charge func(context.Context) error) {
	tick := time.NewTicker(m.lease / 5)
	defer tick.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := m.renew(ctx, rejoined)
		if err == nil {
			err = setClock(ctx, 1)
		}
		if err == nil && m.lead(ctx, taskLedgers) {
			err = charge(ctx)
		}
		if err != nil && !failing && ctx.Err() == nil {
			m.log.Warn("the lease of this node cannot be renewed", "error", err)
		}
		failing = err != nil
	}
}

func (m *member) renew(ctx context.Context, rejoined func(haltd.Node)) error {
	old := m.self()
	err := m.store.Renew(ctx, old.ID, m.lease)
	if haltd.ErrorCode(err) != haltd.CodeConflict {
		return err
	}
	// The same number where nobody has it: ids of this moment carry it still.
	node, err := m.store.Join(ctx, haltd.Node{ID: haltd.NewName("nod_"), Number: old.Number, Host: old.Host, Version: old.Version, StartedAt: old.StartedAt}, m.lease)
	if err != nil {
		return err
	}
	m.mu.Lock()
	m.node, m.leads = node, map[string]leadership{}
	m.mu.Unlock()
	m.log.Warn("the lease of this node had ended; it joined again, and what it held for calls was charged")
	rejoined(node)
	return nil
}

// self is this node.
func (m *member) self() haltd.Node {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.node
}

// nodes are all that share the store or, where it cannot be asked, those that
// did. Where nobody shares it, those that had it before are no nodes beside this
// one.
func (m *member) nodes() []haltd.Node {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	list, err := m.store.Nodes(ctx)
	if m.lease == soleLease {
		list = slices.DeleteFunc(list, func(n haltd.Node) bool { return !n.Alive })
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err == nil {
		m.seen = list
	}
	return m.seen
}

// countEvery is how often it is asked which nodes there are.
const countEvery = 5 * time.Second

// count keeps which nodes live, for the time when limits have to be divided among
// them.
func (m *member) count(ctx context.Context) {
	for {
		m.nodes()
		select {
		case <-ctx.Done():
			return
		case <-time.After(countEvery):
		}
	}
}

// living is how many nodes lived when they were last asked for.
func (m *member) living() (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.seen {
		if m.seen[i].Alive {
			n++
		}
	}
	return max(n, 1)
}

// leave ends the lease; one that is not given up ends by itself.
func (m *member) leave(ctx context.Context) { _ = m.store.Leave(ctx, m.self().ID) }
