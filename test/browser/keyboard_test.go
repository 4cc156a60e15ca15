package browser

import (
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// focus is the name of what has the focus, or its tag.
func (p *tab) focus() string {
	return evaluate[string](p, `document.activeElement.getAttribute('aria-label') || document.activeElement.tagName`)
}

// byKeyboard goes where a person without a mouse goes: one stop for all bars of
// a chart, and a focus that is never lost.
func byKeyboard(t *testing.T, p *tab) {
	p.during(t)
	var found struct{ Agents []struct{ ID string } }
	p.n.Must(t, "GET", "/v1/agents?state=stopped&limit=1", nil, &found)
	agent := found.Agents[0].ID
	p.open("/agents/" + agent + "?chart=score")
	const bars = "Score: arrows choose a bar, Enter opens it"
	p.in("slider", bars).there()
	if stops := evaluate[int](p, `document.querySelectorAll('figure rect[tabindex="0"], svg rect[tabindex="0"]').length`); stops != 0 {
		t.Errorf("%d bars are stops of their own", stops)
	}
	evaluate[any](p, `document.querySelector('[role="slider"]').focus()`)
	says := func() string {
		return evaluate[string](p, `document.activeElement.getAttribute('aria-valuetext') ?? ''`)
	}
	last := says()
	p.press(kb.ArrowLeft)
	p.eventually(func() bool { return says() != "" && says() != last }, func() string { return "the arrow stays at " + last })
	p.press(kb.Enter)
	p.in("dialog", "").there()
	p.press(kb.Escape)
	p.in("dialog", "").gone()
	p.eventually(func() bool { return p.focus() == bars }, func() string { return "after the drawer the focus is on " + p.focus() })

	// The button that was pressed is gone once the agent is active.
	p.button("Resume")
	question := p.dialog("Resume " + agent)
	question.button("Resume")
	question.gone()
	p.sees(agent + " is active again.")
	p.eventually(func() bool { return evaluate[bool](p, `document.activeElement.closest('main') !== null`) },
		func() string { return "after the decision the focus is on " + p.focus() })

	// On a phone the search is in the menu; Enter opens the first hit, also
	// before the hits are shown.
	p.show(phone)
	defer p.show(desktop)
	p.open("/costs")
	p.button("Menu")
	p.in("navigation", "Pages").there()
	p.fill("Search agents, sessions and incidents", "agent-0042")
	p.press(kb.Enter)
	p.at("/agents/agent-0042")
}

// arcsAreOneStop goes through the arcs of a window with the arrows, from lane to
// lane; Tab comes to one of them.
func (p *tab) arcsAreOneStop() {
	p.t.Helper()
	const arcs = `svg[aria-label="Window of calls"] path[role="button"]`
	all := evaluate[int](p, "document.querySelectorAll('"+arcs+"').length")
	if stops := evaluate[int](p, "document.querySelectorAll('"+arcs+`[tabindex="0"]').length`); all < 2 || stops != 1 {
		p.t.Fatalf("of %d arcs %d are stops, want one", all, stops)
	}
	evaluate[any](p, "document.querySelector('"+arcs+`[tabindex="0"]').focus()`)
	seen := map[string]bool{p.focus(): true}
	for range all - 1 {
		p.press(kb.ArrowRight)
		seen[p.focus()] = true
	}
	if len(seen) != all {
		p.t.Errorf("the arrows come to %d of %d arcs", len(seen), all)
	}
}
