// Package excerpt makes the excerpts of calls: it bounds what was said, takes
// out what nobody may read later, and cuts the rest to a length that fits a
// page. It is pure: it stores nothing and knows nothing of requests.
//
// Secrets are found before anything is cut, so that none is halved into
// something that no longer looks like one.
package excerpt

import (
	"strings"

	"github.com/haltd/haltd"
)

// Draft is the prompt of a call whose reply is still to come, not redacted
// yet: only as much of it as an excerpt needs, so that the rest can be let go
// of.
type Draft struct{ prompt piece }

// New begins the excerpt of a call by what its client newly said.
func New(prompt string) *Draft { return &Draft{bound(prompt)} }

// Finish is the excerpt with what a reply says, or without one when it is
// nil. Of secrets, which are known to be some, nothing is left in it. It is
// nil when nothing was said.
func (d *Draft) Finish(reply *haltd.Reply, secrets []string) *haltd.Excerpt {
	e := haltd.Excerpt{Prompt: d.prompt.excerpt(secrets)}
	if reply != nil {
		e.Reply = bound(reply.Text).excerpt(secrets)
		e.ToolCalls = bound(lines(reply.Calls)).excerpt(secrets)
	}
	if e == (haltd.Excerpt{}) {
		return nil
	}
	return &e
}

// lines are tool calls as a person reads them, one a line.
func lines(calls []haltd.ToolCall) string {
	var b strings.Builder
	for i := range calls {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(calls[i].Name)
		if calls[i].Arguments != "" {
			b.WriteByte(' ')
			b.WriteString(calls[i].Arguments)
		}
	}
	return b.String()
}
