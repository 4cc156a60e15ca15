package app

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/sqlite"
)

// counted is a store that can fail, and that counts who asks to lead.
type counted struct {
	haltd.NodeStore
	asked int
	fail  error
}

func (c *counted) Lead(ctx context.Context, node, task string, span time.Duration) (bool, error) {
	c.asked++
	if c.fail != nil {
		return false, c.fail
	}
	return c.NodeStore.Lead(ctx, node, task, span)
}

// One node leads, asks the store seldom, and goes on for a while when it
// cannot ask; another takes over when it has left.
func TestOneNodeLeads(t *testing.T) {
	file, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "haltd.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	store := &counted{NodeStore: file}
	now := time.Now()
	clock := func() time.Time { return now }
	var nodes [2]*member
	for i := range nodes {
		if nodes[i], err = join(t.Context(), store, time.Minute, haltd.Node{Version: "1", StartedAt: now}, clock, slog.New(slog.DiscardHandler)); err != nil {
			t.Fatal(err)
		}
	}
	leads := func(i int) bool { return nodes[i].leading(taskPrune)(t.Context()) }
	for range 5 {
		if !leads(0) || leads(1) {
			t.Fatal("the first node does not lead, or the second does")
		}
	}
	if store.asked != 2 {
		t.Errorf("the store was asked %d times, want once by each", store.asked)
	}
	now = now.Add(40 * time.Second)
	store.fail = errors.New("out of reach")
	if !leads(0) || leads(1) {
		t.Error("the store cannot be asked: want the leader to go on, and nobody else to begin")
	}
	now = now.Add(30 * time.Second)
	if leads(0) {
		t.Error("a node leads though what it was told is over")
	}
	store.fail = nil
	nodes[0].leave(t.Context())
	if !leads(1) {
		t.Error("nobody leads after the leader has left")
	}
}
