package browser

import (
	"os"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// shownAt notes when the first page has all its figures.
const shownAt = `new MutationObserver((_, observer) => {
	const main = document.querySelector('main')
	if (!main || main.querySelector('[aria-busy="true"], .mantine-Skeleton-root') || !/Top agents[^]*agent-0399[^]*Shadow/.test(main.innerText)) return
	window.shownAt = performance.now()
	observer.disconnect()
}).observe(document, { subtree: true, childList: true, characterData: true })`

// The first page is there within a second and makes few requests, without
// anything that the browser had kept. Where other tests share the machine,
// only the requests are counted.
func firstPage(t *testing.T, p *tab) {
	p.during(t)
	const most, within = 16, 1000
	_, err := chromedp.Call(p.ctx, network.SetCacheDisabled, network.SetCacheDisabledParams{CacheDisabled: true})
	if err == nil {
		_, err = chromedp.Call(p.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: shownAt})
	}
	if err != nil {
		t.Fatal(err)
	}
	best := 1e9
	for range 5 {
		p.mu.Lock()
		p.asked = nil
		p.mu.Unlock()
		p.open("/")
		p.eventually(func() bool { return evaluate[bool](p, "'shownAt' in window") }, func() string { return "the first page lacks figures" })
		best = min(best, evaluate[float64](p, "shownAt"))
		if best <= within || os.Getenv("HALTD_SIZES") != "all" {
			break
		}
	}
	p.settled()
	asked := p.noted(&p.asked)
	t.Logf("the first page makes %d requests and is there after %.0f ms", len(asked), best)
	if len(asked) == 0 || len(asked) > most {
		t.Errorf("the first page makes %d requests, want %d at most: %q", len(asked), most, asked)
	}
	if os.Getenv("HALTD_SIZES") == "all" && best > within {
		t.Errorf("the first page is there after %.0f ms, want %d at most", best, within)
	}
}
