package admin

import (
	"strings"
	"unicode"

	"github.com/haltd/haltd"
)

// Actor is who makes a change, for the record.
type Actor struct {
	Actor string `header:"X-Haltd-Actor" doc:"Who acts, for the record; admin when left out."`
}

const longestActor = 100

// by is a name that is safe to show: printable and not too long.
func (a Actor) by() string {
	kept, n := strings.Builder{}, 0
	for _, r := range a.Actor {
		if n < longestActor && unicode.IsPrint(r) && r != unicode.ReplacementChar {
			kept.WriteRune(r)
			n++
		}
	}
	if name := strings.TrimSpace(kept.String()); name != "" {
		return name
	}
	return "admin"
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
