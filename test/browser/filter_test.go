package browser

import "testing"

// fields are where the fields of a page's filter stand and how high they are.
const fields = `[...document.querySelectorAll('main .mantine-Input-wrapper')].map((e) => {
	const {top, height} = e.getBoundingClientRect()
	return {Top: top, Height: height}
})`

func fieldsOfTheFilterStandInLine(t *testing.T, n *node) {
	p := newTab(t, n)
	for _, l := range []look{desktop, {1024, 768, "light"}} {
		p.show(l)
		p.open("/events")
		p.sees("No event yet")
		found := evaluate[[]struct{ Top, Height float64 }](p, fields)
		if len(found) != 4 {
			t.Fatalf("the filter has %d fields, want 4", len(found))
		}
		for _, f := range found[1:] {
			if f != found[0] {
				t.Errorf("at %d px a field is at %v, the first at %v", l.width, f, found[0])
			}
		}
	}
}
