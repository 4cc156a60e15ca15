package browser

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/haltd/haltd/test/harness"
)

// tab is a page of the dashboard in a browser with a cookie jar of its own.
// When its test ends, nothing may have been asked of another host, and the
// console may hold no error.
type tab struct {
	*part
	t     *testing.T
	n     *node
	ctx   context.Context
	known []string // hosts besides haltd that the test itself has to do with

	mu       sync.Mutex
	asked    []string // addresses of all requests
	errors   []string // of the console
	dialogs  []string
	expected []string // parts of errors that belong to the test
}

// look is how a tab shows pages.
type look struct {
	width, height int64
	scheme        string // light or dark
}

var (
	desktop = look{1440, 900, "light"}
	phone   = look{390, 844, "light"}
)

func (l look) dark() look { l.scheme = "dark"; return l }

// newTab opens a tab of somebody who is signed in.
func newTab(t *testing.T, n *node) *tab {
	t.Helper()
	p := newStranger(t, n)
	p.signIn()
	return p
}

// newStranger opens a tab of somebody who is not.
func newStranger(t *testing.T, n *node) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser(t), chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	p := &tab{t: t, n: n, ctx: ctx}
	p.part = &part{tab: p}
	p.listen()
	p.show(desktop)
	t.Cleanup(p.check)
	return p
}

// during lets a subtest use the tab of its test, which spares loading the
// dashboard anew.
func (p *tab) during(t *testing.T) {
	outer := p.t
	p.t = t
	t.Cleanup(func() {
		p.check()
		p.mu.Lock()
		p.asked, p.errors, p.dialogs = nil, nil, nil
		p.mu.Unlock()
		p.t = outer
	})
}

func (p *tab) listen() {
	p.t.Helper()
	console := chromedp.Console(p.ctx)
	requests := chromedp.Events(p.ctx, network.RequestWillBeSent)
	dialogs := chromedp.Events(p.ctx, page.JavascriptDialogOpening)
	go func() {
		for m, err := range console {
			if err == nil && (m.IsException() || m.Type == chromedp.ConsoleError) {
				p.note(&p.errors, m.String()+" "+m.URL)
			}
		}
	}()
	go func() {
		for e, err := range requests {
			if err == nil {
				p.note(&p.asked, e.Request.URL)
			}
		}
	}()
	go func() {
		for e, err := range dialogs {
			if err == nil {
				p.note(&p.dialogs, e.Message)
				_, _ = chromedp.Call(p.ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{})
			}
		}
	}()
	if _, err := chromedp.Call(p.ctx, network.Enable, network.EnableParams{}); err != nil {
		p.t.Fatalf("listen to the network: %v", err)
	}
}

func (p *tab) note(list *[]string, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	*list = append(*list, text)
}

func (p *tab) noted(list *[]string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(*list)
}

// expect names a part of an error that the console will hold by rights.
func (p *tab) expect(part string) { p.note(&p.expected, part) }

// check looks at what nobody sees.
func (p *tab) check() {
	p.t.Helper()
	if p.t.Failed() {
		p.keepPicture()
	}
	expected := p.noted(&p.expected)
	for _, e := range p.noted(&p.errors) {
		if !slices.ContainsFunc(expected, func(part string) bool { return strings.Contains(e, part) }) {
			p.t.Errorf("the console holds %s", e)
		}
	}
	for _, address := range p.noted(&p.asked) {
		if u, err := url.Parse(address); err != nil || !p.mayAsk(u) {
			p.t.Errorf("the page asked for %s", address)
		}
	}
	for _, d := range p.noted(&p.dialogs) {
		p.t.Errorf("the page opened a dialog of the browser: %s", d)
	}
}

func (p *tab) mayAsk(u *url.URL) bool {
	return u.Scheme == "about" || u.Scheme == "data" || u.Scheme == "http" && (u.Host == p.n.Config.Admin || slices.Contains(p.known, u.Host))
}

// keepPicture leaves what the tab showed last, for who looks into a failure.
func (p *tab) keepPicture() {
	if picture, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot()); err == nil {
		_ = os.WriteFile(filepath.Join(p.t.ArtifactDir(), "failed.png"), picture, 0o600)
	}
}

// show gives the tab a size and a colour scheme.
func (p *tab) show(l look) {
	p.t.Helper()
	err := chromedp.Do(p.ctx, chromedp.EmulateViewport(l.width, l.height))
	if err == nil {
		_, err = chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: l.scheme}},
		})
	}
	if err != nil {
		p.t.Fatalf("show at %d × %d, %s: %v", l.width, l.height, l.scheme, err)
	}
}

// signIn gives the tab the cookie that the admin token is worth.
func (p *tab) signIn() {
	p.t.Helper()
	res, err := p.n.Open(p.t.Context(), "POST", "/v1/sign-in", map[string]string{"token": harness.Token})
	if err != nil {
		p.t.Fatal(err)
	}
	res.Body.Close()
	if len(res.Cookies()) == 0 {
		p.t.Fatalf("signing in is answered %d without a cookie", res.StatusCode)
	}
	for _, c := range res.Cookies() {
		_, err := chromedp.Call(p.ctx, network.SetCookie, network.SetCookieParams{
			Name: c.Name, Value: c.Value, URL: p.n.Admin, HTTPOnly: &c.HttpOnly, SameSite: network.CookieSameSiteStrict,
		})
		if err != nil {
			p.t.Fatalf("sign in: %v", err)
		}
	}
}

// open goes to a path of the dashboard.
func (p *tab) open(path string) { p.goTo(p.n.Admin + path) }

func (p *tab) goTo(address string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, harness.Patience)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.Navigate(address)); err != nil {
		p.t.Fatalf("open %s: %v", address, err)
	}
}

// press types on the keyboard, wherever the focus is.
func (p *tab) press(keys string) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, chromedp.KeyEvent(keys)); err != nil {
		p.t.Fatalf("press %q: %v", keys, err)
	}
}

// at waits until the tab is at a path.
func (p *tab) at(path string) {
	p.t.Helper()
	var got string
	p.eventually(func() bool {
		got = evaluate[string](p, "location.pathname + location.search")
		return got == path
	}, func() string { return "the tab is at " + got + ", want " + path })
}

// eventually waits for the page. The function says what it waits for in vain.
// To look at a page takes the browser's time, which the page needs itself: the
// longer it takes, the less often it is looked at.
func (p *tab) eventually(ok func() bool, otherwise func() string) {
	p.t.Helper()
	wait, next := 10*time.Millisecond, time.Time{}
	look := func() bool {
		if time.Now().Before(next) {
			return false
		}
		if ok() {
			return true
		}
		next = time.Now().Add(wait)
		wait = min(2*wait, 100*time.Millisecond)
		return false
	}
	if err := harness.Until(p.ctx, look); err != nil {
		p.t.Fatalf("%s: %v", otherwise(), err)
	}
}

// evaluate asks the page itself.
func evaluate[T any](p *tab, expression string, options ...chromedp.EvaluateOption) T {
	p.t.Helper()
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression, options...))
	if err != nil {
		p.t.Fatalf("evaluate %s: %v", expression, err)
	}
	return v
}
