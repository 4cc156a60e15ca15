// Package nodes tests several haltd processes that share a real PostgreSQL:
// that they act as one, and what each does when the others, or the database,
// are gone.
package nodes

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
	"github.com/haltd/haltd/test/harness"
	"github.com/haltd/haltd/test/servers"
)

func TestMain(m *testing.M) { harness.Main(m) }

// second is how long what one node changes may take to hold on all.
const second = time.Second

// cluster is haltd processes on one database, and the provider behind them.
type cluster struct {
	database *servers.Server
	redis    *servers.Server // nil where each node has a state of its own
	book     book
	yaml     string // of all nodes
	nodes    []*harness.Node
	notices  inbox
}

// inbox is what a webhook has received.
type inbox struct {
	mu     sync.Mutex
	bodies []string
}

func (b *inbox) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bodies = append(b.bodies, string(body))
}

// about counts the notices that name an agent.
func (b *inbox) about(agent string) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, body := range b.bodies {
		if strings.Contains(body, fmt.Sprintf(`"agent":%q`, agent)) {
			n++
		}
	}
	return n
}

// start starts nodes; yaml is what follows what all of them have.
func start(t testing.TB, size int, yaml ...string) *cluster {
	t.Helper()
	c := prepare(t)
	for range size {
		c.add(t, c.database.URL, strings.Join(yaml, ""))
	}
	c.run(t)
	return c
}

// prepare starts what nodes need, and none of them.
func prepare(t testing.TB) *cluster {
	t.Helper()
	c := &cluster{database: closing(t, servers.Postgres)}
	hook := httptest.NewServer(&c.notices)
	t.Cleanup(hook.Close)
	_, url := harness.Provider(t, c.book.scripted)
	c.yaml = harness.Providers(url) + "seal_key: the-key-of-all-nodes\n" +
		fmt.Sprintf("alerts: {allow_internal: [127.0.0.1], channels: [{name: ops, kind: webhook, url: %q, secret: whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw}]}\n", hook.URL)
	return c
}

// closing starts a server that ends with the test.
func closing(t testing.TB, start func() (*servers.Server, error)) *servers.Server {
	t.Helper()
	s, err := start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// add makes a node that reaches the database by a URL and does not run yet.
func (c *cluster) add(t testing.TB, store, yaml string) {
	t.Helper()
	n := harness.New(t, t.TempDir())
	n.Config.Write(t, c.yaml+fmt.Sprintf("store: {url: %q}\n", store)+yaml)
	c.nodes = append(c.nodes, n)
}

// run starts all nodes at once.
func (c *cluster) run(t testing.TB) {
	t.Helper()
	var wg sync.WaitGroup
	for _, n := range c.nodes {
		wg.Go(func() { n.Run(t) })
	}
	wg.Wait()
}

type request struct {
	agent, model string
	tokens       int
	stream       bool
	reply        fakellm.Script
	header       map[string]string
}

// call makes a call at a node; the caller closes the body.
func call(t testing.TB, n *harness.Node, r request) (*http.Response, error) {
	body := map[string]any{
		"model": r.model, "stream": r.stream,
		"messages": []map[string]string{{"role": "user", "content": "Question " + haltd.NewName("")}},
	}
	if r.tokens > 0 {
		body["max_tokens"] = r.tokens
	}
	text, _ := json.Marshal(body)
	req, err := http.NewRequestWithContext(t.Context(), "POST", n.Gateway+"/agents/"+r.agent+"/openai/v1/chat/completions", strings.NewReader(string(text)))
	if err != nil {
		return nil, err
	}
	script, _ := json.Marshal(r.reply)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(harness.ScriptHeader, string(script))
	for name, value := range r.header {
		req.Header.Set(name, value)
	}
	return http.DefaultClient.Do(req)
}

// ask makes a call and answers with its status and reason.
func ask(t testing.TB, n *harness.Node, r request) (status int, reason string) {
	t.Helper()
	res, err := call(t, n, r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, res.Header.Get("X-Haltd-Reason")
}

// everywhere wants something to hold on all nodes within a second.
func (c *cluster) everywhere(t *testing.T, what string, holds func(n *harness.Node) bool) {
	t.Helper()
	begin := time.Now()
	for i, n := range c.nodes {
		n.Eventually(t, what, func() bool { return holds(n) })
		if took := time.Since(begin); took > second {
			t.Errorf("%s: it took %v until node %d did it", what, took, i)
		}
	}
}

func TestThreeNodes(t *testing.T) {
	c := start(t, 3)
	for _, test := range []struct {
		name string
		run  func(*testing.T, *cluster)
	}{
		{"All nodes are listed by each", listed},
		{"A stop holds everywhere", stopHolds},
		{"Now cuts the calls of all nodes", nowCuts},
		{"Policies, rules and keys travel", changesTravel},
		{"API tokens, prices and channels travel", restTravels},
		{"One incident and one notice", oneIncident},
		{"The live stream shows all nodes", liveStream},
		{"Who is signed in is so everywhere", signedIn},
		{"A sign-in link is good everywhere, once", linkEverywhere},
		{"A soft budget sees what all nodes spend", softBudget},
		{"What a call did not use others can have", unusedMoney},
		{"Behind nginx", behindNginx},
		{"A node that dies is charged for", deadNode},
		{"Budgets are exact", budgetsAreExact},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, c) })
	}
}

type status struct {
	Node  string
	Nodes []haltd.Node
}

func listed(t *testing.T, c *cluster) {
	seen := map[string]bool{}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range c.nodes {
		var s status
		n.Must(t, "GET", "/v1/status", nil, &s)
		seen[s.Node] = true
		if !strings.Contains(n.Log(), "node="+s.Node) {
			t.Errorf("the log does not say which node it is, %s", s.Node)
		}
		alive := 0
		for _, node := range s.Nodes {
			if node.Alive && node.Version != "" && node.Host == host && !node.SeenAt.IsZero() {
				alive++
			}
		}
		if alive != len(c.nodes) {
			t.Errorf("%d nodes are alive: %+v", alive, s.Nodes)
		}
	}
	if len(seen) != len(c.nodes) {
		t.Errorf("nodes %v, want each to have an id of its own", seen)
	}
}

func stopHolds(t *testing.T, c *cluster) {
	r := request{agent: "stopped", model: "echo"}
	for _, n := range c.nodes {
		if status, _ := ask(t, n, r); status != 200 {
			t.Fatalf("before the stop: %d", status)
		}
	}
	c.nodes[0].Must(t, "POST", "/v1/agents/stopped/deactivate", nil, nil)
	c.everywhere(t, "refusing a stopped agent", func(n *harness.Node) bool {
		status, _ := ask(t, n, r)
		return status == 400
	})
	c.nodes[2].Must(t, "POST", "/v1/agents/stopped/activate", nil, nil)
	c.everywhere(t, "letting a resumed agent call", func(n *harness.Node) bool {
		status, _ := ask(t, n, r)
		return status == 200
	})
}

func nowCuts(t *testing.T, c *cluster) {
	r := request{agent: "cut", model: "echo", stream: true,
		reply: fakellm.Script{Text: strings.Repeat("word ", 20), Chunks: 10, ChunkDelay: fakellm.Delay(time.Hour)}}
	ended := make(chan string, len(c.nodes))
	for _, n := range c.nodes {
		res, err := call(t, n, r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body := bufio.NewReader(res.Body)
		if _, err := body.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		go func() {
			rest, _ := io.ReadAll(body)
			ended <- string(rest)
		}()
	}
	c.nodes[1].Must(t, "POST", "/v1/agents/cut/deactivate", map[string]any{"now": true}, nil)
	begin := time.Now()
	for range c.nodes {
		select {
		case rest := <-ended:
			if !strings.Contains(rest, `"error"`) {
				t.Errorf("a stream ended with %q, want an error in it", rest)
			}
		case <-time.After(harness.Patience):
			t.Fatal("a stream was not cut")
		}
	}
	if took := time.Since(begin); took > second {
		t.Errorf("it took %v", took)
	}
}

func changesTravel(t *testing.T, c *cluster) {
	c.nodes[0].Must(t, "POST", "/v1/rules", map[string]any{"name": "no-old", "enabled": true, "priority": 1,
		"condition": map[string]any{"model": "old-model"}, "action": "block"}, nil)
	c.everywhere(t, "keeping a rule", func(n *harness.Node) bool {
		status, _ := ask(t, n, request{agent: "ruled", model: "old-model"})
		return status == 400
	})
	c.nodes[1].Must(t, "PATCH", "/v1/agents/limited", map[string]any{"rate_limits": map[string]any{"requests_per_minute": 1}}, nil)
	c.everywhere(t, "keeping a limit", func(n *harness.Node) bool {
		status, _ := ask(t, n, request{agent: "limited", model: "echo"})
		return status == 429
	})
	var key struct{ ID, Secret string }
	c.nodes[2].Must(t, "POST", "/v1/keys", map[string]string{"agent": "keyed"}, &key)
	c.everywhere(t, "asking for the key", func(n *harness.Node) bool {
		status, _ := ask(t, n, request{agent: "keyed", model: "echo"})
		return status == 401
	})
	withKey := request{agent: "keyed", model: "echo", header: map[string]string{"Authorization": "Bearer " + key.Secret}}
	c.everywhere(t, "telling that there is no provider's key to lend", func(n *harness.Node) bool {
		_, reason := ask(t, n, withKey)
		return reason == "provider_key_missing"
	})
	c.nodes[1].Must(t, "DELETE", "/v1/keys/"+key.ID, nil, nil)
	c.everywhere(t, "refusing a key that was revoked", func(n *harness.Node) bool {
		status, _ := ask(t, n, withKey)
		return status == 401
	})
	for _, on := range []bool{true, false} {
		c.nodes[1].Must(t, "PUT", "/v1/bypass", map[string]any{"on": on, "reason": "a test"}, nil)
		c.everywhere(t, fmt.Sprintf("following bypass %v", on), func(n *harness.Node) bool {
			status, _ := ask(t, n, request{agent: "ruled", model: "old-model"})
			return (status == 200) == on
		})
	}
	c.nodes[0].Must(t, "PATCH", "/v1/agents/stopped/kill-switch", map[string]any{"enabled": true}, nil)
	c.everywhere(t, "showing a policy", func(n *harness.Node) bool {
		var k struct{ Enabled bool }
		n.Must(t, "GET", "/v1/agents/stopped/kill-switch", nil, &k)
		return k.Enabled
	})
}

// spent is what a node says that an agent has spent today, and what is held.
func spent(t *testing.T, n *harness.Node, agent string) haltd.PeriodSpending {
	t.Helper()
	var view struct{ Spending []haltd.PeriodSpending }
	n.Must(t, "GET", "/v1/agents/"+agent, nil, &view)
	for _, p := range view.Spending {
		if p.Period == haltd.Daily {
			return p
		}
	}
	t.Fatalf("agent %s has no daily spending", agent)
	return haltd.PeriodSpending{}
}

// dear is a model that nobody knows: $30 for a million tokens of output.
const dear = "unheard-of"

func (c *cluster) budget(t *testing.T, agent, dollars string) {
	t.Helper()
	c.nodes[0].Must(t, "PATCH", "/v1/agents/"+agent, json.RawMessage(`{"budgets":{"day":{"hard_usd":`+dollars+`}}}`), nil)
	c.everywhere(t, "knowing the budget", func(n *harness.Node) bool {
		return spent(t, n, agent).Budget.HardUSD > 0
	})
}

func oneIncident(t *testing.T, c *cluster) {
	c.budget(t, "poor", "0.01")
	r := request{agent: "poor", model: dear, tokens: 1000}
	var wg sync.WaitGroup
	for range 5 {
		for _, n := range c.nodes {
			wg.Go(func() {
				if status, reason := ask(t, n, r); status != 400 || reason != "budget_exceeded" {
					t.Errorf("%d %s, want the budget to refuse", status, reason)
				}
			})
		}
	}
	wg.Wait()
	c.nodes[2].Eventually(t, "sending a notice", func() bool { return c.notices.about("poor") > 0 })
	for _, n := range c.nodes {
		var list struct{ Incidents []haltd.Incident }
		n.Must(t, "GET", "/v1/incidents?agent=poor", nil, &list)
		if len(list.Incidents) != 1 {
			t.Errorf("%d incidents, want one", len(list.Incidents))
		}
	}
	if sent := c.notices.about("poor"); sent != 1 {
		t.Errorf("%d notices, want one", sent)
	}
}

func budgetsAreExact(t *testing.T, c *cluster) {
	const calls, output = 150, 1000
	c.nodes[0].Run(t) // it is the one that died
	c.budget(t, "rich", "1")
	r := request{agent: "rich", model: dear, tokens: 2 * output,
		reply: fakellm.Script{Text: "hi", Usage: &haltd.Usage{Input: 10, Output: output}, Delay: fakellm.Delay(20 * time.Millisecond)}}
	var passed atomic.Int64
	var wg sync.WaitGroup
	for range calls {
		wg.Go(func() {
			status, _ := ask(t, c.nodes[rand.IntN(len(c.nodes))], r)
			if status == 200 {
				passed.Add(1)
			}
		})
	}
	wg.Wait()
	each := 10*5*haltd.Dollar/1_000_000 + output*30*haltd.Dollar/1_000_000
	want := haltd.Money(passed.Load()) * each
	if passed.Load() == 0 || want > haltd.Dollar {
		t.Fatalf("%d calls passed, which cost %v of $1", passed.Load(), want)
	}
	// A node that ends gives up what it holds for calls to come, and says what
	// it has spent.
	for _, n := range c.nodes[1:] {
		n.Stop(t)
	}
	if got := spent(t, c.nodes[0], "rich"); got.Spent.Cost != want {
		t.Errorf("%v is spent, the provider's count is %v", got.Spent.Cost, want)
	}
	t.Logf("%d of %d calls passed", passed.Load(), calls)
}

func liveStream(t *testing.T, c *cluster) {
	stream := c.nodes[2].Stream(t, "agent=streamed", "")
	next := func() haltd.Event {
		t.Helper()
		e, err := stream.Next()
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	seen := map[haltd.EventID]bool{}
	for _, n := range c.nodes {
		if status, _ := ask(t, n, request{agent: "streamed", model: "echo"}); status != 200 {
			t.Fatalf("a call: %d", status)
		}
	}
	for range c.nodes {
		seen[next().ID] = true
	}
	stream.Close()
	for range 2 {
		for _, n := range c.nodes {
			ask(t, n, request{agent: "streamed", model: "echo"})
		}
	}
	last := stream.Last
	stream = c.nodes[0].Stream(t, "agent=streamed", last)
	defer stream.Close()
	for range 2 * len(c.nodes) {
		e := next()
		if seen[e.ID] {
			t.Errorf("event %s comes twice, after %s", stream.Last, last)
		}
		seen[e.ID] = true
	}
}

func signedIn(t *testing.T, c *cluster) {
	res, err := http.Post(c.nodes[0].Admin+"/v1/sign-in", "application/json", strings.NewReader(`{"token":"`+harness.Token+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if len(res.Cookies()) != 1 {
		t.Fatalf("signing in: %d, cookies %v", res.StatusCode, res.Cookies())
	}
	signed := func(n *harness.Node, method, path string) int {
		req, _ := http.NewRequest(method, n.Admin+path, nil)
		req.AddCookie(res.Cookies()[0])
		req.Header.Set("X-Haltd-Csrf", "1")
		got, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		got.Body.Close()
		return got.StatusCode
	}
	for i, n := range c.nodes {
		if status := signed(n, "GET", "/v1/status"); status != 200 {
			t.Errorf("signed in on one node, node %d answers %d", i, status)
		}
	}
	signed(c.nodes[1], "POST", "/v1/sign-out")
	c.everywhere(t, "knowing the sign-out", func(n *harness.Node) bool { return signed(n, "GET", "/v1/status") == 401 })
}

// deadNode: what a node had reserved that is killed is charged, and others take
// over what it led.
func deadNode(t *testing.T, c *cluster) {
	c.budget(t, "orphan", "10")
	res, err := call(t, c.nodes[0], request{agent: "orphan", model: dear, tokens: 100_000, stream: true,
		reply: fakellm.Script{Text: strings.Repeat("word ", 20), Chunks: 10, ChunkDelay: fakellm.Delay(time.Hour)}})
	if err != nil || res.StatusCode != 200 {
		t.Fatalf("a stream: %v, %v", res, err)
	}
	defer res.Body.Close()
	reserved := 100_000 * 30 * haltd.Dollar / 1_000_000
	other := c.nodes[1]
	if p := spent(t, other, "orphan"); p.Spent.Cost != 0 || p.Held.Cost < reserved {
		t.Errorf("another node says %v spent and %v held, want what the call reserved to be held", p.Spent.Cost, p.Held.Cost)
	}
	c.nodes[0].Kill(t)
	other.Eventually(t, "charging what the dead node held", func() bool { return spent(t, other, "orphan").Spent.Cost >= reserved })
	other.Eventually(t, "listing the dead node as gone", func() bool {
		var s status
		other.Must(t, "GET", "/v1/status", nil, &s)
		gone := 0
		for _, node := range s.Nodes {
			if !node.Alive {
				gone++
			}
		}
		return gone == 1
	})
	rest := &cluster{nodes: c.nodes[1:]}
	rest.budget(t, "late", "0.01")
	ask(t, other, request{agent: "late", model: dear, tokens: 1000})
	other.Eventually(t, "sending notices after the leader died", func() bool { return c.notices.about("late") > 0 })
}
