package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
	"github.com/haltd/haltd/test/harness"
)

// TestPolicy is what an agent may spend, when and how fast it may call.
func TestPolicy(t *testing.T) {
	t.Parallel()
	s := newStage(t, "")
	s.hold(t,
		requirement{"Budgets", []scenario{
			{"Hard budget in tokens", hardTokens},
			{"Hard budget in dollars", hardDollars},
			{"Soft budget only alerts", softBudget},
			{"A failed call costs nothing", freeFailure},
			{"Parallel calls stay within it", parallelCalls},
		}},
		requirement{"Allowed hours", []scenario{
			{"Outside of them", outsideHours},
			{"Inside of them", insideHours},
		}},
		requirement{"Rates", []scenario{
			{"Requests per minute", requestsPerMinute},
			{"Tokens per minute", tokensPerMinute},
			{"A blocked request takes nothing", blockedTakesNothing},
		}},
		requirement{"Pass-through routes", []scenario{
			{"Obey every check", passThroughObeys},
			{"Are never loop evidence", passThroughIsNoLoop},
		}},
		requirement{"Settings", []scenario{
			{"What makes no sense is refused", policyRefusals},
		}},
	)
}

// use makes a call that costs this many tokens.
func (a *agent) use(input, output int64, maxTokens int) answer {
	a.t.Helper()
	return a.send(request{
		messages: []message{user("hello")}, maxTokens: maxTokens,
		reply: fakellm.Script{Text: "hi", Usage: &haltd.Usage{Input: input, Output: output}},
	})
}

// stopped wants the standard inactive answer for a reason.
func (a *agent) stopped(got answer, reason string) {
	a.t.Helper()
	if got.status != http.StatusBadRequest || got.header.Get("X-Haltd-Reason") != reason || got.header.Get("X-Should-Retry") != "false" || got.header.Get("Retry-After") != "" {
		a.t.Errorf("%d %v %s; want 400 that is not tried again, with X-Haltd-Reason %s", got.status, got.header, got.body, reason)
	}
}

// limited wants a rejection that passes with time.
func (a *agent) limited(got answer) {
	a.t.Helper()
	if got.status != http.StatusTooManyRequests || got.header.Get("X-Haltd-Reason") != "rate_limited" || got.denied.RetryAfter < 1 || got.header.Get("Retry-After") != fmt.Sprint(got.denied.RetryAfter) {
		a.t.Errorf("%d %v %s; want 429, rate_limited and when to come again", got.status, got.header, got.body)
	}
}

// passes wants a reply of the provider.
func (a *agent) passes(got answer) {
	a.t.Helper()
	if got.status != http.StatusOK {
		a.t.Errorf("%d %s, want 200", got.status, got.body)
	}
}

func hardTokens(t *testing.T, s *stage) {
	a := s.agent(t).policy(`{"budgets":{"day":{"hard_tokens":1000}}}`)
	a.passes(a.use(300, 100, 50))
	a.passes(a.use(600, 100, 50))
	if got := a.spent(); got.Spent.Tokens != 1100 || got.Held != (haltd.Spending{}) {
		t.Errorf("spending %+v, want 1100 tokens and nothing held", got)
	}
	a.stopped(a.use(1, 1, 50), "budget_exceeded")
	if i := a.incidents(1); len(i) != 1 || i[0].Kind != haltd.IncidentBudgetHard || i[0].Action != haltd.Block {
		t.Errorf("incidents %+v, want one about the hard budget", i)
	}
	if v := a.view(); !v.Active {
		t.Error("a spent budget has deactivated the agent; it ends with the period")
	}
	a.policy(`{"budgets":{"day":{"hard_tokens":5000}}}`)
	a.passes(a.use(1, 1, 50))
	a.policy(`{"budgets":{"day":{"hard_tokens":0},"month":{"hard_tokens":1000}}}`)
	a.stopped(a.use(1, 1, 50), "budget_exceeded")
}

func hardDollars(t *testing.T, s *stage) {
	a := s.agent(t).policy(`{"budgets":{"day":{"hard_usd":0.01}}}`)
	// Nobody knows the model: it costs the default price and is not free.
	got := a.send(request{messages: []message{user("hello")}, model: "unheard-of", maxTokens: 10, reply: fakellm.Script{Text: "hi", Usage: &haltd.Usage{Input: 2000, Output: 10}}})
	a.passes(got)
	if spent := a.spent().Spent.Cost; spent < haltd.Dollar/100 {
		t.Errorf("spent $%s, want a cent or more", spent)
	}
	a.stopped(a.use(1, 1, 10), "budget_exceeded")
}

func softBudget(t *testing.T, s *stage) {
	a := s.agent(t).policy(`{"budgets":{"day":{"soft_tokens":500}}}`)
	for range 3 {
		a.passes(a.use(300, 100, 50))
	}
	if i := a.incidents(1); len(i) != 1 || i[0].Kind != haltd.IncidentBudgetSoft || i[0].Action != haltd.Warn {
		t.Errorf("incidents %+v, want one about the soft budget", i)
	}
}

func freeFailure(t *testing.T, s *stage) {
	a := s.agent(t).policy(`{"budgets":{"day":{"hard_tokens":1000}}}`)
	for range 3 {
		if got := a.send(request{messages: []message{user("hello")}, maxTokens: 900, reply: fakellm.Script{Status: 500}}); got.status != 500 {
			t.Fatalf("%d %s, want the provider's 500", got.status, got.body)
		}
	}
	if got := a.spent(); got.Spent.Tokens != 0 || got.Held.Tokens != 0 {
		t.Errorf("spending %+v, want none: the provider answered with errors", got)
	}
	a.passes(a.use(300, 100, 50))
}

func parallelCalls(t *testing.T, s *stage) {
	const calls, budget, reply = 64, 100_000, 1000
	a := s.agent(t).policy(fmt.Sprintf(`{"budgets":{"day":{"hard_tokens":%d}}}`, budget))
	a.passes(a.use(budget-2*reply-500, 0, reply)) // room for two calls and a half
	answers := a.atOnce(calls, request{
		messages: []message{user("hello")}, maxTokens: reply,
		reply: fakellm.Script{Text: "hi", Usage: &haltd.Usage{Input: 4, Output: reply}, Delay: fakellm.Delay(time.Second)},
	})
	passed := 0
	for _, got := range answers {
		switch {
		case got.status == http.StatusOK:
			passed++
		case got.status != http.StatusTooManyRequests || got.header.Get("X-Haltd-Reason") != "budget_exceeded" || got.header.Get("Retry-After") == "":
			t.Errorf("%d %v %s; want 429: it may fit when the others have ended", got.status, got.header, got.body)
		}
	}
	if passed != 2 || s.forwarded(a) != passed+1 {
		t.Errorf("%d calls passed, the provider got %d besides the first; want two", passed, s.forwarded(a)-1)
	}
	if got := a.spent(); got.Spent.Tokens > budget || got.Held.Tokens != 0 {
		t.Errorf("spent %d of %d tokens, %d held; want no more than the budget", got.Spent.Tokens, budget, got.Held.Tokens)
	}
}

// hours is a range from and to hours from now, in a zone that is far from
// here.
func hours(from, to int) string {
	const zone = "Pacific/Auckland"
	z, err := time.LoadLocation(zone)
	if err != nil {
		panic(err)
	}
	now := time.Now().In(z)
	at := func(h int) string { return now.Add(time.Duration(h) * time.Hour).Format("15:04") }
	return fmt.Sprintf(`{"allowed_hours":[{"from":%q,"to":%q}],"time_zone":%q}`, at(from), at(to), zone)
}

func outsideHours(t *testing.T, s *stage) {
	for _, r := range [][2]int{{2, 3}, {-3, -2}, {1, 23}} {
		a := s.agent(t, fmt.Sprint(r)).policy(hours(r[0], r[1]))
		a.stopped(a.ask("hello", "hi"), "outside_hours")
		if e := a.has(haltd.EventBlocked, 1)[0]; e.BlockReason != haltd.ReasonHours {
			t.Errorf("event %+v, want it blocked as outside_hours", e)
		}
	}
}

func insideHours(t *testing.T, s *stage) {
	// One of the three reaches over midnight, whatever the time is now.
	for _, r := range [][2]int{{-1, 1}, {-11, 1}, {-1, 11}} {
		a := s.agent(t, fmt.Sprint(r)).policy(hours(r[0], r[1]))
		a.passes(a.ask("hello", "hi"))
	}
	a := s.agent(t, "changed").policy(hours(2, 3))
	a.stopped(a.ask("hello", "hi"), "outside_hours")
	a.policy(`{"allowed_hours":[]}`)
	a.passes(a.ask("hello", "hi"))
}

func requestsPerMinute(t *testing.T, s *stage) {
	a := s.agent(t).policy(`{"rate_limits":{"requests_per_minute":3}}`)
	for range 3 {
		a.passes(a.ask("hello", "hi"))
	}
	a.limited(a.ask("hello", "hi"))
	if n := s.forwarded(a); n != 3 {
		t.Errorf("the provider got %d requests, want 3", n)
	}
	if e := a.has(haltd.EventBlocked, 1)[0]; e.BlockReason != haltd.ReasonRate || !e.Blocked {
		t.Errorf("event %+v, want it blocked as rate_limited", e)
	}
}

func tokensPerMinute(t *testing.T, s *stage) {
	a := s.agent(t).policy(`{"rate_limits":{"tokens_per_minute":1000}}`)
	a.passes(a.use(500, 400, 0))
	a.passes(a.use(500, 400, 0)) // nobody knew how long the reply would be
	a.limited(a.use(1, 1, 0))
}

func blockedTakesNothing(t *testing.T, s *stage) {
	a := s.agent(t).policy(`{"rate_limits":{"requests_per_minute":3},"budgets":{"day":{"hard_tokens":100000}}}`)
	a.rule(1, `"model":"forbidden"`, "block", "")
	for range 5 {
		a.stopped(a.send(request{messages: []message{user("hello")}, model: "forbidden"}), "rule")
	}
	if got := a.spent(); got.Spent.Tokens != 0 || got.Held.Tokens != 0 {
		t.Errorf("spending %+v, want none", got)
	}
	if n := len(a.window().Entries); n != 0 {
		t.Errorf("%d blocked requests stand in the window", n)
	}
	for range 3 {
		a.passes(a.ask("hello", "hi"))
	}
	a.limited(a.ask("hello", "hi"))
}

// models lists the provider's models.
func (a *agent) models() answer {
	a.t.Helper()
	return a.do("GET", "/agents/"+a.id+"/openai/v1/models", "", nil)
}

func passThroughObeys(t *testing.T, s *stage) {
	spent := s.agent(t, "budget").policy(`{"budgets":{"day":{"hard_tokens":100}}}`)
	spent.passes(spent.models())
	spent.use(100, 100, 10)
	spent.stopped(spent.models(), "budget_exceeded")

	late := s.agent(t, "hours").policy(hours(2, 3))
	late.stopped(late.models(), "outside_hours")

	fast := s.agent(t, "rate").policy(`{"rate_limits":{"requests_per_minute":2}}`)
	fast.passes(fast.models())
	fast.passes(fast.do("POST", "/agents/"+fast.id+"/openai/v1/embeddings", `{"model":"m","input":"a"}`, nil))
	fast.limited(fast.models())

	ruled := s.agent(t, "rule")
	ruled.rule(1, `"provider":"openai"`, "block", "")
	ruled.stopped(ruled.models(), "rule")

	off := s.agent(t, "off")
	s.API(t, "POST", "/v1/agents/"+off.id+"/deactivate", nil, nil)
	off.stopped(off.models(), "manual")
	off.stopped(off.do("POST", "/agents/"+off.id+"/anthropic/v1/messages/count_tokens", `{}`, nil), "manual")
	if n := s.forwarded(off) + s.forwarded(ruled) + s.forwarded(late); n != 0 {
		t.Errorf("%d stopped requests reached the provider", n)
	}
}

func passThroughIsNoLoop(t *testing.T, s *stage) {
	a := s.agent(t).with(killing + `,"threshold":1`)
	for range 15 {
		a.passes(a.models())
	}
	if n := len(a.window().Entries); n != 0 {
		t.Errorf("%d of them stand in the window", n)
	}
}

func policyRefusals(t *testing.T, s *stage) {
	a := s.agent(t)
	for body, words := range map[string][]string{
		`{"budgets":{"day":{"hard_usd":-1}}}`:                            {"hard_usd", "0"},
		`{"budgets":{"day":{"soft_usd":9,"hard_usd":5}}}`:                {"budgets.day.soft_usd", "hard_usd"},
		`{"budgets":{"daily":{}}}`:                                       {"budgets.daily", "day"},
		`{"rate_limits":{"requests_per_minute":-1}}`:                     {"requests_per_minute", "0"},
		`{"allowed_hours":[{"from":"25:00","to":"18:00"}]}`:              {"allowed_hours[0].from", "25:00"},
		`{"allowed_hours":[{"days":["m"],"from":"08:00","to":"18:00"}]}`: {"allowed_hours[0].days", "mon"},
		`{"time_zone":"Mars/Olympus"}`:                                   {"time_zone", "Europe/Berlin"},
	} {
		var got refused
		if status := s.API(t, "PATCH", "/v1/agents/"+a.id, json.RawMessage(body), &got); status != http.StatusBadRequest {
			t.Errorf("%s: %d, want 400", body, status)
		}
		for _, word := range words {
			if !strings.Contains(got.Error.Message+" "+got.Error.Fix, word) {
				t.Errorf("%s is refused with %+v, which does not say %q", body, got.Error, word)
			}
		}
	}
	if status := s.API(t, "GET", "/v1/agents/"+a.id, nil, nil); status != http.StatusNotFound {
		t.Errorf("GET agent: %d, want 404: refused changes make no agent", status)
	}
}

// TestPolicyPrecedence lays the API over the file over the defaults, and
// takes another file over without a restart.
func TestPolicyPrecedence(t *testing.T) {
	t.Parallel()
	const file = `
defaults:
  kill_switch: {window_size: %d, threshold: 20}
  rate_limits: {requests_per_minute: 5}
agents:
  filed: {kill_switch: {threshold: 7}, rate_limits: {requests_per_minute: 3}}
  both: {kill_switch: {threshold: 7}, rate_limits: {requests_per_minute: 3}}
`
	s := newStage(t, fmt.Sprintf(file, 30))
	named := func(id string) *agent {
		a := s.agent(t, id)
		a.id = id
		return a
	}
	named("both").with(`"threshold":2`).policy(`{"rate_limits":{"requests_per_minute":2}}`)
	type limits struct {
		WindowSize int
		Threshold  float64
		Requests   int64
		Passed     int
	}
	look := func(ids ...string) map[string]limits {
		all := map[string]limits{}
		for _, id := range ids {
			a := named(id)
			passed := 0
			for passed < 9 && a.ask(fmt.Sprintf("%s asks %s", id, strings.Repeat("x", passed)), "hi").status == http.StatusOK {
				passed++
			}
			a.has(haltd.EventCall, passed)
			p := a.view().Policy
			all[id] = limits{p.KillSwitch.WindowSize, p.KillSwitch.Threshold, p.Rates.Requests, passed}
		}
		return all
	}
	want := map[string]limits{"other": {30, 20, 5, 5}, "filed": {30, 7, 3, 3}, "both": {30, 2, 2, 2}}
	if diff := cmp.Diff(want, look("other", "filed", "both")); diff != "" {
		t.Errorf("API over file over defaults (-want +got):\n%s", diff)
	}

	reload := func(config, says string) {
		t.Helper()
		s.Config.Write(t, harness.Providers(s.url)+config)
		s.Reload(t, says)
	}
	changed := strings.NewReplacer("requests_per_minute: 5", "requests_per_minute: 6", "requests_per_minute: 3", "requests_per_minute: 4").Replace(fmt.Sprintf(file, 40))
	reload(changed, "configuration reloaded")
	for id, want := range map[string]limits{"other": {40, 20, 6, 0}, "filed": {40, 7, 4, 0}, "both": {40, 2, 2, 0}} {
		p := named(id).view().Policy
		if got := (limits{p.KillSwitch.WindowSize, p.KillSwitch.Threshold, p.Rates.Requests, 0}); got != want {
			t.Errorf("after the reload %s has %+v, want %+v", id, got, want)
		}
	}
	if got := look("new"); got["new"].Passed != 6 {
		t.Errorf("an agent that is new after the reload: %+v, want 6 calls a minute", got["new"])
	}
	reload(strings.Replace(changed, "threshold: 20", "threshold: -3", 1), "the old one stays in force")
	if p := named("other").view().Policy; p.KillSwitch.Threshold != 20 {
		t.Errorf("after a bad reload: %+v", p.KillSwitch)
	}
	named("both").policy(`{"kill_switch":null,"rate_limits":null}`)
	if p := named("both").view().Policy; p.KillSwitch.Threshold != 7 || p.Rates.Requests != 4 {
		t.Errorf("null goes back to the file: %+v %+v", p.KillSwitch, p.Rates)
	}
}
