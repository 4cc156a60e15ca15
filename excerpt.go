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

// ExcerptStore reads excerpts by their events. They are written with the
// events that carry them, and go with them at the latest.
type ExcerptStore interface {
	// Excerpt finds that of an event; ok is false when there is none.
	Excerpt(ctx context.Context, event EventID) (e Excerpt, ok bool, err error)
	// PruneExcerpts deletes those of events before t and says how many went.
	PruneExcerpts(ctx context.Context, t time.Time) (int64, error)
}
