package browser

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// crowd makes a folder for a haltd that 400 agents have called 250 times each,
// with 100 incidents of every detector and family. It is built as make test
// builds haltd, so that little of it is compiled anew.
func crowd(t *testing.T) (folder string) {
	t.Helper()
	needDashboard(t)
	folder = t.TempDir()
	if out, err := exec.Command("go", "run", "-trimpath", "-pgo=off", "./cmd/crowd", filepath.Join(folder, "data")).CombinedOutput(); err != nil {
		t.Fatalf("record: %v\n%s", err, out)
	}
	return folder
}

func TestManyAgentsAndEvents(t *testing.T) {
	if os.Getenv("HALTD_SIZES") != "all" { // else it measures, and needs the machine for itself
		t.Parallel()
	}
	n := startIn(t, crowd(t), "")
	quickAnswers(t, n)
	p := newTab(t, n)
	t.Run("first page", func(t *testing.T) { firstPage(t, p) })
	t.Run("overview", func(t *testing.T) { overviewOfMany(t, p) })
	t.Run("incidents", func(t *testing.T) { incidentsOfMany(t, p) })
	t.Run("by keyboard", func(t *testing.T) { byKeyboard(t, p) })
	t.Run("rows", func(t *testing.T) { rowsStay(t, p) })
	if os.Getenv("HALTD_SIZES") != "all" { // the rest is for make verify
		return
	}
	t.Run("lists", func(t *testing.T) { listsOfMany(t, p) })
	for _, l := range []look{phone, {820, 1180, "dark"}, {1280, 800, "light"}, desktop.dark()} {
		p.show(l)
		for _, page := range []string{"/", "/agents", "/agents/agent-0042", "/sessions", "/events?type=llm_call", "/costs", "/incidents"} {
			p.open(page)
			p.settled()
			p.sees(map[bool]string{true: "Times are in UTC.", false: "Time zone"}[l.width < 992])
			p.fits()
		}
		p.sees("49 incidents") // one was resumed by keyboard
	}
	p.accessible(axe(t))
}

func overviewOfMany(t *testing.T, p *tab) {
	p.during(t)
	p.open("/")
	main := p.in("main", "")
	// No figure ends at 20 or 100, and what stopped somebody comes first.
	main.sees("400", "Open incidents", "50", "stopped", "45 more", "Top agents", "agent-0399")
}

func incidentsOfMany(t *testing.T, p *tab) {
	p.during(t)
	// What nobody has decided comes first, the dearest on top.
	p.open("/incidents?alone=1")
	list := p.in("main", "")
	list.sees("50 incidents", "calls", "$0.0")
	p.titled("Incidents (50) · haltd")
	p.open("/incidents")
	list.sees("50 incidents", "of one cause", "Cost of repeats")
	costs := evaluate[[]float64](p, `[...document.querySelectorAll('main [title="What the repeating calls cost"]')].map((e) => Number(/\$([\d.]+)/.exec(e.innerText)?.[1] ?? 0))`)
	if len(costs) < 10 || !slices.IsSortedFunc(costs, func(a, b float64) int { return cmp.Compare(b, a) }) {
		t.Errorf("the groups cost %v, want the dearest first", costs)
	}
	p.open("/incidents?status=all&detector=growth")
	list.sees("growth", "Prompt tokens of")
	p.lacks("find_payment")
	p.open("/incidents?status=all&shadow=true&alone=1")
	list.sees("13 incidents", "Would stop")
	// What a detector did may be wrong, a budget that was reached is not.
	p.open("/incidents?kind=budget_hard")
	p.button("3 agents alike…")
	list.sees("Close all", "Acknowledge all")
	p.lacks("Mark all as wrong", "Resume all")
	// An address means the same, whatever a session is called.
	p.open("/events?session=12345")
	list.sees("No matches")

	// Part of a name is enough; the keys go on in the order of the list.
	var found struct{ Incidents []incident }
	p.n.Must(t, "GET", "/v1/incidents?status=open&limit=2", nil, &found)
	p.open("/incidents?sort=newest&alone=1")
	list.sees(found.Incidents[0].ID, found.Incidents[1].ID)
	p.link(found.Incidents[0].ID)
	p.at("/incidents/" + found.Incidents[0].ID)
	p.sees("Comments")
	p.press("]")
	p.at("/incidents/" + found.Incidents[1].ID)
	p.sees(found.Incidents[1].Sentence)
	p.press("[")
	p.at("/incidents/" + found.Incidents[0].ID)
	p.sees(found.Incidents[0].Sentence)

	p.button("Acknowledge")
	p.sees("Acknowledged. The incident stays open.", "Seen by")
	p.fill("Comment", "I look at it now.")
	p.button("Comment")
	p.sees("I look at it now.")
	p.n.expectStatus(t, found.Incidents[0].ID, "open")
	p.open("/incidents?alone=1&agent=" + found.Incidents[0].Agent[len("agent-"):])
	list.sees("Seen", found.Incidents[0].ID)
}

func listsOfMany(t *testing.T, p *tab) {
	p.during(t)
	p.open("/agents?sort=cost")
	list := p.in("main", "")
	list.sees("All 400", "Stopped", "25 of 400", "agent-0399", "Spent today")
	p.titled("Agents (400) · haltd")
	p.pages("agent-0…")
	p.open("/agents?state=stopped")
	list.sees("Deactivated by Kill Switch")
	p.open("/agents")
	p.fill("Find an agent by part of its id", "agent-0042")
	p.lacks("agent-0399")
	p.link("agent-0042")
	p.at("/agents/agent-0042")
	p.sees("agent-0042", "session-0042-3")
	p.titled("Agent agent-0042 · haltd")
	p.open("/agents/agent-0042/sessions/session-0042-3")
	p.titled("Session session-0042-3 of agent-0042 · haltd")

	p.open("/sessions?sort=cost")
	list.sees("session-0399", "Active")
	p.titled("Sessions (50+) · haltd")
	p.open("/events?type=llm_call")
	list.sees("Tool", "Status", "Score", "Cost", "run_sql")
	p.titled("Events (50+) · haltd")
	p.pages("agent-0…")
	p.staysWhereItWas(func() {
		evaluate[any](p, `[...document.querySelectorAll('main [aria-label^="Open event of"]')].at(-1).click()`)
		p.in("dialog", "").there()
		p.press("\x1b")
		p.in("dialog", "").gone()
	})
	p.open("/costs?by=agent&span=24h")
	list.sees("400 in total", "25 of 400")
	p.button("Show more")
	list.sees("50 of 400")
	p.staysWhereItWas(func() {
		evaluate[any](p, `document.querySelector('input[value="30d"]').click()`)
		list.sees("USD per day")
	})

	var found struct{ Incidents []incident }
	p.n.Must(t, "GET", "/v1/incidents?limit=1", nil, &found)
	p.fill("Search agents, sessions and incidents", found.Incidents[0].ID)
	p.sees(found.Incidents[0].Sentence)
	p.press("\r")
	p.at("/incidents/" + found.Incidents[0].ID)
}

// staysWhereItWas fails when a step scrolls the page back to its top.
func (p *tab) staysWhereItWas(step func()) {
	p.t.Helper()
	p.settled()
	const wanted = 100
	evaluate[any](p, fmt.Sprintf("window.scrollTo(0, %d)", wanted))
	step()
	p.settled()
	if at := evaluate[float64](p, "window.scrollY"); at != wanted {
		p.t.Errorf("the page is scrolled to %v, and was to %d", at, wanted)
	}
}

// titled waits for the title of the tab.
func (p *tab) titled(want string) {
	p.t.Helper()
	title := func() string { return evaluate[string](p, "document.title") }
	p.eventually(func() bool { return title() == want }, func() string { return fmt.Sprintf("the title is %q, want %q", title(), want) })
}

// pages asks a listing for its next page and waits for more links with such a
// name.
func (p *tab) pages(name string) {
	p.t.Helper()
	rows := p.in("main", "").in("link", name)
	count := func() int { found, _ := rows.find(); return len(found) }
	p.eventually(func() bool { return count() > 0 }, func() string { return "the listing is empty" })
	first := count()
	p.button("Show more")
	p.eventually(func() bool { return count() > first }, func() string { return fmt.Sprintf("%d rows are shown, as before", first) })
}
