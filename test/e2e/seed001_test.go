package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/harness"
)

// The two examples of the document, as they are written there.
const (
	loopDetectionExample = `"loop_detection": {
  "enabled": true,
  "window_seconds": 60,
  "threshold_identical_requests": 4,
  "action": "reject",
  "similarity": "exact"
}`
	policyExample = `{
  "id": "agent-tools",
  "spec": {
    "selector": { "pathPrefix": "/v1/tools/" },
    "loop_detection": {
      "enabled": true,
      "window_seconds": 45,
      "threshold_identical_requests": 4,
      "action": "throttle"
    },
    "rules": [
      {
        "name": "base-rps",
        "limit_keys": ["jwt:org_id", "header:x-tool-name"],
        "algorithm": "token_bucket",
        "algorithm_config": { "rps": 20, "burst": 40 }
      }
    ]
  }
}`
)

// tools is a service that is no LLM provider. It remembers what it got.
type tools struct {
	*httptest.Server
	mu  sync.Mutex
	got []string // method and path with query
}

func newTools(t *testing.T) *tools {
	t.Helper()
	s := &tools{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.got = append(s.got, r.Method+" "+r.URL.RequestURI())
		s.mu.Unlock()
		_, _ = io.WriteString(w, `{"ok":true}`)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *tools) count(request string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.got {
		if r == request {
			n++
		}
	}
	return n
}

// exactPolicies put one policy of each kind before the tool server.
func exactPolicies(tools string) string {
	const policies = `
policies:
  - id: reject
    spec:
      selector: {pathPrefix: /reject/}
      upstream: %[1]q
      loop_detection: {enabled: true, window_seconds: 60, threshold_identical_requests: 3}
      rules:
        - {name: tool, limit_keys: ["header:x-tool-name"], algorithm: token_bucket, algorithm_config: {rps: 1000, burst: 1000}}
  - id: renewed
    spec:
      selector: {pathPrefix: /renewed/}
      upstream: %[1]q
      loop_detection: {enabled: true, window_seconds: 2, threshold_identical_requests: 3, action: reject}
  - id: throttle
    spec:
      selector: {pathPrefix: /throttle/}
      upstream: %[1]q
      loop_detection: {enabled: true, window_seconds: 60, threshold_identical_requests: 3, action: throttle}
  - id: warn
    spec:
      selector: {pathPrefix: /warn/}
      upstream: %[1]q
      loop_detection: {enabled: true, window_seconds: 60, threshold_identical_requests: 2, action: warn}
      rules:
        - {name: few, limit_keys: ["header:x-tool-name"], algorithm: token_bucket, algorithm_config: {rps: 0.001, burst: 3}}
  - id: trial
    spec:
      selector: {pathPrefix: /both/}
      mode: shadow
      loop_detection: {enabled: true, window_seconds: 60, threshold_identical_requests: 2}
      rules:
        - {name: one, limit_keys: ["ip:address"], algorithm: token_bucket, algorithm_config: {rps: 0.001, burst: 1}}
  - id: enforced
    spec:
      selector: {pathPrefix: /both/}
      upstream: %[1]q
      loop_detection: {enabled: true, window_seconds: 60, threshold_identical_requests: 4}
  - id: only-posts
    spec:
      selector: {pathExact: /posts, methods: [POST]}
      upstream: %[1]q
      loop_detection: {enabled: true, window_seconds: 60, threshold_identical_requests: 2}
`
	return fmt.Sprintf(policies, tools)
}

// TestSeed001 is the loop detector of identical requests, before a tool
// server.
func TestSeed001(t *testing.T) {
	up := newTools(t)
	s := newStage(t, exactPolicies(up.URL))

	t.Run("Fingerprint", func(t *testing.T) { testFingerprint(t, s) })
	t.Run("Decision", func(t *testing.T) {
		t.Run("Reject", func(t *testing.T) { testReject(t, s, up) })
		t.Run("Throttle", func(t *testing.T) { t.Parallel(); testThrottle(t, s, up) })
		t.Run("Throttled client leaves", func(t *testing.T) { t.Parallel(); testThrottledClientLeaves(t, s, up) })
		t.Run("Warn", func(t *testing.T) { testWarn(t, s) })
		t.Run("Every hit renews the window", func(t *testing.T) { t.Parallel(); testRenewedWindow(t, s) })
	})
	t.Run("Shadow mode", func(t *testing.T) { testShadowPolicy(t, s) })
	t.Run("Rate rule by header", func(t *testing.T) { testRateRule(t, s) })
	t.Run("Selector", func(t *testing.T) {
		a := s.agent(t)
		for range 3 {
			a.call("POST", "/posts", "x")
		}
		if got := a.call("POST", "/posts", "x"); got.status != http.StatusTooManyRequests {
			t.Errorf("POST /posts: %d, want 429", got.status)
		}
		for range 3 {
			if got := a.call("GET", "/posts", ""); got.header.Get("X-Haltd-Reason") == "loop_detected" {
				t.Error("a GET met a policy for POST")
			}
		}
	})
}

// call makes a request of a service behind a policy, in the agent's name.
func (a *agent) call(method, path, body string, header ...string) answer {
	a.t.Helper()
	h := map[string]string{}
	for i := 0; i < len(header); i += 2 {
		h[header[i]] = header[i+1]
	}
	return a.do(method, "/agents/"+a.id+path, body, h)
}

func testFingerprint(t *testing.T, s *stage) {
	type request struct{ method, path, body, tool string }
	base := request{"POST", "/reject/search?q=1&page=2", `{"term":"a"}`, "search"}
	for _, tc := range []struct {
		name  string
		other request
		same  bool
	}{
		{"the same", base, true},
		{"query in another order", request{"POST", "/reject/search?page=2&q=1", base.body, base.tool}, true},
		{"another method", request{"PUT", base.path, base.body, base.tool}, false},
		{"another path", request{"POST", "/reject/find?q=1&page=2", base.body, base.tool}, false},
		{"another query", request{"POST", "/reject/search?q=1&page=3", base.body, base.tool}, false},
		{"another body", request{"POST", base.path, `{"term":"b"}`, base.tool}, false},
		{"another descriptor", request{"POST", base.path, base.body, "lookup"}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := s.agent(t)
			for range 2 {
				if got := a.call(base.method, base.path, base.body, "X-Tool-Name", base.tool); got.status != http.StatusOK {
					t.Fatalf("%d %s", got.status, got.body)
				}
			}
			o := tc.other
			got := a.call(o.method, o.path, o.body, "X-Tool-Name", o.tool)
			if stopped := got.status == http.StatusTooManyRequests; stopped != tc.same {
				t.Errorf("answered %d, want it counted with the others: %v", got.status, tc.same)
			}
		})
	}
	t.Run("another agent", func(t *testing.T) {
		a, b := s.agent(t, "a"), s.agent(t, "b")
		for range 2 {
			a.call("POST", "/reject/x", "y")
		}
		if got := b.call("POST", "/reject/x", "y"); got.status != http.StatusOK {
			t.Errorf("the same request of another agent: %d", got.status)
		}
	})
}

func testReject(t *testing.T, s *stage, up *tools) {
	a := s.agent(t)
	for i := range 2 {
		if got := a.call("GET", "/reject/r?id=1", ""); got.status != http.StatusOK {
			t.Fatalf("call %d: %d", i+1, got.status)
		}
	}
	for range 2 {
		got := a.call("GET", "/reject/r?id=1", "")
		if got.status != http.StatusTooManyRequests || got.header.Get("Retry-After") != "60" || got.header.Get("X-Haltd-Reason") != "loop_detected" {
			t.Errorf("%d, Retry-After %q, X-Haltd-Reason %q; want 429, 60, loop_detected", got.status, got.header.Get("Retry-After"), got.header.Get("X-Haltd-Reason"))
		}
	}
	if n := up.count("GET /reject/r?id=1"); n != 2 {
		t.Errorf("the service got %d requests, want 2", n)
	}
	if e := a.has(haltd.EventBlocked, 2)[0]; e.BlockReason != haltd.ReasonLoop || !e.Blocked {
		t.Errorf("event %+v; want it blocked as loop_detected", e)
	}
}

func testThrottle(t *testing.T, s *stage, up *tools) {
	a := s.agent(t)
	for count := 1; count <= 4; count++ {
		began := time.Now()
		got := a.call("GET", "/throttle/t", "")
		want, delay := "", time.Duration(0)
		if count >= 3 {
			want, delay = fmt.Sprint(count*100), time.Duration(count)*100*time.Millisecond
		}
		if got.status != http.StatusOK || got.header.Get("X-Haltd-Loop-Delay") != want {
			t.Errorf("call %d: %d, X-Haltd-Loop-Delay %q; want 200, %q", count, got.status, got.header.Get("X-Haltd-Loop-Delay"), want)
		}
		if took := time.Since(began); took < delay {
			t.Errorf("call %d took %v, want at least %v", count, took, delay)
		}
	}
	if n := up.count("GET /throttle/t"); n != 4 {
		t.Errorf("the service got %d requests, want all 4", n)
	}
}

func testThrottledClientLeaves(t *testing.T, s *stage, up *tools) {
	a := s.agent(t)
	for range 2 {
		a.call("GET", "/throttle/left", "")
	}
	// Each call waits longer than the last, so that there is one to leave, also
	// on a slow machine.
	answered := 2
	for answered < 20 && !a.leave("/throttle/left") {
		answered++
	}
	if e := a.has(haltd.EventError, 1)[0]; e.Error != "client_left" || e.Status != 0 {
		t.Errorf("event %+v; want client_left", e)
	}
	if n := up.count("GET /throttle/left"); n != answered {
		t.Errorf("the service got %d requests, want the %d that were answered", n, answered)
	}
}

// leave makes a call and hangs up when haltd has it; false when the answer was
// faster.
func (a *agent) leave(path string) bool {
	a.t.Helper()
	ctx, hangUp := context.WithCancel(a.t.Context())
	defer hangUp()
	req, err := http.NewRequestWithContext(ctx, "GET", a.Gateway+"/agents/"+a.id+path, nil)
	if err != nil {
		a.t.Fatal(err)
	}
	holds := func(calls string) bool {
		return strings.Contains(a.get(a.t, "/metrics"), "\nhaltd_in_flight "+calls+"\n")
	}
	a.Eventually(a.t, "done with the call before", func() bool { return holds("0") })
	left := make(chan bool, 1)
	go func() {
		res, err := a.client.Do(req)
		if err == nil {
			res.Body.Close()
		}
		left <- err != nil
	}()
	a.Eventually(a.t, "holding the call", func() bool {
		return len(left) > 0 || holds("1")
	})
	hangUp()
	return <-left
}

func testWarn(t *testing.T, s *stage) {
	a := s.agent(t)
	a.call("GET", "/warn/w", "")
	if got := a.call("GET", "/warn/w", ""); got.status != http.StatusOK || got.header.Get("X-Haltd-Reason") != "loop_detected" {
		t.Errorf("%d, X-Haltd-Reason %q; want 200 with loop_detected", got.status, got.header.Get("X-Haltd-Reason"))
	}
	e := a.has(haltd.EventPass, 2)[0]
	if v := verdictOf(t, e); e.Blocked || v.Action != haltd.Warn || len(v.Findings) != 1 || v.Findings[0].Check != "exact" || v.Findings[0].Name != "warn" {
		t.Errorf("event %+v with verdict %+v; want it flagged by the policy and not blocked", e, v)
	}
	// What only warns switches off nothing else.
	a.call("GET", "/warn/w", "")
	if got := a.call("GET", "/warn/w", ""); got.status != http.StatusTooManyRequests || got.header.Get("X-Haltd-Reason") != "rate_limited" {
		t.Errorf("beyond the rate limit: %d, X-Haltd-Reason %q; want 429, rate_limited", got.status, got.header.Get("X-Haltd-Reason"))
	}
}

func testRenewedWindow(t *testing.T, s *stage) {
	const window = 2 * time.Second
	for try := 1; ; try++ {
		a := s.agent(t, fmt.Sprint(try))
		began := time.Now()
		hit := func(since time.Duration) (answer, time.Time) {
			s.Eventually(t, "older", func() bool { return time.Since(began) >= since })
			sent := time.Now()
			return a.call("GET", "/renewed/r", ""), sent
		}
		_, first := hit(0)
		_, second := hit(1300 * time.Millisecond)
		apart := time.Since(first)
		got, _ := hit(2600 * time.Millisecond)
		if max(apart, time.Since(second)) >= window && try < 10 {
			continue // the machine was too slow to hit within the window
		}
		if got.status != http.StatusTooManyRequests {
			t.Errorf("the third hit: %d, want 429: the second renewed a window that began 2.6 s ago", got.status)
		}
		began = time.Now()
		if got, _ := hit(window + 100*time.Millisecond); got.status != http.StatusOK {
			t.Errorf("after a window without a hit: %d, want 200", got.status)
		}
		return
	}
}

func testShadowPolicy(t *testing.T, s *stage) {
	a := s.agent(t)
	for i := range 3 {
		if got := a.call("GET", "/both/b", ""); got.status != http.StatusOK || got.header.Get("X-Haltd-Reason") != "" {
			t.Errorf("call %d: %d %q; a shadow policy does nothing, and the other counts for itself", i+1, got.status, got.header.Get("X-Haltd-Reason"))
		}
	}
	if got := a.call("GET", "/both/b", ""); got.status != http.StatusTooManyRequests || got.denied.BlockReason != "loop_detected" {
		t.Errorf("the fourth: %d %s; want that of the policy in force", got.status, got.body)
	}
	tried := map[string]bool{}
	for _, f := range verdictOf(t, a.has(haltd.EventPass, 3)[0]).Findings {
		if !f.Shadow {
			t.Errorf("finding %+v, want shadows only", f)
		}
		tried[string(f.Check)+" "+f.Name] = true
	}
	if !tried["exact trial"] || !tried["rate trial/one"] {
		t.Errorf("the verdict tells of %v, want what the shadow policy would have done", tried)
	}
}

func testRateRule(t *testing.T, s *stage) {
	a := s.agent(t)
	hit := func(tool string, i int) answer {
		return a.call("GET", fmt.Sprintf("/warn/%d", i), "", "X-Tool-Name", tool)
	}
	for i := range 3 {
		if got := hit("hammer", i); got.status != http.StatusOK {
			t.Fatalf("call %d: %d", i+1, got.status)
		}
	}
	got := hit("hammer", 3)
	if got.status != http.StatusTooManyRequests || got.denied.BlockReason != "rate_limited" || got.denied.RetryAfter < 1 {
		t.Errorf("beyond the burst: %d %s; want 429, rate_limited and when to come again", got.status, got.body)
	}
	if got := hit("saw", 4); got.status != http.StatusOK {
		t.Errorf("another tool: %d, want a bucket of its own", got.status)
	}
}

// TestSeed001Examples loads the examples of the document as they are written.
func TestSeed001Examples(t *testing.T) {
	t.Parallel()
	s := newStage(t, "defaults: {\n"+loopDetectionExample+"\n}\npolicies: [\n"+policyExample+"\n]\n")
	t.Run("loop_detection under defaults", func(t *testing.T) {
		a := s.agent(t)
		got, at := a.loop(6)
		if at != 4 || got.status != http.StatusTooManyRequests || got.header.Get("Retry-After") != "60" || got.header.Get("X-Haltd-Reason") != "loop_detected" {
			t.Errorf("call %d: %d, Retry-After %q, X-Haltd-Reason %q; want the fourth with 429, 60, loop_detected", at, got.status, got.header.Get("Retry-After"), got.header.Get("X-Haltd-Reason"))
		}
		if got := a.ask("What is the state of the other order?", "Fine."); got.status != http.StatusOK {
			t.Errorf("near-equal requests are not grouped: %d %s", got.status, got.body)
		}
	})
	t.Run("policy under policies", func(t *testing.T) {
		a := s.agent(t)
		for range 3 {
			if got := a.call("POST", "/v1/tools/search", `{"q":"a"}`); got.header.Get("X-Haltd-Loop-Delay") != "" {
				t.Errorf("throttled below the threshold: %v", got.header)
			}
		}
		// Both blocks select the fourth; the stricter one decides, and the
		// evidence of both is kept.
		if got := a.call("POST", "/v1/tools/search", `{"q":"a"}`); got.status != http.StatusTooManyRequests {
			t.Errorf("the fourth: %d, want 429 by the defaults", got.status)
		}
		found := map[string]haltd.Action{}
		for _, f := range verdictOf(t, a.has(haltd.EventBlocked, 1)[0]).Findings {
			found[f.Name] = f.Action
		}
		if found["agent-tools"] != haltd.Throttle || found["defaults"] != haltd.Reject {
			t.Errorf("findings %v; want agent-tools to throttle and defaults to reject", found)
		}
	})
}

// TestSeed001Validation does not start with a policy that breaks a rule, and
// says in which line and field.
func TestSeed001Validation(t *testing.T) {
	document := func(spec string) string { return "policies:\n  - id: p\n    spec:\n" + spec }
	const selector = "      selector: {pathPrefix: /v1/tools/}\n"
	block := func(fields string) string { return document(selector + "      loop_detection: {" + fields + "}\n") }
	for _, tc := range []struct {
		name, config string
		line         int
		says         []string
	}{
		{"window_seconds missing", block("enabled: true, threshold_identical_requests: 4"), 5, []string{"policies[0].spec.loop_detection", "window_seconds"}},
		{"window_seconds negative", block("enabled: true, window_seconds: -1, threshold_identical_requests: 4"), 5, []string{"policies[0].spec.loop_detection.window_seconds"}},
		{"threshold of one", block("enabled: true, window_seconds: 60, threshold_identical_requests: 1"), 5, []string{"loop_detection.threshold_identical_requests", "2 or more"}},
		{"enabled missing", block("window_seconds: 60, threshold_identical_requests: 4"), 5, []string{"loop_detection.enabled", "true or false"}},
		{"unknown action", block("enabled: true, window_seconds: 60, threshold_identical_requests: 4, action: explode"), 5, []string{"loop_detection.action", "reject, throttle or warn"}},
		{"unknown similarity", block("enabled: true, window_seconds: 60, threshold_identical_requests: 4, similarity: fuzzy"), 5, []string{"loop_detection.similarity", "exact"}},
		{"unknown field", block("enabled: true, window_secs: 60"), 5, []string{"loop_detection.window_secs", "window_seconds"}},
		{"unknown algorithm", document(selector + "      rules:\n        - {name: r, limit_keys: [\"ip:address\"], algorithm: leaky, algorithm_config: {rps: 1, burst: 1}}\n"), 6, []string{"policies[0].spec.rules[0].algorithm", "token_bucket"}},
		{"unknown limit key", document(selector + "      rules:\n        - {name: r, limit_keys: [\"cookie:a\"], algorithm: token_bucket, algorithm_config: {rps: 1, burst: 1}}\n"), 6, []string{"policies[0].spec.rules[0].limit_keys[0]", "header:NAME"}},
		{"no selector", document("      loop_detection: {enabled: true, window_seconds: 60, threshold_identical_requests: 4}\n"), 3, []string{"policies[0].spec.selector", "pathPrefix"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			config := filepath.Join(t.TempDir(), "haltd.yaml")
			if err := os.WriteFile(config, []byte(tc.config), 0o600); err != nil {
				t.Fatal(err)
			}
			env := []string{"HALTD_GATEWAY_LISTEN=" + harness.Address(t), "HALTD_ADMIN_LISTEN=" + harness.Address(t), "HALTD_DATA_DIR=" + t.TempDir()}
			_, errs, code := harness.CLI(t, env, "serve", "--config", config)
			if code != 1 {
				t.Errorf("exit %d, want 1", code)
			}
			for _, word := range append(tc.says, fmt.Sprintf("haltd.yaml:%d:", tc.line)) {
				if !strings.Contains(errs, word) {
					t.Errorf("stderr %q does not say %q", errs, word)
				}
			}
		})
	}
}
