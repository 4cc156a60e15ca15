package nodes

import (
	"encoding/json"
	"net/http"
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
