package browser

import (
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/haltd/haltd/test/harness"
)

// Where haltd is away, pages say so in its own words, dialogs end, and all goes
// on once it is back. While it takes its time, nothing is said that is not
// known.
func TestHaltdIsAway(t *testing.T) {
	t.Parallel()
	needDashboard(t)
	_, upstream := harness.Provider(t, harness.Scripted)
	n := &node{harness.New(t, t.TempDir())}
	n.Config.Replace(t, strings.Replace(n.Config.Base(), "gateway: {", "gateway: {block_status: 403, ", 1)+harness.Providers(upstream))
	n.Run(t)
	incident := n.runAway(t, "away-bot", "run-1")
	p := newTab(t, n)
	p.expect("ERR_CONNECTION_REFUSED")
	p.expect("ERR_INCOMPLETE_CHUNKED_ENCODING")
	p.expect("ERR_CONNECTION_RESET")
	p.expect("Failed to fetch dynamically imported module")
	p.expect("haltd does not answer")

	// The answer that was sent is shown, whatever is usual.
	p.open("/incidents/" + incident)
	p.sees("HTTP 403, no retry")
	p.open("/agents/away-bot")
	p.sees("Every call now gets the inactive answer (HTTP 403, no retry)")

	// It hangs: a page that is not there yet is no empty one.
	p.button("Resume")
	question := p.dialog("Resume away-bot")
	question.there()
	if err := syscall.Kill(n.PID(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	p.press("\x1b")
	question.gone()
	p.link("All incidents")
	p.eventually(func() bool { return evaluate[bool](p, `document.querySelector('main [aria-busy="true"]') !== null`) },
		func() string { return "nothing shows that incidents are on their way" })
	p.lacks("0 incidents")
	p.lacks("No incidents")
	if err := syscall.Kill(n.PID(), syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	p.sees("1 incident")

	// It is gone, in the middle of a decision.
	p.open("/agents/away-bot")
	p.button("Resume")
	question.there()
	n.Kill(t)
	question.button("Resume")
	p.sees("Not resumed.", "haltd does not answer")
	p.eventually(func() bool {
		return evaluate[bool](p, `document.querySelector('[role="dialog"] [data-loading]') === null`)
	},
		func() string { return "the dialog still waits" })
	p.press("\x1b")
	question.gone()
	p.link("Rules")
	p.sees("haltd does not answer", "Live updates stopped")
	p.lacks("Failed to fetch")
	p.lacks("refused to connect")

	n.Run(t)
	p.signIn() // the token of a test is as before, and so is the cookie; a new one does no harm
	p.button("Try again")
	p.sees("Evaluated from top to bottom")
	p.goTo("about:blank") // before haltd ends: it was started after the tab
}

// What happens after a page was read and before its live updates begin is
// shown, too.
func TestLiveUpdatesBeginLate(t *testing.T) {
	t.Parallel()
	n := start(t, "")
	p := newTab(t, n)
	p.expect("ERR_BLOCKED_BY_CLIENT")
	p.blocks(&network.BlockPattern{URLPattern: n.Admin + "/v1/events/stream", Block: true})
	p.open("/agents")
	p.sees("No agent yet")
	n.send(t, call{agent: "early-bot"})
	p.blocks()
	p.sees("early-bot")
}

func (p *tab) blocks(patterns ...*network.BlockPattern) {
	p.t.Helper()
	if _, err := chromedp.Call(p.ctx, network.SetBlockedURLs, network.SetBlockedURLsParams{URLPatterns: patterns}); err != nil {
		p.t.Fatalf("block requests: %v", err)
	}
}
