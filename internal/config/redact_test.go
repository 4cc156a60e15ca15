package config

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/haltd/haltd"
	"go.yaml.in/yaml/v3"
)

func TestSecretsDoNotPrint(t *testing.T) {
	const secret = Secret("hunter2")
	var logged strings.Builder
	slog.New(slog.NewTextHandler(&logged, nil)).Info("x", "s", secret, "in", struct{ S Secret }{secret})
	asJSON, _ := json.Marshal(map[string]any{"s": secret, "in": struct{ S Secret }{secret}})
	asYAML, _ := yaml.Marshal(map[string]any{"s": secret, "in": struct{ S Secret }{secret}})
	all := logged.String() + string(asJSON) + string(asYAML) + secret.String() + secret.GoString() + fmt.Sprint(secret)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%T %v"} {
		all += fmt.Sprintf(verb+" ", secret) + fmt.Sprintf(verb+" ", struct{ S Secret }{secret}) + fmt.Sprintf(verb+" ", []Secret{secret})
	}
	for _, leak := range []string{"hunter2", fmt.Sprintf("%x", "hunter2"), fmt.Sprintf("%X", "hunter2")} {
		if strings.Contains(all, leak) {
			t.Errorf("%q shows in %s", leak, all)
		}
	}
	if secret.Reveal() != "hunter2" {
		t.Error("Reveal does not reveal")
	}
}

func TestRedacted(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "token", "hunter2-hunter2-hunter2\n", 0o600)
	writeFile(t, "haltd.yaml", `
admin: {token_file: token, hosts: [a.example.com]}
providers:
  lab: {base_url: "http://127.0.0.1:1", api_key: hunter2, max_connections: 3}
pricing: {models: {"gpt-4.1": {input: 0.0028, output: 8}}}
defaults: {loop_detection: {enabled: false}, allowed_hours: [{days: [mon], from: 22:00, to: 06:00}]}
agents: {Bot: {kill_switch: {enabled: true}, allowed_hours: []}}
policies: [{id: a, spec: {selector: {pathPrefix: /tools, methods: [POST]}, upstream: "http://127.0.0.1:2/", rules: [{name: r, limit_keys: ["jwt:org"], algorithm: token_bucket, algorithm_config: {rps: 0.5, burst: 1}}]}}]
jwt: {secret: hunter2hunter2hunter2hunter2hunter2}
alerts:
  channels:
    - {name: b, kind: slack, url: "https://hooks.example.com/hunter2"}
    - {name: c, kind: email, host: h, username: u, password_file: token, from: a@b.c, to: [a@b.c]}
`, 0o600)
	c, err := Load("haltd.yaml", envOf(map[string]string{"OPENAI_API_KEY": "hunter2"}))
	if err != nil {
		t.Fatal(err)
	}
	for name := range c.Providers {
		if name != "lab" && name != "openai" {
			delete(c.Providers, name)
		}
	}
	got, err := c.Redacted()
	if err != nil {
		t.Fatal(err)
	}
	want := `gateway:
  listen: 127.0.0.1:7070
  require_keys: false
  max_body: 32MiB
  body_memory: 256MiB
  max_calls: 10000
  stall_timeout: 30s
  shutdown_timeout: 30s
  block_status: 400
admin:
  listen: 127.0.0.1:7071
  token_file: token
  hosts: [a.example.com]
data_dir: ./data
providers:
  lab:
    base_url: http://127.0.0.1:1
    format: openai
    api_key: '[redacted]'
    max_connections: 3
    connect_timeout: 10s
  openai:
    base_url: https://api.openai.com
    format: openai
    api_key: '[redacted]'
    max_connections: 0
    connect_timeout: 10s
pricing:
  default:
    input: 5.00
    output: 30.00
    cache_read: 5.00
    cache_write: 5.00
    max_output: 0
  models:
    gpt-4.1:
      input: 0.0028
      output: 8.00
      cache_read: 0.0028
      cache_write: 0.0028
      max_output: 0
  unread_call: 0.10
excerpts: incidents
retention:
  events: 30d
  excerpts: 7d
  audit: 365d
log:
  format: text
  level: info
defaults:
` + printedDefaults(t, map[string]string{"allowed_hours": `
    - days: [mon]
      from: 22:00
      to: 06:00`}) + `  loop_detection:
    enabled: false
    window_seconds: 0
    threshold_identical_requests: 0
agents:
  bot:
    kill_switch:
      enabled: true
    allowed_hours: []
policies:
  - id: a
    spec:
      selector:
        pathPrefix: /tools
        methods: [POST]
        hosts: []
      upstream: http://127.0.0.1:2
      rules:
        - name: r
          limit_keys: ['jwt:org']
          algorithm: token_bucket
          algorithm_config:
            rps: 0.5
            tokens_per_second: 0
            burst: 1
jwt:
  secret: '[redacted]'
alerts:
  allow_internal: []
  channels:
    - name: b
      kind: slack
      enabled: true
      url: '[redacted]'
    - name: c
      kind: email
      enabled: true
      host: h
      port: 587
      tls: starttls
      username: u
      password_file: token
      from: a@b.c
      to: [a@b.c]
`
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Error(d)
	}
}

// printedDefaults are all settings of a policy, as they are declared, but for
// those that the file changes.
func printedDefaults(t *testing.T, changed map[string]string) string {
	t.Helper()
	var b strings.Builder
	var before []string
	for _, section := range haltd.SettingsOf[haltd.Policy]() {
		for _, s := range section.Settings {
			steps := strings.Split(s.Path, ".")
			for i, step := range steps {
				if i < len(before) && slices.Equal(before[:i+1], steps[:i+1]) {
					continue // it is open
				}
				fmt.Fprintf(&b, "%*s%s:", 2*(i+1), "", step)
				if i < len(steps)-1 {
					b.WriteByte('\n')
				}
			}
			preset, err := json.Marshal(s.Default)
			if err != nil {
				t.Fatal(err)
			}
			text, ok := changed[s.Path]
			if !ok {
				text = " " + strings.Trim(string(preset), `"`)
			}
			b.WriteString(text + "\n")
			before = steps
		}
	}
	return b.String()
}

func TestRedactedHidesUserinfo(t *testing.T) {
	u, err := url.Parse("https://me:hunter2@x/y")
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := scalarText(u); got != "https://x/y" {
		t.Errorf("got %s", got)
	}
}

func TestDurationsAndSizesReadBack(t *testing.T) {
	for _, d := range []time.Duration{0, time.Nanosecond, time.Second, 90 * time.Second, 10 * time.Minute, time.Hour, 20 * time.Hour, day, 30 * day, 36 * time.Hour, time.Hour + time.Second} {
		if got, ok := ParseDuration(formatDuration(d)); !ok || got != d {
			t.Errorf("%v is written %s and read %v", d, formatDuration(d), got)
		}
	}
	for _, b := range []ByteSize{0, 1, 1023, 1024, 1 << 20, 3 << 30, 1e6} {
		if got, ok := parseByteSize(b.String()); !ok || got != b {
			t.Errorf("%d is written %s and read %d", b, b, got)
		}
	}
}
