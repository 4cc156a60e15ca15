package haltd

import (
	"fmt"
	"slices"
)

// Policy is what an operator allows an agent. Each field declares a setting;
// setting.go says what the tags mean.
type Policy struct {
	KillSwitch KillSwitch    `json:"kill_switch" merge:"each" label:"Kill Switch" doc:"When an agent that repeats itself is stopped, and how."`
	Budgets    Budgets       `json:"budgets" label:"Budgets" doc:"What the agent may spend per calendar day and month of its time zone. Soft alerts, hard blocks until the period ends. 0 is no limit."`
	Hours      []HourRange   `json:"allowed_hours" preset:"[]" label:"Allowed hours" doc:"When the agent may call: ranges such as {days: [fri], from: 22:00, to: 06:00}; an empty list is always."`
	Rates      RateLimits    `json:"rate_limits" label:"Rate limits" doc:"How fast the agent may call. 0 is no limit."`
	Sessions   SessionLimits `json:"session" label:"Session limits" doc:"What one session may use before its calls are blocked: it begins with its first call. A turn begins with a message of a person. 0 is no limit."`
	Growth     GrowthAlert   `json:"growth" label:"Growth" doc:"When prompts that grow from call to call raise an alert."`
	TimeZone   string        `json:"time_zone" preset:"UTC" format:"time-zone" label:"Time zone" doc:"IANA name of the zone in which days, months and hours are counted."`
}

// KillSwitch says when a repeating agent is stopped, and how. Default agents,
// which many share, use session for both scopes, whatever stands here.
type KillSwitch struct {
	Enabled              bool    `json:"enabled" label:"Kill Switch" doc:"true stops an agent that repeats itself; false only records what would have been stopped."`
	WindowSize           int     `json:"window_size" preset:"20" minimum:"2" maximum:"1000" label:"Window size" unit:"calls" doc:"How many of the last calls similarity compares."`
	Threshold            float64 `json:"threshold" preset:"10" exclusiveMinimum:"0" maximum:"10000" label:"Threshold" unit:"score" doc:"Similarity fires when similar prompts × 1.0 + similar responses × 2.0 + repeated tool calls × 1.5 exceeds it."`
	Similarity           Ladder  `json:"similarity" preset:"kill" rare:"true" label:"Similarity, when certain" doc:"What similarity does when it fires, one rung or a ladder of them such as [warn, steer, kill]; see stall."`
	Stall                Ladder  `json:"stall" preset:"kill" rare:"true" label:"Stall, when certain" doc:"What stall does from kill_at on, one rung or a ladder of them such as [warn, steer, halt, kill]: each needs the kill line again after the one before. warn only tells, steer adds a note to the request (twice at most), reject answers 429 for a while, halt ends the turn until a person writes, kill deactivates the agent."`
	WarnAt               float64 `json:"warn_at" preset:"75" minimum:"1" maximum:"99.9" notabove:"kill_at" label:"Warn line" unit:"%" doc:"Stall warns from this certainty on that the agent is stuck, in percent."`
	KillAt               float64 `json:"kill_at" preset:"95" minimum:"1" maximum:"99.9" label:"Kill line" unit:"%" doc:"Stall acts from this certainty on that the agent is stuck, in percent."`
	WindowScope          Scope   `json:"window_scope" preset:"agent" enum:"agent,session" shared:"session" label:"Window is kept per" doc:"Whose calls similarity compares. Agents that many share, named after their client, always use session."`
	KillScope            Scope   `json:"kill_scope" preset:"agent" enum:"agent,session" shared:"session" rare:"true" label:"A kill stops the" doc:"What a kill stops. Choose session, and window_scope session with it, where strangers talk to the agent, such as the visitors of a public bot: else one of them can stop it for all. For agents that many share, named after their client, always the session."`
	RequireCorroboration bool    `json:"require_corroboration" preset:"true" label:"Require a second signal to kill" doc:"Similarity acts only when two kinds of its signals agree and no progress is seen; otherwise it warns, and is silent where stall sees the work go on. false goes by the score alone."`
	Stateless            bool    `json:"stateless" rare:"true" label:"Calls are independent of each other" doc:"Exempts agents whose calls have nothing to do with each other, such as cron jobs and evaluations, from similarity."`
	RetryAfter           int     `json:"retry_after_seconds" preset:"60" minimum:"1" maximum:"86400" rare:"true" label:"Wait after a reject" unit:"s" doc:"How long a rejected agent is asked to wait, and after how long without a similar request it may go on."`
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
	Day           Budget `json:"day" label:"Day"`
	Month         Budget `json:"month" label:"Month"`
	ReserveTokens int64  `json:"reserve_tokens" preset:"32768" minimum:"1" maximum:"10000000" rare:"true" label:"Reserve" unit:"tokens" doc:"What a call reserves of a hard budget for its reply where neither the call nor the price table says how long that may be. What the reply does not use is released."`
}

// Budget is the limit of one period; 0 is no limit. Soft only alerts.
type Budget struct {
	SoftUSD    Money `json:"soft_usd" minimum:"0" maximum:"1000000" notabove:"hard_usd" label:"soft USD" doc:"Reaching it raises an alert."`
	HardUSD    Money `json:"hard_usd" minimum:"0" maximum:"1000000" label:"hard USD" doc:"Reaching it blocks the agent until the period ends."`
	SoftTokens int64 `json:"soft_tokens" minimum:"0" notabove:"hard_tokens" label:"soft tokens" doc:"Reaching it raises an alert."`
	HardTokens int64 `json:"hard_tokens" minimum:"0" label:"hard tokens" doc:"Reaching it blocks the agent until the period ends."`
}

// IsHard reports whether the budget can block.
func (b Budget) IsHard() bool { return b.HardUSD > 0 || b.HardTokens > 0 }

// HourRange is a time of the week in which an agent may call. To before or
// equal to From reaches into the next day.
type HourRange struct {
	Days []string `json:"days" required:"false" doc:"mon to sun; empty is every day."`
	From string   `json:"from" example:"08:00"`
	To   string   `json:"to" example:"18:00"`
}

// RateLimits are per minute; 0 is no limit. The maximum of Tokens keeps a
// bucket of one minute far from where its arithmetic overflows.
type RateLimits struct {
	Requests int64 `json:"requests_per_minute" minimum:"0" maximum:"2147483647" label:"Requests per minute" doc:"Requests of every route, those that are no LLM call too."`
	Tokens   int64 `json:"tokens_per_minute" minimum:"0" maximum:"153722867" label:"Tokens per minute" doc:"Prompt and reply together."`
}

// SessionLimits bound one session, and one turn of it; 0 is no limit.
type SessionLimits struct {
	Calls   int64      `json:"calls" minimum:"0" maximum:"1000000000" label:"Calls per session" doc:"Reaching it blocks the session; a retry of the transport is no call."`
	USD     Money      `json:"usd" minimum:"0" maximum:"1000000" label:"USD per session" doc:"Reaching it blocks the session. Calls in flight finish."`
	Tokens  int64      `json:"tokens" minimum:"0" label:"Tokens per session" doc:"Prompts and replies together; reaching it blocks the session. Calls in flight finish."`
	Minutes int64      `json:"minutes" minimum:"0" maximum:"525600" label:"Minutes per session" doc:"How long after its first call a session may go on."`
	Turn    TurnLimits `json:"turn"`
}

// TurnLimits bound what follows a message of a person, until the next.
type TurnLimits struct {
	Calls int64 `json:"calls" minimum:"0" maximum:"1000000000" label:"Calls per turn" doc:"Reaching it blocks the session until a person writes again."`
	USD   Money `json:"usd" minimum:"0" maximum:"1000000" label:"USD per turn" doc:"Reaching it blocks the session until a person writes again. Calls in flight finish."`
}

// GrowthAlert tunes the growth detector, which is always on.
type GrowthAlert struct {
	MinPromptTokens int64 `json:"min_prompt_tokens" minimum:"0" rare:"true" label:"Smallest prompt" unit:"tokens" doc:"Prompts below this raise no growth alert."`
}

// DefaultPolicy is that of an agent for which nobody said anything.
func DefaultPolicy() Policy { return DefaultSettings[Policy]() }

// Check reports every setting that breaks a rule; see CheckSettings.
func (p *Policy) Check() error { return CheckSettings(p) }

// Weekdays are the names of days in a HourRange, in the order of
// time.Weekday.
var Weekdays = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

func checkHours(field string, ranges []HourRange) (problems []error) {
	bad := func(at, format string, args ...any) {
		problems = append(problems, Errorf(CodeInvalid, format, args...).In(at))
	}
	for i, h := range ranges {
		at := fmt.Sprintf("%s[%d]", field, i)
		for j, d := range h.Days {
			if !slices.Contains(Weekdays, d) {
				bad(fmt.Sprintf("%s.days[%d]", at, j), "expected mon, tue, wed, thu, fri, sat or sun, got %q", d)
			}
		}
		if _, ok := MinuteOfDay(h.From); !ok || h.From == "24:00" {
			bad(at+".from", "expected a time from 00:00 to 23:59, got %q", h.From)
		}
		if _, ok := MinuteOfDay(h.To); !ok {
			bad(at+".to", "expected a time from 00:00 to 24:00, got %q", h.To)
		}
	}
	return problems
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
