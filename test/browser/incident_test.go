package browser

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
)

// killed lets an agent run away, opens its incident from the overview, and
// answers the incident.
func (p *tab) killed(agent string) (incident string) {
	p.t.Helper()
	incident = p.n.runAway(p.t, agent, "recon-of-"+agent)
	sentence := p.n.incident(p.t, incident).Sentence
	p.open("/")
	p.in("region", "Open incidents…").sees(sentence)
	p.link("Decide: " + sentence)
	p.at("/incidents/" + incident)
	p.sees(sentence)
	return incident
}

func TestIncident(t *testing.T) {
	t.Parallel()
	n := start(t, "")
	p := newTab(t, n)

	t.Run("Resume", func(t *testing.T) {
		p.during(t)
		id := p.killed("resume-bot")
		p.sees("Stopped", "Open", "was not forwarded", "resume-bot is stopped", "First time in 7 days", "No tries since", "Burned by the loop", "Saved, estimate", "Window",
			"Matching calls, side by side", "recon-of-resume-bot", "HTTP 400, no retry")
		p.button("Resume")
		p.dialog("Resume resume-bot").sees("earlier repeats no longer count", "Active from the next call.")
		if n.standing(t, "resume-bot").Active {
			t.Fatal("the agent is active before anybody confirmed")
		}
		p.dialog("Resume resume-bot").button("Resume")
		p.sees("resume-bot is active again.", "Resumed", "admin resumed resume-bot.")
		p.in("button", "Resume").gone()
		n.expectStatus(t, id, "resumed")
		if s := n.standing(t, "resume-bot"); !s.Active || s.DeactivatedBy != nil {
			t.Errorf("the agent stands %+v", s)
		}
		if status, _ := n.send(t, call{agent: "resume-bot", session: "another"}); status != http.StatusOK {
			t.Errorf("its next call is answered %d", status)
		}
		p.open("/agents/resume-bot")
		p.sees("resume-bot", "Active")
		p.lacks("Deactivated by Kill Switch")

		p.open("/incidents/" + id)
		p.button("Undo")
		p.sees("Undone. The incident is open again.", "resume-bot is stopped")
		p.in("button", "Resume").there()
		n.expectStatus(t, id, "open")
		if s := n.standing(t, "resume-bot"); s.Active || s.Standing.Incident != id {
			t.Errorf("after the undo the agent stands %+v, want it stopped by its incident", s)
		}
	})

	t.Run("Resume with grace", func(t *testing.T) {
		p.during(t)
		id := p.killed("grace-bot")
		p.button("Resume with grace")
		ask := p.dialog("Resume grace-bot with grace")
		ask.sees("Detectors only warn until the grace ends")
		ask.click("radio", "10 min")
		ask.button("Resume, grace until…")
		p.sees("grace-bot is active again.")
		n.expectStatus(t, id, "resumed")
		until := n.standing(t, "grace-bot").Standing.GraceUntil
		if until == nil || time.Until(*until) > 10*time.Minute || time.Until(*until) < 9*time.Minute {
			t.Errorf("grace lasts until %v, want 10 minutes from now", until)
		}
		p.open("/agents/grace-bot")
		p.sees("Grace, 10 min left")
	})

	t.Run("Keep stopped", func(t *testing.T) {
		p.during(t)
		id := p.killed("keep-bot")
		p.button("Keep stopped")
		ask := p.dialog("Keep keep-bot stopped?")
		ask.fill("Note (optional)", "Until the payment is booked.")
		ask.button("Keep stopped")
		p.sees("Kept stopped. Incident closed.", "Kept stopped", "admin kept keep-bot stopped.", "Until the payment is booked.", "keep-bot is stopped")
		n.expectStatus(t, id, "kept")
		if n.standing(t, "keep-bot").Active {
			t.Error("the agent is active")
		}
		p.button("Change decision")
		p.button("Mark as wrong")
		p.dialog("Mark this as wrong?").button("Mark as wrong")
		p.sees("Marked as wrong", "admin marked this as wrong.")
		n.expectStatus(t, id, "false_positive")
	})

	t.Run("Somebody else decides", func(t *testing.T) {
		p.during(t)
		id := p.killed("contested-bot")
		p.expect("status of 409")
		p.button("Keep stopped")
		p.dialog("Keep contested-bot stopped?").there()
		n.Must(t, "POST", "/v1/incidents/"+id+"/feedback", json.RawMessage(`{"status": "resumed"}`), nil)
		p.sees("resumed contested-bot.") // behind the question, which stays
		p.dialog("Keep contested-bot stopped?").button("Keep stopped")
		p.sees("Not saved. Nothing has changed.", "has decided already", "Resumed")
		n.expectStatus(t, id, "resumed")
	})

	t.Run("Mark as wrong", func(t *testing.T) {
		p.during(t)
		id := p.killed("honest-bot")
		p.button("Mark as wrong")
		ask := p.dialog("Mark this as wrong?")
		ask.fill("What was the agent doing? (optional)", "It waited for the bank.")
		if !ask.state("checkbox", "Resume honest-bot as well").Checked {
			t.Error("it does not offer to resume the agent as well")
		}
		ask.button("Mark as wrong")
		p.sees("Marked as wrong.", "admin marked this as wrong.", "It waited for the bank.")
		n.expectStatus(t, id, "false_positive")
		if !n.standing(t, "honest-bot").Active {
			t.Error("the agent is not active")
		}
	})

	t.Run("Only observed", func(t *testing.T) {
		p.during(t)
		const agent = "watched-bot"
		for k := range 14 {
			asked, reply := search(k)
			n.send(t, call{agent: agent, session: "one", messages: asked, reply: reply})
		}
		p.open("/incidents/" + (&story{node: n}).newest(t, agent))
		p.sees("Would stop", "The Kill Switch is off, so haltd only observes.", "First time in 7 days")
		p.button("Turn the switch on")
		ask := p.dialog("Turn the Kill Switch of watched-bot on?")
		ask.sees("Nobody would hear about it: no alert channel is configured.", "Configure now")
		ask.button("Turn it on")
		p.sees("The Kill Switch of watched-bot is on.")
		if !n.standing(t, agent).Policy.KillSwitch.Enabled {
			t.Error("the switch is off")
		}
		p.button("Stop now")
		p.dialog("Stop watched-bot").button("Stop now")
		p.sees("watched-bot is stopped.")
		if n.standing(t, agent).Active {
			t.Error("the agent is active")
		}
	})

	t.Run("Reject", func(t *testing.T) {
		p.during(t)
		n.Must(t, "PATCH", "/v1/agents/polite-bot", json.RawMessage(`{"kill_switch": {"similarity": "reject", "stall": "warn", "require_corroboration": false}}`), nil)
		id := n.runAway(t, "polite-bot", "ticket-99")
		p.open("/incidents/" + id)
		p.sees("Rejected", "Call #5 was not forwarded.", "The agent stays active.", "fires at the same call", "loop, #1 to #4", "stopped")
		p.open("/agents/polite-bot/sessions/ticket-99")
		p.sees("Rejected at #5", "Repeated 4")
	})

	t.Run("Keyboard", func(t *testing.T) {
		p.during(t)
		id := p.killed("typed-bot")
		p.in("button", "Keep stopped").there()
		for key, title := range map[string]string{
			"r": "Resume typed-bot", "g": "Resume typed-bot with grace", "k": "Keep typed-bot stopped?", "w": "Mark this as wrong?",
		} {
			p.press(key)
			p.dialog(title).there()
			p.press(kb.Escape)
			p.dialog(title).gone()
		}
		n.expectStatus(t, id, "open")
		p.press("k")
		p.dialog("Keep typed-bot stopped?").there()
		p.focused("Keep stopped")
		p.press(kb.Enter)
		p.sees("Kept stopped. Incident closed.")
		n.expectStatus(t, id, "kept")
	})

	t.Run("Phone", func(t *testing.T) {
		p.during(t)
		id := n.runAway(t, "pocket-bot", "recon-of-pocket-bot")
		p.show(phone)
		p.open("/incidents/" + id)
		p.sees(n.incident(t, id).Sentence, "Matching calls, side by side", "History")
		p.fits()
		for _, action := range []string{"Keep stopped", "Resume", "Resume with grace", "Mark as wrong"} {
			bottom, err := askPart[float64](p.in("button", action).there(), "function() { return this.getBoundingClientRect().bottom + scrollY }")
			if err != nil || bottom > float64(phone.height) {
				t.Errorf("%s ends at %v px (%v), want it on the first screen of %d px", action, bottom, err, phone.height)
			}
		}
	})
}

func (n *node) expectStatus(t *testing.T, incident, want string) {
	t.Helper()
	if got := n.incident(t, incident).Status; got != want {
		t.Errorf("the incident is %s, want %s", got, want)
	}
}

// focused waits until the button with a text has the focus.
func (p *tab) focused(text string) {
	p.t.Helper()
	var got string
	p.eventually(func() bool {
		got = evaluate[string](p, "document.activeElement?.innerText ?? ''")
		return got == text
	}, func() string { return "the focus is on " + got + ", want it on " + text })
}

// beyondTheEdge are the elements that a window does not show in full.
const beyondTheEdge = `[...document.querySelectorAll('body *')].filter((e) => e.getBoundingClientRect().right > innerWidth)
	.slice(0, 20).map((e) => e.tagName + '.' + e.getAttribute('class')).join(', ')`

// fits fails when the page must be scrolled sideways. It may take a moment to
// follow the size of the window.
func (p *tab) fits() {
	p.t.Helper()
	var over int
	p.eventually(func() bool {
		over = evaluate[int](p, "document.documentElement.scrollWidth - innerWidth")
		return over <= 0
	}, func() string {
		return fmt.Sprintf("%s is %d px wider than a window of %d; beyond its edge are %s", evaluate[string](p, "location.pathname"), over,
			evaluate[int](p, "innerWidth"), evaluate[string](p, beyondTheEdge))
	})
	var cut []string
	p.eventually(func() bool { cut = evaluate[[]string](p, cutOff); return len(cut) == 0 }, func() string {
		return fmt.Sprintf("%s at %d px: a card cuts off %s", evaluate[string](p, "location.pathname"), evaluate[int](p, "innerWidth"), cut)
	})
	var wide []string
	p.eventually(func() bool { wide = evaluate[[]string](p, scrolledSideways); return len(wide) == 0 }, func() string {
		return fmt.Sprintf("%s: in a window of %d px, this is wider than what it stands in: %q", evaluate[string](p, "location.pathname"), evaluate[int](p, "innerWidth"), wide)
	})
}

// scrolledSideways are tables and choices that show a part of themselves only,
// and the cells that reach beyond their table.
const scrolledSideways = `[...document.querySelectorAll('main table')]
	.filter((table) => table.scrollWidth > table.parentElement.clientWidth + 1)
	.flatMap((table) => [table.className, ...[...table.querySelectorAll('tbody td, tbody td *')]
		.filter((e) => e.getBoundingClientRect().right > table.getBoundingClientRect().right + 1).map((e) => e.outerHTML.slice(0, 160))])
	.concat([...document.querySelectorAll('main .mantine-SegmentedControl-root')].filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.innerText))`

// cutOff are controls that reach beyond their card where nothing scrolls, and
// buttons that do not show all of their words.
const cutOff = `[...document.querySelectorAll('main button, main input, main label')].filter((e) => {
	const card = e.closest('.mantine-Card-root'), label = e.querySelector('.mantine-Button-label')
	if (!e.offsetParent || !card) return false
	if (label && label.scrollWidth > label.clientWidth + 1) return true
	for (let up = e.parentElement; up !== card; up = up.parentElement) {
		if (['auto', 'scroll'].includes(getComputedStyle(up).overflowX)) return false
	}
	return e.getBoundingClientRect().right > card.getBoundingClientRect().right
}).map((e) => e.outerHTML.slice(0, 200))`
