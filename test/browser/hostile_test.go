package browser

import (
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/haltd/haltd/test/fakellm"
)

// hostile are texts that strangers choose: each would run, break out, or
// spread, if a page took it for more than text.
var hostile = []string{
	`<script>window.__xss=1</script>`,
	`<img/src="x"/onerror="window.__xss=1">`,
	`"><svg/onload=window.__xss=1>`,
	`javascript:window.__xss=1`,
	`{{constructor.constructor('window.__xss=1')()}}`,
	"\u202Etxt.exe\u2066\u200F from right to left",
	strings.Repeat("W", 200),
}

func TestHostileTexts(t *testing.T) {
	t.Parallel()
	n := start(t, allowInternal)
	r := newReceiver(t)
	post := func(path string, body map[string]any) { t.Helper(); n.Must(t, "POST", path, body, nil) }
	for i, text := range hostile {
		post("/v1/rules", map[string]any{"name": short(text), "condition": map[string]any{"session": text, "model": text, "provider": text}, "action": "tag", "action_config": map[string]any{"tag": short(text)}})
		post("/v1/channels", map[string]any{"name": short(text), "kind": "webhook", "settings": map[string]any{"url": r.URL + "/" + url.PathEscape(text)}})
		post("/v1/alert-rules", map[string]any{"name": short(text), "agents": []string{fmt.Sprint("agent-", i)}})
		post("/v1/keys", map[string]any{"agent": "keyed", "name": short(text)})
	}
	var incidents []string
	for i, text := range hostile {
		incidents = append(incidents, n.runAwayWith(t, fmt.Sprint("agent-", i), text))
	}
	n.Must(t, "PUT", "/v1/bypass", map[string]any{"on": true, "reason": hostile[0]}, nil)
	n.Must(t, "PUT", "/v1/bypass", map[string]any{"on": false, "reason": hostile[1]}, nil)
	post("/v1/agents/agent-1/deactivate", map[string]any{"reason": hostile[1]})
	post("/v1/incidents/"+incidents[0]+"/feedback", map[string]any{"status": "kept", "note": hostile[0]})

	p := newTab(t, n)
	p.open("/rules")
	p.row(hostile[0]).sees(hostile[0])
	p.unharmed()
	p.open("/alerts")
	p.in("region", "Channels").row(hostile[1]).sees(hostile[1])
	p.unharmed()
	p.open("/incidents/" + incidents[0])
	p.sees(hostile[0], "“"+hostile[0]+"”")
	p.unharmed()
	// Every text is on the lists below; on the pages of its own incident and
	// session, make test looks at one of each kind: markup, direction, length.
	for i, text := range hostile {
		if i > 0 && i < len(hostile)-2 && os.Getenv("HALTD_SIZES") != "all" {
			continue
		}
		p.open("/incidents/" + incidents[i])
		p.in("heading", fmt.Sprintf("agent-%d called…", i)).there()
		p.unharmed()
		if strings.Contains(text, " ") {
			continue // a session is not called so: haltd names it by a digest
		}
		p.open(fmt.Sprintf("/agents/agent-%d/sessions/%s", i, url.PathEscape(text)))
		p.in("heading", text).there()
		p.unharmed()
	}
	for _, path := range []string{"/", "/agents", "/agents/agent-1", "/sessions", "/incidents", "/events", "/costs", "/settings",
		"/agents/" + url.PathEscape(hostile[0]), "/incidents/" + url.PathEscape(hostile[1]), "/events?session=" + url.QueryEscape(hostile[0])} {
		p.expect("status of 4") // agents and incidents that nobody knows
		p.open(path)
		p.settled()
		p.unharmed()
	}
	p.open("/events")
	p.in("button", "Open event of…").first().push()
	p.in("dialog", "").there()
	p.unharmed()
}

// short is a name that may be given.
func short(text string) string { return text[:min(len(text), 100)] }

// runAwayWith is runAway of an agent whose every word is hostile.
func (n *node) runAwayWith(t *testing.T, agent, text string) string {
	t.Helper()
	n.killSwitch(t, agent, true)
	messages := []message{user(text)}
	for i := range 20 {
		status, incident := n.send(t, call{agent: agent, session: text, model: text, messages: messages,
			reply: fakellm.Script{Text: text, Finish: text, ToolCalls: []fakellm.ToolCall{{Name: text, Arguments: `{"a": 1}`}}}})
		if incident != "" {
			return incident
		}
		if status != 200 {
			t.Fatalf("a call with %q is answered %d", text, status)
		}
		messages = append(messages, round(fmt.Sprintf("call_%d", i), text, `{"a": 1}`, text)...)
	}
	t.Fatalf("the loop with %q was not killed", text)
	return ""
}

// unharmed fails when a text became more than text. What the console and the
// browser's own dialogs say is looked at when the tab closes.
func (p *tab) unharmed() {
	p.t.Helper()
	here := evaluate[string](p, "location.pathname")
	if evaluate[bool](p, "'__xss' in window") {
		p.t.Errorf("%s: a script ran", here)
	}
	bad := evaluate[[]string](p, `[...document.querySelectorAll('a[href^="javascript:" i], script:not([src]), [onerror], [onload], img[src="x"]')].map((e) => e.outerHTML)`)
	for _, html := range bad {
		p.t.Errorf("%s: the page holds %s", here, html)
	}
	for _, text := range evaluate[[]string](p, movesWords) {
		p.t.Errorf("%s: %q can move the words around it", here, text)
	}
	for _, l := range []look{desktop, phone} {
		p.show(l)
		p.fits()
	}
	p.show(desktop)
}

// movesWords finds texts with marks of direction that do not stand alone in an
// element that ends their reach.
const movesWords = `(() => {
	const found = [], texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
	for (let n = texts.nextNode(); n; n = texts.nextNode()) {
		if (!/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/.test(n.data)) continue
		const around = n.parentElement, style = getComputedStyle(around)
		const ends = style.unicodeBidi.startsWith('isolate') || style.display !== 'inline'
		if (!ends || around.textContent !== n.data) found.push(around.outerHTML)
	}
	return found
})()`

// The guards of these tests notice what they are there for.
func inlineScriptsAreRefused(t *testing.T, n *node) {
	p := newTab(t, n)
	p.expect("Content Security Policy")
	p.open("/")
	p.settled()
	evaluate[chromedp.Void](p, `document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.__xss = 1'}))`)
	p.eventually(func() bool { return strings.Contains(strings.Join(p.noted(&p.errors), " "), "Content Security Policy") }, func() string {
		return "the console says nothing of an inline script"
	})
	if evaluate[bool](p, "'__xss' in window") {
		t.Error("an inline script ran")
	}
}
