package admin

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/haltd/haltd"
)

// policyPatch is what changes of an agent's override; haltd.Override.Patch says
// how. Its description follows from the settings that Policy declares.
type policyPatch struct{ json.RawMessage }

// Schema is that of a policy of which everything may be left out or null.
func (policyPatch) Schema(r huma.Registry) *huma.Schema {
	return namedSchema(r, "PolicyPatch", partial[haltd.Policy](r, true))
}

type killSwitchPatch struct{ json.RawMessage }

func (killSwitchPatch) Schema(r huma.Registry) *huma.Schema {
	return namedSchema(r, "KillSwitchPatch", partial[haltd.KillSwitch](r, true))
}

// ownPolicy describes a haltd.PolicyOverride, of an agent and in the record.
type ownPolicy struct{}

func (ownPolicy) Schema(r huma.Registry) *huma.Schema {
	return namedSchema(r, "PolicyOverride", partial[haltd.Policy](r, false))
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

	settings := operation(http.MethodGet, "/v1/settings", "list-settings", "Every setting of a policy, with its default, its limits and its words")
	settings.Description = "What a form needs to show and change a policy."
	register(s, settings, func(context.Context, *noInput) (*settingsOutput, error) {
		out := &settingsOutput{}
		out.Body.Sections = haltd.SettingsOf[haltd.Policy]()
		return out, nil
	})
}

type settingsOutput struct {
	Body struct {
		Sections []haltd.Section `json:"sections"`
	}
}

func (s *server) patchAgent(ctx context.Context, in *patchAgentInput) (*agentOutput, error) {
	id, err := agentID("id", in.ID)
	if err != nil {
		return nil, err
	}
	inForce, _ := s.deps.Policies.Policy(id)
	if _, err := s.deps.Policies.Override(ctx, id, in.by(), func(own *haltd.PolicyOverride) error {
		return own.Patch(in.Body.RawMessage, inForce)
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
		return own.Patch(slices.Concat([]byte(`{"kill_switch":`), in.Body.RawMessage, []byte("}")), haltd.Policy{})
	})
	return &killSwitchOutput{policy.KillSwitch}, err
}
