package browser

import (
	"fmt"
	"testing"

	"github.com/haltd/haltd/test/harness"
	"github.com/haltd/haltd/test/servers"
)

// The dashboard of any node shows the calls of all, live, and the settings
// which nodes there are. One that has its record to itself shows none, also
// after a restart.
func TestTheDashboardShowsAllNodes(t *testing.T) {
	t.Parallel()
	database, err := servers.Postgres()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := database.Close(); err != nil {
			t.Error(err)
		}
	})
	_, upstream := harness.Provider(t, harness.Scripted)
	var nodes [2]*node
	for i := range nodes {
		nodes[i] = run(t, harness.New(t, t.TempDir()), upstream, fmt.Sprintf("store: {url: %q}\n", database.URL))
	}
	p := newTab(t, nodes[0])
	p.open("/agents")
	nodes[1].send(t, call{agent: "elsewhere-bot"})
	p.sees("elsewhere-bot")

	p.open("/settings")
	table := p.in("region", "Nodes")
	var ids [2]string // those of now: a node whose lease has ended joins under another
	for i := range nodes {
		var status struct{ Node string }
		nodes[i].Must(t, "GET", "/v1/status", nil, &status)
		ids[i] = status.Node
	}
	table.row(ids[0]).sees("this one", "Running")
	table.row(ids[1]).sees("Running")
	table.row(ids[1]).lacks("this one")
	nodes[1].Stop(t)
	table.row(ids[1]).sees("Gone")
	table.row(ids[0]).sees("Running")

	alone := start(t, "")
	alone.Stop(t)
	alone.Run(t)
	q := newTab(t, alone)
	q.open("/settings")
	q.in("region", "Upstreams").sees("not called yet")
	q.in("region", "Nodes").gone()
}
