package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
)

// What an agent says in these tests, and what must never be found again.
const (
	phrase     = "Reconcile the harbour ledger"
	plantedKey = "sk-ant-api03-aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF"
	ownKey     = "client-key-of-no-known-shape"
	noEntry    = `{"error": "no such entry", "hint": "ask ann@example.org"}`
)

// runAway lets an agent look for the same entry until it is killed, and
// answers its incident.
func runAway(t *testing.T, a *agent) haltd.Incident {
	t.Helper()
	messages := []message{user(phrase + " with " + plantedKey + " or " + ownKey + ".")}
	for i := range 20 {
		got := a.send(request{
			messages: messages, session: "november", header: map[string]string{"Authorization": "Bearer " + ownKey},
			reply: fakellm.Script{Text: "I look for the harbour entry again.", ToolCalls: []fakellm.ToolCall{{Name: "find_entry", Arguments: `{"entry": "harbour 7", "api_key": "hunter22"}`}}},
		})
		if got.status != http.StatusOK {
			return a.incidents(1)[0]
		}
		id := fmt.Sprint("call_", i)
		messages = append(messages, calls(id, "find_entry", `{"entry": "harbour 7", "api_key": "hunter22"}`), result(id, noEntry))
	}
	t.Fatal("the loop was not killed")
	return haltd.Incident{}
}

// excerptOf is what the API shows of an event.
func (n *node) excerptOf(t *testing.T, id haltd.EventID) *haltd.Excerpt {
	t.Helper()
	var event struct{ Excerpt *haltd.Excerpt }
	if status := n.API(t, "GET", "/v1/events/"+id.String(), nil, &event); status != http.StatusOK {
		t.Fatalf("GET event %s: %d", id, status)
	}
	return event.Excerpt
}

// holds reports whether any file of the record, or what haltd printed, has a
// text in it.
func (n *node) holds(t *testing.T, text string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(n.Config.DataDir, "*"))
	if err != nil || len(files) < 2 {
		t.Fatalf("the data directory has %d files, error %v", len(files), err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(content, []byte(text)) {
			return true
		}
	}
	return strings.Contains(n.Log(), text)
}

func TestExcerptsShowWhatMatched(t *testing.T) {
	t.Parallel()
	s := newStage(t, "excerpts: on\ndefaults: {kill_switch: {enabled: true}}\n")
	a := s.agent(t)
	incident := runAway(t, a)

	want := haltd.Excerpt{Prompt: `{"error": "no such entry", "hint": "ask [redacted e-mail]"}`}
	if got := s.excerptOf(t, incident.Event); got == nil || *got != want {
		t.Errorf("the call that was killed says %+v, want its prompt alone: %+v", got, want)
	}
	want.Reply, want.ToolCalls = "I look for the harbour entry again.", `find_entry {"entry": "harbour 7", "api_key": "[redacted password]"}`
	all := a.has(haltd.EventCall, 4)
	for _, e := range all[:len(all)-1] {
		if got := s.excerptOf(t, e.ID); got == nil || *got != want {
			t.Errorf("call %s says %+v, want %+v", e.ID, got, want)
		}
	}
	first := s.excerptOf(t, all[len(all)-1].ID)
	if first == nil || first.Prompt != phrase+" with [redacted key] or [redacted key]." {
		t.Errorf("the first call says %+v, want its keys taken out", first)
	}

	for _, path := range []string{"/v1/events?limit=1000", "/v1/events/export", "/v1/events/export?format=csv", "/v1/incidents/" + incident.ID} {
		if answer := s.get(t, path); strings.Contains(answer, "harbour") {
			t.Errorf("GET %s tells what was said: %s", path, answer)
		}
	}
	for _, secret := range []string{plantedKey, plantedKey[20:], ownKey, "hunter22", "ann@example.org"} {
		if s.holds(t, secret) {
			t.Errorf("%q was stored or logged", secret)
		}
	}
	if !s.holds(t, phrase) {
		t.Error("what was said is not on disk though the API shows it")
	}
}

// By default an incident keeps the rounds that prove it, sealed, and nothing
// else is kept.
func TestIncidentsQuoteWhatProvesThem(t *testing.T) {
	t.Parallel()
	s := newStage(t, "defaults: {kill_switch: {enabled: true}}\n")
	a := s.agent(t)
	incident := runAway(t, a)
	var got struct{ Excerpt *haltd.IncidentExcerpt }
	if status := s.API(t, "GET", "/v1/incidents/"+incident.ID+"/excerpt", nil, &got); status != http.StatusOK || got.Excerpt == nil {
		t.Fatalf("GET excerpt: %d %+v", status, got.Excerpt)
	}
	want := haltd.CallExcerpt{Tool: "find_entry", Arguments: `{"entry": "harbour 7", "api_key": "[redacted password]"}`, Result: `{"error": "no such entry", "hint": "ask [redacted e-mail]"}`}
	proved := incident.Verdict.Decisive(incident.Detector).Rounds
	if len(proved) == 0 || len(got.Excerpt.Rounds) != len(proved) {
		t.Fatalf("%d rounds are quoted, want the %d that prove it", len(got.Excerpt.Rounds), len(proved))
	}
	for i, r := range got.Excerpt.Rounds {
		if r.Index != proved[i].Index || len(r.Calls) != 1 || r.Calls[0] != want {
			t.Errorf("round %d says %+v, want round %d to say %+v", i, r, proved[i].Index, want)
		}
	}
	if excerpt := s.excerptOf(t, incident.Event); excerpt != nil {
		t.Errorf("the event says %+v, want the incident alone to tell", excerpt)
	}
	for _, path := range []string{"/v1/events?limit=1000", "/v1/events/export", "/v1/incidents", "/v1/incidents/" + incident.ID} {
		if answer := s.get(t, path); strings.Contains(answer, "harbour") {
			t.Errorf("GET %s tells what was said: %s", path, answer)
		}
	}
	for _, text := range []string{"harbour 7", "no such entry", plantedKey, plantedKey[20:], ownKey, "hunter22", "ann@example.org"} {
		if s.holds(t, text) {
			t.Errorf("%q is on disk in plain text, or was logged", text)
		}
	}
}

func TestWithoutExcerptsNothingThatWasSaidIsStored(t *testing.T) {
	t.Parallel()
	s := newStage(t, "excerpts: off\ndefaults: {kill_switch: {enabled: true}}\n")
	a := s.agent(t)
	incident := runAway(t, a)
	if got := s.excerptOf(t, incident.Event); got != nil {
		t.Errorf("the call that was killed says %+v", got)
	}
	if answer := s.get(t, "/v1/incidents/"+incident.ID+"/excerpt"); strings.Contains(answer, "rounds") {
		t.Errorf("the incident is quoted: %s", answer)
	}
	for _, text := range []string{phrase, "harbour", "no such entry", plantedKey, ownKey} {
		if s.holds(t, text) {
			t.Errorf("%q was stored or logged", text)
		}
	}
}

func TestExcerptsAreSwitchedWithoutARestart(t *testing.T) {
	t.Parallel()
	s := newStage(t, "excerpts: off\n")
	a := s.agent(t)
	yaml, err := os.ReadFile(s.Config.Path)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		state string
		kept  bool
	}{{"off", false}, {"on", true}, {"off", false}} {
		s.Config.Replace(t, strings.Replace(string(yaml), "excerpts: off", "excerpts: "+c.state, 1))
		s.Reload(t, "configuration reloaded")
		a.ask(fmt.Sprint("Question ", i), "an answer")
		e := a.has(haltd.EventCall, i+1)[0]
		if got := s.excerptOf(t, e.ID); (got != nil) != c.kept {
			t.Errorf("with excerpts %s the call says %+v", c.state, got)
		}
	}
	// What was stored stays until its time is over.
	if got := s.excerptOf(t, a.has(haltd.EventCall, 3)[1].ID); got == nil || got.Prompt != "Question 1" || got.Reply != "an answer" {
		t.Errorf("the excerpt from before is %+v", got)
	}
}

// get is an answer of the admin API as it is.
func (n *node) get(t *testing.T, path string) string {
	t.Helper()
	status, answer, err := n.Ask(t.Context(), "GET", path, nil)
	if err != nil || status != http.StatusOK {
		t.Fatalf("GET %s: %d, %v", path, status, err)
	}
	return string(answer)
}
