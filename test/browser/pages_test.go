package browser

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/haltd/haltd/test/harness"
)

// atRest is how much a page holds, or nothing while it waits for something.
const atRest = `document.querySelector('h1, main [role="alert"]') && !document.querySelector('[aria-busy="true"]') &&
	document.getAnimations().every((a) => a.effect.getTiming().iterations === Infinity)
	? [document.body.innerText.length, document.querySelectorAll('*').length, performance.getEntriesByType('resource').length].join() : ''`

// settled waits until a page has all that it asked for.
func (p *tab) settled() {
	p.t.Helper()
	const rest = 60 * time.Millisecond
	var before string
	var since time.Time
	p.eventually(func() bool {
		now := evaluate[string](p, atRest)
		if now == "" || now != before {
			since = time.Now()
		}
		before = now
		return now != "" && time.Since(since) >= rest
	}, func() string { return "the page does not come to rest" })
}

// axe is the accessibility checker.
func axe(t *testing.T) string {
	t.Helper()
	script, err := os.ReadFile("node_modules/axe-core/axe.min.js")
	if err != nil {
		harness.Lacking(t, "axe-core is not installed: run test/install.sh")
	}
	return string(script)
}

// violations are what the checker holds against a page; rules may be left to
// a few.
func (p *tab) violations(script string, rules ...string) []string {
	p.t.Helper()
	if !evaluate[bool](p, "'axe' in window") {
		evaluate[chromedp.Void](p, script)
	}
	options := map[string]any{"resultTypes": []string{"violations"}}
	if len(rules) > 0 {
		options["runOnly"] = rules
	}
	o, err := json.Marshal(options)
	if err != nil {
		p.t.Fatal(err)
	}
	found := evaluate[[]struct {
		ID, Impact, Help string
		Nodes            []struct {
			HTML           string
			FailureSummary string
		}
	}](p, fmt.Sprintf("axe.run(document, %s).then((r) => r.violations.map(({id, impact, help, nodes}) => ({ID: id, Impact: impact, Help: help, Nodes: nodes.map((n) => ({HTML: n.html, FailureSummary: n.failureSummary}))})))", o), chromedp.EvalAwaitPromise)
	var bad []string
	for _, v := range found {
		if v.Impact != "serious" && v.Impact != "critical" {
			continue
		}
		for _, n := range v.Nodes[:min(3, len(v.Nodes))] {
			bad = append(bad, fmt.Sprintf("%s (%s, %d times): %s\n\t%s\n\t%s", v.ID, v.Impact, len(v.Nodes), v.Help, n.HTML, strings.ReplaceAll(n.FailureSummary, "\n", " ")))
		}
	}
	return bad
}

// widths are the windows that every page has to fit into: a phone, or with
// HALTD_SIZES=all all that people have, in both schemes.
func widths(t *testing.T) []look {
	t.Helper()
	switch sizes := os.Getenv("HALTD_SIZES"); sizes {
	case "":
		return []look{phone}
	case "all":
		var all []look
		for _, l := range []look{{width: 320, height: 568}, phone, {width: 820, height: 1180}, {width: 1024, height: 768}, {width: 1280, height: 800}, desktop, {width: 2560, height: 1440}} {
			l.scheme = "light"
			all = append(all, l, l.dark())
		}
		return all
	default:
		t.Fatalf("HALTD_SIZES is %q, want all or nothing", sizes)
		return nil
	}
}

// checked are the widths at which the checker looks at every page.
var checked = map[int64]bool{390: true, 820: true, 1280: true, 1440: true}

// Every page is accessible, needs no sideways scrolling on a phone, and leaves the console without an error and other hosts alone.
func TestEveryPage(t *testing.T) {
	t.Parallel()
	script, sizes := axe(t), widths(t)
	n := startIn(t, recorded(t, yesterday), allowInternal)
	s := tell(t, n, newReceiver(t).URL, 0)
	p := newTab(t, n)
	for _, page := range append(s.paths(), [2]string{"not found", "/nowhere"}) {
		t.Run(page[0], func(t *testing.T) {
			p.during(t)
			p.show(desktop)
			p.open(page[1])
			p.settled()
			p.accessible(script)
			if page[0] == "overview" || page[0] == "incident" {
				p.accessibleInDark(script)
			}
			for _, l := range sizes {
				p.show(l)
				p.fits()
				if len(sizes) == 1 || !checked[l.width] { // the checker takes its time: the rest is for make verify
					continue
				}
				p.settled()
				rules := []string{} // all
				if l.scheme == "dark" {
					rules = []string{"color-contrast"} // a scheme changes nothing else
				}
				for _, v := range p.violations(script, rules...) {
					t.Errorf("%d px, %s: %s", l.width, l.scheme, v)
				}
			}
		})
	}
	t.Run("sign-in", func(t *testing.T) {
		p := newStranger(t, n)
		p.expect("status of 401")
		p.open("/sign-in")
		p.settled()
		p.accessible(script)
	})
	for name, open := range map[string]func(p *tab){
		"resume": func(p *tab) {
			p.open("/incidents/" + s.killed)
			p.button("Resume")
			p.dialog("Resume billing-bot").there()
		},
		"event drawer": func(p *tab) {
			p.open("/events")
			p.in("button", "Open event of…").first().push()
			p.in("dialog", "").there()
		},
		"rule editor":   func(p *tab) { p.open("/rules"); p.button("New rule"); p.dialog("New rule").there() },
		"channel":       func(p *tab) { p.open("/alerts"); p.button("Add a channel"); p.dialog("Add a channel").there() },
		"policy editor": func(p *tab) { p.open("/agents/code-review"); p.button("Edit policy"); p.in("dialog", "").there() },
	} {
		t.Run(name, func(t *testing.T) {
			p.during(t)
			p.show(desktop)
			open(p)
			p.settled()
			p.accessible(script)
		})
	}
}

// accessible lets the checker look at the page, of make test in light and of
// make verify in dark colours, too.
func (p *tab) accessible(script string) {
	p.t.Helper()
	for _, v := range p.violations(script) {
		p.t.Errorf("light: %s", v)
	}
	if os.Getenv("HALTD_SIZES") == "all" {
		p.accessibleInDark(script)
	}
}

func (p *tab) accessibleInDark(script string) {
	p.t.Helper()
	p.show(desktop.dark())
	p.settled()
	for _, v := range p.violations(script, "color-contrast") {
		p.t.Errorf("dark: %s", v)
	}
}
