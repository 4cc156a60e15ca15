package admin

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	"github.com/haltd/haltd"
)

type ingestInput struct {
	Body struct {
		Agent            string         `json:"agent,omitempty" maxLength:"128" doc:"Id of the agent; with a gateway key it may be left out."`
		SessionID        string         `json:"session_id" minLength:"1" maxLength:"256"`
		Provider         string         `json:"provider,omitempty" maxLength:"64"`
		Model            string         `json:"model" minLength:"1" maxLength:"200"`
		PromptTokens     int64          `json:"prompt_tokens" minimum:"0" maximum:"134217728"`
		CompletionTokens int64          `json:"completion_tokens,omitempty" minimum:"0" maximum:"134217728"`
		LatencyMS        haltd.Duration `json:"latency_ms,omitempty" minimum:"0" maximum:"86400000"`
		Iteration        int            `json:"iteration_index,omitempty" minimum:"0"`
		ToolCalls        []ingestedTool `json:"tool_calls,omitempty" maxItems:"1000" doc:"What the reply called: names, or names with arguments."`
		ResponseHash     string         `json:"response_hash,omitempty" maxLength:"128" doc:"Equal for equal replies."`
	}
}

type ingestOutput struct{ Body haltd.IngestAnswer }

func (s *server) registerIngest() {
	op := withKey(operation(http.MethodPost, "/v1/ingest", "ingest", "Report a call that was not made through the gateway"))
	op.Description = "Answers what the agent should do now. The admin token may report for any agent, a gateway key for its own."
	register(s, op, s.ingest)
}

func (s *server) ingest(ctx context.Context, in *ingestInput) (*ingestOutput, error) {
	b := &in.Body
	agent, err := reporter(ctx, b.Agent)
	if err != nil {
		return nil, err
	}
	call := haltd.Ingest{
		Agent: agent, Session: b.SessionID, Provider: b.Provider, Model: b.Model,
		PromptTokens: b.PromptTokens, CompletionTokens: b.CompletionTokens,
		Latency: b.LatencyMS, Iteration: b.Iteration, ResponseHash: b.ResponseHash,
	}
	for _, t := range b.ToolCalls {
		call.ToolCalls = append(call.ToolCalls, haltd.ToolCall(t))
	}
	answer, err := s.deps.Ingester.Ingest(ctx, call)
	if answer.Findings == nil {
		answer.Findings = []haltd.Finding{}
	}
	return &ingestOutput{answer}, err
}

// reporter is the agent that a report is about: the one that is named, or
// that of the gateway key, which may name no other.
func reporter(ctx context.Context, named string) (string, error) {
	own, keyed := ctx.Value(keyAgent{}).(string)
	switch {
	case named == "" && keyed:
		return own, nil
	case named == "":
		return "", haltd.Errorf(haltd.CodeInvalid, "the admin token belongs to no agent").In("agent").WithFix("Name the agent that made the call.")
	}
	id, err := agentID("agent", named)
	if err == nil && keyed && id != own {
		err = haltd.Errorf(codeForbidden, "this gateway key reports for %s and not for %s", own, id).In("agent").
			WithFix("Leave agent out, or use a key of %s or the admin token.", id)
	}
	return id, err
}

// ingestedTool is a tool call as clients report it: a name, or an object with
// arguments that are JSON or a text.
type ingestedTool haltd.ToolCall

type ingestedCall struct {
	Name      string          `json:"name" minLength:"1" maxLength:"256"`
	Arguments json.RawMessage `json:"arguments,omitempty" doc:"JSON, or JSON in a text as some providers send it."`
}

func (t *ingestedTool) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, &t.Name) == nil {
		return nil
	}
	var call ingestedCall
	if err := json.Unmarshal(b, &call); err != nil {
		return err
	}
	t.Name, t.Arguments = call.Name, string(call.Arguments)
	var text string
	if json.Unmarshal(call.Arguments, &text) == nil {
		t.Arguments = text
	}
	return nil
}

// Schema describes both forms.
func (ingestedTool) Schema(r huma.Registry) *huma.Schema {
	name := 1
	return &huma.Schema{OneOf: []*huma.Schema{
		{Type: huma.TypeString, MinLength: &name},
		r.Schema(reflect.TypeFor[ingestedCall](), true, "IngestedCall"),
	}}
}
