package admin

import (
	"strings"
	"unicode"

	"github.com/danielgtaylor/huma/v2"
	"github.com/haltd/haltd"
)

// Actor is who makes a change, for the record.
type Actor struct {
	Actor string `header:"X-Haltd-Actor" doc:"Who acts, for the record; admin when left out."`
}

const longestActor = 100

// Resolve puts in the name of the token's holder, who cannot call itself
// something else; huma calls it.
func (a *Actor) Resolve(ctx huma.Context) []error {
	if who := identityOf(ctx.Context()); who.name != "" {
		a.Actor = who.name
	}
	return nil
}

// by is a name that is safe to show.
func (a Actor) by() string {
	if name := cleanName(a.Actor); name != "" {
		return name
	}
	return "admin"
}

// cleanName is a name that is printable and not too long.
func cleanName(text string) string {
	kept, n := strings.Builder{}, 0
	for _, r := range text {
		if n < longestActor && unicode.IsPrint(r) && r != unicode.ReplacementChar {
			kept.WriteRune(r)
			n++
		}
	}
	return strings.TrimSpace(kept.String())
}

// actorName is the name of somebody new, which must not pass for the operator
// or for haltd itself.
func actorName(text string) (string, error) {
	name := cleanName(text)
	if name == "" || strings.EqualFold(name, "admin") || strings.EqualFold(name, "haltd") {
		return "", haltd.Errorf(haltd.CodeInvalid, "expected the name of a person or a program, got %q", text).In("name").
			WithFix("Use another name; admin and haltd stand in the audit log for the admin token and for haltd itself.")
	}
	return name, nil
}

// note records a change that concerns no agent's standing or policy; control
// records those itself.
func (s *server) note(by, change, agent, subject string, err error) {
	if err != nil {
		return
	}
	s.deps.Recorder.Record(haltd.Event{
		Time: s.deps.Clock().UTC(), Type: haltd.EventPolicy, Agent: agent,
		Audit: &haltd.Audit{Change: change, By: by, Subject: subject},
	})
}
