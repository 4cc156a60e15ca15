// Package browser tests the dashboard as a person has it: the built binary,
// a real browser, and a provider on loopback. Elements are found by the role
// and the name that the browser itself computes for assistive technology.
package browser

import (
	"context"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/haltd/haltd/test/harness"
	"github.com/haltd/haltd/web"
)

// chromium is the one browser of the package; each test has a tab with a
// cookie jar of its own.
var chromium struct {
	once sync.Once
	ctx  context.Context
	stop context.CancelFunc
	err  error
}

func TestMain(m *testing.M) {
	harness.Main(m, func() {
		if chromium.stop != nil {
			chromium.stop()
		}
	})
}

// needDashboard skips a test where the dashboard has not been built.
func needDashboard(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("browser tests are not short")
	}
	if !web.Built() {
		harness.Lacking(t, "the dashboard is not built: run make build")
	}
}

// browser starts Chromium at its first use. It finds no host but loopback.
func browser(t *testing.T) context.Context {
	t.Helper()
	path := harness.Need(t, "chromium")
	chromium.once.Do(func() {
		options := append(chromedp.DefaultExecAllocatorOptions[:],
			chromedp.ExecPath(path),
			chromedp.NoSandbox, // as root, and in containers, there is none
			chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"),
			chromedp.Flag("hide-scrollbars", true),
		)
		allocator, stopAllocator := chromedp.NewExecAllocator(context.Background(), options...)
		ctx, cancel := chromedp.NewContext(allocator)
		chromium.ctx, chromium.stop = ctx, func() { cancel(); stopAllocator() }
		chromium.err = chromedp.Do(ctx, chromedp.Navigate("about:blank"))
	})
	if chromium.err != nil {
		t.Fatalf("start chromium: %v", chromium.err)
	}
	return chromium.ctx
}
