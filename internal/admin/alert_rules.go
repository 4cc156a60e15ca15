package admin

import (
	"context"
	"net/http"
	"slices"

	"github.com/haltd/haltd"
)

// AlertRules say which notices go to which channels. Without any, all go to
// all.
type AlertRules interface {
	AlertRules(ctx context.Context) ([]haltd.AlertRule, error)
	// SaveAlertRule makes a rule, or replaces the one with its id.
	SaveAlertRule(ctx context.Context, r haltd.AlertRule) (haltd.AlertRule, error)
	DeleteAlertRule(ctx context.Context, id string) error
}

type alertRulesOutput struct {
	Body struct {
		Rules []haltd.AlertRule `json:"alert_rules"`
	}
}

type alertRuleInput struct {
	Actor
	ID string `path:"id" doc:"Id of the alert rule."`
}

type createAlertRuleInput struct {
	Actor
	Body struct {
		Name     string   `json:"name" minLength:"1" maxLength:"100" doc:"What you call the rule."`
		Enabled  *bool    `json:"enabled,omitempty" doc:"True when left out."`
		Topics   []string `json:"topics,omitempty" enum:"kill_switch,growth,budget_soft,budget_hard,session_limit,shadow,upstream,bypass,store" doc:"Empty: all but shadow."`
		Agents   []string `json:"agents,omitempty" maxItems:"1000" doc:"Ids; empty: all."`
		Channels []string `json:"channels,omitempty" maxItems:"1000" doc:"Ids; empty: all."`
		Cooldown int      `json:"cooldown_seconds,omitempty" minimum:"0" maximum:"604800" doc:"How long after a notice about an agent and topic further ones are left out."`
	}
}

// patchAlertRuleInput leaves as it is what is absent or null. A list replaces
// the old one as a whole.
type patchAlertRuleInput struct {
	Actor
	ID   string `path:"id" doc:"Id of the alert rule."`
	Body struct {
		Name     *string   `json:"name,omitempty" minLength:"1" maxLength:"100"`
		Enabled  *bool     `json:"enabled,omitempty"`
		Topics   *[]string `json:"topics,omitempty" enum:"kill_switch,growth,budget_soft,budget_hard,session_limit,shadow,upstream,bypass,store" doc:"Empty: all but shadow."`
		Agents   *[]string `json:"agents,omitempty" maxItems:"1000" doc:"Ids; empty: all."`
		Channels *[]string `json:"channels,omitempty" maxItems:"1000" doc:"Ids; empty: all."`
		Cooldown *int      `json:"cooldown_seconds,omitempty" minimum:"0" maximum:"604800"`
	}
}

type alertRuleOutput struct{ Body haltd.AlertRule }

func (s *server) registerAlertRules() {
	register(s, operation(http.MethodGet, "/v1/alert-rules", "list-alert-rules", "Which notices go to which channels; without a rule all go to all"),
		func(ctx context.Context, _ *noInput) (*alertRulesOutput, error) {
			rules, err := s.deps.Alerts.AlertRules(ctx)
			out := &alertRulesOutput{}
			out.Body.Rules = make([]haltd.AlertRule, len(rules))
			for i := range rules {
				out.Body.Rules[i] = shownAlertRule(rules[i])
			}
			return out, err
		})
	create := operation(http.MethodPost, "/v1/alert-rules", "create-alert-rule", "Make an alert rule")
	create.DefaultStatus = http.StatusCreated
	register(s, create, func(ctx context.Context, in *createAlertRuleInput) (*alertRuleOutput, error) {
		b := &in.Body
		return s.saveAlertRule(ctx, in.by(), haltd.AlertRule{
			Name: b.Name, Enabled: b.Enabled == nil || *b.Enabled,
			Topics: topicsOf(b.Topics), Agents: b.Agents, Channels: b.Channels, Cooldown: b.Cooldown,
		})
	})
	register(s, operation(http.MethodPatch, "/v1/alert-rules/{id}", "patch-alert-rule", "Change an alert rule"), s.patchAlertRule)
	register(s, operation(http.MethodDelete, "/v1/alert-rules/{id}", "delete-alert-rule", "Delete an alert rule"),
		func(ctx context.Context, in *alertRuleInput) (*struct{}, error) {
			rule, err := s.alertRule(ctx, in.ID)
			if err != nil {
				return nil, err
			}
			err = s.deps.Alerts.DeleteAlertRule(ctx, in.ID)
			s.note(in.by(), haltd.ChangeAlertRuleDeleted, "", rule.Name, err)
			return nil, err
		})
}

func (s *server) patchAlertRule(ctx context.Context, in *patchAlertRuleInput) (*alertRuleOutput, error) {
	rule, err := s.alertRule(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	b := &in.Body
	replace(&rule.Name, b.Name)
	replace(&rule.Enabled, b.Enabled)
	if b.Topics != nil {
		rule.Topics = topicsOf(*b.Topics)
	}
	replace(&rule.Agents, b.Agents)
	replace(&rule.Channels, b.Channels)
	replace(&rule.Cooldown, b.Cooldown)
	return s.saveAlertRule(ctx, in.by(), rule)
}

func (s *server) alertRule(ctx context.Context, id string) (haltd.AlertRule, error) {
	rules, err := s.deps.Alerts.AlertRules(ctx)
	if err != nil {
		return haltd.AlertRule{}, err
	}
	i := slices.IndexFunc(rules, func(r haltd.AlertRule) bool { return r.ID == id })
	if i < 0 {
		return haltd.AlertRule{}, haltd.Errorf(haltd.CodeNotFound, "There is no alert rule %s", id)
	}
	return rules[i], nil
}

func (s *server) saveAlertRule(ctx context.Context, by string, rule haltd.AlertRule) (*alertRuleOutput, error) {
	saved, err := s.deps.Alerts.SaveAlertRule(ctx, rule)
	s.note(by, haltd.ChangeAlertRuleSaved, "", saved.Name, err)
	return &alertRuleOutput{shownAlertRule(saved)}, err
}

func topicsOf(names []string) []haltd.IncidentKind {
	topics := make([]haltd.IncidentKind, len(names))
	for i, name := range names {
		topics[i] = haltd.IncidentKind(name)
	}
	return topics
}

// shownAlertRule has times in UTC and lists that are never null.
func shownAlertRule(r haltd.AlertRule) haltd.AlertRule {
	r.CreatedAt, r.UpdatedAt = r.CreatedAt.UTC(), r.UpdatedAt.UTC()
	r.Topics = append([]haltd.IncidentKind{}, r.Topics...)
	r.Agents = append([]string{}, r.Agents...)
	r.Channels = append([]string{}, r.Channels...)
	return r
}
