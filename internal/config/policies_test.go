package config

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/policy"
)

func TestDefaultsAreAPolicy(t *testing.T) {
	c := mustLoad(t, `
defaults:
  kill_switch:
    enabled: true
    window_size: 1000
    threshold: 0.5
    similarity: reject
    stall: warn
    warn_at: 40
    kill_at: 99.9
    window_scope: session
    kill_scope: session
    require_corroboration: false
    stateless: true
    retry_after_seconds: 5
  budgets:
    day: {soft_usd: 1.5, hard_usd: 2}
    month: {soft_tokens: 10, hard_tokens: 20}
    reserve_tokens: 100
  allowed_hours:
    - {days: [mon, fri], from: 22:00, to: 06:00}
    - {from: "08:30", to: "24:00"}
  rate_limits: {requests_per_minute: 60, tokens_per_minute: 1000}
  growth: {min_prompt_tokens: 500}
  time_zone: Europe/Berlin
`, nil)
	p := haltd.DefaultPolicy() // with what is declared later
	k := &p.KillSwitch
	k.Enabled, k.WindowSize, k.Threshold, k.Similarity, k.Stall, k.WarnAt, k.KillAt = true, 1000, 0.5, haltd.LadderOf(haltd.Reject), haltd.LadderOf(haltd.Warn), 40, 99.9
	k.WindowScope, k.KillScope, k.RequireCorroboration, k.Stateless, k.RetryAfter = haltd.ScopeSession, haltd.ScopeSession, false, true, 5
	p.Budgets.Day.SoftUSD, p.Budgets.Day.HardUSD = haltd.Dollar*3/2, 2*haltd.Dollar
	p.Budgets.Month.SoftTokens, p.Budgets.Month.HardTokens, p.Budgets.ReserveTokens = 10, 20, 100
	p.Hours = []haltd.HourRange{{Days: []string{"mon", "fri"}, From: "22:00", To: "06:00"}, {From: "08:30", To: "24:00"}}
	p.Rates.Requests, p.Rates.Tokens = 60, 1000
	p.Growth.MinPromptTokens, p.TimeZone = 500, "Europe/Berlin"
	want := Defaults{Policy: p}
	if d := cmp.Diff(want, c.Defaults); d != "" {
		t.Error(d)
	}
}

func TestAgentsHaveOnlyWhatTheySet(t *testing.T) {
	c := mustLoad(t, `
defaults: {kill_switch: {enabled: true, threshold: 8, warn_at: 60}, budgets: {month: {hard_usd: 9}, reserve_tokens: 500}, time_zone: Asia/Tokyo}
agents:
  Billing-Bot:
    kill_switch: {window_size: 30, kill_at: 75.5, enabled: ~}
    budgets: {day: {hard_usd: 10}}
    allowed_hours: []
    growth: ~
  nobody:
  support@eu: {time_zone: Europe/Berlin}
`, nil)
	want := map[string]haltd.PolicyOverride{
		"billing-bot": haltd.MustOverride(`{"kill_switch": {"window_size": 30, "kill_at": 75.5}, "budgets": {"day": {"hard_usd": 10}}, "allowed_hours": []}`),
		"nobody":      {},
		"support@eu":  haltd.MustOverride(`{"time_zone": "Europe/Berlin"}`),
	}
	if d := cmp.Diff(want, c.Agents); d != "" {
		t.Error(d)
	}
	own := c.Agents["billing-bot"]
	effective := own.Over(c.Defaults.Policy)
	if k := effective.KillSwitch; !k.Enabled || k.Threshold != 8 || k.WindowSize != 30 || k.WarnAt != 60 || k.KillAt != 75.5 || effective.TimeZone != "Asia/Tokyo" ||
		effective.Budgets.ReserveTokens != 500 || effective.Budgets.Month.HardUSD != 0 {
		t.Errorf("over the defaults: %+v", effective)
	}
}

// What Fairvisor's documentation shows, as written there.
const (
	fairvisorBlock = `"loop_detection": {
  "enabled": true,
  "window_seconds": 60,
  "threshold_identical_requests": 4,
  "action": "reject",
  "similarity": "exact"
}
`
	fairvisorPolicy = `{
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
}
`
	sharedSecret = "0123456789abcdef0123456789abcdef"
)

// under indents text below a key or a dash.
func under(key, text string) string {
	return key + "\n" + "    " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n    ") + "\n"
}

func TestFairvisorExamplesLoadAsWritten(t *testing.T) {
	loop := &policy.LoopDetection{Enabled: true, WindowSeconds: 60, Threshold: 4, Action: "reject", Similarity: "exact"}
	document := policy.Document{ID: "agent-tools", Spec: policy.Spec{
		Selector:      policy.Selector{PathPrefix: "/v1/tools/"},
		LoopDetection: &policy.LoopDetection{Enabled: true, WindowSeconds: 45, Threshold: 4, Action: "throttle"},
		Rules: []policy.RateRule{{
			Name: "base-rps", LimitKeys: []string{"jwt:org_id", "header:x-tool-name"},
			Algorithm: "token_bucket", Config: policy.AlgorithmConfig{RPS: 20, Burst: 40},
		}},
	}}
	for name, text := range map[string]string{
		"indented": under("defaults:", fairvisorBlock) + under("policies:\n  -", fairvisorPolicy),
		"in JSON":  `{"defaults": {` + fairvisorBlock + `}, "policies": [` + fairvisorPolicy + `]}`,
	} {
		t.Run(name, func(t *testing.T) {
			c := mustLoad(t, text, nil)
			if d := cmp.Diff(loop, c.Defaults.LoopDetection); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff([]policy.Document{document}, c.Policies); d != "" {
				t.Error(d)
			}
			var ids []string
			for _, p := range c.PolicySet.Match("POST", "tools.example.com", "/v1/tools/search") {
				ids = append(ids, p.ID)
			}
			if d := cmp.Diff([]string{"agent-tools", policy.DefaultsID}, ids); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestUnverifiedClaimsWarn(t *testing.T) {
	c := mustLoad(t, under("policies:\n  -", fairvisorPolicy), nil)
	want := []string{"haltd.yaml:16: policies[0].spec.rules[0].limit_keys[0]: jwt:org_id is empty for every request: no key under jwt verifies tokens"}
	if d := cmp.Diff(want, c.Warnings()); d != "" {
		t.Error(d)
	}
}

func TestPolicyUpstreamEndsWithoutSlash(t *testing.T) {
	c := mustLoad(t, "policies: [{id: a, spec: {selector: {pathPrefix: /}, upstream: \"http://tools.example.com/api/\"}}]\n", nil)
	if got, want := c.Policies[0].Spec.Upstream.String(), "http://tools.example.com/api"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestWithoutPoliciesNothingIsSelected(t *testing.T) {
	if got := mustLoad(t, "", nil).PolicySet.Match("POST", "h", "/v1/messages"); len(got) != 0 {
		t.Errorf("selected by %v", got)
	}
}

func TestJWTKeys(t *testing.T) {
	t.Chdir(t.TempDir())
	public, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, "jwt.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})), 0o644)
	writeFile(t, "secret", "with spaces, as 32 bytes or more may have\n", 0o600)
	for _, jwt := range []string{
		"{public_key_file: jwt.pem, issuer: \"https://login.example.com\", audience: haltd}",
		"{secret_file: secret}",
		"{secret: " + sharedSecret + "}",
	} {
		writeFile(t, "haltd.yaml", "jwt: "+jwt+"\n"+under("policies:\n  -", fairvisorPolicy), 0o600)
		c, err := Load("haltd.yaml", envOf(nil))
		if err != nil {
			t.Errorf("%s: %v", jwt, err)
			continue
		}
		if len(c.Warnings()) > 0 {
			t.Errorf("%s: %v", jwt, c.Warnings())
		}
	}
}

func TestProblemsOfPolicies(t *testing.T) {
	tests := []problemTest{
		{"every part of the defaults", `
defaults:
  kill_switch: {similarity: throttle, window_scope: world, retry_after_seconds: 0}
  budgets:
    day: {soft_usd: 3, hard_usd: 2}
    month:
      hard_tokens: -1
    reserve_tokens: 0
  allowed_hours:
    - {days: [mon, funday], from: 24:00, to: noon}
    - from: 08:00
  rate_limits: {requests_per_minute: -1}
  growth: {min_prompt_tokens: -5}
  time_zone: Mars/Olympus
`, []string{
			`haltd.yaml:3: defaults.kill_switch.similarity: expected warn, steer, reject, halt or kill, or a list of them, got "throttle"`,
			`haltd.yaml:3: defaults.kill_switch.window_scope: expected agent or session, got "world"`,
			"haltd.yaml:3: defaults.kill_switch.retry_after_seconds: expected 1 to 86400, got 0",
			"haltd.yaml:5: defaults.budgets.day.soft_usd: above hard_usd (2); lower it, or raise hard_usd",
			"haltd.yaml:7: defaults.budgets.month.hard_tokens: expected 0 or more, got -1",
			"haltd.yaml:8: defaults.budgets.reserve_tokens: expected 1 to 10000000, got 0",
			`haltd.yaml:10: defaults.allowed_hours[0].days[1]: expected mon, tue, wed, thu, fri, sat or sun, got "funday"`,
			`haltd.yaml:10: defaults.allowed_hours[0].from: expected a time from 00:00 to 23:59, got "24:00"`,
			`haltd.yaml:10: defaults.allowed_hours[0].to: expected a time from 00:00 to 24:00, got "noon"`,
			`haltd.yaml:11: defaults.allowed_hours[1].to: expected a time from 00:00 to 24:00, got ""`,
			"haltd.yaml:12: defaults.rate_limits.requests_per_minute: expected 0 to 2147483647, got -1",
			"haltd.yaml:13: defaults.growth.min_prompt_tokens: expected 0 or more, got -5",
			`haltd.yaml:14: defaults.time_zone: expected a zone such as UTC or Europe/Berlin, got "Mars/Olympus"`}},
		{"values of another type", `
defaults:
  kill_switch: {stall: explode}
  budgets: {day: {hard_usd: lots, hard_tokens: 1.5}}
  allowed_hours: [always]
agents: {a: {kill_switch: {enabled: true}}}
`, []string{
			`haltd.yaml:3: defaults.kill_switch.stall: expected warn, steer, reject, halt or kill, or a list of them, got "explode"`,
			`haltd.yaml:4: defaults.budgets.day.hard_usd: expected a number of US dollars from 0 to 1000000, got "lots"`,
			"haltd.yaml:4: defaults.budgets.day.hard_tokens: expected a whole number, got 1.5",
			`haltd.yaml:5: defaults.allowed_hours[0]: expected keys and values, got "always"`}},
		{"lines that cannot be reached", `
defaults:
  kill_switch: {warn_at: 0.5, kill_at: 100}
`, []string{
			"haltd.yaml:3: defaults.kill_switch.warn_at: expected 1 to 99.9, got 0.5",
			"haltd.yaml:3: defaults.kill_switch.kill_at: expected 1 to 99.9, got 100"}},
		{"a warning after the kill", `
defaults:
  kill_switch: {warn_at: 96}
agents:
  a: {kill_switch: {warn_at: 30, kill_at: 30}}
  b:
    kill_switch:
      warn_at: 40
      kill_at: 39.9
`, []string{
			"haltd.yaml:3: defaults.kill_switch.warn_at: above kill_at (95); lower it, or raise kill_at",
			"haltd.yaml:8: agents.b.kill_switch.warn_at: above kill_at (39.9); lower it, or raise kill_at"}},
		{"a line that is no number", "defaults: {kill_switch: {warn_at: soon}}\n", []string{
			`haltd.yaml:1: defaults.kill_switch.warn_at: expected a number, got "soon"`}},
		{"misspelt key of the defaults", "defaults: {kill_swich: {}}\n", []string{
			"haltd.yaml:1: defaults.kill_swich: unknown key; did you mean kill_switch?"}},

		{"an agent's own", `
agents:
  bot.1:
    kill_switch:
      window_size: 1
    allowed_hours:
      - {from: 08:00}
  b: {budgets: {day: {hard_usd: 1, soft_usd: 2}}, time_zone: ""}
`, []string{
			`haltd.yaml:5: agents["bot.1"].kill_switch.window_size: expected 2 to 1000, got 1`,
			`haltd.yaml:7: agents["bot.1"].allowed_hours[0].to: expected a time from 00:00 to 24:00, got ""`,
			"haltd.yaml:8: agents.b.budgets.day.soft_usd: above hard_usd (1); lower it, or raise hard_usd",
			`haltd.yaml:8: agents.b.time_zone: expected a zone such as UTC or Europe/Berlin, got ""`}},
		{"the defaults', told once", `
defaults: {kill_switch: {window_size: 1, threshold: 0}}
agents:
  a: {kill_switch: {threshold: 5}}
  b: {kill_switch: {threshold: 0}}
`, []string{
			"haltd.yaml:2: defaults.kill_switch.window_size: expected 2 to 1000, got 1",
			"haltd.yaml:2: defaults.kill_switch.threshold: expected a number above 0, 10000 at most, got 0",
			"haltd.yaml:5: agents.b.kill_switch.threshold: expected a number above 0, 10000 at most, got 0"}},
		{"what an agent cannot have", "agents: {a: {loop_detection: {enabled: true}, kill_switch: {treshold: 1}}}\n", []string{
			"haltd.yaml:1: agents.a.loop_detection: unknown key; expected one of kill_switch, budgets, allowed_hours, rate_limits, session, growth, time_zone",
			"haltd.yaml:1: agents.a.kill_switch.treshold: unknown key; did you mean threshold?"}},
		{"agent ids", "agents:\n  bot: {}\n  \"a b\": {}\n  Bot: {}\n", []string{
			`haltd.yaml:3: agents["a b"]: not the id of an agent; use letters, digits and . _ : @ -, 128 at most, and a letter or digit first`,
			"haltd.yaml:4: agents.Bot: the same agent as agents.bot in line 2; ids are lowercased"}},

		{"loop detection", `
defaults:
  loop_detection: {enabled: true, threshold_identical_requests: 4}
policies:
  - id: a
    spec:
      selector: {pathPrefix: /}
      loop_detection:
        window_seconds: 60
        threshold_identical_requests: 1
        action: kill
`, []string{
			"haltd.yaml:3: defaults.loop_detection.window_seconds: expected 1 to 31536000, got 0. Set it to 60, for example.",
			"haltd.yaml:8: policies[0].spec.loop_detection.enabled: missing; write true or false",
			`haltd.yaml:11: policies[0].spec.loop_detection.action: expected reject, throttle or warn, got "kill"`}},
		{"a rule", `
policies:
  - id: a
    spec:
      selector: {pathPrefix: /}
      mode: loud
      rules:
        - name: r
          limit_keys: ["ip:address", "cookie:x"]
          algorithm: token_bucket
          algorithm_config:
            rps: 20
  - spec: {selector: {pathPrefx: /}, rules: [{name: r, algorithm: leaky, algorithm_config: {rps: x, burst: 1}}]}
`, []string{
			`haltd.yaml:6: policies[0].spec.mode: expected enforce or shadow, got "loud"`,
			`haltd.yaml:9: policies[0].spec.rules[0].limit_keys[1]: expected header:NAME, query:NAME, jwt:CLAIM or ip:address, got "cookie:x"`,
			"haltd.yaml:11: policies[0].spec.rules[0].algorithm_config.burst: expected a number from 1 to 1000000000, got 0",
			"haltd.yaml:13: policies[1].spec.selector.pathPrefx: unknown key; did you mean pathPrefix?",
			`haltd.yaml:13: policies[1].spec.rules[0].algorithm_config.rps: expected a number, got "x"`,
			`haltd.yaml:13: policies[1].id: expected a name, got ""`,
			`haltd.yaml:13: policies[1].spec.rules[0].algorithm: expected token_bucket, got "leaky"`}},
		{"a key that is too short", "jwt: {secret: short}\n", []string{
			"haltd.yaml:1: jwt.secret: expected 32 bytes or more, got 5"}},
		{"no key", "jwt: {issuer: x}\n", []string{
			"haltd.yaml:1: jwt: no key to verify tokens with; set secret, secret_file or public_key_file"}},
		{"two keys", "jwt:\n  secret: a\n  public_key_file: b\n", []string{
			"haltd.yaml:3: jwt.public_key_file: set together with jwt.secret; keep one of them"}},
		{"secret twice", "jwt:\n  secret: a\n  secret_file: b\n", []string{
			"haltd.yaml:3: jwt.secret_file: set together with jwt.secret; keep one of them"}},
		{"public key is not there", "jwt: {public_key_file: missing}\n", []string{
			`haltd.yaml:1: jwt.public_key_file: cannot read "missing": no such file or directory`}},
		{"public key is none", "jwt: {public_key_file: lines}\n", []string{
			"haltd.yaml:1: jwt.public_key_file: expected a PEM public key (RSA of 2048 bits or more, ECDSA P-256, P-384 or P-521, Ed25519), got no PEM block"}},
	}
	runProblems(t, tests)
}
