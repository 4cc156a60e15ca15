package gateway

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/harness"
)

// chat is a call that says something of its own and allows so many tokens.
func chat(topic string, maxTokens int) string {
	return fmt.Sprintf(`{"model":"gpt-x","max_tokens":%d,"messages":[{"role":"user","content":%q}]}`, maxTokens, topic)
}

func (f *fixture) ledger(t *testing.T, agent string, p haltd.Period) haltd.Ledger {
	t.Helper()
	all, err := f.store.Ledgers(t.Context(), agent, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range all {
		if l.Period == p {
			return l
		}
	}
	return haltd.Ledger{}
}

func TestReservationIsOnDiskBeforeTheCall(t *testing.T) {
	up := newHeld(answer(200, "application/json", chatReply))
	f := newFixture(t, up, providersYAML+"agents:\n  bot: {budgets: {day: {hard_tokens: 100000}, month: {hard_usd: 1000}}}\n")
	var wg sync.WaitGroup
	wg.Go(func() { f.send(t, "POST", chatPath, nil, chat("hi", 3000)) })
	<-up.arrived
	if l := f.ledger(t, "bot", haltd.Daily); l.Held.Tokens < 3000 || l.Spent.Tokens != 0 {
		t.Errorf("while the provider holds the call the disk has %+v of the day, want 3000 tokens held", l)
	}
	if l := f.ledger(t, "bot", haltd.Monthly); l.Held.Cost < 3*haltd.Dollar {
		t.Errorf("while the provider holds the call the disk has %+v of the month, want 3 dollars held", l)
	}
	close(up.release)
	wg.Wait()
	f.close()
	g := f.setup.start(t)
	if l := g.ledger(t, "bot", haltd.Daily); l.Held.Tokens != 0 || l.Spent.Tokens != 9 {
		t.Errorf("after the end the disk has %+v, want the 9 tokens that were used", l)
	}
}

func TestParallelCallsStayWithinTheBudget(t *testing.T) {
	up := newHeld(answer(200, "application/json", strings.Replace(chatReply, `"completion_tokens":2`, `"completion_tokens":2990`, 1)))
	f := newFixture(t, up, providersYAML+"agents:\n  bot: {budgets: {day: {hard_tokens: 10000}}}\n")
	var passed, blocked atomic.Int64
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			res, _ := f.send(t, "POST", chatPath, inSession(fmt.Sprint(i)), chat(fmt.Sprintf("topic %c%c", 'a'+i/8, 'a'+i%8), 3000))
			switch res.StatusCode {
			case 200:
				passed.Add(1)
			case 429:
				blocked.Add(1)
			default:
				t.Errorf("answered %d", res.StatusCode)
			}
		})
	}
	f.events.wait(t, haltd.EventBlocked, 61)
	close(up.release)
	wg.Wait()
	f.Gateway.Wait() // replies leave before they are settled
	spent, err := f.judge.Spending(t.Context(), "bot")
	if err != nil {
		t.Fatal(err)
	}
	if got := spent[0].Spent.Tokens; passed.Load() != 3 || got > 10000 || got < 8900 {
		t.Errorf("%d calls passed, %d were rejected, %d tokens are spent of 10000; want 3 calls of 3000", passed.Load(), blocked.Load(), got)
	}
}

func TestSoftBudgetTellsOnce(t *testing.T) {
	f := newFixture(t, answer(200, "application/json", chatReply), providersYAML+"agents:\n  bot: {budgets: {day: {soft_tokens: 15}, month: {soft_usd: 100}}}\n")
	for i := range 6 {
		if res, _ := f.send(t, "POST", chatPath, nil, chat(fmt.Sprintf("topic %c", 'a'+i), 10)); res.StatusCode != 200 {
			t.Fatalf("a soft budget answered %d", res.StatusCode)
		}
		f.Gateway.Wait()
	}
	told := f.events.wait(t, haltd.EventAlert, 1)
	i := f.incidents(t)
	if len(told) != 1 || len(i) != 1 || i[0].Kind != haltd.IncidentBudgetSoft || i[0].Reason != haltd.ReasonSoft || len(f.notices(t)) != 1 {
		t.Fatalf("%d alerts, incidents %+v; want one", len(told), i)
	}
	if found := told[0].Verdict.Findings; len(found) != 1 || found[0].Check != "budget" || found[0].Name != "day" || found[0].Spent == nil || found[0].Spent.Tokens < 15 {
		t.Errorf("findings %+v, want the daily budget and what was spent", found)
	}
	f = f.restart(t)
	f.send(t, "POST", chatPath, nil, chat("after the restart", 10))
	f.close()
	f = f.setup.start(t)
	if n := len(f.incidents(t)); n != 1 {
		t.Errorf("%d incidents after a restart, want one a day", n)
	}
	f.clock.advance(24 * time.Hour)
	f.send(t, "POST", chatPath, nil, chat("the next day", 10))
	f.send(t, "POST", chatPath, nil, chat("once more", 10))
	f.Gateway.Wait()
	if n := len(f.waitIncidents(t, 2)); n != 2 {
		t.Errorf("%d incidents on the next day, want another", n)
	}
}

// A budget that is set below what was spent is told of as well.
func TestSoftBudgetThatIsSpentAlready(t *testing.T) {
	f := newFixture(t, answer(200, "application/json", chatReply), "")
	for i := range 3 {
		f.send(t, "POST", chatPath, nil, chat(fmt.Sprintf("topic %c", 'a'+i), 10))
	}
	f.persist(t)
	f.override(t, "bot", haltd.MustOverride(`{"budgets": {"day": {"soft_tokens": 20}}}`))
	f.send(t, "POST", chatPath, nil, chat("more", 10))
	f.Gateway.Wait()
	if told := f.events.wait(t, haltd.EventAlert, 1); len(told) != 1 {
		t.Error("nothing was told")
	}
}

func (f *fixture) override(t *testing.T, agent string, own haltd.PolicyOverride) {
	t.Helper()
	if _, err := f.control.Override(t.Context(), agent, "ann", func(o *haltd.PolicyOverride) error { *o = own; return nil }); err != nil {
		t.Fatal(err)
	}
}

func TestHardBudgetBlocks(t *testing.T) {
	f := newFixture(t, answer(200, "application/json", chatReply), providersYAML+"agents:\n  bot: {budgets: {day: {hard_tokens: 18}}}\n")
	for i := range 2 {
		if res, _ := f.send(t, "POST", chatPath, nil, chat(fmt.Sprintf("topic %c", 'a'+i), 1)); res.StatusCode != 200 {
			t.Fatalf("call %d: %d", i, res.StatusCode)
		}
		f.Gateway.Wait()
	}
	for _, path := range []string{chatPath, "/agents/bot/v1/models"} {
		res, body := f.send(t, "POST", path, nil, chat("more", 1))
		if res.StatusCode != 400 || res.Header.Get("X-Haltd-Reason") != "budget_exceeded" || res.Header.Get("Retry-After") != "" || !strings.Contains(body, "daily budget") {
			t.Errorf("%s: %d %v %s", path, res.StatusCode, res.Header, body)
		}
	}
	f.Gateway.Wait()
	f.events.wait(t, haltd.EventAlert, 1)
	if i := f.incidents(t); len(i) != 1 || i[0].Kind != haltd.IncidentBudgetHard {
		t.Errorf("incidents %+v, want one of the hard budget", i)
	}
	f.clock.advance(12 * time.Hour)
	if res, _ := f.send(t, "POST", chatPath, nil, chat("the next day", 1)); res.StatusCode != 200 {
		t.Errorf("after midnight: %d", res.StatusCode)
	}
}

func TestBudgetsThatCannotBeWrittenStopTheCall(t *testing.T) {
	var forwarded atomic.Int64
	f := newFixture(t, counting(&forwarded, answer(200, "application/json", chatReply)), providersYAML+"agents:\n  bot: {budgets: {day: {hard_tokens: 1000}}}\n  soft: {budgets: {day: {soft_tokens: 1000}}}\n")
	f.store.Close()
	res, _ := f.send(t, "POST", chatPath, nil, chatBody)
	if res.StatusCode != 503 || res.Header.Get("X-Haltd-Reason") != "not_durable" || res.Header.Get("Retry-After") == "" || forwarded.Load() != 0 {
		t.Errorf("%d %v, %d forwarded; want it refused for a while", res.StatusCode, res.Header, forwarded.Load())
	}
	for _, agent := range []string{"other", "soft"} {
		if res, _ := f.send(t, "POST", "/agents/"+agent+"/v1/chat/completions", nil, chatBody); res.StatusCode != 200 {
			t.Errorf("agent %s without a hard budget: %d", agent, res.StatusCode)
		}
	}
}

// What a stream says beyond its reservation is held back while it flows.
func TestALongStreamExtendsItsReservation(t *testing.T) {
	release := make(chan struct{})
	up := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for range 20 {
			fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%q}}]}\n\n", strings.Repeat("word ", 100))
		}
		w.(http.Flusher).Flush()
		<-release
	})
	f := newFixture(t, up, providersYAML+"agents:\n  bot: {budgets: {day: {hard_tokens: 100000}, reserve_tokens: 50}}\n")
	var wg sync.WaitGroup
	wg.Go(func() {
		f.send(t, "POST", chatPath, nil, `{"model":"gpt-x","stream":true,"max_tokens":20,"messages":[{"role":"user","content":"hi"}]}`)
	})
	held := func() int64 { return f.ledger(t, "bot", haltd.Daily).Held.Tokens }
	err := harness.Until(t.Context(), func() bool { return held() >= 2500 })
	if err != nil {
		t.Errorf("10000 bytes were said and %d tokens are held: %v", held(), err)
	}
	close(release)
	wg.Wait()
}

// A response that is made in the background is fetched by requests that tell
// nobody what it cost: what was held for it is charged.
func TestABackgroundResponseIsChargedInFull(t *testing.T) {
	for status, want := range map[string]int64{"queued": 500, "in_progress": 500, "completed": 0} {
		up := answer(200, "application/json", `{"id":"resp_1","status":"`+status+`","output":[],"usage":null}`)
		f := newFixture(t, up, providersYAML+"agents:\n  bot: {budgets: {day: {hard_tokens: 100000}}}\n")
		f.send(t, "POST", "/agents/bot/v1/responses", nil, `{"model":"gpt-x","background":true,"max_output_tokens":500,"input":"hi"}`)
		e := f.last(t)
		spent, err := f.judge.Spending(t.Context(), "bot")
		if err != nil {
			t.Fatal(err)
		}
		if !e.Estimated || e.Tokens.Output != want || spent[0].Spent.Tokens != e.Tokens.Input+e.Tokens.Output || spent[0].Held != (haltd.Spending{}) {
			t.Errorf("%s: %+v, estimated %v; spent %+v, held %+v; want %d tokens of output", status, e.Tokens, e.Estimated, spent[0].Spent, spent[0].Held, want)
		}
	}
}

func TestRateInRequests(t *testing.T) {
	f := newFixture(t, answer(200, "application/json", chatReply), providersYAML+"agents:\n  bot: {rate_limits: {requests_per_minute: 3}}\n")
	send := func(path string) *http.Response {
		res, _ := f.send(t, "POST", path, nil, chatBody)
		return res
	}
	for i, path := range []string{chatPath, "/agents/bot/v1/embeddings", chatPath} {
		if res := send(path); res.StatusCode != 200 {
			t.Fatalf("request %d: %d", i, res.StatusCode)
		}
	}
	for _, path := range []string{chatPath, "/agents/bot/v1/embeddings"} {
		res, body := f.send(t, "POST", path, nil, chatBody)
		if res.StatusCode != 429 || res.Header.Get("Retry-After") != "20" || res.Header.Get("X-Haltd-Reason") != "rate_limited" || !strings.Contains(body, `"retry_after_seconds":20`) {
			t.Errorf("%s: %d %v %s; want 429 for 20 s", path, res.StatusCode, res.Header, body)
		}
	}
	if res := send("/agents/other/v1/chat/completions"); res.StatusCode != 200 {
		t.Errorf("another agent: %d", res.StatusCode)
	}
	f.clock.advance(20 * time.Second)
	if res := send(chatPath); res.StatusCode != 200 {
		t.Errorf("after 20 s: %d", res.StatusCode)
	}
	if res := send(chatPath); res.StatusCode != 429 {
		t.Errorf("one more: %d", res.StatusCode)
	}
}

func TestRateInTokens(t *testing.T) {
	reply := strings.Replace(chatReply, `"prompt_tokens":7,"completion_tokens":2`, `"prompt_tokens":190,"completion_tokens":10`, 1)
	f := newFixture(t, answer(200, "application/json", reply), providersYAML+"agents:\n  bot: {rate_limits: {tokens_per_minute: 100}}\n")
	if res, _ := f.send(t, "POST", chatPath, nil, chatBody); res.StatusCode != 200 {
		t.Fatalf("the first: %d", res.StatusCode)
	}
	f.Gateway.Wait()
	// 200 tokens were used, a hundred more than there were: it takes a
	// minute until there are none owed, and a little for the next prompt.
	res, _ := f.send(t, "POST", chatPath, nil, chatBody)
	wait, _ := strconv.Atoi(res.Header.Get("Retry-After"))
	if res.StatusCode != 429 || wait < 60 || wait > 70 {
		t.Fatalf("%d with Retry-After %d, want 429 and about a minute", res.StatusCode, wait)
	}
	f.clock.advance(time.Duration(wait) * time.Second)
	if res, _ := f.send(t, "POST", chatPath, nil, chatBody); res.StatusCode != 200 {
		t.Errorf("after %d s: %d", wait, res.StatusCode)
	}
}

const tenantYAML = `
policies:
  - id: tenants
    spec:
      selector: {pathPrefix: /v1}
      mode: MODE
      rules:
        - {name: each, limit_keys: ["header:X-Tenant"], algorithm: token_bucket, algorithm_config: {rps: 1, burst: 2}}
`

func TestRatesByHeader(t *testing.T) {
	for _, mode := range []string{"enforce", "shadow"} {
		t.Run(mode, func(t *testing.T) {
			f := newFixture(t, answer(200, "application/json", chatReply), providersYAML+strings.Replace(tenantYAML, "MODE", mode, 1))
			for i := range 5 {
				res, _ := f.send(t, "POST", "/v1/embeddings", map[string]string{"X-Tenant": "a"}, `{}`)
				want := 200
				if i >= 2 && mode == "enforce" {
					want = 429
				}
				if res.StatusCode != want {
					t.Fatalf("request %d: %d, want %d", i, res.StatusCode, want)
				}
			}
			e := f.last(t)
			v := e.Verdict
			if v == nil {
				t.Fatal("the event has no verdict")
			}
			if len(v.Findings) != 1 || v.Findings[0].Reason != haltd.ReasonRate || v.Findings[0].Shadow != (mode == "shadow") || v.Findings[0].Name != "tenants/each" {
				t.Errorf("findings %+v, want one of the rate", v.Findings)
			}
			if res, _ := f.send(t, "POST", "/v1/embeddings", map[string]string{"X-Tenant": "b"}, `{}`); res.StatusCode != 200 {
				t.Errorf("another tenant: %d", res.StatusCode)
			}
		})
	}
}

func TestBypassOpensAllDoorsButManual(t *testing.T) {
	yaml := killYAML + "agents:\n  bot: {rate_limits: {requests_per_minute: 1}, budgets: {day: {hard_tokens: 10}, month: {hard_tokens: 100000}}, allowed_hours: [{from: \"01:00\", to: \"02:00\"}]}\n"
	f := newFixture(t, answer(200, "application/json", chatReply), yaml)
	if _, err := f.control.SaveRule(t.Context(), haltd.Rule{Name: "none", Enabled: true, Action: haltd.RuleBlock}, "ann"); err != nil {
		t.Fatal(err)
	}
	if res, _ := f.send(t, "POST", chatPath, inSession("s"), loopBody(12)); res.StatusCode != 400 || res.Header.Get("X-Haltd-Incident") == "" {
		t.Fatalf("before: %d %v", res.StatusCode, res.Header)
	}
	if _, err := f.control.SetBypass(t.Context(), true, "ann", "haltd is the problem"); err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		res, body := f.send(t, "POST", chatPath, inSession("s"), loopBody(12+i))
		if res.StatusCode != 200 || res.Header.Get("X-Haltd-Reason") != "" {
			t.Fatalf("call %d: %d %v %s", i, res.StatusCode, res.Header, body)
		}
		f.Gateway.Wait()
	}
	calls := f.events.ofType(haltd.EventCall)
	v := calls[len(calls)-1].Verdict
	found := map[haltd.Check]int{}
	for _, g := range v.Findings {
		found[g.Check]++
		if !g.Shadow {
			t.Errorf("finding %+v is no shadow", g)
		}
	}
	if !v.Bypass || found["budget"] != 1 || found["hours"] != 1 || found["rate"] != 1 || found["rule"] != 1 || found["stall"] == 0 {
		t.Errorf("bypass %v, findings %v; want one of each check", v.Bypass, found)
	}
	// What is spent meanwhile counts.
	if s, _ := f.judge.Spending(t.Context(), "bot"); s[1].Spent.Tokens != 4*9 || s[1].Held.Tokens != 0 {
		t.Errorf("the month has %+v spent, %+v held; want the four calls", s[1].Spent, s[1].Held)
	}
	if _, err := f.control.Deactivate(t.Context(), haltd.Target{Agent: "bot"}, false, "ann", ""); err != nil {
		t.Fatal(err)
	}
	if res, _ := f.send(t, "POST", chatPath, inSession("s"), chatBody); res.StatusCode != 400 || res.Header.Get("X-Haltd-Reason") != "manual" {
		t.Errorf("switched off by hand: %d %v", res.StatusCode, res.Header)
	}
	f = f.restart(t)
	if !f.control.Bypass().On {
		t.Error("a restart ends the bypass")
	}
}

func TestRulesAct(t *testing.T) {
	for _, tc := range []struct {
		rule   haltd.Rule
		status int
		reason string
		header string // X-Haltd-Loop-Delay or Retry-After
		tags   string
	}{
		{haltd.Rule{Action: haltd.RuleBlock}, 400, "rule", "", "[]"},
		{haltd.Rule{Action: haltd.RuleReject, Config: haltd.RuleConfig{RetryAfter: 7}}, 429, "rule", "7", "[]"},
		{haltd.Rule{Action: haltd.RuleThrottle, Config: haltd.RuleConfig{DelayMS: 5}}, 200, "rule", "5", "[]"},
		{haltd.Rule{Action: haltd.RuleWarn}, 200, "rule", "", "[]"},
		{haltd.Rule{Action: haltd.RuleTag, Config: haltd.RuleConfig{Tag: "dear"}}, 200, "", "", "[dear]"},
		{haltd.Rule{Action: haltd.RuleAllow}, 200, "", "", "[]"},
	} {
		t.Run(string(tc.rule.Action), func(t *testing.T) {
			f := newFixture(t, answer(200, "application/json", chatReply), "")
			tc.rule.Name, tc.rule.Enabled, tc.rule.Priority, tc.rule.Condition.ModelPattern = "mine", true, 10, "gpt-*"
			for _, r := range []haltd.Rule{tc.rule, {Name: "never reached", Enabled: true, Action: haltd.RuleBlock, Condition: haltd.RuleCondition{ModelPattern: "gpt-*"}}} {
				if _, err := f.control.SaveRule(t.Context(), r, "ann"); err != nil {
					t.Fatal(err)
				}
			}
			res, body := f.send(t, "POST", chatPath, nil, chatBody)
			if res.StatusCode != tc.status || res.Header.Get("X-Haltd-Reason") != tc.reason || res.Header.Get("X-Haltd-Loop-Delay")+res.Header.Get("Retry-After") != tc.header {
				t.Errorf("%d %v %s", res.StatusCode, res.Header, body)
			}
			if e := f.last(t); e.Rule != "mine" || fmt.Sprint(e.Tags) != tc.tags || e.Blocked != (tc.status != 200) {
				t.Errorf("event of rule %q with tags %v, blocked %v", e.Rule, e.Tags, e.Blocked)
			}
			if res, _ := f.send(t, "POST", "/agents/bot/v1/messages", nil, messagesBody); res.StatusCode != 200 {
				t.Errorf("a model that no rule speaks of: %d", res.StatusCode)
			}
		})
	}
}

// A rule that allows ends the rules, not the other checks.
func TestAllowEndsRulesOnly(t *testing.T) {
	f := newFixture(t, answer(200, "application/json", chatReply), killYAML)
	if _, err := f.control.SaveRule(t.Context(), haltd.Rule{Name: "friends", Enabled: true, Action: haltd.RuleAllow}, "ann"); err != nil {
		t.Fatal(err)
	}
	if res, _ := f.send(t, "POST", chatPath, inSession("s"), loopBody(12)); res.StatusCode != 400 {
		t.Errorf("a loop that a rule allows: %d", res.StatusCode)
	}
}

func TestAReloadActsAtOnce(t *testing.T) {
	f := newFixture(t, answer(200, "application/json", chatReply), "")
	enabled := func(agent string) bool { return f.control.Agent(agent).Policy.KillSwitch.Enabled }
	off := haltd.MustOverride(`{"kill_switch": {"enabled": false}}`)
	f.override(t, "api", off)
	next := haltd.DefaultPolicy()
	next.KillSwitch.Enabled = true
	f.control.Configure(next, map[string]haltd.PolicyOverride{
		"file": off,
		"api":  haltd.MustOverride(`{"kill_switch": {"enabled": true, "window_size": 7}}`),
	})
	if !enabled("anybody") || enabled("file") || enabled("api") || f.control.Agent("api").Policy.KillSwitch.WindowSize != 7 {
		t.Errorf("defaults %v, file %v, api %v; want the API over the file over the defaults, field by field", enabled("anybody"), enabled("file"), enabled("api"))
	}
	if res, _ := f.send(t, "POST", chatPath, inSession("s"), loopBody(12)); res.StatusCode != 400 {
		t.Errorf("the next request was judged by the old policy: %d", res.StatusCode)
	}
	f.control.Configure(haltd.DefaultPolicy(), nil)
	if enabled("anybody") || f.control.Agent("api").Policy.KillSwitch.WindowSize != 20 {
		t.Error("what the file no longer says stays in force")
	}
	if f.control.Agent("bot").Standing.Active {
		t.Error("a reload lifted a kill")
	}
}
