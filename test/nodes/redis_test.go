package nodes

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
	"github.com/haltd/haltd/test/harness"
	"github.com/haltd/haltd/test/servers"
)

const killYAML = "defaults: {kill_switch: {enabled: true}}\n"

// repeat makes the same call again, which gets the same reply, and answers with
// its status and reason.
func repeat(t *testing.T, n *harness.Node, agent string) (status int, reason string) {
	t.Helper()
	body := `{"model":"gpt-4o","max_tokens":50,"messages":[{"role":"user","content":"Check my order, please."}]}`
	req, err := http.NewRequestWithContext(t.Context(), "POST", n.Gateway+"/agents/"+agent+"/openai/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	script, _ := json.Marshal(fakellm.Script{Text: "I cannot find that order."})
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Session-Id", "one")
	req.Header.Set(harness.ScriptHeader, string(script))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, res.Header.Get("X-Haltd-Reason")
}

// killedAt is at which call a loop over nodes in turn is stopped.
func killedAt(t *testing.T, nodes []*harness.Node, agent string) int {
	t.Helper()
	for i := range 60 {
		if status, _ := repeat(t, nodes[i%len(nodes)], agent); status == http.StatusBadRequest {
			return i + 1
		}
	}
	t.Fatal("the loop is never stopped")
	return 0
}

func withoutState(t *testing.T, n *harness.Node) bool {
	t.Helper()
	var status struct{ Degraded []string }
	n.Must(t, "GET", "/v1/status", nil, &status)
	return slices.Contains(status.Degraded, "state")
}

// doctor runs haltd doctor with the configuration of a node.
func doctor(t *testing.T, n *harness.Node) (said string, healthy bool) {
	t.Helper()
	cmd := harness.Command(t, nil, "doctor", "--config", n.Config.Path, "--json")
	out, err := cmd.Output()
	var report struct {
		Healthy bool
		Checks  []haltd.Check
	}
	if decodeErr := json.Unmarshal(out, &report); decodeErr != nil {
		t.Fatalf("%v: %s", decodeErr, out)
	}
	if report.Healthy != (err == nil) {
		t.Errorf("healthy %v, and it ended with %v", report.Healthy, err)
	}
	for _, c := range report.Checks {
		said += c.Outcome + ": " + c.Said + "\n"
		if c.Outcome == haltd.CheckProblem && c.Fix == "" {
			t.Errorf("%q does not say what to do", c.Said)
		}
	}
	return said, report.Healthy
}

// Three nodes that share a Redis stop a loop at the call at which one node
// does, once; without Redis they go on, and who was killed stays so.
func TestThreeNodesWithRedis(t *testing.T) {
	redis, err := servers.Redis()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := redis.Close(); err != nil {
			t.Error(err)
		}
	})
	c := start(t, 3, killYAML+fmt.Sprintf("state: {url: %q}\n", redis.URL))
	_, url := harness.Provider(t, harness.Scripted)
	alone := harness.Start(t, harness.Providers(url)+killYAML)
	want := killedAt(t, []*harness.Node{alone}, "bot")
	if got := killedAt(t, c.nodes, "bot"); got != want {
		t.Errorf("three nodes stop the loop at call %d, one node at call %d", got, want)
	}
	c.everywhere(t, "stopping the agent", func(n *harness.Node) bool {
		status, reason := repeat(t, n, "bot")
		return status == http.StatusBadRequest && reason == string(haltd.ReasonKilled)
	})
	if events := c.nodes[0].Events(t, "agent=bot&type=kill_switch", 1); len(events) != 1 {
		t.Errorf("%d kills, want one", len(events))
	}
	if said, healthy := doctor(t, c.nodes[0]); !healthy || !strings.Contains(said, "Redis has version") || !strings.Contains(said, "The tables are up to date") || !strings.Contains(said, "3 nodes live") {
		t.Errorf("doctor is not content:\n%s", said)
	}

	redis.Stop(t)
	for _, n := range c.nodes {
		n.Eventually(t, "doing without Redis", func() bool {
			if status, _ := ask(t, n, request{agent: "healthy", model: "gpt-4o", tokens: 10}); status != http.StatusOK {
				t.Fatalf("a call without Redis: %d", status)
			}
			return withoutState(t, n)
		})
		if status, reason := repeat(t, n, "bot"); status != http.StatusBadRequest || reason != string(haltd.ReasonKilled) {
			t.Errorf("without Redis the killed agent gets %d %s", status, reason)
		}
	}
	if said, healthy := doctor(t, c.nodes[0]); healthy || !strings.Contains(said, "problem: Redis at") || !strings.Contains(said, "does without: state") {
		t.Errorf("doctor does not see that Redis is gone:\n%s", said)
	}
	redis.Start(t)
	for _, n := range c.nodes {
		n.Eventually(t, "finding Redis again", func() bool { return !withoutState(t, n) })
	}
}
