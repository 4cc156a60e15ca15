// Package inprocess runs haltd inside the process of a test, which can give it
// a clock and look for what it leaks. It is apart from harness because it
// imports all of haltd.
package inprocess

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/haltd/haltd/internal/app"
	"github.com/haltd/haltd/test/harness"
)

// Node is a haltd inside this process.
type Node struct {
	harness.Listeners
	stop func() error
}

// NewConfig is a configuration in a new folder, on any free ports.
func NewConfig(t testing.TB) *harness.Config {
	t.Helper()
	return harness.NewConfig(t.TempDir(), "127.0.0.1:0", "127.0.0.1:0")
}

// Start runs haltd with a configuration that has been written. It is ready
// when Start returns; the end of the test stops it.
func Start(t testing.TB, config *harness.Config, clock func() time.Time) *Node {
	t.Helper()
	a, err := app.New(t.Context(), app.Options{
		ConfigPath: config.Path,
		Env:        func(string) (string, bool) { return "", false },
		Stderr:     t.Output(),
		Version:    "test",
		Clock:      clock,
		// No test that gives haltd a clock is about a machine that is busy.
		StatePatience: harness.Patience,
	})
	if err != nil {
		t.Fatalf("start haltd: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	n := &Node{
		Listeners: harness.Listeners{Gateway: a.GatewayURL(), Admin: a.AdminURL()},
		stop: sync.OnceValue(func() error {
			cancel()
			return <-ended
		}),
	}
	t.Cleanup(func() { n.Stop(t) })
	return n
}

// Stop ends haltd in an orderly way, which writes its record; a bad end fails
// the test. It may be called again.
func (n *Node) Stop(t testing.TB) {
	t.Helper()
	if err := n.stop(); err != nil {
		t.Errorf("stop haltd: %v", err)
	}
}
