package load

import (
	"context"
	cryptorand "crypto/rand"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/harness"
)

// The budget of every agent, and what a call of it may cost at most: the
// estimate of its prompt and the reply that it allows.
const (
	monthlyTokens = 20_000
	promptTokens  = 40
	replyTokens   = 200
	reservation   = 100 + replyTokens
)

const crashPolicy = `
defaults:
  kill_switch: {enabled: true}
  budgets: {month: {hard_tokens: 20000}}
`

// TestCrashesForgetNothing ends haltd again and again in the middle of its
// work. What its API had shown is there afterwards, whoever was killed is
// still killed, and no budget has been spent twice. HALTD_CRASHES says how
// often; 200 need -timeout 30m.
func TestCrashesForgetNothing(t *testing.T) {
	crashes := times(t, "HALTD_CRASHES", 5, 2)
	bills := &bills{tokens: map[string]int64{}}
	up := httptest.NewServer(bills)
	t.Cleanup(up.Close)
	w := &witness{t: t, client: newClient(t), bills: bills, stopped: map[string]haltd.DeactivatedBy{}, incidents: map[string]bool{}}
	n := startProcess(t, up.URL, crashPolicy, w.client)
	for round := range crashes {
		w.round = round
		w.check(n)
		w.work(n)
		n.Run(t)
		if t.Failed() {
			t.Fatalf("after crash %d", round+1)
		}
	}
	w.round = crashes
	w.check(n)
	w.checkBudgets(n, 0)
	t.Logf("%d agents stopped, %d incidents shown, %d events in the last round", len(w.stopped), len(w.incidents), w.events.count())
	if len(w.stopped) < crashes {
		t.Errorf("%d agents were stopped in %d rounds, too few to tell anything", len(w.stopped), crashes)
	}
	n.Stop(t)
}

// bills is a provider that knows what every agent owes it.
type bills struct {
	mu     sync.Mutex
	tokens map[string]int64
}

const billHeader = "X-Bill-To"

func (b *bills) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	reply := 1 + rand.Int64N(replyTokens)
	b.mu.Lock()
	b.tokens[r.Header.Get(billHeader)] += promptTokens + reply
	b.mu.Unlock()
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"id":"chatcmpl-1","object":"chat.completion","created":1767225600,"model":"gpt-4.1-mini",`+
		`"choices":[{"index":0,"message":{"role":"assistant","content":"Done."},"finish_reason":"stop"}],`+
		`"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}}`, promptTokens, reply, promptTokens+reply)
}

func (b *bills) of(agent string) int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tokens[agent]
}

// witness remembers what clients and readers of the API have seen.
type witness struct {
	t      *testing.T
	client *http.Client
	bills  *bills
	round  int

	mu        sync.Mutex
	stopped   map[string]haltd.DeactivatedBy
	incidents map[string]bool
	events    *shown // of the last round
}

func spender(round int) string { return fmt.Sprintf("spender-%d", round) }

// work puts load on a node and kills it after a random number of answers.
func (w *witness) work(n *harness.Node) {
	const callers = 6
	ctx, cancel := context.WithCancel(limited(w.t, 0))
	defer cancel()
	w.events = newShown(0)
	until, answers := 60+rand.Int64N(240), atomic.Int64{}
	enough := make(chan struct{})
	answered := func() {
		if answers.Add(1) == until {
			close(enough)
		}
	}
	var wg sync.WaitGroup
	for caller := range callers {
		wg.Go(func() { w.spend(ctx, n, caller, answered) })
	}
	wg.Go(func() { w.loop(ctx, n, answered) })
	wg.Go(func() { w.deactivate(ctx, n) })
	wg.Go(func() { w.watch(ctx, n) })
	select {
	case <-enough:
	case <-ctx.Done():
		w.t.Errorf("%d of %d answers: %v", answers.Load(), until, context.Cause(ctx))
	}
	n.Kill(w.t)
	wg.Wait()
	w.client.CloseIdleConnections() // the next haltd has the same address
}

// spend makes calls that have nothing in common, for the agent of this round
// and for that of the last, whose budget may have been spent before the crash.
func (w *witness) spend(ctx context.Context, n *harness.Node, caller int, answered func()) {
	for i := 0; ; i++ {
		agent := spender(max(0, w.round-i%2))
		prompt := ""
		for range 7 {
			prompt += cryptorand.Text() + " "
		}
		status, reason, err := w.call(ctx, n, agent, fmt.Sprintf("%d-%d-%d", w.round, caller, i), prompt)
		if err != nil {
			return
		}
		answered()
		if status != http.StatusOK && reason != string(haltd.ReasonBudget) {
			w.t.Errorf("%s: status %d, reason %q", agent, status, reason)
			return
		}
	}
}

// loop has one agent after the other repeat itself until it is killed.
func (w *witness) loop(ctx context.Context, n *harness.Node, answered func()) {
	for i := 0; ; i++ {
		agent := fmt.Sprintf("looper-%d-%d", w.round, i)
		for {
			status, reason, err := w.call(ctx, n, agent, "loop", strings.Repeat("What is the state of the order? ", 6))
			if err != nil {
				return
			}
			answered()
			if w.saw(agent, status, reason) {
				break
			}
		}
	}
}

// saw remembers a kill that a client was told of.
func (w *witness) saw(agent string, status int, reason string) bool {
	if status != http.StatusBadRequest || reason != string(haltd.ReasonLoop) && reason != string(haltd.ReasonKilled) {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped[agent] = haltd.ByKillSwitch
	return true
}

// aMoment leaves the processor to others; false when the work is over.
func aMoment(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(10 * time.Millisecond):
		return true
	}
}

// deactivate stops agents by hand.
func (w *witness) deactivate(ctx context.Context, n *harness.Node) {
	for i := 0; aMoment(ctx); i++ {
		agent := fmt.Sprintf("manual-%d-%d", w.round, i)
		status, _, err := n.Ask(ctx, http.MethodPost, "/v1/agents/"+agent+"/deactivate", nil)
		if err != nil {
			return
		}
		w.mu.Lock()
		if status == http.StatusOK {
			w.stopped[agent] = haltd.ByManual
		}
		w.mu.Unlock()
	}
}

// watch reads events, agents and incidents until the node is gone.
func (w *witness) watch(ctx context.Context, n *harness.Node) {
	for aMoment(ctx) {
		var page struct {
			Agents    []haltd.Agent    `json:"agents"`
			Incidents []haltd.Incident `json:"incidents"`
			Events    []haltd.Event    `json:"events"`
		}
		for _, path := range []string{"/v1/agents?active=false&limit=20", "/v1/incidents?limit=20", "/v1/events?type=llm_call&limit=100"} {
			if n.Read(ctx, http.MethodGet, path, nil, &page) != nil {
				return
			}
		}
		w.mu.Lock()
		for _, a := range page.Agents {
			if a.DeactivatedBy != nil {
				w.stopped[a.ID] = *a.DeactivatedBy
			}
		}
		for _, i := range page.Incidents {
			w.incidents[i.ID] = true
		}
		for _, e := range page.Events {
			w.events.add(e.ID)
		}
		w.mu.Unlock()
	}
}

// call makes a call and says how it was answered.
func (w *witness) call(ctx context.Context, n *harness.Node, agent, session, prompt string) (status int, reason string, err error) {
	body := fmt.Sprintf(`{"model":"gpt-4.1-mini","max_tokens":%d,"messages":[{"role":"user","content":%q}]}`, replyTokens, prompt)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, n.Gateway+"/agents/"+agent+"/openai/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Session-Id", session)
	r.Header.Set(billHeader, agent)
	res, err := w.client.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return 0, "", err
	}
	return res.StatusCode, res.Header.Get("X-Haltd-Reason"), nil
}

// check holds a node that was started again against what was seen before.
func (w *witness) check(n *harness.Node) {
	w.t.Helper()
	w.checkStopped(n)
	w.checkIncidents(n)
	w.checkEvents(n)
	w.checkBudgets(n, w.round-2)
}

// checkStopped asks the API about all and the gateway about the newest.
func (w *witness) checkStopped(n *harness.Node) {
	w.t.Helper()
	inactive := map[string]haltd.DeactivatedBy{}
	for cursor := ""; ; {
		var page struct {
			Agents []haltd.Agent `json:"agents"`
			Next   *string       `json:"next"`
		}
		if err := n.Read(w.t.Context(), http.MethodGet, "/v1/agents?active=false&limit=1000"+cursor, nil, &page); err != nil {
			w.t.Fatal(err)
		}
		for _, a := range page.Agents {
			if a.DeactivatedBy != nil {
				inactive[a.ID] = *a.DeactivatedBy
			}
		}
		if page.Next == nil {
			break
		}
		cursor = "&cursor=" + *page.Next
	}
	newest := fmt.Sprintf("-%d-", w.round-1)
	for agent, by := range w.stopped {
		if inactive[agent] != by {
			w.t.Errorf("%s was stopped by %s, after the crash the API says %q", agent, by, inactive[agent])
		}
		if !strings.Contains(agent, newest) {
			continue
		}
		if status, _, err := w.call(w.t.Context(), n, agent, "after", "Am I still stopped?"); err != nil || status != http.StatusBadRequest {
			w.t.Errorf("%s was stopped by %s, after the crash its call is answered %d %v", agent, by, status, err)
		}
	}
}

func (w *witness) checkIncidents(n *harness.Node) {
	w.t.Helper()
	found := map[string]bool{}
	for cursor := ""; ; {
		var page struct {
			Incidents []haltd.Incident `json:"incidents"`
			Next      *string          `json:"next"`
		}
		if err := n.Read(w.t.Context(), http.MethodGet, "/v1/incidents?limit=1000"+cursor, nil, &page); err != nil {
			w.t.Fatal(err)
		}
		for _, i := range page.Incidents {
			found[i.ID] = true
		}
		if page.Next == nil {
			break
		}
		cursor = "&cursor=" + *page.Next
	}
	for id := range w.incidents {
		if !found[id] {
			w.t.Errorf("incident %s was shown and is gone", id)
		}
	}
}

// checkEvents reads back as far as the last round.
func (w *witness) checkEvents(n *harness.Node) {
	w.t.Helper()
	if w.events == nil {
		return
	}
	oldest := haltd.EventID(1<<63 - 1)
	for id := range w.events.ids {
		oldest = min(oldest, id)
	}
	found := map[haltd.EventID]bool{}
	for cursor := ""; ; {
		events, next, err := n.EventPage(w.t.Context(), ofCalls, cursor)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, e := range events {
			found[e.ID] = true
		}
		if next == "" || len(events) > 0 && events[len(events)-1].ID < oldest {
			break
		}
		cursor = next
	}
	w.events.check(w.t, "GET /v1/events", found)
}

// checkBudgets compares what haltd says its agents have spent, since a round,
// with their bills.
func (w *witness) checkBudgets(n *harness.Node, since int) {
	w.t.Helper()
	for round := max(0, since); round < w.round; round++ {
		agent := spender(round)
		owed := w.bills.of(agent)
		if owed > monthlyTokens+reservation {
			w.t.Errorf("%s owes %d tokens, its budget is %d and a reservation at most %d", agent, owed, monthlyTokens, reservation)
		}
		var view struct {
			Spending []haltd.PeriodSpending `json:"spending"`
		}
		if err := n.Read(w.t.Context(), http.MethodGet, "/v1/agents/"+agent, nil, &view); err != nil {
			w.t.Error(err)
			continue
		}
		month := slices.IndexFunc(view.Spending, func(p haltd.PeriodSpending) bool { return p.Period == haltd.Monthly })
		if month < 0 {
			w.t.Errorf("haltd does not say what %s has spent this month: %+v", agent, view.Spending)
		} else if spent := view.Spending[month].Spent.Tokens; spent < owed {
			w.t.Errorf("%s owes %d tokens, haltd says %d", agent, owed, spent)
		}
	}
}
