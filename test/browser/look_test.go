//go:build pictures

package browser

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
	"github.com/haltd/haltd/test/harness"
)

// TestLookAtIncidents draws an incident of every family, detector and limit, as
// a desktop and as a phone shows it, the pages while nothing has happened, and
// the lists of a haltd with many agents, in the folder that HALTD_PICTURES names. LOOK leaves all but those whose
// names it begins.
func TestLookAtIncidents(t *testing.T) {
	folder := os.Getenv("HALTD_PICTURES")
	if folder == "" {
		t.Fatal("HALTD_PICTURES names no folder for the pictures")
	}
	wanted := func(name string) bool { return strings.HasPrefix(name, os.Getenv("LOOK")) }
	if wanted("empty") {
		p := newTab(t, start(t, ""))
		for _, page := range []string{"agents", "sessions", "incidents", "events", "rules", "alerts", "costs", "settings"} {
			p.open("/" + page)
			p.draw(folder, "empty-"+page, desktop)
		}
	}
	if wanted("crowd") {
		p := newTab(t, startIn(t, crowd(t), ""))
		for _, page := range [][2]string{{"overview", "/"}, {"agents", "/agents"}, {"incidents", "/incidents?status=open"}, {"sessions", "/sessions"}, {"events", "/events"}, {"costs", "/costs"}} {
			p.open(page[1])
			p.draw(folder, "crowd-"+page[0], desktop)
			p.draw(folder, "crowd-"+page[0]+"-820", look{820, 1180, "light"})
			p.draw(folder, "crowd-"+page[0]+"-phone", phone)
		}
	}
	llm, upstream := harness.Provider(t, harness.Scripted)
	n := run(t, harness.New(t, t.TempDir()), upstream, "defaults: {loop_detection: {enabled: true, window_seconds: 300, threshold_identical_requests: 40, action: reject}}\n")
	w := &walk{node: n, llm: llm}
	p := newTab(t, n)
	draw := func(name string, incident func(agent string) string) {
		if wanted(name) {
			p.open("/incidents/" + incident(name+"-bot"))
			p.draw(folder, name, desktop)
			p.draw(folder, name+"-phone", phone)
		}
	}
	for _, f := range families() {
		draw(f.name, func(agent string) string {
			n.Must(t, "PATCH", "/v1/agents/"+agent+"/kill-switch", json.RawMessage(`{"similarity": "warn"}`), nil)
			return n.runs(t, f).ID
		})
	}
	for name, made := range incidentsOfOthers(t, w) {
		draw(name, made)
	}
}

// incidentsOfOthers makes incidents of all but the families of stall, by what
// their pictures are called.
func incidentsOfOthers(t *testing.T, w *walk) map[string]func(agent string) string {
	set := func(agent, policy string) {
		t.Helper()
		w.Must(t, "PATCH", "/v1/agents/"+agent, json.RawMessage(policy), nil)
	}
	stopped := func(status int) bool { return status != http.StatusOK }
	newest := (&story{node: w.node}).newest
	// until calls again and again, until it is refused, and answers the incident.
	until := func(kind string, next func(k int) call) string {
		t.Helper()
		for k := range 100 {
			c := next(k)
			if status, id := w.send(t, c); id != "" {
				return id
			} else if stopped(status) {
				return w.ofKind(t, c.agent, kind)
			}
		}
		t.Fatal("it was not stopped")
		return ""
	}
	return map[string]func(agent string) string{
		"similarity": func(agent string) string {
			return w.decided(t, agent, "similarity", `{"enabled": true, "stall": "warn", "require_corroboration": false}`).ID
		},
		"attempts": func(agent string) string { return w.attempts(t, agent) },
		"streak": func(agent string) string {
			w.killSwitch(t, agent, true)
			return until("kill_switch", func(k int) call {
				return call{agent: agent, session: fmt.Sprint("visitor-", k), messages: []message{user("Is it raining in Oslo?")}, reply: fakellm.Script{Text: "It is raining in Oslo."}}
			})
		},
		"exact": func(agent string) string {
			w.ladder(t, agent, `{"stateless": true}`) // leaves it to exact
			return until("kill_switch", func(int) call {
				return call{agent: agent, session: "poll", messages: []message{user("Fetch the exchange rate of the euro.")}, reply: fakellm.Script{Text: "1 EUR is 1.09 USD."}}
			})
		},
		"turn": func(agent string) string {
			set(agent, `{"session": {"turn": {"calls": 8}}}`)
			asked := []message{user("Tidy the mailbox.")}
			return until("session_limit", func(k int) call {
				asked = append(asked, round(fmt.Sprint("call_", k), "move_mail", fmt.Sprintf(`{"id": "m-%d", "to": "archive/%d"}`, 4400+k, 2020+k), fmt.Sprintf("moved %d messages", 3*k+2))...)
				return call{agent: agent, session: "mail-7", messages: asked, reply: fakellm.Script{Text: "I go on.", ToolCalls: []fakellm.ToolCall{{Name: "move_mail", Arguments: "{}"}}}}
			})
		},
		"spend": func(agent string) string {
			set(agent, `{"session": {"usd": 0.5}}`)
			return until("session_limit", func(k int) call {
				return call{agent: agent, session: "book-1", model: "gpt-4.1", messages: []message{user(fmt.Sprint("Write chapter ", k))}, reply: fakellm.Script{Text: fmt.Sprint("Chapter ", k), Usage: &haltd.Usage{Input: 40_000, Output: 2000}}}
			})
		},
		"hard": func(agent string) string {
			set(agent, `{"budgets": {"day": {"soft_usd": 0.5, "hard_usd": 1}}}`)
			for k := range 12 {
				w.send(t, call{agent: agent, session: "weekly", model: "gpt-4.1", messages: []message{user(fmt.Sprint("Write part ", k))}, reply: fakellm.Script{Text: "Here it is.", Usage: &haltd.Usage{Input: 50_000, Output: 2000}}})
			}
			return w.ofKind(t, agent, "budget_hard")
		},
		"growth": func(agent string) string {
			for k, tokens := range []int64{4100, 6200, 9100, 13_400, 19_800} {
				w.send(t, call{agent: agent, session: "read-1", messages: []message{user(fmt.Sprint("Read on, chapter ", k))}, reply: fakellm.Script{Text: fmt.Sprint("It says ", k), Usage: &haltd.Usage{Input: tokens, Output: 240}}})
			}
			return newest(t, agent)
		},
		"shadow": func(agent string) string {
			for k := range 14 {
				asked, reply := search(k)
				w.send(t, call{agent: agent, session: "one", messages: asked, reply: reply})
			}
			return newest(t, agent)
		},
		"steered": func(agent string) string {
			w.ladder(t, agent, `{"enabled":true,"stall":["warn","steer","kill"],"similarity":"warn"}`)
			rounds, _ := w.grow(t, agent, 0, w.noted)
			_, id := w.grow(t, agent, rounds+1, stopped)
			return id
		},
		"note": func(agent string) string {
			w.ladder(t, agent, `{"enabled":true,"stall":["warn","steer","kill"],"similarity":"warn"}`)
			w.grow(t, agent, 0, w.noted)
			return w.ofKind(t, agent, "steer")
		},
		"halted": func(agent string) string {
			w.ladder(t, agent, `{"enabled":true,"stall":["warn","halt"],"similarity":"warn"}`)
			_, id := w.grow(t, agent, 0, stopped)
			return id
		},
	}
}
