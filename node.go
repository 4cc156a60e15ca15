package haltd

import (
	"context"
	"time"
)

// MostNodes is how many nodes may share a store at the same time.
const MostNodes = 1 << nodeBits

// NoNumber is the number of a node that has not had one.
const NoNumber = -1

// Node is one haltd process that uses a store.
type Node struct {
	ID string `json:"id"` // made anew at every start
	// Number tells the node's event ids from those of others. No two nodes
	// that live have the same.
	Number    int       `json:"number"`
	Host      string    `json:"host"` // the machine, as it calls itself; may be empty
	Version   string    `json:"version"`
	StartedAt time.Time `json:"started_at"`
	// SeenAt is when the node last renewed its lease, and Alive whether the
	// lease has not ended, both by the clock of the store.
	SeenAt time.Time `json:"seen_at"`
	Alive  bool      `json:"alive"`
}

// NodeStore knows the nodes that share a store. A node lives as long as it
// renews its lease. Leases are spans, counted by the clock of the store: the
// clocks of nodes may differ.
type NodeStore interface {
	// Join registers a node and answers it with its number: the one it has had,
	// or else the smallest that nobody uses. A node whose lease has ended may
	// only be cut off and go on recording under its number, so that for a day
	// nobody else gets that, unless no other is left; one that has left does
	// not. CodeUnavailable where none is free, CodeExists where the id is taken.
	Join(ctx context.Context, n Node, lease time.Duration) (Node, error)
	// Renew makes the lease of a node end that much later than now.
	// CodeConflict where it has ended: others may have taken over what the
	// node had, and it has to join again under a new id.
	Renew(ctx context.Context, node string, lease time.Duration) error
	// Leave ends the lease of a node, and all that it leads. A node that has
	// left or was never there is no error.
	Leave(ctx context.Context, node string) error
	// Nodes lists the nodes that live, and those that ended in the last day,
	// by number and start.
	Nodes(ctx context.Context) ([]Node, error)
	// Lead makes a living node the leader of a task, or keeps it so, until
	// the span has passed; false where another one leads it. It is for what
	// one node has to do for all: housekeeping, budgets that start again,
	// the dispatch of notices. CodeConflict where the node does not live.
	Lead(ctx context.Context, node, task string, span time.Duration) (bool, error)
}

// StoreClock tells the time by the clock of the store, which all nodes go by.
type StoreClock interface {
	Now(ctx context.Context) (time.Time, error)
}
