package nodes

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
	"github.com/haltd/haltd/test/harness"
)

func linkEverywhere(t *testing.T, c *cluster) {
	var link struct{ URL string }
	c.nodes[0].Must(t, "POST", "/v1/sign-in-links", nil, &link)
	_, code, _ := strings.Cut(link.URL, "#code=")
	open := func(n *harness.Node) (status, cookies int) {
		t.Helper()
		res, err := http.Post(n.Admin+"/v1/sign-in", "application/json", strings.NewReader(`{"code":"`+code+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return res.StatusCode, len(res.Cookies())
	}
	if status, cookies := open(c.nodes[1]); status >= 300 || cookies != 1 {
		t.Errorf("a link of node 0 at node 1: %d, %d cookies", status, cookies)
	}
	for i, n := range c.nodes {
		if status, _ := open(n); status != http.StatusUnauthorized {
			t.Errorf("the link again, at node %d: %d", i, status)
		}
	}
}

// softBudget: what one node spends by itself is below the budget, all together
// are not. The notice comes without another call.
func softBudget(t *testing.T, c *cluster) {
	c.nodes[0].Must(t, "PATCH", "/v1/agents/softly", json.RawMessage(`{"budgets":{"day":{"soft_usd":0.1}}}`), nil)
	c.everywhere(t, "knowing the budget", func(n *harness.Node) bool { return spent(t, n, "softly").Budget.SoftUSD > 0 })
	used := haltd.Usage{Output: 2000} // $0.06
	for _, n := range c.nodes[:2] {
		if status, _ := ask(t, n, request{agent: "softly", model: dear, tokens: 2000, reply: fakellm.Script{Text: "hi", Usage: &used}}); status != http.StatusOK {
			t.Fatalf("a call: %d", status)
		}
	}
	c.everywhere(t, "showing what all have spent", func(n *harness.Node) bool { return spent(t, n, "softly").Spent.Cost == 2*price(used) })
	var list struct{ Incidents []haltd.Incident }
	c.nodes[2].Eventually(t, "telling of the soft budget", func() bool {
		c.nodes[2].Must(t, "GET", "/v1/incidents?agent=softly", nil, &list)
		return len(list.Incidents) > 0
	})
	c.toldOnce(t, "softly", list.Incidents)
}

// restTravels: what else people change on one node holds on all: API tokens,
// prices, and channels.
func restTravels(t *testing.T, c *cluster) {
	var token struct{ ID, Secret string }
	c.nodes[0].Must(t, "POST", "/v1/tokens", map[string]string{"name": "ann", "role": "viewer"}, &token)
	signed := func(n *harness.Node) int {
		t.Helper()
		req, _ := http.NewRequestWithContext(t.Context(), "GET", n.Admin+"/v1/agents", nil)
		req.Header.Set("Authorization", "Bearer "+token.Secret)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return res.StatusCode
	}
	c.everywhere(t, "taking a token", func(n *harness.Node) bool { return signed(n) == http.StatusOK })
	c.nodes[1].Must(t, "DELETE", "/v1/tokens/"+token.ID, nil, nil)
	c.everywhere(t, "refusing a token that was revoked", func(n *harness.Node) bool { return signed(n) == http.StatusUnauthorized })

	loaded := func(n *harness.Node) bool {
		var p haltd.PriceList
		n.Must(t, "GET", "/v1/prices", nil, &p)
		return slices.ContainsFunc(p.Tables, func(table haltd.PriceTable) bool { return table.From == "loaded" })
	}
	c.nodes[1].Must(t, "PUT", "/v1/prices", json.RawMessage(`{"source":"us","date":"2099-01-01","models":{"m":{"input":1,"output":2}}}`), nil)
	c.everywhere(t, "knowing the prices that were loaded", loaded)
	c.nodes[2].Must(t, "DELETE", "/v1/prices", nil, nil)
	c.everywhere(t, "going back to the built-in prices", func(n *harness.Node) bool { return !loaded(n) })

	var more inbox
	hook := httptest.NewServer(&more)
	t.Cleanup(hook.Close)
	var channel struct{ ID string }
	c.nodes[2].Must(t, "POST", "/v1/channels", map[string]any{"name": "more", "kind": "webhook", "settings": map[string]any{"url": hook.URL}}, &channel)
	c.budget(t, "poorer", "0.01")
	for _, n := range c.nodes {
		ask(t, n, request{agent: "poorer", model: dear, tokens: 1000})
	}
	c.nodes[0].Eventually(t, "sending to a channel that another node made", func() bool { return more.about("poorer") == 1 && c.notices.about("poorer") == 1 })
	c.nodes[0].Must(t, "DELETE", "/v1/channels/"+channel.ID, nil, nil)
	for i, n := range c.nodes {
		var list struct{ Channels []struct{ ID string } }
		n.Must(t, "GET", "/v1/channels", nil, &list)
		if len(list.Channels) != 1 {
			t.Errorf("node %d shows %d channels after one was deleted, want that of the file", i, len(list.Channels))
		}
	}
}

// unusedMoney: a call at one node reserves most of a budget and uses little of
// it. Another node can soon have the rest, although the first goes on calling.
func unusedMoney(t *testing.T, c *cluster) {
	c.budget(t, "spare", "1")
	r := request{agent: "spare", model: dear, tokens: 30_000, reply: fakellm.Script{Text: "hi", Usage: &haltd.Usage{Output: 10}}} // $0.90
	if status, reason := ask(t, c.nodes[0], r); status != http.StatusOK {
		t.Fatalf("a call: %d %s", status, reason)
	}
	c.nodes[1].Eventually(t, "let have what another node did not use", func() bool {
		small := r
		small.tokens = 100
		if status, reason := ask(t, c.nodes[0], small); status != http.StatusOK {
			t.Fatalf("a call of the first node: %d %s", status, reason)
		}
		status, _ := ask(t, c.nodes[1], r)
		return status == http.StatusOK
	})
}
