package nodes

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
	"github.com/haltd/haltd/test/harness"
)

// agents is how many call at once.
const agents = 200

// calls is how many calls they make, 10,000 in the long form.
func calls(t testing.TB) int {
	t.Helper()
	n, err := strconv.Atoi(os.Getenv("HALTD_CALLS"))
	if err != nil {
		return 600
	}
	return n
}

// bookHeader names the agent of a call to the provider, who counts what it sells.
const bookHeader = "X-Book"

// book is what the provider has sold, by agent.
type book struct {
	mu   sync.Mutex
	sold map[string]sale
}

type sale struct {
	calls int
	cost  haltd.Money
}

func (b *book) scripted(r fakellm.Request) fakellm.Script {
	s := harness.Scripted(r)
	if agent := r.Header.Get(bookHeader); agent != "" && s.Usage != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.sold == nil {
			b.sold = map[string]sale{}
		}
		was := b.sold[agent]
		b.sold[agent] = sale{was.calls + 1, was.cost + price(*s.Usage)}
	}
	return s
}

// price is what tokens of the dear model cost: $5 and $30 for a million.
func price(u haltd.Usage) haltd.Money {
	return haltd.Money(u.Input*5+u.Output*30) * haltd.Dollar / 1_000_000
}

func of(b *book, agent string) sale {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.sold[agent]
}

// calls are those of all agents.
func (b *book) calls() (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.sold {
		n += s.calls
	}
	return n
}

const mostOutput = 2000

// budgetOf is the hard budget of an agent, for about half of its calls; 0 for
// agents without one. That is three of four.
func budgetOf(t testing.TB, i int) haltd.Money {
	t.Helper()
	if i%4 != 0 {
		return 0
	}
	return haltd.Money(max(calls(t)/agents, 2)) * price(haltd.Usage{Output: mostOutput}) / 2
}

func budgetsYAML(t testing.TB) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("agents:\n")
	for i := range agents {
		if budget := budgetOf(t, i); budget > 0 {
			fmt.Fprintf(&b, "  agent-%d: {budgets: {day: {hard_usd: %v}}}\n", i, budget)
		}
	}
	return b.String()
}

// manyCalls has agents call at random nodes, many at once: what is recorded is
// what the provider sold, every call once, and no budget is overspent.
func manyCalls(t *testing.T, c *cluster) {
	total := calls(t)
	var next, refused atomic.Int64
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(total); i = next.Add(1) - 1 {
				agent := fmt.Sprint("agent-", i%agents)
				used := haltd.Usage{Input: 10 + rand.Int64N(90), Output: 1 + rand.Int64N(mostOutput)}
				status, reason := ask(t, c.nodes[rand.IntN(len(c.nodes))], request{
					agent: agent, model: dear, tokens: mostOutput, header: map[string]string{bookHeader: agent},
					reply: fakellm.Script{Text: haltd.NewName("answer "), Usage: &used, Delay: fakellm.Delay(rand.N(5 * time.Millisecond))},
				})
				switch {
				case status == http.StatusOK:
				case budgetOf(t, int(i%agents)) > 0 && reason == string(haltd.ReasonBudget):
					refused.Add(1)
				default:
					t.Errorf("a call of %s: %d %s", agent, status, reason)
				}
			}
		})
	}
	wg.Wait()
	sold := c.book.calls()
	if refused.Load() == 0 || sold+int(refused.Load()) != total {
		t.Errorf("of %d calls %d were sold and %d refused by their budget; want some of both, and no others", total, sold, refused.Load())
	}
	c.recorded(t, sold)
	for i := range agents {
		agent, budget := fmt.Sprint("agent-", i), budgetOf(t, i)
		want := of(&c.book, agent)
		if budget > 0 && want.cost > budget {
			t.Errorf("%s has spent %v of %v", agent, want.cost, budget)
		}
		if budget > 0 {
			n := c.nodes[i%len(c.nodes)]
			n.Eventually(t, "counting to the cent", func() bool { return spent(t, n, agent).Spent.Cost == want.cost })
		}
	}
	t.Logf("%d calls sold, %d refused", sold, refused.Load())
}

// recorded wants every call that the provider sold in the record, once, with
// what it cost, as every node shows it.
func (c *cluster) recorded(t *testing.T, sold int) {
	t.Helper()
	n := c.nodes[0]
	got := map[string]sale{}
	n.Eventually(t, fmt.Sprintf("recording %d calls", sold), func() bool {
		clear(got)
		all := 0
		for _, e := range n.AllEvents(t, "type=llm_call&limit=500") {
			if of(&c.book, e.Agent) != (sale{}) {
				got[e.Agent] = sale{got[e.Agent].calls + 1, got[e.Agent].cost + e.Cost}
				all++
			}
		}
		return all >= sold
	})
	c.book.mu.Lock()
	defer c.book.mu.Unlock()
	i := 0
	for agent, want := range c.book.sold {
		if got[agent] != want {
			t.Errorf("%s: the record has %+v, the provider sold %+v", agent, got[agent], want)
		}
		var shown haltd.Agent
		i++
		c.nodes[i%len(c.nodes)].Must(t, "GET", "/v1/agents/"+agent, nil, &shown)
		if shown.Totals.Cost != want.cost {
			t.Errorf("%s: its page shows %v, the provider sold %v", agent, shown.Totals.Cost, want.cost)
		}
	}
}
