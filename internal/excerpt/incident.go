package excerpt

import "github.com/haltd/haltd"

// mostQuoted is how many bytes of a text an incident keeps.
const mostQuoted = 1 << 10

// maxTool is how long the name of a tool may be.
const maxTool = 100

// Redact takes the secrets out of what an incident quotes, and cuts each text.
// A loop says the same again and again: an equal text is looked at once.
func Redact(e *haltd.IncidentExcerpt, secrets []string) {
	seen := map[string]string{}
	redact := func(text *string) {
		if *text == "" {
			return
		}
		kept, ok := seen[*text]
		if !ok {
			kept = bound(*text).excerptOf(mostQuoted, secrets)
			seen[*text] = kept
		}
		*text = kept
	}
	redact(&e.Prompt)
	for i := range e.Rounds {
		r := &e.Rounds[i]
		redact(&r.Said)
		redact(&r.Answer)
		for k := range r.Calls {
			c := &r.Calls[k]
			c.Tool = show(c.Tool, find(c.Tool, secrets), 0, min(len(c.Tool), maxTool))
			redact(&c.Arguments)
			redact(&c.Result)
		}
	}
}
