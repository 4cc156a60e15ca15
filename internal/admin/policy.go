package admin

import (
	"context"
	"net/http"
	"strings"

	"github.com/haltd/haltd"
)

// policyPatch is what changes of an agent's override. Within budgets, rate
// limits and growth, what is left out stays as it is in force, so that a
// limit never goes away unsaid.
type policyPatch struct {
	KillSwitch omittable[killSwitchPatch]   `json:"kill_switch,omitzero"`
	Budgets    omittable[budgetsPatch]      `json:"budgets,omitzero"`
	Hours      omittable[[]haltd.HourRange] `json:"allowed_hours,omitzero" doc:"When the agent may call; an empty list is always."`
	Rates      omittable[rateLimitsPatch]   `json:"rate_limits,omitzero"`
	Growth     omittable[growthPatch]       `json:"growth,omitzero"`
	TimeZone   omittable[string]            `json:"time_zone,omitzero" example:"Europe/Berlin"`
}

type killSwitchPatch struct {
	Enabled              omittable[bool]         `json:"enabled,omitzero"`
	WindowSize           omittable[int]          `json:"window_size,omitzero" minimum:"2" maximum:"1000" doc:"How many calls similarity compares."`
	Threshold            omittable[float64]      `json:"threshold,omitzero" exclusiveMinimum:"0" maximum:"10000" doc:"Similarity fires when the score exceeds it."`
	Similarity           omittable[haltd.Action] `json:"similarity,omitzero" enum:"kill,reject,warn"`
	Stall                omittable[haltd.Action] `json:"stall,omitzero" enum:"kill,reject,warn"`
	WindowScope          omittable[haltd.Scope]  `json:"window_scope,omitzero" enum:"agent,session"`
	KillScope            omittable[haltd.Scope]  `json:"kill_scope,omitzero" enum:"agent,session"`
	WarnAt               omittable[float64]      `json:"warn_at,omitzero" minimum:"1" maximum:"99.9"`
	KillAt               omittable[float64]      `json:"kill_at,omitzero" minimum:"1" maximum:"99.9"`
	RequireCorroboration omittable[bool]         `json:"require_corroboration,omitzero"`
	Stateless            omittable[bool]         `json:"stateless,omitzero"`
	RetryAfter           omittable[int]          `json:"retry_after_seconds,omitzero" minimum:"1" maximum:"86400"`
}

type budgetsPatch struct {
	Day           omittable[budgetPatch] `json:"day,omitzero"`
	Month         omittable[budgetPatch] `json:"month,omitzero"`
	ReserveTokens omittable[int64]       `json:"reserve_tokens,omitzero" minimum:"1" maximum:"10000000" doc:"What a call reserves for its reply when it does not say how long that may be."`
}

type budgetPatch struct {
	SoftUSD    omittable[haltd.Money] `json:"soft_usd,omitzero" minimum:"0" maximum:"1000000"`
	HardUSD    omittable[haltd.Money] `json:"hard_usd,omitzero" minimum:"0" maximum:"1000000"`
	SoftTokens omittable[int64]       `json:"soft_tokens,omitzero" minimum:"0"`
	HardTokens omittable[int64]       `json:"hard_tokens,omitzero" minimum:"0"`
}

type rateLimitsPatch struct {
	Requests omittable[int64] `json:"requests_per_minute,omitzero" minimum:"0"`
	Tokens   omittable[int64] `json:"tokens_per_minute,omitzero" minimum:"0"`
}

type growthPatch struct {
	MinPromptTokens omittable[int64] `json:"min_prompt_tokens,omitzero" minimum:"0"`
}

type patchAgentInput struct {
	Actor
	ID   string `path:"id" doc:"Id of the agent; it need not have called yet."`
	Body policyPatch
}

type patchKillSwitchInput struct {
	Actor
	ID   string `path:"id" doc:"Id of the agent; it need not have called yet."`
	Body killSwitchPatch
}

type killSwitchOutput struct{ Body haltd.KillSwitch }

func (s *server) registerPolicy() {
	patch := operation(http.MethodPatch, "/v1/agents/{id}", "patch-agent", "Change the policy of an agent")
	patch.Description = "What is left out stays as it is; null goes back to what the file or the defaults say, and inside a budget or limit to none."
	register(s, patch, s.patchAgent)

	register(s, operation(http.MethodGet, "/v1/agents/{id}/kill-switch", "get-kill-switch", "The kill switch of an agent, as it is in force"),
		func(_ context.Context, in *agentInput) (*killSwitchOutput, error) {
			policy, _ := s.deps.Policies.Policy(strings.ToLower(in.ID))
			return &killSwitchOutput{policy.KillSwitch}, nil
		})
	patchSwitch := operation(http.MethodPatch, "/v1/agents/{id}/kill-switch", "patch-kill-switch", "Change the kill switch of an agent")
	patchSwitch.Description = "What is left out stays as it is; null goes back to what the file or the defaults say. Answers what is in force."
	register(s, patchSwitch, s.patchKillSwitch)
}

func (s *server) patchAgent(ctx context.Context, in *patchAgentInput) (*agentOutput, error) {
	id, err := agentID("id", in.ID)
	if err != nil {
		return nil, err
	}
	inForce, _ := s.deps.Policies.Policy(id)
	if _, err := s.deps.Policies.Override(ctx, id, in.by(), func(own *haltd.PolicyOverride) error {
		in.Body.change(own, inForce)
		return nil
	}); err != nil {
		return nil, err
	}
	standing, _ := s.deps.Standings.Standing(haltd.Target{Agent: id})
	return s.agentAfter(ctx, standing, nil)
}

func (s *server) patchKillSwitch(ctx context.Context, in *patchKillSwitchInput) (*killSwitchOutput, error) {
	id, err := agentID("id", in.ID)
	if err != nil {
		return nil, err
	}
	policy, err := s.deps.Policies.Override(ctx, id, in.by(), func(own *haltd.PolicyOverride) error {
		in.Body.change(&own.KillSwitch)
		return nil
	})
	return &killSwitchOutput{policy.KillSwitch}, err
}

// change applies a patch to an override that lies over what is in force.
func (p *policyPatch) change(own *haltd.PolicyOverride, inForce haltd.Policy) {
	if p.KillSwitch.sent && p.KillSwitch.value == nil {
		own.KillSwitch = nil
	} else if p.KillSwitch.sent {
		p.KillSwitch.value.change(&own.KillSwitch)
	}
	merge(p.Budgets, &own.Budgets, inForce.Budgets, (*budgetsPatch).change)
	merge(p.Rates, &own.Rates, inForce.Rates, (*rateLimitsPatch).change)
	merge(p.Growth, &own.Growth, inForce.Growth, (*growthPatch).change)
	p.TimeZone.into(&own.TimeZone)
	if p.Hours.sent {
		own.Hours = withDays(p.Hours.value)
	}
}

// merge changes one part of an override that is kept as a whole. An agent
// without its own begins with what is in force.
func merge[P, T any](patch omittable[P], own **T, inForce T, change func(*P, *T)) {
	switch {
	case !patch.sent:
	case patch.value == nil:
		*own = nil
	default:
		next := inForce
		if *own != nil {
			next = **own
		}
		change(patch.value, &next)
		*own = &next
	}
}

// change never writes into what the override points to: others may read it.
func (k *killSwitchPatch) change(own **haltd.KillSwitchOverride) {
	next := haltd.KillSwitchOverride{}
	if *own != nil {
		next = **own
	}
	k.Enabled.into(&next.Enabled)
	k.WindowSize.into(&next.WindowSize)
	k.Threshold.into(&next.Threshold)
	k.Similarity.into(&next.Similarity)
	k.Stall.into(&next.Stall)
	k.WindowScope.into(&next.WindowScope)
	k.KillScope.into(&next.KillScope)
	k.WarnAt.into(&next.WarnAt)
	k.KillAt.into(&next.KillAt)
	k.RequireCorroboration.into(&next.RequireCorroboration)
	k.Stateless.into(&next.Stateless)
	k.RetryAfter.into(&next.RetryAfter)
	if *own = &next; next == (haltd.KillSwitchOverride{}) {
		*own = nil
	}
}

func (b *budgetsPatch) change(to *haltd.Budgets) {
	b.Day.value.change(b.Day.sent, &to.Day)
	b.Month.value.change(b.Month.sent, &to.Month)
	b.ReserveTokens.over(&to.ReserveTokens)
}

// change applies the budget of one period; a nil patch that was sent takes
// its limits away.
func (b *budgetPatch) change(sent bool, to *haltd.Budget) {
	if b == nil {
		if sent {
			*to = haltd.Budget{}
		}
		return
	}
	b.SoftUSD.over(&to.SoftUSD)
	b.HardUSD.over(&to.HardUSD)
	b.SoftTokens.over(&to.SoftTokens)
	b.HardTokens.over(&to.HardTokens)
}

func (r *rateLimitsPatch) change(to *haltd.RateLimits) {
	r.Requests.over(&to.Requests)
	r.Tokens.over(&to.Tokens)
}

func (g *growthPatch) change(to *haltd.GrowthAlert) { g.MinPromptTokens.over(&to.MinPromptTokens) }

// withDays spells "every day" as an empty list, which JSON shows as one.
func withDays(hours *[]haltd.HourRange) *[]haltd.HourRange {
	if hours == nil {
		return nil
	}
	for i := range *hours {
		if (*hours)[i].Days == nil {
			(*hours)[i].Days = []string{}
		}
	}
	return hours
}
