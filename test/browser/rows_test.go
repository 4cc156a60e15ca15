package browser

import "testing"

// rowsStay calls as an agent far down the list. It comes to stand first, all
// other rows stay what they were, and so does the focus.
func rowsStay(t *testing.T, p *tab) {
	p.during(t)
	p.open("/agents?search=agent-004")
	p.row("agent-0049").there()
	names := func() []string {
		return evaluate[[]string](p, `[...document.querySelectorAll('main tbody tr')].map((row) => row.cells[0].innerText)`)
	}
	before := names()
	last := before[len(before)-1]
	evaluate[any](p, `(() => {
		const rows = [...document.querySelectorAll('main tbody tr')]
		rows.forEach((row) => { row.dataset.before = row.cells[0].innerText })
		rows[3].querySelector('a').focus()
	})()`)
	p.n.send(t, call{agent: last})
	p.eventually(func() bool { return names()[0] == last }, func() string { return last + " called and is not the first of the list" })
	p.row(last).sees("ago")
	if kept := evaluate[int](p, `[...document.querySelectorAll('main tbody tr')].filter((row) => row.dataset.before === row.cells[0].innerText).length`); kept != len(before) {
		t.Errorf("%d of %d rows are still the same", kept, len(before))
	}
	if focused := evaluate[string](p, "document.activeElement.innerText"); focused != before[3] {
		t.Errorf("the focus is on %q, and was on %q", focused, before[3])
	}
}
