package admin

import (
	"context"
	"net/http"
	"slices"

	"github.com/haltd/haltd"
)

type rulesOutput struct {
	Body struct {
		Rules []haltd.Rule `json:"rules"`
	}
}

type ruleInput struct {
	ID string `path:"id" doc:"Id of the rule."`
}

type deleteRuleInput struct {
	Actor
	ID string `path:"id" doc:"Id of the rule."`
}

type createRuleInput struct {
	Actor
	Body struct {
		Name      string              `json:"name" minLength:"1" maxLength:"200"`
		Enabled   *bool               `json:"enabled,omitempty" doc:"True when left out."`
		Priority  int                 `json:"priority,omitempty" doc:"The highest is asked first; 0 when left out."`
		Condition haltd.RuleCondition `json:"condition" doc:"All of it must hold; an empty one always does."`
		Action    string              `json:"action" enum:"block,reject,throttle,warn,tag,allow"`
		Config    haltd.RuleConfig    `json:"action_config,omitzero"`
	}
}

// patchRuleInput leaves as it is what is absent or null. A condition or
// action_config replaces the old one as a whole.
type patchRuleInput struct {
	Actor
	ID   string `path:"id" doc:"Id of the rule."`
	Body struct {
		Name      *string              `json:"name,omitempty" minLength:"1" maxLength:"200"`
		Enabled   *bool                `json:"enabled,omitempty"`
		Priority  *int                 `json:"priority,omitempty"`
		Condition *haltd.RuleCondition `json:"condition,omitempty" doc:"Replaces the old one as a whole."`
		Action    *haltd.RuleAction    `json:"action,omitempty" enum:"block,reject,throttle,warn,tag,allow"`
		Config    *haltd.RuleConfig    `json:"action_config,omitempty" doc:"Replaces the old one as a whole."`
	}
}

type ruleOutput struct{ Body haltd.Rule }

func (s *server) registerRules() {
	register(s, operation(http.MethodGet, "/v1/rules", "list-rules", "Rules, in the order in which they are asked"),
		func(context.Context, *noInput) (*rulesOutput, error) {
			out := &rulesOutput{}
			out.Body.Rules = []haltd.Rule{}
			for _, r := range s.deps.Rules.Rules() {
				out.Body.Rules = append(out.Body.Rules, ruleInUTC(r))
			}
			return out, nil
		})
	register(s, operation(http.MethodGet, "/v1/rules/{id}", "get-rule", "One rule"),
		func(_ context.Context, in *ruleInput) (*ruleOutput, error) {
			rule, err := s.rule(in.ID)
			return &ruleOutput{ruleInUTC(rule)}, err
		})
	create := operation(http.MethodPost, "/v1/rules", "create-rule", "Make a rule")
	create.DefaultStatus = http.StatusCreated
	register(s, create, s.createRule)
	register(s, operation(http.MethodPatch, "/v1/rules/{id}", "patch-rule", "Change a rule"), s.patchRule)
	register(s, operation(http.MethodDelete, "/v1/rules/{id}", "delete-rule", "Delete a rule"),
		func(ctx context.Context, in *deleteRuleInput) (*struct{}, error) {
			return nil, s.deps.Rules.DeleteRule(ctx, in.ID, in.by())
		})
}

func (s *server) createRule(ctx context.Context, in *createRuleInput) (*ruleOutput, error) {
	b := &in.Body
	return s.saveRule(ctx, haltd.Rule{
		Name: b.Name, Enabled: b.Enabled == nil || *b.Enabled, Priority: b.Priority,
		Condition: b.Condition, Action: haltd.RuleAction(b.Action), Config: b.Config,
	}, in.by())
}

func (s *server) patchRule(ctx context.Context, in *patchRuleInput) (*ruleOutput, error) {
	rule, err := s.rule(in.ID)
	if err != nil {
		return nil, err
	}
	b := &in.Body
	replace(&rule.Name, b.Name)
	replace(&rule.Enabled, b.Enabled)
	replace(&rule.Priority, b.Priority)
	replace(&rule.Condition, b.Condition)
	replace(&rule.Action, b.Action)
	replace(&rule.Config, b.Config)
	return s.saveRule(ctx, rule, in.by())
}

func replace[T any](field *T, by *T) {
	if by != nil {
		*field = *by
	}
}

func (s *server) saveRule(ctx context.Context, rule haltd.Rule, by string) (*ruleOutput, error) {
	if err := rule.Check(); err != nil {
		return nil, err
	}
	saved, err := s.deps.Rules.SaveRule(ctx, rule, by)
	return &ruleOutput{ruleInUTC(saved)}, err
}

func (s *server) rule(id string) (haltd.Rule, error) {
	rules := s.deps.Rules.Rules()
	i := slices.IndexFunc(rules, func(r haltd.Rule) bool { return r.ID == id })
	if i < 0 {
		return haltd.Rule{}, haltd.Errorf(haltd.CodeNotFound, "There is no rule %s", id)
	}
	return rules[i], nil
}

func ruleInUTC(r haltd.Rule) haltd.Rule {
	r.CreatedAt, r.UpdatedAt = r.CreatedAt.UTC(), r.UpdatedAt.UTC()
	return r
}
