package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/haltd/haltd"
)

// Ruleset is the rules that apply, in the order in which they are asked.
type Ruleset struct{ rules []haltd.Rule }

// Compile keeps the rules that are enabled: the highest priority first, of
// equals the oldest.
func Compile(rules []haltd.Rule) *Ruleset {
	enabled := slices.DeleteFunc(slices.Clone(rules), func(r haltd.Rule) bool { return !r.Enabled })
	slices.SortFunc(enabled, func(a, b haltd.Rule) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return &Ruleset{enabled}
}

// RuleQuery is what rules look at.
type RuleQuery struct {
	Model, Provider, Path, Agent, Session string
	// Others are models that may answer in place of Model. A rule matches any
	// of them, and one that allows must match each.
	Others       []string
	PromptTokens int64
	Time         time.Time // in the zone of the agent's policy
}

// Match finds the rule that decides: the first whose condition is met.
func (s *Ruleset) Match(q RuleQuery) (rule haltd.Rule, ok bool) {
	for i := range s.rules {
		if meets(&q, &s.rules[i]) {
			return s.rules[i], true
		}
	}
	return haltd.Rule{}, false
}

// meets asks each part of the condition by itself. In particular
// day_of_week is the day that it is, also in hours that reach over midnight.
func meets(q *RuleQuery, rule *haltd.Rule) bool {
	c := &rule.Condition
	return meetsModel(q, c, rule.Action == haltd.RuleAllow) &&
		(c.Path == "" || matchesPattern(plainPath(q.Path), strings.ToLower(c.Path))) &&
		(c.Provider == "" || strings.EqualFold(c.Provider, q.Provider)) &&
		(c.Agent == "" || strings.EqualFold(c.Agent, q.Agent)) &&
		(c.Session == "" || c.Session == q.Session) &&
		(c.PromptTokensMin == nil || q.PromptTokens >= *c.PromptTokensMin) &&
		(c.PromptTokensMax == nil || q.PromptTokens <= *c.PromptTokensMax) &&
		inHours(q.Time.Hour(), c.HourMin, c.HourMax) &&
		(len(c.DayOfWeek) == 0 || slices.Contains(c.DayOfWeek, haltd.Weekdays[q.Time.Weekday()]))
}

// meetsModel asks for one of the models, or for each of them.
func meetsModel(q *RuleQuery, c *haltd.RuleCondition, each bool) bool {
	if c.Model == "" && c.ModelPattern == "" {
		return true
	}
	for i := -1; i < len(q.Others); i++ {
		model := q.Model
		if i >= 0 {
			model = q.Others[i]
		}
		is := (c.Model == "" || strings.EqualFold(c.Model, model)) &&
			(c.ModelPattern == "" || matchesPattern(strings.ToLower(model), strings.ToLower(c.ModelPattern)))
		if is != each {
			return is
		}
	}
	return each
}

// plainPath is a path without what no provider looks at: the case of letters,
// parameters behind a semicolon, slashes at the end.
func plainPath(path string) string {
	var b strings.Builder
	for segment := range strings.SplitSeq(strings.ToLower(path), "/") {
		if segment, _, _ = strings.Cut(segment, ";"); segment != "" {
			b.WriteByte('/')
			b.WriteString(segment)
		}
	}
	return b.String()
}

// inHours counts both ends: 9 to 17 is from 09:00 until 17:59.
func inHours(hour int, from, to *int) bool {
	after, before := from == nil || hour >= *from, to == nil || hour <= *to
	if from != nil && to != nil && *from > *to {
		return after || before
	}
	return after && before
}

// matchesPattern lets * stand for any text, also none.
func matchesPattern(s, pattern string) bool {
	pieces := strings.Split(pattern, "*")
	if len(pieces) == 1 {
		return s == pattern
	}
	last := len(pieces) - 1
	s, ok := strings.CutPrefix(s, pieces[0])
	if !ok {
		return false
	}
	for _, piece := range pieces[1:last] {
		if _, s, ok = strings.Cut(s, piece); !ok {
			return false
		}
	}
	return strings.HasSuffix(s, pieces[last])
}

// defaultRetryAfter is what a rule that rejects asks for when it does not
// say, in seconds.
const defaultRetryAfter = 60

// Finding is what a rule that matched says to the request.
func Finding(rule haltd.Rule) haltd.Finding {
	f := haltd.Finding{Check: haltd.CheckRule, Reason: haltd.ReasonRule, Name: rule.Name}
	does := "allows this call"
	switch rule.Action {
	case haltd.RuleBlock:
		f.Action, does = haltd.Block, "blocks this call"
	case haltd.RuleReject:
		f.Action, does = haltd.Reject, "rejects this call for now"
		f.RetryAfter = cmp.Or(rule.Config.RetryAfter, defaultRetryAfter)
	case haltd.RuleThrottle:
		f.Action, does = haltd.Throttle, "slows this call down"
		f.Delay = haltd.Duration(time.Duration(rule.Config.DelayMS) * time.Millisecond)
	case haltd.RuleWarn:
		f.Action, does = haltd.Warn, "warns about this call"
	case haltd.RuleTag:
		f.Tag, does = rule.Config.Tag, fmt.Sprintf("tags this call with %q", rule.Config.Tag)
	}
	f.Sentence = fmt.Sprintf("Rule %q %s.", rule.Name, does)
	return f
}
