package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
	"github.com/haltd/haltd/test/harness"
)

// slack takes what is sent to a webhook.
type slack struct {
	*httptest.Server
	mu    sync.Mutex
	texts []string
}

func newSlack(t *testing.T) *slack {
	t.Helper()
	s := &slack{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct{ Text string }
		if b, err := io.ReadAll(r.Body); err == nil && json.Unmarshal(b, &m) == nil {
			s.mu.Lock()
			s.texts = append(s.texts, m.Text)
			s.mu.Unlock()
		}
		_, _ = io.WriteString(w, "ok")
	}))
	t.Cleanup(s.Close)
	return s
}

// about are the messages that hold a text.
func (s *slack) about(text string) (found []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.texts {
		if strings.Contains(m, text) {
			found = append(found, m)
		}
	}
	return found
}

// TestSeed004 is the detection of token growth, its alert, the rules and the
// ingest.
func TestSeed004(t *testing.T) {
	t.Parallel()
	channel := newSlack(t)
	// The address of the channel is all that is configured.
	s := newStage(t, "", "SLACK_WEBHOOK_URL="+channel.URL+"/services/T/B/x")
	s.hold(t,
		requirement{"Anomaly detection", []scenario{
			{"Alert at iteration 4", growthAtFour},
			{"Normal variation and one spike", noGrowth},
			{"Each session has its own window", growthPerSession},
		}},
		requirement{"Rules API", []scenario{
			{"The example works as written", ruleExample},
			{"First match by priority", firstMatch},
			{"Every action", ruleActions},
			{"Unknown keys are refused by name", unknownRuleKeys},
		}},
		requirement{"Ingest", []scenario{
			{"Growth at iteration 4", ingestGrowth},
			{"A loop is told to stop", ingestLoop},
			{"A gateway key suffices for its own agent", ingestByKey},
			{"What is wrong is named", ingestRefusals},
		}},
	)
	t.Run("Alert channel", func(t *testing.T) {
		t.Run("Slack text", func(t *testing.T) { slackText(t, s, channel) })
		t.Run("Deduplication", func(t *testing.T) { slackOnce(t, s, channel) })
	})
}

// iterate makes calls of one session whose prompts have these token counts.
func (a *agent) iterate(session string, tokens ...int64) {
	a.t.Helper()
	for i, n := range tokens {
		got := a.send(request{
			messages: []message{user(fmt.Sprintf("%s: step %s", session, strings.Repeat("x", i+1)))}, session: session,
			reply: fakellm.Script{Text: fmt.Sprintf("result %s", strings.Repeat("y", i+1)), Usage: &haltd.Usage{Input: n, Output: 10}},
		})
		if got.status != http.StatusOK {
			a.t.Fatalf("a growing session is never blocked; call %d: %d %s", i+1, got.status, got.body)
		}
	}
}

func growthAtFour(t *testing.T, s *stage) {
	a := s.agent(t)
	a.iterate("ses_three", 1000, 1400, 1960)
	a.iterate("ses_four", 1000, 1400, 1960, 2744)
	incidents := a.incidents(1)
	if len(incidents) != 1 || incidents[0].Kind != haltd.IncidentGrowth || incidents[0].Session != "ses_four" || incidents[0].Action != haltd.Warn {
		t.Fatalf("incidents %+v; want one of kind growth about ses_four", incidents)
	}
	e := a.has(haltd.EventGrowth, 1)[0]
	if e.Session != "ses_four" || e.Blocked || e.Incident != incidents[0].ID {
		t.Errorf("event %+v; want that of the incident, nothing blocked", e)
	}
	if s := e.Verdict.Signal(haltd.DetectorGrowth); s == nil || !slices.Equal(s.Tokens, []int64{1000, 1400, 1960, 2744}) {
		t.Errorf("the verdict %+v does not tell the token counts", e.Verdict)
	}
	// Once alerted, a session is quiet for a day.
	a.iterate("ses_four", 3842, 5379, 7531)
	a.iterate("ses_three", 2744)
	if got := a.incidents(2); len(got) != 2 || got[0].Session != "ses_three" {
		t.Errorf("incidents %+v; want no second one about ses_four", got)
	}
	if v := a.view(); !v.Active {
		t.Error("growth has stopped the agent; it only alerts")
	}
}

func noGrowth(t *testing.T, s *stage) {
	a := s.agent(t)
	a.iterate("varies", 1000, 1200, 980, 1150, 1300, 1100)
	a.iterate("spike", 1000, 1100, 9000, 9100, 9300)
	a.iterate("slower", 1000, 1399, 1957, 2738)
	a.iterate("short", 1000, 2000, 4000)
	a.has(haltd.EventCall, 18)
	var page struct{ Incidents []haltd.Incident }
	if s.API(t, "GET", "/v1/incidents?agent="+a.id, nil, &page); len(page.Incidents) != 0 {
		t.Errorf("incidents %+v, want none", page.Incidents)
	}
}

func growthPerSession(t *testing.T, s *stage) {
	a := s.agent(t)
	for _, tokens := range []int64{1000, 1400, 1960, 2744} {
		a.iterate("one", tokens)
		a.iterate("flat", 1000)
		a.iterate("two", 2*tokens)
	}
	got := map[string]int{}
	for _, i := range a.incidents(2, "kind=growth") {
		got[i.Session]++
	}
	if len(got) != 2 || got["one"] != 1 || got["two"] != 1 {
		t.Errorf("incidents by session %v, want one each of one and two", got)
	}
}

// ruleExample runs the command of the document with nothing but address and
// token put in.
func ruleExample(t *testing.T, s *stage) {
	harness.Need(t, "curl")
	const command = `curl -X POST https://agent-watch.dev/v1/rules \
  -H "Authorization: Bearer aw_live_xxx" \
  -H "Content-Type: application/json" \
  -d '{
    "name": "block-high-growth",
    "condition": { "prompt_tokens_min": 50000 },
    "action": "block",
    "priority": 200
  }'`
	here := strings.NewReplacer("https://agent-watch.dev", s.Admin, "aw_live_xxx", harness.Token, "curl ", "curl -sS --fail-with-body --max-time 20 ").Replace(command)
	out, err := exec.Command("sh", "-c", here).CombinedOutput()
	if err != nil {
		t.Fatalf("curl: %v %s", err, out)
	}
	var rule haltd.Rule
	if err := json.Unmarshal(out, &rule); err != nil || rule.ID == "" || !rule.Enabled || rule.Priority != 200 || rule.Action != haltd.RuleBlock {
		t.Fatalf("%v: %s; want the rule, enabled", err, out)
	}
	a := s.agent(t)
	got := a.ask(strings.Repeat("word ", 60_000), "A summary.")
	if got.status != http.StatusBadRequest || got.denied.BlockReason != "rule" || got.header.Get("X-Should-Retry") != "false" {
		t.Errorf("60,000 words: %d %.300s; want the standard inactive answer with reason rule", got.status, got.body)
	}
	if e := a.has(haltd.EventBlocked, 1)[0]; e.Rule != "block-high-growth" || e.BlockReason != haltd.ReasonRule {
		t.Errorf("event %+v; want it to name the rule", e)
	}
	if got := a.ask("A few words.", "Fine."); got.status != http.StatusOK {
		t.Errorf("a few words: %d %s", got.status, got.body)
	}
	if status := s.API(t, "DELETE", "/v1/rules/"+rule.ID, nil, nil); status != http.StatusNoContent {
		t.Errorf("DELETE: %d", status)
	}
	if got := a.ask(strings.Repeat("word ", 60_000), "A summary."); got.status != http.StatusOK {
		t.Errorf("after the rule is gone: %d %.300s", got.status, got.body)
	}
}

// rule makes a rule for this agent only.
func (a *agent) rule(priority int, condition, action, config string) {
	a.t.Helper()
	condition = strings.TrimSuffix(fmt.Sprintf(`{"agent":%q,%s`, a.id, condition), ",") + "}"
	body := fmt.Sprintf(`{"name":"%s %d","priority":%d,"condition":%s,"action":%q,"action_config":{%s}}`, action, priority, priority, condition, action, config)
	var got map[string]any
	if status := a.API(a.t, "POST", "/v1/rules", json.RawMessage(body), &got); status != http.StatusCreated {
		a.t.Fatalf("POST %s: %d %v", body, status, got)
	}
}

func firstMatch(t *testing.T, s *stage) {
	a := s.agent(t)
	a.rule(5, "", "block", "")
	a.rule(20, `"model_pattern":"gpt-*"`, "allow", "")
	a.rule(10, `"model":"gpt-4.1-mini"`, "reject", `"retry_after_seconds":9`)
	for model, want := range map[string]int{"gpt-4.1-mini": 200, "claude-sonnet": 400} {
		got := a.send(request{messages: []message{user("hello")}, model: model})
		if got.status != want {
			t.Errorf("%s: %d %s, want %d", model, got.status, got.body, want)
		}
	}
	var list struct{ Rules []haltd.Rule }
	s.API(t, "GET", "/v1/rules", nil, &list)
	last := int(1e9)
	for _, r := range list.Rules {
		if r.Priority > last {
			t.Errorf("rule %q of priority %d stands after one of %d", r.Name, r.Priority, last)
		}
		last = r.Priority
	}
}

func ruleActions(t *testing.T, s *stage) {
	a := s.agent(t)
	for i, action := range []string{"block", "reject", "throttle", "warn", "tag", "allow"} {
		config := map[string]string{"reject": `"retry_after_seconds":9`, "throttle": `"delay_ms":20`, "tag": `"tag":"night"`}[action]
		a.rule(i, fmt.Sprintf(`"model":"m-%s"`, action), action, config)
	}
	for action, want := range map[string]struct {
		status               int
		reason, delay, after string
	}{
		"block":    {400, "rule", "", ""},
		"reject":   {429, "rule", "", "9"},
		"throttle": {200, "rule", "20", ""},
		"warn":     {200, "rule", "", ""},
		"tag":      {200, "", "", ""},
		"allow":    {200, "", "", ""},
	} {
		got := a.send(request{messages: []message{user("hello")}, model: "m-" + action})
		if got.status != want.status || got.header.Get("X-Haltd-Reason") != want.reason || got.header.Get("X-Haltd-Loop-Delay") != want.delay || got.header.Get("Retry-After") != want.after {
			t.Errorf("%s: %d %v, want %+v", action, got.status, got.header, want)
		}
	}
	tagged := s.Events(t, "agent="+a.id+"&model=m-tag", 1)[0]
	if len(tagged.Tags) != 1 || tagged.Tags[0] != "night" || tagged.Rule != "tag 4" {
		t.Errorf("event %+v; want the tag night of its rule", tagged)
	}
}

func unknownRuleKeys(t *testing.T, s *stage) {
	for body, words := range map[string][]string{
		`{"name":"r","condition":{"prompt_token_min":5},"action":"block"}`:                      {"condition.prompt_token_min", "prompt_tokens_min"},
		`{"name":"r","condition":{},"action":"block","prio":5}`:                                 {"prio", "priority"},
		`{"name":"r","condition":{},"action":"alert"}`:                                          {"action", "block"},
		`{"name":"r","condition":{"hour_min":24},"action":"block"}`:                             {"hour_min", "23"},
		`{"name":"r","condition":{"day_of_week":["monday"]},"action":"block"}`:                  {"day_of_week", "mon"},
		`{"name":"r","condition":{"prompt_tokens_min":9,"prompt_tokens_max":1},"action":"tag"}`: {"prompt_tokens_min", "action_config.tag"},
	} {
		var got refused
		if status := s.API(t, "POST", "/v1/rules", json.RawMessage(body), &got); status != http.StatusBadRequest {
			t.Errorf("%s: %d, want 400", body, status)
		}
		for _, word := range words {
			if !strings.Contains(got.Error.Message+" "+got.Error.Fix, word) {
				t.Errorf("%s is refused with %+v, which does not say %q", body, got.Error, word)
			}
		}
	}
}

// ingest reports a call and answers the verdict.
func (s *stage) ingest(t *testing.T, bearer, body string) (haltd.IngestAnswer, int) {
	t.Helper()
	req, err := http.NewRequest("POST", s.Admin+"/v1/ingest", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+bearer)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var v haltd.IngestAnswer
	if res.StatusCode == http.StatusOK {
		if err := json.NewDecoder(res.Body).Decode(&v); err != nil {
			t.Fatal(err)
		}
	}
	return v, res.StatusCode
}

func ingestGrowth(t *testing.T, s *stage) {
	a := s.agent(t)
	for i, tokens := range []int{1000, 1400, 1960, 2744} {
		v, status := s.ingest(t, harness.Token, fmt.Sprintf(`{"agent":%q,"session_id":"run","iteration_index":%d,"provider":"openai","model":"gpt-4.1-mini","prompt_tokens":%d,"completion_tokens":12,"latency_ms":310}`, a.id, i+1, tokens))
		if status != http.StatusOK || !v.Active {
			t.Fatalf("iteration %d: %d %+v", i+1, status, v)
		}
	}
	if i := a.incidents(1); len(i) != 1 || i[0].Kind != haltd.IncidentGrowth || i[0].Session != "run" {
		t.Errorf("incidents %+v; want one of kind growth about the run", i)
	}
	e := a.has(haltd.EventCall, 4)[0]
	if e.Tokens.Input != 2744 || e.Tokens.Output != 12 || e.Cost == 0 || e.Client != "ingest" {
		t.Errorf("event %+v; want the reported call with its cost", e)
	}
}

func ingestLoop(t *testing.T, s *stage) {
	a := s.agent(t).with("")
	body := fmt.Sprintf(`{"agent":%q,"session_id":"run","provider":"openai","model":"gpt-4.1-mini","prompt_tokens":500,"completion_tokens":12,"tool_calls":[{"name":"search","arguments":{"q":"a"}}],"response_hash":"9f2c"}`, a.id)
	var v haltd.IngestAnswer
	for range 12 {
		var status int
		if v, status = s.ingest(t, harness.Token, body); status != http.StatusOK {
			t.Fatalf("%d %+v", status, v)
		}
		if !v.Active {
			break
		}
	}
	if v.Active || v.Action != haltd.Kill || v.Reason != haltd.ReasonLoop || v.Incident == "" {
		t.Fatalf("verdict %+v; want it to say that the agent was killed", v)
	}
	if got := a.view(); got.Active || got.DeactivatedBy == nil || *got.DeactivatedBy != haltd.ByKillSwitch {
		t.Errorf("agent %+v, want it inactive by kill_switch", got.Agent)
	}
	if v, _ := s.ingest(t, harness.Token, body); v.Active || v.Incident == "" || v.Reason != haltd.ReasonKilled {
		t.Errorf("the next report: %+v, want it to say that the agent is stopped", v)
	}
	if got := a.ask("hello", "hello"); got.status != http.StatusBadRequest {
		t.Errorf("a call through the gateway: %d, want 400", got.status)
	}
}

func ingestByKey(t *testing.T, s *stage) {
	a := s.agent(t)
	var key struct{ Secret string }
	if status := s.API(t, "POST", "/v1/keys", map[string]string{"agent": a.id}, &key); status > 299 {
		t.Fatalf("POST /v1/keys: %d", status)
	}
	const call = `"session_id":"run","model":"gpt-4.1-mini","prompt_tokens":10`
	for body, want := range map[string]int{
		`{` + call + `}`:                             200,
		`{"agent":"` + a.id + `",` + call + `}`:      200,
		`{"agent":"somebody-else",` + call + `}`:     403,
		`{"agent":"` + a.id + `-copy",` + call + `}`: 403,
	} {
		if _, status := s.ingest(t, key.Secret, body); status != want {
			t.Errorf("%s: %d, want %d", body, status, want)
		}
	}
	v, _ := s.ingest(t, key.Secret, `{`+call+`}`)
	if e := a.has(haltd.EventCall, 3)[0]; e.Agent != a.id || e.ID != v.Event {
		t.Errorf("event %s of %s, the verdict names %s; want the agent of the key and the same event", e.ID, e.Agent, v.Event)
	}
	req, err := http.NewRequest("GET", s.Admin+"/v1/agents/"+a.id, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key.Secret)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusUnauthorized {
		t.Errorf("a gateway key on another route: %d, want 401", res.StatusCode)
	}
	if _, status := s.ingest(t, "haltd_nobody", `{`+call+`}`); status != http.StatusUnauthorized {
		t.Errorf("an unknown gateway key: %d, want 401", status)
	}
}

func ingestRefusals(t *testing.T, s *stage) {
	for body, word := range map[string]string{
		`{"session_id":"run","model":"m","prompt_tokens":1}`:                           "agent",
		`{"agent":"a","model":"m","prompt_tokens":1}`:                                  "session_id",
		`{"agent":"a","session_id":"run","model":"m"}`:                                 "prompt_tokens",
		`{"agent":"a","session_id":"run","model":"m","prompt_tokens":-1}`:              "prompt_tokens",
		`{"agent":"a","session_id":"run","model":"m","prompt_tokens":1,"tool_call":1}`: "tool_call",
		`{"agent":"a b","session_id":"run","model":"m","prompt_tokens":1}`:             "agent",
	} {
		var got refused
		if status := s.API(t, "POST", "/v1/ingest", json.RawMessage(body), &got); status != http.StatusBadRequest || !strings.Contains(got.Error.Message, word) {
			t.Errorf("%s: %d %+v; want 400 that names %s", body, status, got.Error, word)
		}
	}
}

func slackText(t *testing.T, s *stage, channel *slack) {
	a := s.agent(t)
	a.iterate("ses_8f2k9x3m", 100, 150, 220, 330)
	const want = "🚨 *Runaway Agent Detected* 🚨\nSession `ses_8f2k9x3m` showed quadratic growth signature.\nRecent prompt tokens: [100, 150, 220, 330]"
	var got []string
	s.Eventually(t, "telling Slack", func() bool {
		got = channel.about("ses_8f2k9x3m")
		return len(got) > 0
	})
	if got[0] != want {
		t.Errorf("Slack got\n%s\nwant\n%s", got[0], want)
	}
}

func slackOnce(t *testing.T, s *stage, channel *slack) {
	a := s.agent(t)
	a.iterate("grows-on", 1000, 1400, 1960, 2744, 3842, 5379, 7531)
	a.iterate("grows-later", 1000, 1400, 1960, 2744)
	s.Eventually(t, "telling Slack of both sessions", func() bool {
		return len(channel.about("`grows-on`")) > 0 && len(channel.about("`grows-later`")) > 0
	})
	if got := channel.about("`grows-on`"); len(got) != 1 {
		t.Errorf("%d messages about one session: %q", len(got), got)
	}
	if got := a.incidents(2, "kind=growth"); len(got) != 2 {
		t.Errorf("%d incidents of two sessions", len(got))
	}
}
