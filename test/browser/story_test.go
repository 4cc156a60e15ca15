package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/sqlite"
	"github.com/haltd/haltd/test/fakellm"
)

// story is a haltd that has something on every page.
type story struct {
	*node
	killed, shadow, growth, budget string // incidents
	pace                           time.Duration
}

const billingSession = "recon-2026-11"

// paths are all pages, by what their pictures are called.
func (s *story) paths() [][2]string {
	return [][2]string{
		{"overview", "/"},
		{"agents", "/agents"},
		{"agent", "/agents/billing-bot"},
		{"agent-active", "/agents/support-triage"},
		{"session", "/agents/billing-bot/sessions/" + billingSession},
		{"sessions", "/sessions"},
		{"incidents", "/incidents"},
		{"incident", "/incidents/" + s.killed},
		{"incident-shadow", "/incidents/" + s.shadow},
		{"incident-growth", "/incidents/" + s.growth},
		{"incident-budget", "/incidents/" + s.budget},
		{"events", "/events"},
		{"rules", "/rules"},
		{"alerts", "/alerts"},
		{"costs", "/costs"},
		{"settings", "/settings"},
	}
}

// regulars are agents with an ordinary day.
var regulars = []struct {
	agent, provider, model string
	perHour                int
	cost                   haltd.Money
	tokens                 haltd.Usage
}{
	{"code-review", "anthropic", "claude-sonnet-4-5", 34, 21_400_000, haltd.Usage{Input: 9200, Output: 610, CacheRead: 6100}},
	{"support-triage", "openai", "gpt-4.1-mini", 52, 1_900_000, haltd.Usage{Input: 2100, Output: 180}},
	{"research-agent", "gemini", "gemini-2.5-pro", 12, 31_000_000, haltd.Usage{Input: 14800, Output: 940}},
	{"report-writer", "openai", "gpt-4.1", 8, 26_500_000, haltd.Usage{Input: 7400, Output: 1430}},
	{"mail-bot", "mistral", "mistral-large-latest", 6, 4_200_000, haltd.Usage{Input: 1300, Output: 260}},
}

// yesterday records what the regulars did in the last 24 hours. The same day
// is recorded each time.
func yesterday(ctx context.Context, store *sqlite.Store) error {
	var ids haltd.EventIDs
	random := rand.New(rand.NewPCG(1, 2))
	var events []haltd.Event
	now := time.Now()
	for at := now.Add(-24 * time.Hour); at.Before(now.Add(-2 * time.Minute)); at = at.Add(10 * time.Minute) {
		busy := 0.35 + 0.65*float64(at.Hour()%12)/12
		for _, r := range regulars {
			calls := int(busy*float64(r.perHour)/6 + random.Float64())
			for i := range calls {
				e := haltd.Event{
					Time: at.Add(time.Duration(i) * 7 * time.Second), Type: haltd.EventCall, Agent: r.agent, Client: "openai-python",
					Session: fmt.Sprintf("%s-%s", r.agent, at.Format("0102-15")), Provider: r.provider, Model: r.model, Path: "/v1/chat/completions",
					Status: http.StatusOK, Tokens: r.tokens, Cost: r.cost, Stream: true,
					Latency: haltd.Duration(time.Second + time.Duration(random.IntN(2500))*time.Millisecond), FirstByte: haltd.Duration(420 * time.Millisecond),
					Finish: "stop", PromptLen: 4200, ReplyLen: 900,
				}
				e.ID = ids.Next(e.Time)
				events = append(events, e)
			}
		}
	}
	return store.AppendEvents(ctx, events)
}

// tell lets agents call through a haltd until every page has something to
// show: a kill, a shadow incident, growth, a spent budget, rules, channels,
// deliveries and keys. The provider takes its time for billing-bot.
func tell(t *testing.T, n *node, receiver string, pace time.Duration) *story {
	t.Helper()
	s := &story{node: n, pace: pace}
	post := func(path, body string) { t.Helper(); n.Must(t, "POST", path, json.RawMessage(body), nil) }
	post("/v1/channels", fmt.Sprintf(`{"name": "on-call", "kind": "webhook", "settings": {"url": %q}}`, receiver))
	post("/v1/alert-rules", `{"name": "Everything that stops an agent", "topics": ["kill_switch", "budget_hard"], "cooldown_seconds": 600}`)
	post("/v1/alert-rules", `{"name": "Growth, quietly", "topics": ["growth", "budget_soft"], "cooldown_seconds": 3600}`)
	post("/v1/rules", `{"name": "No large models at night", "priority": 20, "condition": {"model_pattern": "gpt-5-pro", "hour_min": 22, "hour_max": 5}, "action": "block"}`)
	post("/v1/rules", `{"name": "Slow down long prompts", "priority": 10, "condition": {"prompt_tokens_min": 150000}, "action": "throttle", "action_config": {"delay_ms": 2000}}`)
	post("/v1/rules", `{"name": "Mark the trial", "condition": {"agent": "research-agent"}, "action": "tag", "action_config": {"tag": "trial"}}`)
	post("/v1/keys", `{"agent": "code-review", "name": "build server"}`)
	patch := func(agent, body string) {
		t.Helper()
		n.Must(t, "PATCH", "/v1/agents/"+agent, json.RawMessage(body), nil)
	}
	patch("billing-bot", `{"kill_switch": {"enabled": true}, "budgets": {"day": {"soft_usd": 40, "hard_usd": 60}}}`)
	patch("code-review", `{"kill_switch": {"enabled": true}, "rate_limits": {"requests_per_minute": 120}}`)
	patch("report-writer", `{"budgets": {"day": {"soft_usd": 6, "hard_usd": 12}}}`)
	post("/v1/agents/mail-bot/deactivate", `{"reason": "The mail server moves this week."}`)

	s.reconcile(t)
	s.triage(t)
	for i, tokens := range []int64{4100, 6200, 9100, 13_400, 19_800} {
		n.send(t, call{agent: "research-agent", session: "ses_8f2k9x3m", model: "gpt-4.1", messages: []message{user(fmt.Sprint("Read on, chapter ", i))},
			reply: fakellm.Script{Text: fmt.Sprint("The chapter says ", i), Usage: &haltd.Usage{Input: tokens, Output: 240}}})
	}
	s.growth = s.newest(t, "research-agent")
	n.send(t, call{agent: "report-writer", session: "weekly", model: "gpt-4.1", messages: []message{user("Write the weekly report.")},
		reply: fakellm.Script{Text: "Here it is.", Usage: &haltd.Usage{Input: 3_200_000, Output: 2000}}})
	s.budget = s.newest(t, "report-writer")
	n.Eventually(t, "done with its deliveries", func() bool {
		var page struct{ Deliveries []struct{ Status string } }
		n.Must(t, "GET", "/v1/deliveries", nil, &page)
		for _, d := range page.Deliveries {
			if d.Status != "delivered" {
				return false
			}
		}
		return len(page.Deliveries) >= 3
	})
	return s
}

// reconcile is how billing-bot works through invoices until one has no
// payment, and what it thinks before each step.
func (s *story) reconcile(t *testing.T) {
	t.Helper()
	messages := []message{user("Reconcile the invoices of November.")}
	for i := range 40 {
		tool, arguments, result := "find_payment", `{"invoice": "INV-20931"}`, `{"error": "payment_not_found"}`
		thought := "The payment must be somewhere. I will look for it again."
		if i < len(thoughts) {
			arguments, result = fmt.Sprintf(`{"invoice": "INV-%d"}`, 20918+i), fmt.Sprintf(`{"payment": "P-%d", "payer": %q}`, 7731+17*i, payers[i])
			thought = thoughts[i]
		}
		status, incident := s.send(t, call{agent: "billing-bot", session: billingSession, model: "gpt-4.1", messages: messages,
			reply: fakellm.Script{Text: thought, ToolCalls: []fakellm.ToolCall{{Name: tool, Arguments: arguments}},
				Usage: &haltd.Usage{Input: 11_000 + int64(i)*900, Output: 160}, Delay: fakellm.Delay(s.pace)}})
		if status != http.StatusOK {
			s.killed = incident
			s.send(t, call{agent: "billing-bot", session: billingSession, model: "gpt-4.1", messages: messages})
			return
		}
		messages = append(messages, round(fmt.Sprintf("call_%d", i), tool, arguments, result)...)
	}
	t.Fatal("billing-bot was not killed")
}

var (
	thoughts = []string{
		"Let me begin with the oldest invoice of the month.", "That one is settled; the harbour company comes next.",
		"A discount was granted here, so the sum differs.", "This customer pays by instalments. I check the second one.",
		"Found it under another reference.", "The museum paid twice, I note the credit.", "Now the invoices of the second week.",
		"A transfer from abroad, converted at the rate of that day.", "Nothing is missing up to here.", "The bakery has a standing order.",
		"Two invoices were paid with one transfer.", "The fee of the bank explains the difference.",
	}
	payers = []string{
		"Okafor Shipping", "Harbour Company", "Lindqvist and Sons", "Marta Duarte", "Nine Rivers", "City Museum", "Abel Tools",
		"Kyoto Paper", "Fern Street School", "Bakery Roux", "Tern Hotels", "Vale Clinic",
	}
)

// triage is how support-triage loops while its switch is off.
func (s *story) triage(t *testing.T) {
	t.Helper()
	for i := range 14 {
		asked, reply := search(i)
		s.send(t, call{agent: "support-triage", session: "ticket-4711", messages: asked, reply: reply})
	}
	s.shadow = s.newest(t, "support-triage")
}

// newest waits for an incident of an agent.
func (s *story) newest(t *testing.T, agent string) string {
	t.Helper()
	var page struct{ Incidents []incident }
	s.Eventually(t, "raising an incident of "+agent, func() bool {
		s.Must(t, "GET", "/v1/incidents?agent="+agent, nil, &page)
		return len(page.Incidents) > 0
	})
	return page.Incidents[0].ID
}
