//go:build faults

package nodes

import (
	"net/http"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
	"github.com/haltd/haltd/test/harness"
	"github.com/haltd/haltd/test/harness/inprocess"
	"github.com/haltd/haltd/test/servers"
)

// TestClocksDiffer: nodes whose clocks are minutes apart stop a loop that is
// spread over them at the call at which one node does, and again after a person
// has resumed it; what they record is in order.
func TestClocksDiffer(t *testing.T) {
	t.Parallel()
	database, redis := closing(t, servers.Postgres), closing(t, servers.Redis)
	_, url := harness.Provider(t, harness.Scripted)
	run := func(ahead time.Duration, yaml string) *inprocess.Node {
		config := inprocess.NewConfig(t)
		config.Write(t, harness.Providers(url)+killYAML+yaml)
		return inprocess.Start(t, config, func() time.Time { return time.Now().Add(ahead) })
	}
	var nodes []*inprocess.Node
	for _, ahead := range []time.Duration{0, 3 * time.Minute, -2 * time.Minute} {
		nodes = append(nodes, run(ahead, "store: {url: \""+database.URL+"\"}\nstate: {url: \""+redis.URL+"\"}\n"))
	}
	alone := []*inprocess.Node{run(0, "")}
	stop := func(nodes []*inprocess.Node) int {
		t.Helper()
		for i := range 60 {
			status, _ := say(t, nodes[i%len(nodes)].Gateway, "bot", []map[string]any{{"role": "user", "content": "Check my order, please."}}, fakellm.Script{Text: "I cannot find that order."})
			if status == http.StatusBadRequest {
				return i + 1
			}
			observed(t, nodes[(i+1)%len(nodes)].Listeners, "bot")
		}
		t.Fatal("the loop is never stopped")
		return 0
	}
	want := stop(alone)
	if got := stop(nodes); got != want {
		t.Errorf("nodes whose clocks differ stop the loop at call %d, one node at call %d", got, want)
	}
	// Each node resumes it in turn, the one that is ahead before one that is
	// behind: its window must be empty everywhere, and fill again.
	for i := range nodes {
		nodes[(i+1)%3].Must(t, "POST", "/v1/agents/bot/activate", nil, nil)
		alone[0].Must(t, "POST", "/v1/agents/bot/activate", nil, nil)
		for _, n := range nodes {
			if err := harness.Until(t.Context(), func() bool {
				var a haltd.Agent
				n.Must(t, "GET", "/v1/agents/bot", nil, &a)
				return a.Active
			}); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := stop(nodes), stop(alone); got != want {
			t.Errorf("resumed by node %d, nodes whose clocks differ stop the loop at call %d, one node at call %d", (i+1)%3, got, want)
		}
	}
	for _, n := range nodes {
		n.Stop(t) // which writes what it has recorded
	}
}
