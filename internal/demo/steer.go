package demo

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/haltd/haltd"
)

// Two agents that look for a file which does not exist, and are told that they
// repeat themselves before they are stopped. The model of the one heeds it.
const (
	heedingName = "support-bot"
	deafName    = "mail-bot"

	heedingTask = "The tenant asks about damp walls. Read letters/tenant-113.md, buildings/windows.md and water/leak-search.md, and draft the reply."
	deafTask    = "Read letters/tenant-114.md and draft the reply."

	// heed is what makes a model of the demo follow a note.
	heed = "\n- When a note says that you repeat yourself, leave out what cannot be read and go on with the rest."

	noteMark = "[Note by haltd"
	brisk    = 100 * time.Millisecond // between two calls, so that both are through when the loop is killed
)

// Steered is an agent that was told what it repeats.
type Steered struct {
	Agent     string `json:"agent"`
	Incident  string `json:"incident"` // of the first note
	Recovered bool   `json:"recovered"`
}

func newSteered(name, more, gateway string, client *http.Client, rest time.Duration, seen func(agent, path, result string)) *agent {
	a := &agent{
		name: name, gateway: gateway, client: client, seen: seen,
		system: "You are the assistant of a small housing association and answer the letters of its tenants." + manner + more,
	}
	a.rest.Store(int64(rest))
	return a
}

// steerScene lets the two work until the one has ended its task and the other
// is stopped, and answers what came of the notes.
func steerScene(ctx context.Context, s *stage, client *http.Client, rest time.Duration, t *teller) (all []Steered) {
	ctx, cancel := context.WithTimeout(ctx, killWithin)
	defer cancel()
	var working sync.WaitGroup
	results := [2]Steered{{Agent: heedingName}, {Agent: deafName}}
	for i, scene := range [...]struct{ more, task string }{{heed, heedingTask}, {"", deafTask}} {
		working.Go(func() {
			r := &results[i]
			a := newSteered(r.Agent, scene.more, s.app.GatewayURL(), client, rest, t.sees)
			_ = a.work(ctx, "letters", scene.task) // the incident tells how it ended
			if incident, ok := s.steerOf(ctx, client, r.Agent); ok {
				r.Incident, r.Recovered = incident.ID, incident.Status == haltd.IncidentRecovered
				t.steered(*r)
			}
		})
	}
	working.Wait()
	for _, r := range results {
		if r.Incident != "" {
			all = append(all, r)
		}
	}
	return all
}

// steerOf waits for the end of an agent's steer, which is written a moment
// after the call that decides it.
func (s *stage) steerOf(ctx context.Context, client *http.Client, agent string) (haltd.Incident, bool) {
	var page struct{ Incidents []haltd.Incident }
	for {
		err := s.ask(ctx, client, "/v1/incidents?kind=steer&agent="+url.QueryEscape(agent), &page)
		if err != nil {
			return haltd.Incident{}, false
		}
		if n := len(page.Incidents); n > 0 && page.Incidents[n-1].Status != haltd.IncidentOpen {
			return page.Incidents[n-1], true
		}
		if pause(ctx, 20*time.Millisecond) != nil {
			return haltd.Incident{}, false
		}
	}
}

// noteIn is the note that haltd added to the newest tool result.
func noteIn(messages []message) (string, bool) {
	if len(messages) == 0 {
		return "", false
	}
	_, note, ok := strings.Cut(messages[len(messages)-1].Content, noteMark)
	return noteMark + note, ok
}

func heedsNotes(messages []message) bool {
	return len(messages) > 0 && strings.Contains(messages[0].Content, heed)
}

// leavesOut reports whether the model gives a file up that it could not read:
// because a note says that it repeats itself, or because it went on with
// another one before.
func leavesOut(messages []message, path string, read map[string]string) bool {
	if _, noted := noteIn(messages); !heedsNotes(messages) || !noted && len(read) == 0 {
		return false
	}
	for _, m := range messages {
		for _, c := range m.ToolCalls {
			if strings.Contains(c.Function.Arguments, path) {
				return true
			}
		}
	}
	return false
}
