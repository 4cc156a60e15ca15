package policy

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/haltd/haltd"
)

func TestRulesAreAskedInOrder(t *testing.T) {
	old, young := noon, noon.Add(time.Hour)
	rules := []haltd.Rule{
		{ID: "d", Priority: 5, CreatedAt: young, Enabled: true},
		{ID: "off", Priority: 100, CreatedAt: old},
		{ID: "low", Priority: -1, CreatedAt: old, Enabled: true},
		{ID: "c", Priority: 5, CreatedAt: young, Enabled: true},
		{ID: "b", Priority: 5, CreatedAt: old, Enabled: true},
		{ID: "a", Priority: 200, CreatedAt: young, Enabled: true},
	}
	first := rules[0].ID
	var order []string
	for left := rules; ; {
		rule, ok := Compile(left).Match(RuleQuery{Time: noon})
		if !ok {
			break
		}
		order = append(order, rule.ID)
		var rest []haltd.Rule
		for _, r := range left {
			if r.ID != rule.ID {
				rest = append(rest, r)
			}
		}
		left = rest
	}
	if diff := cmp.Diff([]string{"a", "b", "c", "d", "low"}, order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if rules[0].ID != first {
		t.Error("Compile sorted the caller's rules")
	}
}

func TestRuleConditions(t *testing.T) {
	base := RuleQuery{
		Model: "gpt-5-mini", Provider: "openai", Agent: "billing-bot", Session: "ses_1",
		PromptTokens: 50_000, Time: time.Date(2026, 6, 5, 23, 30, 0, 0, time.UTC), // a Friday
	}
	at := func(hour int) func(*RuleQuery) {
		return func(q *RuleQuery) { q.Time = time.Date(2026, 6, 5, hour, 59, 59, 0, time.UTC) }
	}
	same := func(*RuleQuery) {}
	for _, c := range []struct {
		name      string
		condition haltd.RuleCondition
		change    func(*RuleQuery)
		want      bool
	}{
		{"nothing demanded", haltd.RuleCondition{}, same, true},
		{"model", haltd.RuleCondition{Model: "GPT-5-mini"}, same, true},
		{"part of a model", haltd.RuleCondition{Model: "gpt-5"}, same, false},
		{"a * in model is no pattern", haltd.RuleCondition{Model: "gpt-*"}, same, false},
		{"pattern: start", haltd.RuleCondition{ModelPattern: "GPT-*"}, same, true},
		{"pattern: end", haltd.RuleCondition{ModelPattern: "*-Mini"}, same, true},
		{"pattern: middle", haltd.RuleCondition{ModelPattern: "*5*"}, same, true},
		{"pattern: start and end", haltd.RuleCondition{ModelPattern: "gpt*mini"}, same, true},
		{"pattern: anything", haltd.RuleCondition{ModelPattern: "*"}, same, true},
		{"pattern: anything, no model", haltd.RuleCondition{ModelPattern: "*"}, func(q *RuleQuery) { q.Model = "" }, true},
		{"pattern: * for nothing", haltd.RuleCondition{ModelPattern: "gpt-5-mini*"}, same, true},
		{"pattern: without *", haltd.RuleCondition{ModelPattern: "gpt-5"}, same, false},
		{"pattern: model in another case", haltd.RuleCondition{ModelPattern: "gpt-5*"}, func(q *RuleQuery) { q.Model = "GPT-5-Mini" }, true},
		{"pattern: wrong start", haltd.RuleCondition{ModelPattern: "5*"}, same, false},
		{"pattern: wrong end", haltd.RuleCondition{ModelPattern: "*5"}, same, false},
		{"pattern: pieces in order", haltd.RuleCondition{ModelPattern: "*mini*gpt*"}, same, false},
		{"pattern: pieces do not overlap", haltd.RuleCondition{ModelPattern: "gpt-5-m*mini"}, same, false},
		{"pattern: ? is itself", haltd.RuleCondition{ModelPattern: "gpt-?-mini"}, same, false},
		{"provider", haltd.RuleCondition{Provider: "OpenAI"}, same, true},
		{"another provider", haltd.RuleCondition{Provider: "anthropic"}, same, false},
		{"agent", haltd.RuleCondition{Agent: "Billing-Bot"}, same, true},
		{"another agent", haltd.RuleCondition{Agent: "billing"}, same, false},
		{"session", haltd.RuleCondition{Session: "ses_1"}, same, true},
		{"session in another case", haltd.RuleCondition{Session: "SES_1"}, same, false},
		{"at least so many tokens", haltd.RuleCondition{PromptTokensMin: new(int64(50_000))}, same, true},
		{"fewer tokens", haltd.RuleCondition{PromptTokensMin: new(int64(50_001))}, same, false},
		{"at most so many tokens", haltd.RuleCondition{PromptTokensMax: new(int64(50_000))}, same, true},
		{"more tokens", haltd.RuleCondition{PromptTokensMax: new(int64(49_999))}, same, false},
		{"hours: first", haltd.RuleCondition{HourMin: new(9), HourMax: new(17)}, at(9), true},
		{"hours: last", haltd.RuleCondition{HourMin: new(9), HourMax: new(17)}, at(17), true},
		{"hours: before", haltd.RuleCondition{HourMin: new(9), HourMax: new(17)}, at(8), false},
		{"hours: after", haltd.RuleCondition{HourMin: new(9), HourMax: new(17)}, at(18), false},
		{"hours over midnight: evening", haltd.RuleCondition{HourMin: new(22), HourMax: new(6)}, at(22), true},
		{"hours over midnight: morning", haltd.RuleCondition{HourMin: new(22), HourMax: new(6)}, at(6), true},
		{"hours over midnight: day", haltd.RuleCondition{HourMin: new(22), HourMax: new(6)}, at(7), false},
		{"one hour", haltd.RuleCondition{HourMin: new(3), HourMax: new(3)}, at(4), false},
		{"from an hour on", haltd.RuleCondition{HourMin: new(20)}, at(19), false},
		{"until an hour", haltd.RuleCondition{HourMax: new(20)}, at(20), true},
		{"hour zero is an hour", haltd.RuleCondition{HourMax: new(0)}, at(1), false},
		{"day", haltd.RuleCondition{DayOfWeek: []string{"thu", "fri"}}, same, true},
		{"another day", haltd.RuleCondition{DayOfWeek: []string{"sat"}}, same, false},
		{"the zone decides the day", haltd.RuleCondition{DayOfWeek: []string{"sat"}}, func(q *RuleQuery) { q.Time = q.Time.In(zone(t, "Europe/Berlin")) }, true},
		{"all of several", haltd.RuleCondition{Provider: "openai", ModelPattern: "gpt*", Agent: "billing-bot"}, same, true},
		{"all but one of several", haltd.RuleCondition{Provider: "openai", ModelPattern: "gpt*", Agent: "other"}, same, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := base
			c.change(&q)
			rules := Compile([]haltd.Rule{{ID: "r", Enabled: true, Condition: c.condition}})
			if _, got := rules.Match(q); got != c.want {
				t.Errorf("Match = %v, want %v", got, c.want)
			}
		})
	}
}

func TestMatchReturnsTheRuleAsWritten(t *testing.T) {
	rule := haltd.Rule{ID: "r", Name: "no-big", Enabled: true, Condition: haltd.RuleCondition{ModelPattern: "GPT-*"}, Action: haltd.RuleBlock}
	got, _ := Compile([]haltd.Rule{rule}).Match(RuleQuery{Model: "gpt-5", Time: noon})
	if diff := cmp.Diff(rule, got); diff != "" {
		t.Errorf("rule (-want +got):\n%s", diff)
	}
}

func TestFinding(t *testing.T) {
	for _, c := range []struct {
		action haltd.RuleAction
		config haltd.RuleConfig
		want   haltd.Finding
	}{
		{haltd.RuleBlock, haltd.RuleConfig{}, haltd.Finding{Action: haltd.Block, Sentence: `Rule "no-night" blocks this call.`}},
		{haltd.RuleReject, haltd.RuleConfig{}, haltd.Finding{Action: haltd.Reject, RetryAfter: 60, Sentence: `Rule "no-night" rejects this call for now.`}},
		{haltd.RuleReject, haltd.RuleConfig{RetryAfter: 5}, haltd.Finding{Action: haltd.Reject, RetryAfter: 5, Sentence: `Rule "no-night" rejects this call for now.`}},
		{haltd.RuleThrottle, haltd.RuleConfig{DelayMS: 250}, haltd.Finding{Action: haltd.Throttle, Delay: haltd.Duration(250 * time.Millisecond), Sentence: `Rule "no-night" slows this call down.`}},
		{haltd.RuleWarn, haltd.RuleConfig{}, haltd.Finding{Action: haltd.Warn, Sentence: `Rule "no-night" warns about this call.`}},
		{haltd.RuleTag, haltd.RuleConfig{Tag: "late"}, haltd.Finding{Action: haltd.Allow, Tag: "late", Sentence: `Rule "no-night" tags this call with "late".`}},
		{haltd.RuleAllow, haltd.RuleConfig{}, haltd.Finding{Action: haltd.Allow, Sentence: `Rule "no-night" allows this call.`}},
	} {
		t.Run(string(c.action), func(t *testing.T) {
			c.want.Check, c.want.Reason, c.want.Name = "rule", haltd.ReasonRule, "no-night"
			got := Finding(haltd.Rule{Name: "no-night", Action: c.action, Config: c.config})
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("Finding (-want +got):\n%s", diff)
			}
		})
	}
}
