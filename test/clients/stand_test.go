// Package clients runs the official SDKs, unchanged but for their base URL,
// against a real haltd process in front of a fake provider, and compares with
// what they do when they call the fake provider directly. It is a module of
// its own, so that no SDK becomes a dependency of haltd.
package clients

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
	"github.com/haltd/haltd/test/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// providerKey is what haltd sends upstream for calls with a gateway key.
const providerKey = "sk-provider-key-from-the-configuration"

// stand is a fake provider with haltd before it.
type stand struct {
	*harness.Node
	llm  *fakellm.Server
	fake string        // address of the provider
	seen haltd.EventID // the newest event that a test has looked at
}

func newStand(t *testing.T) *stand {
	t.Helper()
	llm, fake := harness.Provider(t, nil)
	return &stand{llm: llm, fake: fake, Node: harness.Start(t, fmt.Sprintf(`providers:
  openai: {base_url: %[1]q, api_key: %[2]q}
  anthropic: {base_url: %[1]q, api_key: %[2]q}
  gemini: {base_url: %[1]q, api_key: %[2]q}
`, fake, providerKey))}
}

// script clears the provider's log and sets its rules.
func (s *stand) script(rules []fakellm.Rule) {
	s.llm.Clear()
	s.llm.SetRules(rules)
}

// upstream is what the provider got, once n requests are done.
func (s *stand) upstream(t *testing.T, n int) []fakellm.Request {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), harness.Patience)
	defer cancel()
	requests, err := s.llm.Await(ctx, n)
	if err != nil {
		t.Fatalf("wait until the provider is done with %d requests: %v; it has %d", n, err, len(s.llm.Requests()))
	}
	return requests
}

// events are the n events of requests since the last look, oldest first; what
// haltd notices about them besides does not count. More than n is an error of
// its own.
func (s *stand) events(t *testing.T, n int) (fresh []haltd.Event) {
	t.Helper()
	s.Eventually(t, fmt.Sprintf("showing %d events", n), func() bool {
		events, _, err := s.EventPage(t.Context(), "limit=100&type=llm_call,pass_through,blocked,error", "")
		if err != nil {
			t.Fatal(err)
		}
		fresh = slices.DeleteFunc(events, func(e haltd.Event) bool { return e.ID <= s.seen })
		if len(fresh) > n {
			t.Fatalf("there are %d events, want %d: %+v", len(fresh), n, fresh)
		}
		return len(fresh) == n
	})
	slices.Reverse(fresh)
	if n > 0 {
		s.seen = fresh[n-1].ID
	}
	return fresh
}

// gatewayKey makes a gateway key for agent.
func (s *stand) gatewayKey(t *testing.T, agent string) string {
	t.Helper()
	var key struct {
		Secret string `json:"secret"`
	}
	s.Must(t, http.MethodPost, "/v1/keys", map[string]string{"agent": agent}, &key)
	return key.Secret
}
