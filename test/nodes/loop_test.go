package nodes

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
	"github.com/haltd/haltd/test/harness"
)

const killYAML = "defaults: {kill_switch: {enabled: true}}\n"

// say sends messages at a node and answers with the status and reason.
func say(t testing.TB, gateway, agent string, messages []map[string]any, reply fakellm.Script) (status int, reason string) {
	t.Helper()
	body, _ := json.Marshal(map[string]any{"model": "gpt-4o", "max_tokens": 50, "messages": messages})
	req, err := http.NewRequestWithContext(t.Context(), "POST", gateway+"/agents/"+agent+"/openai/v1/chat/completions", strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	script, _ := json.Marshal(reply)
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

// repeat makes the same call again, which gets the same reply.
func repeat(t testing.TB, n *harness.Node, agent string) (status int, reason string) {
	t.Helper()
	return say(t, n.Gateway, agent, []map[string]any{{"role": "user", "content": "Check my order, please."}}, fakellm.Script{Text: "I cannot find that order."})
}

// retool makes the call number i of an agent that calls the same tool in vain
// and keeps only its last round: what came before only haltd remembers.
func retool(t testing.TB, gateway, agent string, i int) (status int, reason string) {
	t.Helper()
	messages := []map[string]any{{"role": "user", "content": "Mend the build."}}
	id := func(i int) string { return fmt.Sprint("call_", agent, i) }
	tool := func(i int) fakellm.ToolCall {
		return fakellm.ToolCall{ID: id(i), Name: "read_file", Arguments: `{"path":"go.mod"}`}
	}
	if i > 0 {
		messages = append(messages,
			map[string]any{"role": "assistant", "tool_calls": []any{map[string]any{"id": id(i - 1), "type": "function", "function": map[string]any{"name": "read_file", "arguments": `{"path":"go.mod"}`}}}},
			map[string]any{"role": "tool", "tool_call_id": id(i - 1), "content": "no such file or directory"})
	}
	return say(t, gateway, agent, messages, fakellm.Script{ToolCalls: []fakellm.ToolCall{tool(i)}})
}

// stoppedAt is at which call a loop of an agent over random nodes is stopped.
func stoppedAt(t *testing.T, nodes []*harness.Node, agent string, call func(n *harness.Node, i int) (int, string)) int {
	t.Helper()
	for i := range 80 {
		if status, _ := call(nodes[rand.IntN(len(nodes))], i); status == http.StatusBadRequest {
			return i + 1
		}
		observed(t, nodes[0].Listeners, agent)
	}
	t.Fatal("the loop is never stopped")
	return 0
}

// observed waits until a node knows the replies to all calls of an agent. The
// next call waits for that itself, but not for longer than 50 ms, which are soon
// over on a machine that is busy. Where the node cannot say, nobody waits.
func observed(t *testing.T, l harness.Listeners, agent string) {
	t.Helper()
	if err := harness.Until(t.Context(), func() bool {
		var w haltd.WindowView
		err := l.Read(t.Context(), "GET", "/v1/agents/"+agent+"/window", nil, &w)
		return err != nil || !slices.ContainsFunc(w.Entries, func(e haltd.WindowEntry) bool { return e.ResponseHash == "" && e.Tools == "" })
	}); err != nil {
		t.Fatal(err)
	}
}

// oneKill: a loop over nodes at random is stopped at the call at which one node
// stops it, everywhere, with one kill, one incident and one notice; so is one
// whose calls come at once.
func oneKill(t *testing.T, c *cluster) {
	_, url := harness.Provider(t, harness.Scripted)
	alone := []*harness.Node{harness.Start(t, harness.Providers(url)+killYAML)}
	loops := map[string]func(n *harness.Node, i int) (int, string){
		"bot":     func(n *harness.Node, _ int) (int, string) { return repeat(t, n, "bot") },
		"toolbot": func(n *harness.Node, i int) (int, string) { return retool(t, n.Gateway, "toolbot", i) },
	}
	for agent, call := range loops {
		if got, want := stoppedAt(t, c.nodes, agent, call), stoppedAt(t, alone, agent, call); got != want {
			t.Errorf("%s: three nodes stop the loop at call %d, one node at call %d", agent, got, want)
		}
	}
	// Calls that overlap prove no loop: the last ones come one by one.
	var wg sync.WaitGroup
	for i := range 9 {
		wg.Go(func() { retool(t, c.nodes[i%3].Gateway, "hasty", i) })
	}
	wg.Wait()
	stoppedAt(t, c.nodes, "hasty", func(n *harness.Node, i int) (int, string) { return retool(t, n.Gateway, "hasty", 9+i) })
	loops["hasty"] = func(n *harness.Node, i int) (int, string) { return retool(t, n.Gateway, "hasty", 100+i) }
	for agent, call := range loops {
		c.everywhere(t, "stopping the agent", func(n *harness.Node) bool {
			status, reason := call(n, 99)
			return status == http.StatusBadRequest && reason == string(haltd.ReasonKilled)
		})
		if events := c.nodes[0].Events(t, "agent="+agent+"&type=kill_switch", 1); len(events) != 1 {
			t.Errorf("%s: %d kills, want one", agent, len(events))
		}
		var list struct{ Incidents []haltd.Incident }
		c.nodes[0].Must(t, "GET", "/v1/incidents?agent="+agent, nil, &list)
		c.toldOnce(t, agent, list.Incidents)
	}
}

// toldOnce wants one incident of an agent, and one notice of that.
func (c *cluster) toldOnce(t *testing.T, agent string, incidents []haltd.Incident) {
	t.Helper()
	if len(incidents) != 1 {
		t.Fatalf("%s: %d incidents, want one", agent, len(incidents))
	}
	n := c.nodes[0]
	var sent struct{ Deliveries []haltd.Delivery }
	n.Eventually(t, "telling of "+agent, func() bool {
		n.Must(t, "GET", "/v1/deliveries?incident="+incidents[0].ID, nil, &sent)
		return len(sent.Deliveries) > 0 && sent.Deliveries[0].Status == haltd.DeliveryDelivered
	})
	if d := sent.Deliveries; len(d) != 1 || d[0].Attempts != 1 {
		t.Errorf("%s: notices %+v, want one, sent once", agent, d)
	}
}
