package app

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/haltd/haltd"
)

// soleLease is that of a node whose store no other can use: it is never
// renewed.
const soleLease = 100 * 365 * 24 * time.Hour

// The tasks that one node does for all.
const (
	taskPrune   = "prune"   // what was kept for its time goes
	taskControl = "control" // sessions are forgotten, budgets start again
	taskNotices = "notices" // notices become deliveries
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
}

// leadership is what is known of who leads a task.
type leadership struct {
	mine  bool
	until time.Time // when it has to be asked again at the latest
}

// join makes this process a node.
func join(ctx context.Context, store haltd.NodeStore, lease time.Duration, version string, started time.Time, clock haltd.Clock, log *slog.Logger) (*member, error) {
	m := &member{store: store, lease: lease, clock: clock, log: log, leads: map[string]leadership{}}
	var err error
	m.node, err = store.Join(ctx, haltd.Node{ID: haltd.NewName("nod_"), Version: version, StartedAt: started}, lease)
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
	mine, err := m.store.Lead(ctx, m.node.ID, task, m.lease)
	if err != nil {
		if ctx.Err() == nil {
			m.log.Warn("nobody knows which node leads", "reason", task, "error", err)
		}
		return known.mine && now.Before(known.until)
	}
	m.leads[task] = leadership{mine, now.Add(m.lease)}
	return mine
}

// leave ends the lease; one that is not given up ends by itself.
func (m *member) leave(ctx context.Context) { _ = m.store.Leave(ctx, m.node.ID) }
