package browser

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/haltd/haltd/test/fakellm"
)

const plantedKey = "sk-ant-api03-aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF"

// attempts lets an agent ask the same thing, but for a number, until it is
// killed, and answers the incident. What it says is hostile, long, and holds a
// key.
func (n *node) attempts(t *testing.T, agent string) string {
	t.Helper()
	n.Must(t, "PATCH", "/v1/agents/"+agent+"/kill-switch", json.RawMessage(`{"enabled": true, "require_corroboration": false, "stall": "warn"}`), nil)
	for i := range 20 {
		prompt := fmt.Sprintf("Attempt %d of %s\nwith %s\n%s", i+1, strings.Join(hostile, "\n"), plantedKey, strings.Repeat("The ledger of November is not complete.\n", 60))
		reply := fakellm.Script{
			Text:      fmt.Sprintf("%s could not be loaded, try %d.", hostile[0], i+1),
			ToolCalls: []fakellm.ToolCall{{Name: "load", Arguments: fmt.Sprintf(`{"path": %q}`, hostile[1])}},
		}
		status, incident := n.send(t, call{agent: agent, session: "november", messages: []message{user(prompt)}, reply: reply})
		if incident != "" {
			return incident
		}
		if status != http.StatusOK {
			t.Fatalf("attempt %d is answered %d", i+1, status)
		}
	}
	t.Fatal("the loop was not killed")
	return ""
}

func TestExcerptsSideBySide(t *testing.T) {
	t.Parallel()
	n := start(t, "excerpts: on\n")
	id := n.attempts(t, "ledger-bot")
	p := newTab(t, n)
	p.open("/incidents/" + id)
	side := p.in("region", "Matching calls, side by side")
	side.sees(hostile[0], hostile[1], hostile[2], "[redacted key]", "bytes left out", "Words that differ are marked")
	side.lacks(plantedKey[:20], "To read each later call")
	p.unharmed()
	p.accessible(axe(t))

	marks := evaluate[[]string](p, "[...document.querySelectorAll('pre mark')].map((m) => m.innerText.trim())")
	for _, mark := range marks {
		if strings.Trim(mark, "0123456789") != "" {
			t.Errorf("%q is marked, want the numbers of the attempts only", mark)
		}
	}
	if len(marks) != 4 || slices.Contains(marks, "") {
		t.Errorf("%q are marked, want the numbers of two prompts and two replies", marks)
	}
	shown := evaluate[float64](p, "Math.max(...[...document.querySelectorAll('pre')].map((e) => e.clientHeight))")
	whole := evaluate[float64](p, "Math.max(...[...document.querySelectorAll('pre')].map((e) => e.scrollHeight))")
	if shown > 300 || whole <= shown {
		t.Errorf("a text of %v px is shown %v px high, want it to scroll in its card", whole, shown)
	}

	p.open("/events?event=" + n.lastEvent(t, "ledger-bot"))
	p.in("dialog", "").sees("Prompt", hostile[0], "[redacted key]", "keys, passwords and addresses are taken out")
	p.unharmed()
	p.open("/settings")
	p.sees("Excerpts", "of all calls, kept for 7 d")
}

// lastEvent is the newest event of an agent.
func (n *node) lastEvent(t *testing.T, agent string) string {
	t.Helper()
	var page struct{ Events []struct{ ID string } }
	n.Must(t, "GET", "/v1/events?agent="+agent+"&type=kill_switch", nil, &page)
	if len(page.Events) == 0 {
		t.Fatalf("%s has no event", agent)
	}
	return page.Events[0].ID
}

func TestSideBySideWithoutExcerpts(t *testing.T) {
	t.Parallel()
	n := start(t, "excerpts: off\n")
	id := n.attempts(t, "ledger-bot")
	p := newTab(t, n)
	p.open("/incidents/" + id)
	p.in("region", "Evidence").sees("texts are not kept", "set excerpts: incidents in the configuration")
	p.in("region", "Matching calls, side by side").sees("distance", "Earlier call", "haltd stores hashes, not text", "To read each later call, set excerpts: on")
	p.lacks(hostile[0], "[redacted key]")
	p.arcsAreOneStop()
	p.open("/events?event=" + n.lastEvent(t, "ledger-bot"))
	p.in("dialog", "").sees("Hashes", "Prompt text is not stored")
	p.open("/settings")
	p.sees("Excerpts", "not stored")
}
