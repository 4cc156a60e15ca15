package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/haltd/haltd"
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
	t.Run("keys", func(t *testing.T) { editKeys(t, p) })
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

// A key is created with limits and gets others, which its row and the API tell.
func editKeys(t *testing.T, p *tab) {
	p.during(t)
	p.open("/settings")
	p.button("New key")
	ask := p.dialog("New gateway key")
	ask.fill("Agent", "team-bot")
	ask.fill("Name (optional)", "pipeline")
	ask.fill("Daily budget", "5")
	ask.button("Create key")
	p.dialog("The new key").sees("haltd_")
	p.dialog("The new key").button("Done")
	keys := p.in("region", "Gateway keys")
	keys.row("pipeline").sees("team-bot", "all models", "of $5.00 a day", "Active")

	keys.button("Edit pipeline")
	ask = p.dialog("Key pipeline")
	ask.fill("Name (optional)", "nightly")
	ask.in("combobox", "Models").enter("gpt-*")
	p.press("\r")
	ask.fill("Daily budget", "7.5")
	ask.fill("Monthly budget", "90")
	ask.button("Save")
	p.sees("Key saved.")
	keys.row("nightly").sees("gpt-*", "of $7.50 a day", "of $90.00 a month")
	var list struct{ Keys []haltd.Key }
	p.n.Must(t, "GET", "/v1/keys", nil, &list)
	if got := list.Keys[0]; got.Name != "nightly" || !slices.Equal(got.Models, []string{"gpt-*"}) || got.BudgetDay != 7_500_000_000 || got.BudgetMonth != 90*haltd.Dollar || got.ExpiresAt != nil {
		t.Errorf("the key is %+v", got)
	}
}
