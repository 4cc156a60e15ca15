//go:build faults

package nodes

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
	"github.com/haltd/haltd/test/harness"
)

// nextStep is what a release to come adds to the database.
const nextStep = `ALTER TABLE agents ADD COLUMN next_release TEXT NOT NULL DEFAULT '';
ALTER TABLE events ADD COLUMN next_release BIGINT;
CREATE TABLE next_release (id TEXT PRIMARY KEY);
`

// TestRollingUpgrade: a node of the next release, which brings tables and
// columns of its own, joins two of this one; all go on working and agree. Once
// it was there, a node of this release does not start any more, and says why.
func TestRollingUpgrade(t *testing.T) {
	t.Parallel()
	next := harness.Changed(t, "next", map[string]string{"internal/store/postgres/migrations/9999_next_release.sql": nextStep})
	c := startShared(t, 2, killYAML)
	c.nodes[0].Must(t, "POST", "/v1/agents/stopped/deactivate", nil, nil)
	c.add(t, c.database.URL, killYAML+fmt.Sprintf("state: {url: %q}\n", c.redis.URL))
	newer := c.nodes[2]
	newer.Program = next
	newer.Run(t)

	versions := map[string]int{}
	var s status
	c.nodes[0].Must(t, "GET", "/v1/status", nil, &s)
	for _, n := range s.Nodes {
		versions[n.Version]++
	}
	if len(versions) != 2 || versions["next"] != 1 {
		t.Errorf("versions %v, want two of this release and one of the next", versions)
	}
	if status, _ := ask(t, newer, request{agent: "stopped", model: "echo"}); status != http.StatusBadRequest {
		t.Errorf("the new node lets an agent call that an old one stopped: %d", status)
	}
	for agent, at := range map[string]*harness.Node{"by-the-old": c.nodes[1], "by-the-new": newer} {
		at.Must(t, "POST", "/v1/agents/"+agent+"/deactivate", nil, nil)
		c.everywhere(t, "stopping what another release stopped", func(n *harness.Node) bool {
			status, _ := ask(t, n, request{agent: agent, model: "echo"})
			return status == http.StatusBadRequest
		})
	}
	_, url := harness.Provider(t, harness.Scripted)
	alone := []*harness.Node{harness.Start(t, harness.Providers(url)+killYAML)}
	loop := func(n *harness.Node, _ int) (int, string) { return repeat(t, n, "bot") }
	if got, want := stoppedAt(t, c.nodes, "bot", loop), stoppedAt(t, alone, "bot", loop); got != want {
		t.Errorf("both releases together stop a loop at call %d, one node at call %d", got, want)
	}
	c.budget(t, "rich", "1")
	var wg sync.WaitGroup
	for i := range 30 {
		wg.Go(func() {
			ask(t, c.nodes[i%3], request{agent: "rich", model: dear, tokens: 1000, header: map[string]string{bookHeader: "rich"},
				reply: fakellm.Script{Text: haltd.NewName("answer "), Usage: &haltd.Usage{Input: 10, Output: int64(100 + i)}}})
		})
	}
	wg.Wait()
	c.recorded(t, of(&c.book, "rich").calls)
	c.everywhere(t, "counting what both releases spend", func(n *harness.Node) bool {
		return spent(t, n, "rich").Spent.Cost == of(&c.book, "rich").cost
	})

	old := c.nodes[1]
	old.Stop(t)
	out, errs, code := harness.CLI(t, nil, "serve", "--config", old.Config.Path)
	if said := out + errs; code == 0 || !strings.Contains(said, "but this haltd knows versions up to") || !strings.Contains(said, "Start the newer haltd") {
		t.Errorf("an old node on the new tables ends with %d and says:\n%s", code, said)
	}
	if said, healthy := doctor(t, old); healthy || !strings.Contains(said, "and this haltd knows versions up to") {
		t.Errorf("doctor of the old release is content with the new tables:\n%s", said)
	}
	old.Program = next
	old.Run(t) // upgraded
	if status, reason := repeat(t, old, "bot"); status != http.StatusBadRequest || reason != string(haltd.ReasonKilled) {
		t.Errorf("after the upgrade a killed agent gets %d %s", status, reason)
	}
}
