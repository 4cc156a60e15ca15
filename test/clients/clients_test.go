package clients

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
)

// TestSDKs runs every scenario with every SDK: directly, through haltd with
// nothing but the address changed, and through haltd with a named agent.
func TestSDKs(t *testing.T) {
	for _, k := range sdks {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			s := newStand(t)
			key := s.gatewayKey(t, keyHolder)
			for _, sc := range scenarios {
				t.Run(sc.name, func(t *testing.T) {
					sc.check(t, s, k, key)
				})
			}
		})
	}
}

func (sc *scenario) check(t *testing.T, s *stand, k *sdk, gatewayKey string) {
	a := sc.ask
	a.key = "sk-client-key"
	if sc.keyed {
		a.key = gatewayKey
	}
	if a.model == "" {
		a.model = model
	}
	if a.prompt == "" {
		a.prompt = "How is the weather? (" + sc.name + ")"
	}
	events := sc.events(k)

	direct, directly := sc.play(t, s, k, s.fake+k.directPath, a)
	sc.checkOutcome(t, k, direct)
	if len(directly) != len(events) {
		t.Fatalf("the provider got %d requests directly, want %d", len(directly), len(events))
	}
	checkRetryCounts(t, k, directly, events)
	for _, route := range []struct{ name, base, agent string }{
		{"address only", s.Gateway + k.directPath, sc.agentFor(k)},
		{"named agent", s.Gateway + "/agents/billing-bot" + k.agentPath, sc.agentInPath()},
	} {
		t.Run(route.name, func(t *testing.T) {
			through, passed := sc.play(t, s, k, route.base, a)
			if diff := cmp.Diff(direct, through); diff != "" {
				t.Errorf("the client got something else (-direct +through haltd):\n%s", diff)
			}
			if diff := cmp.Diff(expectUpstream(directly, k, sc.keyed), receivedOf(passed)); diff != "" {
				t.Errorf("the provider got something else (-direct +through haltd):\n%s", diff)
			}
			checkEvents(t, s.events(t, len(events)), events, haltd.Event{
				Agent: route.agent, Client: k.defaultAgent, Provider: k.provider, Format: k.format,
				Model: a.model, Path: k.path(a.model, a.stream), Session: a.header["X-Session-Id"],
			}, sc.lists)
		})
	}
}

func (sc *scenario) agentFor(k *sdk) string {
	switch {
	case sc.keyed:
		return keyHolder
	case sc.named != "":
		return sc.named
	}
	return k.defaultAgent
}

func (sc *scenario) agentInPath() string {
	if sc.keyed {
		return keyHolder
	}
	return "billing-bot"
}

// play runs the scenario once and answers what the client and the provider
// got.
func (sc *scenario) play(t *testing.T, s *stand, k *sdk, base string, a ask) (outcome, []fakellm.Request) {
	t.Helper()
	var rules []fakellm.Rule
	if sc.ruled != nil {
		scripts := sc.ruled(k)
		for i, script := range scripts {
			rule := fakellm.Rule{Script: script}
			if i < len(scripts)-1 {
				rule.Times = 1
			}
			rules = append(rules, rule)
		}
	}
	s.script(rules)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if sc.cancels {
		a.onEvent = cancel
	}
	act := k.talk
	if sc.lists {
		act = k.models
	}
	got := act(ctx, base, a)
	requests := s.upstream(t, len(sc.events(k)))
	if sc.cancels {
		if end := requests[len(requests)-1].Outcome; end != fakellm.OutcomeClientLeft {
			t.Errorf("for the provider the stream ended %q, want %q", end, fakellm.OutcomeClientLeft)
		}
	}
	return got, requests
}

// checkOutcome compares what the client got with what the provider was told
// to say.
func (sc *scenario) checkOutcome(t *testing.T, k *sdk, got outcome) {
	t.Helper()
	if sc.lists {
		if got.Failed || got.Text == "" {
			t.Fatalf("listing models: %+v", got)
		}
		return
	}
	want := sc.want(k)
	compared := outcome{Text: want.Text, Tools: got.Tools, Failed: got.Failed, Status: want.Status, Body: want.Body}
	if !want.Failed {
		compared.Text = got.Text
	}
	if want.Status != 0 {
		compared.Status = got.Status
	}
	if want.Body != "" {
		compared.Body = got.Body
	}
	if diff := cmp.Diff(want, compared); diff != "" {
		t.Errorf("the client got something else than the provider said (-said +got):\n%s", diff)
	}
}

// checkRetryCounts holds the SDKs that count their retries to it.
func checkRetryCounts(t *testing.T, k *sdk, requests []fakellm.Request, events []event) {
	t.Helper()
	if k == &gemini {
		return
	}
	count := 0
	for i, r := range requests {
		count++
		if !events[i].Retry {
			count = 0
		}
		if got := r.Header.Get("X-Stainless-Retry-Count"); got != strconv.Itoa(count) {
			t.Errorf("request %d: x-stainless-retry-count %q, want %d", i, got, count)
		}
	}
}

// received is what of a request the provider can notice.
type received struct {
	Method, Path, Query, Proto, Host string
	Header                           http.Header
	TransferEncoding                 []string
	Body                             string
}

func receivedOf(requests []fakellm.Request) []received {
	var out []received
	for _, r := range requests {
		body := string(r.Body)
		if len(body) > 64<<10 {
			body = fmt.Sprintf("%d bytes with SHA-256 %x", len(body), sha256.Sum256(r.Body))
		}
		out = append(out, received{r.Method, r.Path, r.Query, r.Proto, r.Host, r.Header, r.TransferEncoding, body})
	}
	return out
}

// expectUpstream is what the provider should get of the same calls through
// haltd: the same bytes and headers, but for the agent's name and a gateway
// key.
func expectUpstream(directly []fakellm.Request, k *sdk, keyed bool) []received {
	out := receivedOf(directly)
	for i := range out {
		out[i].Header = out[i].Header.Clone()
		out[i].Header.Del("X-Agent-Id")
		if keyed {
			name, value := k.keyHeader(providerKey)
			out[i].Header.Set(name, value)
		}
	}
	return out
}

// checkEvents compares the record with what each event and all of them
// should say.
func checkEvents(t *testing.T, got []haltd.Event, want []event, all haltd.Event, lists bool) {
	t.Helper()
	session := ""
	for i, e := range got {
		common := haltd.Event{Agent: e.Agent, Client: e.Client, Provider: e.Provider, Format: e.Format, Model: e.Model, Path: e.Path}
		expected := all
		expected.Session = ""
		if lists {
			expected.Format, expected.Model, expected.Path = "", e.Model, e.Path
		}
		if diff := cmp.Diff(expected, common); diff != "" {
			t.Errorf("event %d (-want +got):\n%s", i, diff)
		}
		one := event{
			Type: e.Type, Status: e.Status, Stream: e.Stream, Tokens: e.Tokens, Estimated: e.Estimated, Retry: e.Retry,
			Finish: e.Finish, ToolCalls: e.ToolCalls, Error: e.Error,
		}
		if want[i].Error != "" && strings.Contains(e.Error, want[i].Error) {
			one.Error = want[i].Error
		}
		if want[i].Finish == "" || want[i].Estimated {
			one.Tokens, one.Finish = want[i].Tokens, want[i].Finish
		}
		if want[i].Finish == "" {
			one.Estimated = want[i].Estimated
		}
		if diff := cmp.Diff(want[i], one, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("event %d (-want +got):\n%s", i, diff)
		}
		if all.Session != "" && e.Session != all.Session {
			t.Errorf("event %d: session %q, want %q", i, e.Session, all.Session)
		}
		if i > 0 && e.Session != session {
			t.Errorf("event %d: session %q, but %q before", i, e.Session, session)
		}
		session = e.Session
		if e.Status == http.StatusOK && !lists && e.Error == "" && e.Cost <= 0 {
			t.Errorf("event %d: a complete call that cost %v", i, e.Cost)
		}
	}
}
