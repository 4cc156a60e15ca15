package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	_ "time/tzdata" // the zone of the benchmark is known everywhere

	"github.com/google/go-cmp/cmp"

	"github.com/haltd/haltd/internal/config"
	"github.com/haltd/haltd/internal/policy"
	"github.com/haltd/haltd/test/harness"
)

func TestEverythingIsOn(t *testing.T) {
	file := harness.NewConfig(t.TempDir(), "127.0.0.1:7070", "127.0.0.1:7071")
	file.Write(t, fmt.Sprintf(everythingOn, "http://127.0.0.1:9", budgets))
	c, err := config.Load(file.Path, func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	p := &c.Defaults.Policy
	if !p.KillSwitch.Enabled || !p.Budgets.Day.IsHard() || !p.Budgets.Month.IsHard() || len(p.Hours) != 2 || p.Rates.Requests == 0 || p.Rates.Tokens == 0 {
		t.Errorf("something is off: %+v", p)
	}
	if n := len(c.PolicySet.Match("POST", "127.0.0.1", "/v1/chat/completions")); n != 2 {
		t.Errorf("%d policies select a request, want the one by path and the defaults", n)
	}
	berlin, err := time.LoadLocation(p.TimeZone)
	if err != nil {
		t.Fatal(err)
	}
	for hour := range 24 {
		at := time.Date(2026, 7, 4, hour, 30, 0, 0, time.UTC)
		if !policy.Allowed(p.Hours, berlin, at) {
			t.Errorf("%s is outside of the hours", at)
		}
		all := rules(at)
		for i := range all {
			all[i].Enabled = true
			if err := all[i].Check(); err != nil {
				t.Errorf("rule %q: %v", all[i].Name, err)
			}
		}
		for _, later := range []time.Duration{0, 20 * time.Minute, time.Hour} {
			q := policy.RuleQuery{Model: "gpt-4.1-mini", Provider: "openai", Agent: "bench-00", PromptTokens: 50_000, Time: at.Add(later).In(berlin)}
			if r, ok := policy.Compile(all).Match(q); ok {
				t.Errorf("rule %q matches at %s", r.Name, q.Time)
			}
		}
	}
}

// countingOn is an admin API that counts one request more each time that it is asked.
type countingOn struct{ counted, most int }

func (c *countingOn) RoundTrip(*http.Request) (*http.Response, error) {
	c.counted = min(c.counted+1, c.most)
	text := fmt.Sprintf("haltd_requests_total{decision=\"allow\",provider=\"openai\"} %d\n", c.counted)
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(text))}, nil
}

func TestDecisionsAreReadWhenTheyAreKnownOfAllRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of := func(most int) *gateway {
			return &gateway{harness.Listeners{Client: &http.Client{Transport: &countingOn{most: most}}}}
		}
		got, err := of(10).awaitDecisions(t.Context(), 7)
		if diff := cmp.Diff(map[string]int64{"allow": 7}, got); diff != "" || err != nil {
			t.Errorf("decisions (-want +got), %v:\n%s", err, diff)
		}
		if _, err := of(6).awaitDecisions(t.Context(), 7); err == nil || !strings.Contains(err.Error(), "6 requests and was sent 7") {
			t.Errorf("one that is never counted: %v", err)
		}
		if got, err := of(10).awaitDecisions(t.Context(), 0); len(got) != 0 || err != nil {
			t.Errorf("before the first request: %v, %v", got, err)
		}
	})
}
