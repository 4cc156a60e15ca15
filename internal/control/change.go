package control

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/policy"
)

// Policy is the effective policy of an agent, and its override by the API.
func (c *Control) Policy(agent string) (effective haltd.Policy, own haltd.PolicyOverride) {
	t := c.table.Load()
	return t.agent(agent).Policy, t.overrides[agent]
}

// Override changes the API's override for an agent, which need not have called
// yet. A policy that is not valid is CodeInvalid and changes nothing.
func (c *Control) Override(ctx context.Context, agent, by string, change func(*haltd.PolicyOverride) error) (haltd.Policy, error) {
	return retryOnConflict(ctx, c, func() (haltd.Policy, error) { return c.override(ctx, agent, by, change) })
}

func (c *Control) override(ctx context.Context, agent, by string, change func(*haltd.PolicyOverride) error) (haltd.Policy, error) {
	unlock, err := c.lock(ctx, agent)
	if err != nil {
		return haltd.Policy{}, fmt.Errorf("change the policy of %s: %w", agent, err)
	}
	defer unlock()
	known := c.table.Load()
	own := known.overrides[agent]
	if err := change(&own); err != nil {
		return haltd.Policy{}, err
	}
	result := known.policy(agent, own)
	if err := result.Check(); err != nil {
		return haltd.Policy{}, err
	}
	now := c.now()
	err = c.commit(ctx, haltd.Change{
		Agent: agent, Override: &own,
		Events: []haltd.Event{audit(now, haltd.Target{Agent: agent}, haltd.Audit{Change: haltd.ChangePolicy, By: by, Override: &own})},
	}, func(next *table) { next.setOverride(agent, own) })
	if err != nil {
		return haltd.Policy{}, fmt.Errorf("change the policy of %s: %w", agent, err)
	}
	return result, nil
}

// Rules lists all rules in the order in which they are matched.
func (c *Control) Rules() []haltd.Rule { return slices.Clone(c.table.Load().list) }

// sortRules sorts rules in the order in which they are matched.
func sortRules(rules []haltd.Rule) []haltd.Rule {
	slices.SortFunc(rules, func(a, b haltd.Rule) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return rules
}

// SaveRule makes a rule, or replaces the one with its id.
func (c *Control) SaveRule(ctx context.Context, r haltd.Rule, by string) (haltd.Rule, error) {
	if err := r.Check(); err != nil {
		return haltd.Rule{}, err
	}
	return retryOnConflict(ctx, c, func() (haltd.Rule, error) { return c.saveRule(ctx, r, by) })
}

func (c *Control) saveRule(ctx context.Context, r haltd.Rule, by string) (haltd.Rule, error) {
	unlock, err := c.lock(ctx, rulesLock)
	if err != nil {
		return haltd.Rule{}, fmt.Errorf("save rule %q: %w", r.Name, err)
	}
	defer unlock()
	list := slices.Clone(c.table.Load().list)
	now := c.now()
	r.UpdatedAt = now
	i := slices.IndexFunc(list, func(old haltd.Rule) bool { return old.ID == r.ID })
	switch {
	case r.ID == "":
		r.ID, r.CreatedAt = haltd.NewName("rul_"), now
		list = append(list, r)
	case i < 0:
		return haltd.Rule{}, noRule(r.ID)
	default:
		r.CreatedAt = list[i].CreatedAt
		list[i] = r
	}
	list = sortRules(list)
	err = c.commit(ctx, haltd.Change{
		Rule: &r, Events: []haltd.Event{audit(now, haltd.Target{}, haltd.Audit{Change: haltd.ChangeRuleSaved, By: by, Rule: &r})},
	}, func(next *table) { next.setRules(list) })
	if err != nil {
		return haltd.Rule{}, fmt.Errorf("save rule %q: %w", r.Name, err)
	}
	return r, nil
}

// DeleteRule ends a rule; CodeNotFound when there is none.
func (c *Control) DeleteRule(ctx context.Context, id, by string) error {
	_, err := retryOnConflict(ctx, c, func() (struct{}, error) { return struct{}{}, c.deleteRule(ctx, id, by) })
	return err
}

func (c *Control) deleteRule(ctx context.Context, id, by string) error {
	unlock, err := c.lock(ctx, rulesLock)
	if err != nil {
		return fmt.Errorf("delete rule %q: %w", id, err)
	}
	defer unlock()
	list := slices.Clone(c.table.Load().list)
	i := slices.IndexFunc(list, func(r haltd.Rule) bool { return r.ID == id })
	if i < 0 {
		return noRule(id)
	}
	gone := list[i]
	list = slices.Delete(list, i, i+1)
	err = c.commit(ctx, haltd.Change{
		DeleteRule: id,
		Events:     []haltd.Event{audit(c.now(), haltd.Target{}, haltd.Audit{Change: haltd.ChangeRuleDeleted, By: by, Rule: &gone})},
	}, func(next *table) { next.setRules(list) })
	if err != nil {
		return fmt.Errorf("delete rule %q: %w", gone.Name, err)
	}
	return nil
}

// setRules makes rules, which are sorted, those in force.
func (t *table) setRules(list []haltd.Rule) { t.list, t.rules = list, policy.Compile(list) }

func noRule(id string) error { return haltd.Errorf(haltd.CodeNotFound, "there is no rule %q", id) }

// Decide saves a person's decision about an incident. It does not resume.
func (c *Control) Decide(ctx context.Context, id string, status haltd.IncidentStatus, by, note string) (haltd.Incident, error) {
	incident, err := c.incidents.Incident(ctx, id)
	if err != nil {
		return haltd.Incident{}, err
	}
	unlock, err := c.lock(ctx, incidentLock+id)
	if err != nil {
		return haltd.Incident{}, fmt.Errorf("decide about incident %s: %w", id, err)
	}
	defer unlock()
	now := c.now()
	err = c.commit(ctx, haltd.Change{
		Closing: &haltd.Closing{ID: id, Status: status, By: by, Note: note, At: now},
		Events: []haltd.Event{audit(now, haltd.Target{Agent: incident.Agent, Session: incident.Session}, haltd.Audit{
			Change: haltd.ChangeIncidentClosed, By: by, Why: note, Incident: id, Status: status,
		})},
	}, nil)
	if err != nil {
		return haltd.Incident{}, fmt.Errorf("decide about incident %s: %w", id, err)
	}
	return c.incidents.Incident(ctx, id)
}
