package browser

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// part is a part of the page, such as a dialog, or all of it. It is looked up
// anew at each use: what a page shows comes and goes.
type part struct {
	tab        *tab
	outer      *part // nil for the whole page
	role, name string
	several    bool // the first of them will do
}

// in is a part of this part.
func (s *part) in(role, name string) *part {
	return &part{tab: s.tab, outer: s, role: role, name: name}
}

// first is the first where there may be several that do the same.
func (s *part) first() *part { s.several = true; return s }

// dialog is the one with a title. A title that ends in … is the beginning.
func (s *part) dialog(title string) *part { return s.in("dialog", title) }

// row is that of a table which shows a text.
func (s *part) row(shows string) *part { return s.in("row", shows) }

func (s *part) String() string {
	if s.outer == nil {
		return "the page"
	}
	return fmt.Sprintf("%s %q of %s", s.role, s.name, s.outer)
}

// find answers what assistive technology finds under the role and name.
func (s *part) find() ([]cdp.BackendNodeID, error) {
	if s.outer == nil {
		d, err := chromedp.Call(s.tab.ctx, dom.GetDocument, dom.GetDocumentParams{})
		if err != nil {
			return nil, err
		}
		return []cdp.BackendNodeID{d.Root.BackendNodeID}, nil
	}
	outer, err := s.outer.one()
	if err != nil {
		return nil, err
	}
	tree, err := chromedp.Call(s.tab.ctx, accessibility.QueryAXTree, accessibility.QueryAXTreeParams{BackendNodeID: outer, Role: s.role})
	if err != nil {
		return nil, err
	}
	var found []cdp.BackendNodeID
	for _, n := range tree.Nodes {
		if n.Ignored {
			continue
		}
		if ok, err := s.is(n); err != nil {
			return nil, err
		} else if ok {
			found = append(found, n.BackendDOMNodeID)
		}
	}
	return found, nil
}

// is reports whether an element has the name. A row has none: it goes by what
// it shows.
func (s *part) is(n *accessibility.Node) (bool, error) {
	if s.role == "row" {
		shown, err := askNode[string](s.tab, n.BackendDOMNodeID, "function() { return this.innerText }")
		return strings.Contains(shown, s.name), err
	}
	var name string
	if n.Name != nil {
		_ = json.Unmarshal(n.Name.Value, &name) // what is no text is no name
	}
	return isNamed(name, s.name), nil
}

// isNamed compares names; every name will do where none is wanted.
func isNamed(name, want string) bool {
	name = strings.Join(strings.Fields(name), " ")
	if beginning, ok := strings.CutSuffix(want, "…"); ok {
		return strings.HasPrefix(name, beginning)
	}
	return want == "" || name == want
}

// one is the only element of the part.
func (s *part) one() (cdp.BackendNodeID, error) {
	found, err := s.find()
	if err != nil {
		return 0, err
	}
	if len(found) != 1 && (len(found) == 0 || !s.several) {
		return 0, fmt.Errorf("there are %d of %s", len(found), s)
	}
	return found[0], nil
}

// askPart runs a function of the page with the part as its this.
func askPart[T any](s *part, function string) (T, error) {
	var zero T
	id, err := s.one()
	if err != nil {
		return zero, err
	}
	return askNode[T](s.tab, id, function)
}

func askNode[T any](p *tab, id cdp.BackendNodeID, function string) (T, error) {
	node, err := chromedp.Call(p.ctx, dom.ResolveNode, dom.ResolveNodeParams{BackendNodeID: id})
	if err != nil {
		var zero T
		return zero, err
	}
	return chromedp.Run(p.ctx, chromedp.CallFunctionOn[T](function, func(c *runtime.CallFunctionOnParams) {
		c.ObjectID = node.Object.ObjectID
	}))
}

// text is what a person can read of it, with single spaces.
func (s *part) text() (string, error) {
	text, err := askPart[string](s, "function() { return (this.innerText ?? this.body.innerText) }")
	return strings.Join(strings.Fields(text), " "), err
}

// sees waits until the part shows all these texts.
func (s *part) sees(texts ...string) {
	s.tab.t.Helper()
	s.reads("shows no %q", func(shown string) string { return firstMissing(shown, texts) })
}

func firstMissing(shown string, texts []string) string {
	for _, text := range texts {
		if !strings.Contains(shown, text) {
			return text
		}
	}
	return ""
}

// lacks waits until the part shows none of these texts.
func (s *part) lacks(texts ...string) {
	s.tab.t.Helper()
	s.reads("still shows %q", func(shown string) string {
		for _, text := range texts {
			if strings.Contains(shown, text) {
				return text
			}
		}
		return ""
	})
}

// reads waits until a text is as it should be; fault says what is not.
func (s *part) reads(complaint string, fault func(shown string) string) {
	s.tab.t.Helper()
	var shown, wrong string
	var err error
	s.tab.eventually(func() bool {
		if shown, err = s.text(); err != nil {
			return false
		}
		wrong = fault(shown)
		return wrong == ""
	}, func() string {
		if err != nil {
			return err.Error()
		}
		return fmt.Sprintf("%s "+complaint+"; it shows: %.3000s", s, wrong, shown)
	})
}

// gone waits until there is no such part.
func (s *part) gone() {
	s.tab.t.Helper()
	s.tab.eventually(func() bool {
		found, err := s.find()
		return err == nil && len(found) == 0
	}, func() string { return fmt.Sprintf("there still is %s", s) })
}

// there waits until there is exactly one such part.
func (s *part) there() *part {
	s.tab.t.Helper()
	var err error
	s.tab.eventually(func() bool { _, err = s.one(); return err == nil }, func() string { return err.Error() })
	return s
}

// spot is where to press an element, and whether a press there reaches it.
type spot struct {
	X, Y float64
	Hit  bool
}

// A switch or a radio button may be pressed on its label: the control itself
// may have no extent. A list that fills while the press is on its way moves the
// element from under it, so a press that arrives elsewhere is kept from the
// page and told.
const findSpot = `function() {
	let e = this
	const size = (e) => { const r = e.getBoundingClientRect(); return Math.min(r.width, r.height) }
	const labels = [...(this.labels ?? [])]
	if (size(e) < 4) e = labels.find((l) => size(l) >= 4) ?? e
	e.scrollIntoView({block: 'center', inline: 'nearest', behavior: 'instant'})
	const r = e.getBoundingClientRect()
	const x = r.x + r.width / 2, y = r.y + r.height / 2
	const reaches = (at) => [this, e, ...labels].some((e) => e.contains(at))
	const events = ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click']
	window.endPress?.()
	window.pressMissed = false
	const watch = (event) => {
		if (event.type === 'pointerdown' || event.type === 'click') window.pressMissed ||= !reaches(event.target)
		if (window.pressMissed) {
			event.preventDefault()
			event.stopImmediatePropagation()
		}
	}
	events.forEach((type) => window.addEventListener(type, watch, true))
	window.endPress = () => events.forEach((type) => window.removeEventListener(type, watch, true))
	return {X: x, Y: y, Hit: reaches(document.elementFromPoint(x, y))}
}`

// push presses the part as soon as it lies still and nothing is over it.
func (s *part) push() {
	s.tab.t.Helper()
	var before, now spot
	var err error
	s.tab.eventually(func() bool {
		before = now
		now, err = askPart[spot](s, findSpot)
		if err != nil || !now.Hit || now != before {
			return false
		}
		if err := chromedp.Do(s.tab.ctx, chromedp.MouseClickXY(now.X, now.Y)); err != nil {
			s.tab.t.Fatalf("click %s: %v", s, err)
		}
		return !evaluate[bool](s.tab, "(window.endPress?.(), window.pressMissed === true)")
	}, func() string {
		if err != nil {
			return "click: " + err.Error()
		}
		return fmt.Sprintf("click: something is over %s", s)
	})
}

// click presses what has this role and name.
func (s *part) click(role, name string) { s.tab.t.Helper(); s.in(role, name).push() }
func (s *part) button(name string)      { s.tab.t.Helper(); s.click("button", name) }
func (s *part) link(name string)        { s.tab.t.Helper(); s.click("link", name) }

// fill types a text in the place of what a field holds.
func (s *part) fill(label, text string) { s.tab.t.Helper(); s.in("textbox", label).enter(text) }

// enter types a text in the place of what this field holds.
func (s *part) enter(text string) {
	s.tab.t.Helper()
	s.push()
	_, err := askPart[chromedp.Void](s, "function() { this.select() }")
	if err == nil {
		_, err = chromedp.Call(s.tab.ctx, input.InsertText, input.InsertTextParams{Text: text})
	}
	if err != nil {
		s.tab.t.Fatalf("fill %s: %v", s, err)
	}
}

// field is how a control stands.
type field struct {
	Value    string
	Checked  bool
	Disabled bool
}

// state waits until a control is there and answers how it stands.
func (s *part) state(role, name string) field {
	s.tab.t.Helper()
	target := s.in(role, name).there()
	f, err := askPart[field](target, "function() { return {Value: this.value ?? '', Checked: this.checked ?? false, Disabled: this.disabled} }")
	if err != nil {
		s.tab.t.Fatalf("%s: %v", target, err)
	}
	return f
}

// becomes waits until a control stands like this.
func (s *part) becomes(role, name string, want field) {
	s.tab.t.Helper()
	var got field
	s.tab.eventually(func() bool { got = s.state(role, name); return got == want }, func() string {
		return fmt.Sprintf("%s is %+v, want %+v", s.in(role, name), got, want)
	})
}
