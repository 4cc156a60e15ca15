package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/bits"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
	"github.com/haltd/haltd/test/harness"
)

// stage is one haltd before a fake provider. The subtests of a test share it:
// each has agents of its own, and none sees another's.
type stage struct {
	*node
	llm *fakellm.Server
	url string // of the provider
}

// newStage starts a haltd with more configuration.
func newStage(t *testing.T, more string, env ...string) *stage {
	t.Helper()
	llm, url := harness.Provider(t, harness.Scripted)
	return &stage{node: start(t, harness.Providers(url)+more, env...), llm: llm, url: url}
}

// forwarded counts what reached the provider of an agent's calls.
func (s *stage) forwarded(a *agent) (n int) {
	for _, r := range s.llm.Requests() {
		if r.Header.Get(agentMark) == a.id {
			n++
		}
	}
	return n
}

// agentMark tells the provider whose call it has before it.
const agentMark = "X-Test-Agent"

// agent calls through the gateway in OpenAI's chat format. It has one
// connection: haltd is done with a call before it takes the next.
type agent struct {
	*stage
	id     string
	t      *testing.T
	client *http.Client
}

var notInAgentID = regexp.MustCompile(`[^a-z0-9]+`)

// agent makes an agent that is named after the test.
func (s *stage) agent(t *testing.T, suffix ...string) *agent {
	t.Helper()
	id := strings.Trim(notInAgentID.ReplaceAllString(strings.ToLower(strings.Join(append([]string{t.Name()}, suffix...), "-")), "-"), "-")
	transport := &http.Transport{MaxConnsPerHost: 1, DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &agent{stage: s, id: id[max(0, len(id)-100):], t: t, client: &http.Client{Transport: transport}}
}

// with switches the agent's kill switch on, with these settings besides.
func (a *agent) with(settings string) *agent {
	a.t.Helper()
	var set map[string]any
	if err := json.Unmarshal([]byte("{"+settings+"}"), &set); err != nil {
		a.t.Fatalf("settings %s: %v", settings, err)
	}
	if _, ok := set["enabled"]; !ok {
		set["enabled"] = true
	}
	var got map[string]any
	if status := a.API(a.t, "PATCH", "/v1/agents/"+a.id+"/kill-switch", set, &got); status != 200 {
		a.t.Fatalf("PATCH kill-switch %v: %d %v", set, status, got)
	}
	return a
}

// policy changes the agent's policy.
func (a *agent) policy(change string) *agent {
	a.t.Helper()
	var got map[string]any
	if status := a.API(a.t, "PATCH", "/v1/agents/"+a.id, json.RawMessage(change), &got); status != 200 {
		a.t.Fatalf("PATCH agent %s: %d %v", change, status, got)
	}
	return a
}

// activate lets the agent call again.
func (a *agent) activate() {
	a.t.Helper()
	if status := a.API(a.t, "POST", "/v1/agents/"+a.id+"/activate", nil, nil); status != 200 {
		a.t.Fatalf("activate: %d", status)
	}
}

// message is one of a chat.
type message map[string]any

func user(text string) message { return message{"role": "user", "content": text} }

func assistant(text string) message { return message{"role": "assistant", "content": text} }

// calls is an assistant message with one tool call.
func calls(id, name, arguments string) message {
	return message{"role": "assistant", "content": nil, "tool_calls": []any{
		map[string]any{"id": id, "type": "function", "function": map[string]any{"name": name, "arguments": arguments}},
	}}
}

func result(id, text string) message {
	return message{"role": "tool", "tool_call_id": id, "content": text}
}

// request is one call of an agent; what is empty is left out.
type request struct {
	messages  []message
	reply     fakellm.Script
	model     string
	session   string
	maxTokens int
	stream    bool
	extra     map[string]any // of the body
	header    map[string]string
}

// answer is what an agent got.
type answer struct {
	status int
	header http.Header
	body   string
	denied denied
}

// denied is the error object of an answer that is no reply.
type denied struct {
	Message     string `json:"message"`
	Type        string `json:"type"`
	Code        string `json:"code"`
	BlockReason string `json:"block_reason"`
	RetryAfter  int    `json:"retry_after_seconds"`
	Incident    string `json:"incident"`
}

// send makes a call.
func (a *agent) send(r request) answer {
	a.t.Helper()
	if r.model == "" {
		r.model = "gpt-4.1-mini"
	}
	body := map[string]any{"model": r.model, "messages": r.messages}
	maps.Copy(body, r.extra)
	if r.stream {
		body["stream"], body["stream_options"] = true, map[string]any{"include_usage": true}
	}
	if r.maxTokens > 0 {
		body["max_tokens"] = r.maxTokens
	}
	text, err := json.Marshal(body)
	if err != nil {
		a.t.Fatal(err)
	}
	script, err := json.Marshal(r.reply)
	if err != nil {
		a.t.Fatal(err)
	}
	header := map[string]string{harness.ScriptHeader: string(script)}
	if r.session != "" {
		header["X-Session-Id"] = r.session
	}
	maps.Copy(header, r.header)
	return a.do("POST", "/agents/"+a.id+"/openai/v1/chat/completions", string(text), header)
}

// atOnce sends a request in many sessions at the same time.
func (a *agent) atOnce(calls int, r request) []answer {
	a.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: calls}}
	defer a.client.CloseIdleConnections()
	var wg sync.WaitGroup
	answers := make([]answer, calls)
	for i := range calls {
		r := r
		r.session = fmt.Sprint("parallel-", i)
		wg.Go(func() { answers[i] = a.send(r) })
	}
	wg.Wait()
	return answers
}

// do makes a request of any kind.
func (a *agent) do(method, path, body string, header map[string]string) answer {
	a.t.Helper()
	req, err := http.NewRequest(method, a.Gateway+path, strings.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(agentMark, a.id)
	for name, value := range header {
		req.Header.Set(name, value)
	}
	res, err := a.client.Do(req)
	if err != nil {
		a.t.Error(err)
		return answer{}
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		a.t.Error(err)
	}
	got := answer{status: res.StatusCode, header: res.Header, body: string(b)}
	if res.StatusCode > 299 {
		var e struct {
			Error denied `json:"error"`
		}
		_ = json.Unmarshal(b, &e) // what is no JSON has no error object
		got.denied = e.Error
	}
	return got
}

// ask asks one thing in a conversation of its own.
func (a *agent) ask(prompt, reply string) answer {
	a.t.Helper()
	return a.send(request{messages: []message{user(prompt)}, reply: fakellm.Script{Text: reply}})
}

// loop asks the same thing, which gets the same answer, until something else
// than 200 comes, and says which time that was; 0 when it did not come.
func (a *agent) loop(times int) (answer, int) {
	a.t.Helper()
	for i := range times {
		if got := a.ask("What is the state of the order?", "The order is on its way."); got.status != http.StatusOK {
			return got, i + 1
		}
	}
	return answer{}, 0
}

// window is what similarity holds of the agent.
func (a *agent) window() haltd.WindowView {
	a.t.Helper()
	var view haltd.WindowView
	if status := a.API(a.t, "GET", "/v1/agents/"+a.id+"/window", nil, &view); status != 200 {
		a.t.Fatalf("GET window: %d", status)
	}
	return view
}

// prompts are the prompt hashes of the window, oldest first.
func (a *agent) prompts() (hashes []uint64) {
	a.t.Helper()
	for _, e := range a.window().Entries {
		hashes = append(hashes, number(a.t, e.PromptHash))
	}
	return hashes
}

func number(t *testing.T, hash string) uint64 {
	t.Helper()
	h, err := strconv.ParseUint(hash, 16, 64)
	if err != nil {
		t.Fatalf("hash %q: %v", hash, err)
	}
	return h
}

// distance asks two things and says how far apart their prompts are.
func (a *agent) distance(first, second string) int {
	a.t.Helper()
	a.ask(first, "one reply")
	a.ask(second, "quite another answer")
	hashes := a.prompts()
	if len(hashes) != 2 {
		a.t.Fatalf("%d calls in the window, want 2", len(hashes))
	}
	return bits.OnesCount64(hashes[0] ^ hashes[1])
}

// view is the agent as the API shows it.
type view struct {
	haltd.Agent
	Policy   haltd.Policy           `json:"policy"`
	Spending []haltd.PeriodSpending `json:"spending"`
}

func (a *agent) view() (v view) {
	a.t.Helper()
	if status := a.API(a.t, "GET", "/v1/agents/"+a.id, nil, &v); status != 200 {
		a.t.Fatalf("GET agent: %d", status)
	}
	return v
}

// spent is what the agent has spent today.
func (a *agent) spent() haltd.PeriodSpending {
	a.t.Helper()
	for _, p := range a.view().Spending {
		if p.Period == haltd.Daily {
			return p
		}
	}
	a.t.Fatal("the agent shows no spending of today")
	return haltd.PeriodSpending{}
}

// has waits for events of a type, newest first.
func (a *agent) has(kind haltd.EventType, n int) []haltd.Event {
	a.t.Helper()
	return a.Events(a.t, fmt.Sprintf("agent=%s&type=%s&limit=1000", a.id, kind), n)
}

// incidents waits for n incidents of the agent, newest first.
func (a *agent) incidents(n int, filters ...string) []haltd.Incident {
	a.t.Helper()
	query := strings.Join(append(filters, "agent="+a.id), "&")
	var page struct{ Incidents []haltd.Incident }
	a.Eventually(a.t, fmt.Sprintf("showing %d incidents of ?%s", n, query), func() bool {
		page.Incidents = nil
		a.API(a.t, "GET", "/v1/incidents?"+query, nil, &page)
		return len(page.Incidents) >= n
	})
	return page.Incidents
}

func verdictOf(t *testing.T, e haltd.Event) (v haltd.Verdict) {
	t.Helper()
	if e.Verdict != nil {
		v = *e.Verdict
	}
	return v
}

// refused is the error of the admin API.
type refused struct {
	Error struct{ Code, Message, Fix string }
}

// requirement is a chapter of a document; its scenarios are told by name.
type requirement struct {
	name      string
	scenarios []scenario
}

type scenario struct {
	name string
	test func(t *testing.T, s *stage)
}

// hold tests every scenario, each as a subtest that bears its title.
func (s *stage) hold(t *testing.T, requirements ...requirement) {
	for _, r := range requirements {
		t.Run(r.name, func(t *testing.T) {
			for _, sc := range r.scenarios {
				t.Run(sc.name, func(t *testing.T) { sc.test(t, s) })
			}
		})
	}
}
