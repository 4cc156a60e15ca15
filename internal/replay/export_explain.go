package replay

import (
	"fmt"
	"io"
	"strings"

	"github.com/haltd/haltd/internal/detection"
)

// explainSession draws the calls of a recorded session with their scores, and
// what fires where. The name is that of the session, or agent/session. It
// reports whether there is such a session.
func explainSession(w io.Writer, sessions []*recordedSession, name string, set detection.Settings) (found bool) {
	for _, s := range sessions {
		if name != s.session && name != s.run() {
			continue
		}
		found = true
		fmt.Fprintln(w, s.run())
		j := exportJudge{set: set, session: s}
		for n := range s.calls {
			c := &s.calls[n]
			fmt.Fprintf(w, "call %d  %s  %7d tokens  score %4.1f%s%s\n", n+1, c.at.UTC().Format("2006-01-02T15:04:05.000Z"), c.tokens.Input+c.tokens.Output,
				c.score, sum(c), blockedWord(c))
			for _, t := range j.call(n) {
				fmt.Fprintf(w, "  %s  %s\n", strings.ToUpper(t.Level.String()), t.sentence)
				if t.Unmet != "" {
					fmt.Fprintf(w, "        no kill: %s\n", t.Unmet)
				}
			}
		}
	}
	if found {
		fmt.Fprintln(w, exportNote)
	}
	return found
}

// sum says how a score came about.
func sum(c *recordedCall) string {
	if c.score == 0 {
		return ""
	}
	p := c.verdict.Parts
	return fmt.Sprintf(": prompts %d × 1.0, responses %d × 2.0, tool calls %d × 1.5", p.Prompts, p.Responses, p.ToolCalls)
}

func blockedWord(c *recordedCall) string {
	if c.blocked {
		return "  blocked"
	}
	return ""
}
