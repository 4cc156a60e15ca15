package haltd

import (
	"errors"
	"slices"
	"strings"
	"time"
)

// Rule acts on requests that meet its condition. Rules are asked in the order
// of their priority, the highest first, and the first that matches decides.
type Rule struct {
	ID        string        `json:"id"`
	Name      string        `json:"name"`
	Enabled   bool          `json:"enabled"`
	Priority  int           `json:"priority"`
	Condition RuleCondition `json:"condition"`
	Action    RuleAction    `json:"action"`
	Config    RuleConfig    `json:"action_config"`
	CreatedAt time.Time     `json:"created_at"`
	UpdatedAt time.Time     `json:"updated_at"`
}

// RuleCondition is a set of demands that must all be met; those left out are.
type RuleCondition struct {
	Model           string   `json:"model,omitempty"`
	ModelPattern    string   `json:"model_pattern,omitempty" doc:"* stands for any text."`
	Provider        string   `json:"provider,omitempty"`
	Path            string   `json:"path,omitempty" maxLength:"300" doc:"Of the request, as the provider sees it; * stands for any text."`
	Agent           string   `json:"agent,omitempty"`
	Session         string   `json:"session,omitempty"`
	PromptTokensMin *int64   `json:"prompt_tokens_min,omitempty" minimum:"0"`
	PromptTokensMax *int64   `json:"prompt_tokens_max,omitempty" minimum:"0"`
	HourMin         *int     `json:"hour_min,omitempty" minimum:"0" maximum:"23" doc:"With hour_max below it, the hours reach over midnight."`
	HourMax         *int     `json:"hour_max,omitempty" minimum:"0" maximum:"23"`
	DayOfWeek       []string `json:"day_of_week,omitempty" doc:"mon to sun."`
}

// RuleAction is what a rule does.
type RuleAction string

// The actions of rules. RuleAllow ends the matching of rules and nothing
// else.
const (
	RuleBlock    RuleAction = "block"
	RuleReject   RuleAction = "reject"
	RuleThrottle RuleAction = "throttle"
	RuleWarn     RuleAction = "warn"
	RuleTag      RuleAction = "tag"
	RuleAllow    RuleAction = "allow"
)

var ruleActions = []string{"block", "reject", "throttle", "warn", "tag", "allow"}

// RuleConfig completes an action.
type RuleConfig struct {
	RetryAfter int    `json:"retry_after_seconds,omitempty" minimum:"0" maximum:"86400" doc:"Of reject; 60 when left out."`
	DelayMS    int    `json:"delay_ms,omitempty" minimum:"0" maximum:"30000" doc:"Of throttle."`
	Tag        string `json:"tag,omitempty" maxLength:"100" doc:"Of tag."`
}

// Check reports every field that breaks a rule, as *Error with CodeInvalid.
func (r *Rule) Check() error {
	c := checker{}
	if strings.TrimSpace(r.Name) == "" || len(r.Name) > 200 {
		c.bad("name", "expected 1 to 200 characters, got %d", len(r.Name))
	}
	c.oneOf("action", string(r.Action), ruleActions...)
	c.between("priority", int64(r.Priority), -1_000_000, 1_000_000)
	if r.Action == RuleThrottle {
		c.between("action_config.delay_ms", int64(r.Config.DelayMS), 1, 30_000)
	} else if r.Config.DelayMS != 0 {
		c.bad("action_config.delay_ms", "only throttle has a delay")
	}
	if r.Action == RuleTag && strings.TrimSpace(r.Config.Tag) == "" {
		c.bad("action_config.tag", "expected the tag to put on the event, got nothing")
	}
	c.between("action_config.retry_after_seconds", int64(r.Config.RetryAfter), 0, 86400)
	d := &r.Condition
	if d.Path != "" && d.Path[0] != '/' && d.Path[0] != '*' {
		c.bad("condition.path", "expected a path that starts with / or *, such as /v1/batches, got %q", d.Path)
	}
	if d.PromptTokensMin != nil && d.PromptTokensMax != nil && *d.PromptTokensMin > *d.PromptTokensMax {
		c.bad("condition.prompt_tokens_min", "above prompt_tokens_max, so that nothing would match")
	}
	for _, h := range []struct {
		field string
		hour  *int
	}{{"condition.hour_min", d.HourMin}, {"condition.hour_max", d.HourMax}} {
		if h.hour != nil {
			c.between(h.field, int64(*h.hour), 0, 23)
		}
	}
	for _, day := range d.DayOfWeek {
		if !slices.Contains(Weekdays, day) {
			c.bad("condition.day_of_week", "expected mon, tue, wed, thu, fri, sat or sun, got %q", day)
		}
	}
	return errors.Join(c...)
}

// checker collects what is wrong.
type checker []error

func (c *checker) bad(field, format string, args ...any) {
	*c = append(*c, Errorf(CodeInvalid, format, args...).In(field))
}

func (c *checker) between(field string, n, low, high int64) {
	if n < low || n > high {
		c.bad(field, "expected %d to %d, got %d", low, high, n)
	}
}

func (c *checker) oneOf(field, got string, words ...string) {
	if !slices.Contains(words, got) {
		c.bad(field, "expected %s, got %q", Alternatives(words), got)
	}
}
