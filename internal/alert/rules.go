package alert

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/alert/outbound"
)

// topics are those that a rule means which names none. TopicShadow is for those
// who name it: nobody is stopped by it.
var topics = []haltd.IncidentKind{
	haltd.IncidentKillSwitch, haltd.IncidentGrowth, haltd.IncidentBudgetSoft, haltd.IncidentBudgetHard, haltd.IncidentSession,
	haltd.TopicUpstream, haltd.TopicBypass, haltd.TopicStore,
}

// everything is the rule in force while there is none.
var everything = []haltd.AlertRule{{Name: "everything", Enabled: true}}

// AlertRules are the rules that the API made.
func (s *Service) AlertRules(ctx context.Context) ([]haltd.AlertRule, error) {
	rules, err := s.deps.Rules.AlertRules(ctx)
	if err != nil {
		return nil, fmt.Errorf("read alert rules: %w", err)
	}
	return rules, nil
}

// inForce are the rules that decide: without any, all notices go to all
// channels.
func inForce(rules []haltd.AlertRule) []haltd.AlertRule {
	if len(rules) == 0 {
		return everything
	}
	return slices.DeleteFunc(slices.Clone(rules), func(r haltd.AlertRule) bool { return !r.Enabled })
}

// matches reports a notice that a rule selects. What nobody is stopped by is
// sent to those alone who ask for it.
func matches(r haltd.AlertRule, n haltd.Notice) bool {
	named := slices.Contains(r.Topics, n.Topic)
	about := func(agent string) bool { return slices.Contains(r.Agents, agent) }
	return (named || len(r.Topics) == 0 && n.Topic != haltd.TopicShadow) &&
		(len(r.Agents) == 0 || about(n.Agent) || slices.ContainsFunc(n.Agents, about))
}

func selects(r haltd.AlertRule, channel string) bool {
	return len(r.Channels) == 0 || slices.Contains(r.Channels, channel)
}

// SaveAlertRule makes a rule, or replaces the one that has its id.
func (s *Service) SaveAlertRule(ctx context.Context, r haltd.AlertRule) (haltd.AlertRule, error) {
	s.saving.Lock()
	defer s.saving.Unlock()
	if err := s.checkRule(ctx, &r); err != nil {
		return haltd.AlertRule{}, err
	}
	r.UpdatedAt = s.deps.Clock()
	if r.ID == "" {
		r.ID, r.CreatedAt = haltd.NewName("alr_"), r.UpdatedAt
	} else {
		before, err := s.rule(ctx, r.ID)
		if err != nil {
			return haltd.AlertRule{}, err
		}
		r.CreatedAt = before.CreatedAt
	}
	if err := s.deps.Rules.SaveAlertRule(ctx, r); err != nil {
		return haltd.AlertRule{}, fmt.Errorf("save alert rule: %w", err)
	}
	return r, nil
}

func (s *Service) rule(ctx context.Context, id string) (haltd.AlertRule, error) {
	rules, err := s.AlertRules(ctx)
	if err != nil {
		return haltd.AlertRule{}, err
	}
	for _, r := range rules {
		if r.ID == id {
			return r, nil
		}
	}
	return haltd.AlertRule{}, haltd.Errorf(haltd.CodeNotFound, "There is no alert rule %s", outbound.Line(id, 100))
}

const maxCooldown = 7 * 24 * time.Hour

// checkRule brings a rule into its canonical form.
func (s *Service) checkRule(ctx context.Context, r *haltd.AlertRule) error {
	if r.Name = outbound.Line(r.Name, 100); r.Name == "" {
		return haltd.Errorf(haltd.CodeInvalid, "is missing").In("name").WithFix("Say what you call the rule.")
	}
	if r.Cooldown < 0 || r.Cooldown > int(maxCooldown/time.Second) {
		return haltd.Errorf(haltd.CodeInvalid, "is not between 0 and %d", int(maxCooldown/time.Second)).In("cooldown_seconds").WithFix("Seven days are the longest.")
	}
	for _, t := range r.Topics {
		if !slices.Contains(topics, t) && t != haltd.TopicShadow {
			return haltd.Errorf(haltd.CodeInvalid, "%q is not a topic", t).In("topics").WithFix("Use kill_switch, growth, budget_soft, budget_hard, session_limit, shadow, upstream, bypass or store.")
		}
	}
	r.Agents = slices.Clone(r.Agents)
	for i, a := range r.Agents {
		id, ok := haltd.AgentID(a)
		if !ok {
			return haltd.Errorf(haltd.CodeInvalid, "%q is not an agent id", outbound.Line(a, 128)).In("agents").
				WithFix("Agent ids are letters, digits and . _ : @ -; an empty list means all agents.")
		}
		r.Agents[i] = id
	}
	for _, id := range r.Channels {
		if _, err := s.channel(ctx, id); err != nil {
			if haltd.ErrorCode(err) != haltd.CodeNotFound {
				return err
			}
			return haltd.Errorf(haltd.CodeInvalid, "there is no channel %q", outbound.Line(id, 100)).In("channels").
				WithFix("GET /v1/channels lists the ids; an empty list means all channels.")
		}
	}
	return nil
}

// DeleteAlertRule forgets a rule.
func (s *Service) DeleteAlertRule(ctx context.Context, id string) error {
	s.saving.Lock()
	defer s.saving.Unlock()
	return s.deps.Rules.DeleteAlertRule(ctx, id)
}

// AlertStatus says whether somebody would hear of an incident.
func (s *Service) AlertStatus(ctx context.Context) (haltd.AlertStatus, error) {
	channels, err := s.all(ctx)
	if err != nil {
		return haltd.AlertStatus{}, err
	}
	rules, err := s.AlertRules(ctx)
	if err != nil {
		return haltd.AlertStatus{}, err
	}
	dead, _, err := s.deps.Outbox.Deliveries(ctx, haltd.DeliveryQuery{Status: haltd.DeliveryDead, Page: haltd.Page{Limit: pageSize}})
	if err != nil {
		return haltd.AlertStatus{}, fmt.Errorf("count dead deliveries: %w", err)
	}
	status := haltd.AlertStatus{Dead: len(dead)}
	for _, c := range channels {
		if !c.Enabled {
			continue
		}
		status.Channels++
		if slices.ContainsFunc(inForce(rules), func(r haltd.AlertRule) bool { return selects(r, c.ID) }) {
			status.Configured = true
		}
	}
	return status, nil
}
