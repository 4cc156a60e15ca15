package haltd

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Policy is what an operator allows an agent.
type Policy struct {
	KillSwitch KillSwitch  `json:"kill_switch" yaml:"kill_switch"`
	Budgets    Budgets     `json:"budgets" yaml:"budgets"`
	Hours      []HourRange `json:"allowed_hours" yaml:"allowed_hours"` // empty: always
	Rates      RateLimits  `json:"rate_limits" yaml:"rate_limits"`
	Growth     GrowthAlert `json:"growth" yaml:"growth"`
	// TimeZone is the IANA name of the zone in which days, months and hours
	// are counted.
	TimeZone string `json:"time_zone" yaml:"time_zone"`
}

// KillSwitch says when a repeating agent is stopped, and how.
type KillSwitch struct {
	// Enabled is off by default: then the detectors only tell what they
	// would have done.
	Enabled    bool    `json:"enabled" yaml:"enabled"`
	WindowSize int     `json:"window_size" yaml:"window_size" minimum:"2" maximum:"1000" doc:"How many calls similarity compares."`
	Threshold  float64 `json:"threshold" yaml:"threshold" exclusiveMinimum:"0" maximum:"10000" doc:"Similarity fires when the score exceeds it."`
	// Similarity and Stall are what the detector does when it is certain:
	// kill, reject or warn.
	Similarity Action `json:"similarity" yaml:"similarity" enum:"kill,reject,warn"`
	Stall      Action `json:"stall" yaml:"stall" enum:"kill,reject,warn"`
	// WarnAt and KillAt are the lines of stall, in percent of certainty.
	WarnAt float64 `json:"warn_at" yaml:"warn_at" minimum:"1" maximum:"99.9" doc:"Stall warns from this certainty on, in percent."`
	KillAt float64 `json:"kill_at" yaml:"kill_at" minimum:"1" maximum:"99.9" doc:"Stall acts from this certainty on, in percent."`
	// WindowScope says whose calls similarity compares, KillScope what a
	// kill stops. Default agents, which many share, always use session.
	WindowScope Scope `json:"window_scope" yaml:"window_scope" enum:"agent,session"`
	KillScope   Scope `json:"kill_scope" yaml:"kill_scope" enum:"agent,session"`
	// RequireCorroboration asks for a second signal and for no progress
	// before similarity acts.
	RequireCorroboration bool `json:"require_corroboration" yaml:"require_corroboration"`
	// Stateless exempts an agent whose calls are independent of each other
	// from similarity.
	Stateless bool `json:"stateless" yaml:"stateless"`
	// RetryAfter is how long a rejected agent is asked to wait, and after
	// how long without a similar request the window clears.
	RetryAfter int `json:"retry_after_seconds" yaml:"retry_after_seconds" minimum:"1" maximum:"86400"`
}

// Scope is an agent as a whole or one session of it.
type Scope string

// The scopes.
const (
	ScopeAgent   Scope = "agent"
	ScopeSession Scope = "session"
)

// Budgets limit what an agent spends per calendar day and month of the
// policy's time zone.
type Budgets struct {
	Day   Budget `json:"day" yaml:"day"`
	Month Budget `json:"month" yaml:"month"`
	// ReserveTokens is what a call reserves for its reply when it does not
	// say how long that may be.
	ReserveTokens int64 `json:"reserve_tokens" yaml:"reserve_tokens" minimum:"1" maximum:"10000000"`
}

// Budget is the limit of one period; 0 is no limit. Soft only alerts.
type Budget struct {
	SoftUSD    Money `json:"soft_usd" yaml:"soft_usd" minimum:"0"`
	HardUSD    Money `json:"hard_usd" yaml:"hard_usd" minimum:"0"`
	SoftTokens int64 `json:"soft_tokens" yaml:"soft_tokens" minimum:"0"`
	HardTokens int64 `json:"hard_tokens" yaml:"hard_tokens" minimum:"0"`
}

// IsHard reports whether the budget can block.
func (b Budget) IsHard() bool { return b.HardUSD > 0 || b.HardTokens > 0 }

// HourRange is a time of the week in which an agent may call. To before or
// equal to From reaches into the next day.
type HourRange struct {
	Days []string `json:"days" yaml:"days" required:"false" doc:"mon to sun; empty is every day."`
	From string   `json:"from" yaml:"from" example:"08:00"`
	To   string   `json:"to" yaml:"to" example:"18:00"`
}

// RateLimits are per minute; 0 is no limit.
type RateLimits struct {
	Requests int64 `json:"requests_per_minute" yaml:"requests_per_minute" minimum:"0"`
	Tokens   int64 `json:"tokens_per_minute" yaml:"tokens_per_minute" minimum:"0"`
}

// GrowthAlert tunes the growth detector, which is always on.
type GrowthAlert struct {
	MinPromptTokens int64 `json:"min_prompt_tokens" yaml:"min_prompt_tokens" minimum:"0"`
}

// DefaultPolicy is that of an agent for which nobody said anything.
func DefaultPolicy() Policy {
	return Policy{
		KillSwitch: KillSwitch{
			WindowSize: 20, Threshold: 10, Similarity: Kill, Stall: Kill,
			WindowScope: ScopeAgent, KillScope: ScopeAgent, RequireCorroboration: true, RetryAfter: 60, WarnAt: 50, KillAt: 90,
		},
		Budgets:  Budgets{ReserveTokens: 4096},
		Hours:    []HourRange{},
		TimeZone: "UTC",
	}
}

// PolicyOverride is what one agent has of its own. Fields that are nil are
// left to what lies below: the API's override lies over that of the file, and
// both over the defaults.
type PolicyOverride struct {
	KillSwitch *KillSwitchOverride `json:"kill_switch,omitempty" yaml:"kill_switch"`
	Budgets    *Budgets            `json:"budgets,omitempty" yaml:"budgets"`
	Hours      *[]HourRange        `json:"allowed_hours,omitempty" yaml:"allowed_hours"`
	Rates      *RateLimits         `json:"rate_limits,omitempty" yaml:"rate_limits"`
	Growth     *GrowthAlert        `json:"growth,omitempty" yaml:"growth"`
	TimeZone   *string             `json:"time_zone,omitempty" yaml:"time_zone"`
}

// KillSwitchOverride is a KillSwitch of which each field may be left out.
type KillSwitchOverride struct {
	Enabled              *bool    `json:"enabled,omitempty" yaml:"enabled"`
	WindowSize           *int     `json:"window_size,omitempty" yaml:"window_size"`
	Threshold            *float64 `json:"threshold,omitempty" yaml:"threshold"`
	Similarity           *Action  `json:"similarity,omitempty" yaml:"similarity"`
	Stall                *Action  `json:"stall,omitempty" yaml:"stall"`
	WindowScope          *Scope   `json:"window_scope,omitempty" yaml:"window_scope"`
	KillScope            *Scope   `json:"kill_scope,omitempty" yaml:"kill_scope"`
	WarnAt               *float64 `json:"warn_at,omitempty" yaml:"warn_at"`
	KillAt               *float64 `json:"kill_at,omitempty" yaml:"kill_at"`
	RequireCorroboration *bool    `json:"require_corroboration,omitempty" yaml:"require_corroboration"`
	Stateless            *bool    `json:"stateless,omitempty" yaml:"stateless"`
	RetryAfter           *int     `json:"retry_after_seconds,omitempty" yaml:"retry_after_seconds"`
}

// Over is the policy that results when the override lies over p.
func (o *PolicyOverride) Over(p Policy) Policy {
	if o == nil {
		return p
	}
	o.KillSwitch.over(&p.KillSwitch)
	reserve := p.Budgets.ReserveTokens
	set(&p.Budgets, o.Budgets)
	if p.Budgets.ReserveTokens == 0 {
		p.Budgets.ReserveTokens = reserve
	}
	set(&p.Hours, o.Hours)
	set(&p.Rates, o.Rates)
	set(&p.Growth, o.Growth)
	set(&p.TimeZone, o.TimeZone)
	return p
}

func (o *KillSwitchOverride) over(k *KillSwitch) {
	if o == nil {
		return
	}
	set(&k.Enabled, o.Enabled)
	set(&k.WindowSize, o.WindowSize)
	set(&k.Threshold, o.Threshold)
	set(&k.Similarity, o.Similarity)
	set(&k.Stall, o.Stall)
	set(&k.WindowScope, o.WindowScope)
	set(&k.KillScope, o.KillScope)
	set(&k.WarnAt, o.WarnAt)
	set(&k.KillAt, o.KillAt)
	set(&k.RequireCorroboration, o.RequireCorroboration)
	set(&k.Stateless, o.Stateless)
	set(&k.RetryAfter, o.RetryAfter)
}

func set[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}

// IsZero reports an override that changes nothing.
func (o *PolicyOverride) IsZero() bool { return o == nil || *o == PolicyOverride{} }

// Check reports every field that breaks a rule, as *Error with CodeInvalid
// whose messages begin with the field.
func (p *Policy) Check() error {
	c := checker{}
	k := &p.KillSwitch
	c.between("kill_switch.window_size", int64(k.WindowSize), 2, 1000)
	if !(k.Threshold > 0 && k.Threshold <= 10_000) {
		c.bad("kill_switch.threshold", "expected a number above 0, 10000 at most, got %v", k.Threshold)
	}
	for _, l := range [...]struct {
		name string
		at   float64
	}{{"warn_at", k.WarnAt}, {"kill_at", k.KillAt}} {
		if !(l.at >= 1 && l.at <= 99.9) {
			c.bad("kill_switch."+l.name, "expected a certainty from 1 to 99.9 percent, got %v", l.at)
		}
	}
	if k.WarnAt > k.KillAt {
		c.bad("kill_switch.warn_at", "above kill_at (%v), so that nobody would be warned before a kill", k.KillAt)
	}
	c.oneOf("kill_switch.similarity", k.Similarity.String(), "kill", "reject", "warn")
	c.oneOf("kill_switch.stall", k.Stall.String(), "kill", "reject", "warn")
	c.oneOf("kill_switch.window_scope", string(k.WindowScope), "agent", "session")
	c.oneOf("kill_switch.kill_scope", string(k.KillScope), "agent", "session")
	c.between("kill_switch.retry_after_seconds", int64(k.RetryAfter), 1, 86400)
	c.budget("budgets.day", p.Budgets.Day)
	c.budget("budgets.month", p.Budgets.Month)
	c.between("budgets.reserve_tokens", p.Budgets.ReserveTokens, 1, 10_000_000)
	c.between("rate_limits.requests_per_minute", p.Rates.Requests, 0, math.MaxInt32)
	c.between("rate_limits.tokens_per_minute", p.Rates.Tokens, 0, math.MaxInt64/int64(time.Minute))
	c.between("growth.min_prompt_tokens", p.Growth.MinPromptTokens, 0, math.MaxInt64)
	for i, h := range p.Hours {
		c.hours("allowed_hours["+strconv.Itoa(i)+"]", h)
	}
	if _, err := time.LoadLocation(p.TimeZone); err != nil || p.TimeZone == "" || p.TimeZone == "Local" {
		c.bad("time_zone", "expected a zone such as UTC or Europe/Berlin, got %q", p.TimeZone)
	}
	return errors.Join(c...)
}

// checker collects what is wrong.
type checker []error

func (c *checker) bad(field, format string, args ...any) {
	*c = append(*c, Errorf(CodeInvalid, "%s: %s", field, fmt.Sprintf(format, args...)))
}

func (c *checker) between(field string, n, low, high int64) {
	if n < low || n > high {
		c.bad(field, "expected %d to %d, got %d", low, high, n)
	}
}

func (c *checker) oneOf(field, got string, words ...string) {
	if !slices.Contains(words, got) {
		c.bad(field, "expected %s, got %q", strings.Join(words, ", "), got)
	}
}

func (c *checker) budget(field string, b Budget) {
	for _, l := range []struct {
		unit       string
		soft, hard int64
	}{{"usd", int64(b.SoftUSD), int64(b.HardUSD)}, {"tokens", b.SoftTokens, b.HardTokens}} {
		switch {
		case l.soft < 0:
			c.bad(field+".soft_"+l.unit, "expected 0 (no limit) or more")
		case l.hard < 0:
			c.bad(field+".hard_"+l.unit, "expected 0 (no limit) or more")
		case l.hard > 0 && l.soft > l.hard:
			c.bad(field+".soft_"+l.unit, "above hard_%s, so that it would never be told", l.unit)
		}
	}
}

// Weekdays are the names of days in a HourRange, in the order of
// time.Weekday.
var Weekdays = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

func (c *checker) hours(field string, h HourRange) {
	for i, d := range h.Days {
		if !slices.Contains(Weekdays, d) {
			c.bad(fmt.Sprintf("%s.days[%d]", field, i), "expected mon, tue, wed, thu, fri, sat or sun, got %q", d)
		}
	}
	if _, ok := MinuteOfDay(h.From); !ok || h.From == "24:00" {
		c.bad(field+".from", "expected a time from 00:00 to 23:59, got %q", h.From)
	}
	if _, ok := MinuteOfDay(h.To); !ok {
		c.bad(field+".to", "expected a time from 00:00 to 24:00, got %q", h.To)
	}
}

// MinuteOfDay reads a time such as 08:30; 24:00 is the end of a day.
func MinuteOfDay(s string) (int, bool) {
	if len(s) != 5 || s[2] != ':' {
		return 0, false
	}
	for _, i := range [...]int{0, 1, 3, 4} {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
	}
	h, m := int(s[0]-'0')*10+int(s[1]-'0'), int(s[3]-'0')*10+int(s[4]-'0')
	return h*60 + m, m < 60 && (h < 24 || h == 24 && m == 0)
}
