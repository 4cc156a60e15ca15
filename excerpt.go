package haltd

import (
	"context"
	"time"
)

// Excerpt is what was said in a call, as far as it is kept: of long texts the
// beginning and the end, with keys, passwords and the like taken out. It
// exists only where the operator has switched excerpts on.
type Excerpt struct {
	Prompt    string `json:"prompt,omitempty" doc:"What the client newly said: the last user message, or the tool results."`
	Reply     string `json:"reply,omitempty" doc:"The text of the reply."`
	ToolCalls string `json:"tool_calls,omitempty" doc:"The tool calls of the reply, one a line: name and arguments."`
}

// IncidentExcerpt is what was said in the rounds that prove an incident, as far
// as the request that raised it held them: redacted and cut, like Excerpt.
type IncidentExcerpt struct {
	Prompt string         `json:"prompt,omitempty" doc:"What the client newly said in the call in question."`
	Rounds []RoundExcerpt `json:"rounds" nullable:"false" doc:"The rounds, oldest first."`
}

// RoundExcerpt is one round in words.
type RoundExcerpt struct {
	Index  int           `json:"index" doc:"In the conversation, from 0, as in the rounds of the verdict."`
	Said   string        `json:"said,omitempty" doc:"What the agent said."`
	Calls  []CallExcerpt `json:"calls,omitempty" doc:"The tools that it called."`
	Answer string        `json:"answer,omitempty" doc:"What the other side said, beside results of tools."`
}

// CallExcerpt is one tool call with what came back.
type CallExcerpt struct {
	Tool      string `json:"tool"`
	Arguments string `json:"arguments,omitempty"`
	Result    string `json:"result,omitempty"`
	Error     bool   `json:"error,omitempty" doc:"The client marked the result as an error."`
}

// ExcerptStore reads excerpts by their events and incidents. They are written
// with the events and incidents that carry them, and go with them at the
// latest. Those of incidents are sealed: where they cannot be, the incident is
// written without, and where they cannot be opened, reading is CodeUnavailable.
type ExcerptStore interface {
	// Excerpt finds that of an event; ok is false when there is none.
	Excerpt(ctx context.Context, event EventID) (e Excerpt, ok bool, err error)
	// IncidentExcerpt finds that of an incident; ok is false when there is
	// none.
	IncidentExcerpt(ctx context.Context, incident string) (e IncidentExcerpt, ok bool, err error)
	// PruneExcerpts deletes those of events and incidents before t and says
	// how many went.
	PruneExcerpts(ctx context.Context, t time.Time) (int64, error)
}
