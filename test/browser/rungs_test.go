package browser

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/haltd/haltd/test/fakellm"
	"github.com/haltd/haltd/test/harness"
)

// TestRungs walks the rungs between a warning and a kill in the dashboard: a
// ladder is set as steps, one agent recovers after a note, one does not and is
// stopped, and the turn of a third is halted until its person writes.
func TestRungs(t *testing.T) {
	t.Parallel()
	llm, upstream := harness.Provider(t, harness.Scripted)
	w := &walk{node: run(t, harness.New(t, t.TempDir()), upstream, ""), llm: llm}
	w.tab = newTab(t, w.node)
	t.Run("Shadow", w.shadow)
	t.Run("Steps", w.steps)
	t.Run("Recovers", w.recovers)
	t.Run("Does not recover", w.doesNotRecover)
	t.Run("Halted", w.halted)
	t.Run("Counts", w.counts)
}

// walk is a climb of several agents.
type walk struct {
	*node
	*tab
	llm *fakellm.Server
}

// grow sends the conversation of a loop again and again, one round longer each
// time, until done says so; it answers the last answer's status and incident.
func (w *walk) grow(t *testing.T, agent string, from int, done func(status int) bool) (rounds int, incident string) {
	t.Helper()
	for i := from; i < from+20; i++ {
		asked, reply := search(i)
		status, incident := w.send(t, call{agent: agent, session: "one", messages: asked, reply: reply})
		if done(status) {
			return i, incident
		}
	}
	t.Fatalf("%s loops, and nothing becomes of it", agent)
	return 0, ""
}

// noted reports whether the newest call was forwarded with a note.
func (w *walk) noted(status int) bool {
	requests := w.llm.Requests()
	return status == http.StatusOK && bytes.Contains(requests[len(requests)-1].Body, []byte("[Note by haltd"))
}

// ofKind is the one incident of a kind that an agent has.
func (w *walk) ofKind(t *testing.T, agent, kind string) (id string) {
	t.Helper()
	w.Eventually(t, "showing an incident of kind "+kind, func() bool {
		var page struct{ Incidents []incident }
		w.Must(t, "GET", "/v1/incidents?kind="+kind+"&agent="+agent, nil, &page)
		if len(page.Incidents) > 0 {
			id = page.Incidents[0].ID
		}
		return id != ""
	})
	return id
}

func (w *walk) ladder(t *testing.T, agent, settings string) {
	t.Helper()
	w.Must(t, "PATCH", "/v1/agents/"+agent+"/kill-switch", json.RawMessage(settings), nil)
}

func (w *walk) shadow(t *testing.T) {
	w.during(t)
	w.ladder(t, "watched-bot", `{"enabled":false,"stall":["warn","steer","kill"]}`)
	for i := range 16 {
		asked, reply := search(i)
		w.send(t, call{agent: "watched-bot", session: "one", messages: asked, reply: reply})
	}
	w.ofKind(t, "watched-bot", "kill_switch")
	w.open("/agents/watched-bot")
	w.in("region", "Kill Switch").button("Edit")
	w.in("list", "Ladder of Stall, when certain").sees("Would have steered 1 session", "Would have stopped 1 session")
}

func (w *walk) steps(t *testing.T) {
	w.during(t)
	w.send(t, call{agent: "note-taker"})
	w.killSwitch(t, "note-taker", true)
	w.open("/agents/note-taker")
	w.in("region", "Kill Switch").button("Edit")
	steps := w.in("list", "Ladder of Stall, when certain")
	steps.sees("tells the model what it repeats", "continues by itself when a person writes", "until someone resumes it")
	w.click("switch", "Stall, when certain: steer")
	w.button("Save, effective on the next call")
	w.sees("Saved.")
	var set struct{ Stall any }
	w.Must(t, "GET", "/v1/agents/note-taker/kill-switch", nil, &set)
	if got := fmt.Sprint(set.Stall); got != "[warn steer kill]" {
		t.Errorf("the ladder is %s, want warn, steer and kill", got)
	}
}

func (w *walk) recovers(t *testing.T) {
	w.during(t)
	rounds, _ := w.grow(t, "note-taker", 0, w.noted)
	w.open("/incidents/" + w.ofKind(t, "note-taker", "steer"))
	w.sees("Steered", "Open", "forwarded with a note", "Waiting for the next rounds", "[Note by haltd")
	w.in("region", "Evidence").sees("INV-20931", "payment_not_found")
	asked, _ := search(rounds)
	for i, found := range []string{"3 payments of May", `{"id":"P-77","amount":120}`, "booked on 4711", "all invoices are settled"} {
		asked = append(asked, round(fmt.Sprintf("new_%d", i), []string{"list", "open", "book", "close"}[i], fmt.Sprintf(`{"part":"p%d"}`, i), found)...)
		w.send(t, call{agent: "note-taker", session: "one", messages: asked, reply: fakellm.Script{Text: "Going on.", ToolCalls: []fakellm.ToolCall{{Name: "list", Arguments: "{}"}}}})
	}
	w.sees("Recovered", "The agent recovered.", "The rounds after the note brought something new.")
}

func (w *walk) doesNotRecover(t *testing.T) {
	w.during(t)
	w.ladder(t, "deaf-bot", `{"enabled":true,"stall":["warn","steer","kill"]}`)
	rounds, _ := w.grow(t, "deaf-bot", 0, w.noted)
	_, stopped := w.grow(t, "deaf-bot", rounds+1, func(status int) bool { return status != http.StatusOK })
	w.open("/incidents/" + w.ofKind(t, "deaf-bot", "steer"))
	w.sees("Not recovered", "brought nothing new, and the next rung followed", stopped)
	w.open("/incidents/" + stopped)
	w.in("region", "Ladder").sees("Steered at round", "[Note by haltd", "Stopped at round")
}

func (w *walk) halted(t *testing.T) {
	w.during(t)
	w.ladder(t, "desk-bot", `{"enabled":true,"stall":["warn","halt"],"similarity":"warn"}`)
	rounds, id := w.grow(t, "desk-bot", 0, func(status int) bool { return status != http.StatusOK })
	w.open("/incidents/" + id)
	w.sees("Halted", "Open", "continues by itself when a person writes")
	w.button("Keep halted")
	w.dialog("Keep session one halted?").sees("It stays halted until a person writes, or someone resumes it.")
	w.dialog("Keep session one halted?").button("Keep halted")
	w.sees("Kept halted. Incident closed.", "Kept halted", "kept the session halted.")
	w.button("Undo")
	w.sees("Undone. The incident is open again.", "The session is halted, as before.")
	asked, _ := search(rounds)
	asked = append(asked, user("There is no such payment. Please write to the customer instead."))
	if status, _ := w.send(t, call{agent: "desk-bot", session: "one", messages: asked, reply: fakellm.Script{Text: "I have written to them."}}); status != http.StatusOK {
		t.Fatalf("the person's message was answered %d", status)
	}
	w.sees("Continued by a person", "continued by itself")
	w.lacks("kept the session stopped")
	w.open("/incidents")
	w.click("radio", "Continued 1")
	w.sees("desk-bot")
	w.lacks("deaf-bot")
}

func (w *walk) counts(t *testing.T) {
	w.during(t)
	w.open("/")
	for _, figure := range strings.Split("2 steered, 1 recovered, 1 then stopped, 1 halted, 1 continued by a person", ", ") {
		w.in("link", figure).there()
	}
	w.in("link", "1 would have been steered").there()
	w.in("link", "1 would have been stopped").there()
}
