package table

import "github.com/haltd/haltd"

// Subjects is what a change is about, as its row says it: the agent of the
// standing or override, the id of the rule.
type Subjects struct {
	Standing, Override, Rule string
	Bypass                   bool
}

// SubjectsOf says what a change is about.
func SubjectsOf(c *haltd.Change) (s Subjects) {
	if c.Standing != nil {
		s.Standing = c.Standing.Agent
	}
	if len(c.Forgotten) > 0 {
		s.Standing = c.Forgotten[0].Agent
	}
	if c.Override != nil {
		s.Override = c.Agent
	}
	if c.Deleted != "" {
		s.Override = c.Deleted
	}
	if c.Rule != nil {
		s.Rule = c.Rule.ID
	}
	if c.DeleteRule != "" {
		s.Rule = c.DeleteRule
	}
	s.Bypass = c.Bypass != nil
	return s
}

// FeedChange is what the feed tells of a change; ok is false where that is nothing.
func FeedChange(c *haltd.Change) (fed haltd.Change, ok bool) {
	fed = haltd.Change{
		Node: c.Node, Standing: c.Standing, Agent: c.Agent, Override: c.Override, Bypass: c.Bypass, Rule: c.Rule, DeleteRule: c.DeleteRule,
		Cut: c.Cut, Forgotten: c.Forgotten, Deleted: c.Deleted, Keys: c.Keys, Prices: c.Prices,
	}
	return fed, SubjectsOf(c) != (Subjects{}) || c.Cut != nil || c.Keys || c.Prices
}

// CheckChange refuses what can never be written.
func CheckChange(c *haltd.Change) error {
	for _, part := range []struct {
		wrong bool
		field string
	}{
		{c.Standing != nil && c.Standing.Agent == "", "standing.agent"},
		{c.Override != nil && c.Agent == "", "agent"},
		{c.Mark != nil && c.Mark.Agent == "", "mark.agent"},
		{c.Mark != nil && c.Mark.Session == "", "mark.session"},
		{c.Incident != nil && c.Incident.ID == "", "incident.id"},
		{c.Remark != nil && c.Remark.Incident == "", "remark.incident"},
		{c.Closing != nil && c.Closing.ID == "" && c.Closing.Agent == "", "closing.agent"},
	} {
		if part.wrong {
			return haltd.Errorf(haltd.CodeInvalid, "a change needs it to know what it changes").In(part.field)
		}
	}
	for i := range c.Events {
		if err := CheckEvent(&c.Events[i]); err != nil {
			return err
		}
	}
	return nil
}

// CheckEvent refuses what can never be written.
func CheckEvent(e *haltd.Event) error {
	if e.ID <= 0 {
		return haltd.Errorf(haltd.CodeInvalid, "an event of agent %q has none", e.Agent).In("id")
	}
	return nil
}
