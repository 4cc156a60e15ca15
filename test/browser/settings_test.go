package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
)

// The settings say by name which upstream fails and why, while they are open,
// and do not spread those that nobody called.
func TestSettingsTellOfAFailingUpstream(t *testing.T) {
	t.Parallel()
	var status atomic.Int64
	lab := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(int(status.Load())) }))
	t.Cleanup(lab.Close)
	n := start(t, fmt.Sprintf("policies: [{id: lab-tools, spec: {selector: {pathPrefix: /tools}, upstream: %q}}]\n", lab.URL))
	answer := func(with int) {
		t.Helper()
		status.Store(int64(with))
		res, err := http.Get(n.Gateway + "/tools/search")
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
	}
	n.send(t, call{agent: "triage-bot"})
	p := newTab(t, n)
	p.open("/settings")
	upstreams := p.in("region", "Upstreams")
	upstreams.row("openai").sees("Answering", "200, ", "none")
	upstreams.sees("11 not called yet")
	upstreams.lacks("https://api.anthropic.com", "lab-tools")

	answer(http.StatusServiceUnavailable)
	upstreams.row("lab-tools").sees("policy", "Failing", lab.URL, "none yet", "answered 503 Service Unavailable")
	upstreams.sees("10 not called yet")
	answer(http.StatusTooManyRequests)
	upstreams.row("lab-tools").sees("Rate limited", "429, ", "answered 503 Service Unavailable")
	answer(http.StatusOK)
	upstreams.row("lab-tools").sees("Answering", "200, ")
}
