package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/harness"
)

// Who asks how haltd is hears how the calls to each upstream went.
func TestStatusTellsHowUpstreamsAnswer(t *testing.T) {
	t.Parallel()
	_, up := provider(t)
	gone := harness.Refusing(t)
	n := start(t, fmt.Sprintf("providers: {openai: {base_url: %q}, anthropic: {base_url: %q}}\n", up, gone)+
		fmt.Sprintf("policies: [{id: tools, spec: {selector: {pathPrefix: /tools}, upstream: %q}}]\n", gone))
	told := func() (all map[string]haltd.Upstream) {
		t.Helper()
		var status struct{ Upstreams []haltd.Upstream }
		n.API(t, "GET", "/v1/status", nil, &status)
		all = map[string]haltd.Upstream{}
		for _, u := range status.Upstreams {
			all[u.Name] = u
		}
		return all
	}
	for name, u := range told() {
		if u.State != haltd.UpstreamUnused {
			t.Errorf("%s is %s before the first call", name, u.State)
		}
	}
	post(t, n.Gateway+"/v1/chat/completions", chat)
	post(t, n.Gateway+"/v1/messages?key=secret", `{"model":"echo","max_tokens":9,"messages":[{"role":"user","content":"hello"}]}`, "X-Api-Key", "secret")
	post(t, n.Gateway+"/tools/search", "{}")
	got := told()
	for _, want := range []haltd.Upstream{
		{Name: "openai", Kind: haltd.UpstreamProvider, BaseURL: up, State: haltd.UpstreamOK, Status: 200},
		{Name: "anthropic", Kind: haltd.UpstreamProvider, BaseURL: gone, State: haltd.UpstreamFailing, Failures: 1, Error: "connection refused"},
		{Name: "tools", Kind: haltd.UpstreamService, BaseURL: gone, State: haltd.UpstreamFailing, Failures: 1, Error: "connection refused"},
		{Name: "ollama", Kind: haltd.UpstreamProvider, BaseURL: "http://127.0.0.1:11434", State: haltd.UpstreamUnused},
	} {
		if diff := cmp.Diff(want, got[want.Name], cmpopts.IgnoreFields(haltd.Upstream{}, "LastSuccess", "LastFailure", "FirstByte")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", want.Name, diff)
		}
	}
	out, _, _ := n.CLI(t, "doctor")
	for _, line := range []string{"The last call to anthropic failed", "The last call was answered by openai"} {
		if !strings.Contains(out, line) {
			t.Errorf("haltd doctor prints no %q:\n%s", line, out)
		}
	}
}
