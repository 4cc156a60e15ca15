// Package browser tests the dashboard as a person has it: the built binary,
// a real browser, and a provider on loopback. Elements are found by the role
// and the name that the browser itself computes for assistive technology.
package browser

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/haltd/haltd/web"
)

// binary is haltd with the dashboard in it.
var binary string

// chromium is the one browser of the package; each test has a tab with a
// cookie jar of its own.
var chromium struct {
	once sync.Once
	ctx  context.Context
	stop context.CancelFunc
	err  error
}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "haltd-browser-")
	if err != nil {
		panic(err)
	}
	binary = filepath.Join(dir, "haltd")
	// By default a program with the race detector sleeps a second at its end.
	os.Setenv("GORACE", "atexit_sleep_ms=50 "+os.Getenv("GORACE"))
	code := m.Run()
	if chromium.stop != nil {
		chromium.stop()
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

var build = sync.OnceValue(func() error {
	out, err := exec.Command("go", "build", "-race", "-o", binary, "../../cmd/haltd").CombinedOutput()
	if err != nil {
		return fmt.Errorf("build haltd: %w\n%s", err, out)
	}
	return nil
})

// lacking skips a test that needs more than there is; in CI it fails, because
// a skipped test proves nothing.
func lacking(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(what)
	}
	t.Skip(what)
}

// needDashboard skips a test where the dashboard has not been built.
func needDashboard(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("browser tests are not short")
	}
	if !web.Built() {
		lacking(t, "the dashboard is not built: run make build")
	}
}

// browser starts Chromium at its first use. It finds no host but loopback.
func browser(t *testing.T) context.Context {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		lacking(t, "chromium is not installed: run test/install.sh")
	}
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
