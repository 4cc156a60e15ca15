package config

import (
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/pricing"
)

// envOf is an environment of its own, so that no test depends on another's.
func envOf(vars map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		v, ok := vars[name]
		return v, ok
	}
}

// loadText loads text as haltd.yaml in an empty directory.
func loadText(t *testing.T, text string, vars map[string]string) (*Config, error) {
	t.Helper()
	t.Chdir(t.TempDir())
	writeFile(t, "haltd.yaml", text, 0o600)
	return Load("haltd.yaml", envOf(vars))
}

func mustLoad(t *testing.T, text string, vars map[string]string) *Config {
	t.Helper()
	c, err := loadText(t, text, vars)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func writeFile(t *testing.T, name, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, mode); err != nil { // whatever the umask says
		t.Fatal(err)
	}
}

func diff(a, b any) string {
	return cmp.Diff(a, b, cmp.AllowUnexported(Config{}, pricing.Price{}), cmpopts.EquateEmpty(), cmpopts.IgnoreFields(Config{}, "PolicySet"))
}

func TestDefaultsAlone(t *testing.T) {
	c, err := Load("", envOf(nil))
	if err != nil {
		t.Fatal(err)
	}
	want := &Config{
		Gateway:   Gateway{Listen: "127.0.0.1:7070", MaxBody: 32 << 20, BodyMemory: 256 << 20, MaxCalls: 10_000, StallTimeout: 30 * time.Second, ShutdownTimeout: 30 * time.Second, BlockStatus: 400},
		Admin:     Admin{Listen: "127.0.0.1:7071"},
		DataDir:   "./data",
		Providers: builtInProviders(),
		Pricing:   Pricing{Default: pricing.Flat(5*haltd.Dollar, 30*haltd.Dollar), UnreadCall: haltd.Dollar / 10},
		Excerpts:  ExcerptsIncidents,
		Retention: Retention{Events: 720 * time.Hour, Excerpts: 168 * time.Hour, Audit: 365 * day},
		Log:       Log{Format: "text", Level: slog.LevelInfo},
		Defaults:  Defaults{Policy: haltd.DefaultPolicy()},
	}
	if d := diff(want, c); d != "" {
		t.Error(d)
	}
}

func TestFilesThatSayNothing(t *testing.T) {
	want, err := Load("", envOf(nil))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"empty":         "",
		"comments":      "# nothing\n",
		"null":          "~\n",
		"empty mapping": "{}\n",
		"empty sections": "gateway:\nadmin: {}\nproviders:\n  openai:\n    base_url:\npricing:\n  models:\n" +
			"defaults: {kill_switch: , allowed_hours: , loop_detection: }\nagents:\npolicies:\njwt:\nalerts: {channels: , public_url: ~}\n",
	} {
		t.Run(name, func(t *testing.T) {
			if d := diff(want, mustLoad(t, text, nil)); d != "" {
				t.Error(d)
			}
		})
	}
}

// What tools outside of this repository rely on.
func TestTheStableExcerpt(t *testing.T) {
	c := mustLoad(t, `
gateway: {listen: "127.0.0.1:7070"}
admin: {listen: "127.0.0.1:7071", token: "${HALTD_ADMIN_TOKEN}"}
data_dir: ./data
providers:
  openai: {base_url: "http://127.0.0.1:9001"}
  lab: {base_url: "http://127.0.0.1:9002", format: openai}
defaults:
  kill_switch: {enabled: true, window_size: 20, threshold: 10.0}
`, map[string]string{"HALTD_ADMIN_TOKEN": "t0ken-of-the-operator", "OPENAI_API_KEY": "sk-1"})
	if got := c.Admin.Token.Reveal(); got != "t0ken-of-the-operator" {
		t.Errorf("token %q", got)
	}
	if got := c.Providers["openai"]; got.BaseURL.String() != "http://127.0.0.1:9001" || got.Format != "openai" || got.APIKey.Reveal() != "sk-1" || !got.NeedsKey {
		t.Errorf("openai: %+v", got)
	}
	if got := c.Providers["lab"]; got.Name != "lab" || got.BaseURL.String() != "http://127.0.0.1:9002" || got.Format != "openai" || got.NeedsKey {
		t.Errorf("lab: %+v", got)
	}
	want := haltd.DefaultPolicy().KillSwitch
	want.Enabled = true
	if c.Defaults.KillSwitch != want {
		t.Errorf("kill switch: %+v", c.Defaults.KillSwitch)
	}
}

func TestEveryValueIsRead(t *testing.T) {
	c := mustLoad(t, `
gateway:
  listen: ":80"
  require_keys: true
  max_body: 1 MB
  body_memory: 64MiB
  max_calls: 500
  stall_timeout: 5s
  shutdown_timeout: 1m30s
  block_status: 403
admin:
  listen: "[::1]:81"
  hosts: [Haltd.Example.com, 10.0.0.1]
data_dir: /var/lib/haltd
providers:
  lab-2:
    base_url: https://lab.example.com/api//
    format: anthropic
    api_key: k
    max_connections: 7
pricing:
  default: {input: 1, output: 2}
  models:
    gpt-4.1: {input: 0.5, output: 1.25, cache_read: 0}
excerpts: on
retention: {events: 1d12h, excerpts: 36h}
log: {format: json, level: debug}
`, nil)
	lab := c.Providers["lab-2"]
	if got, want := lab.BaseURL.String(), "https://lab.example.com/api"; got != want {
		t.Errorf("base_url %s, want %s", got, want)
	}
	lab.BaseURL = nil
	if d := cmp.Diff(Provider{Name: "lab-2", Format: "anthropic", APIKey: "k", MaxConnections: 7, ConnectTimeout: connectTimeout}, lab); d != "" {
		t.Error(d)
	}
	c.Providers = nil
	half, quarter := haltd.Dollar/2, haltd.Dollar/4
	want := &Config{
		Gateway: Gateway{Listen: ":80", RequireKeys: true, MaxBody: 1e6, BodyMemory: 64 << 20, MaxCalls: 500, StallTimeout: 5 * time.Second, ShutdownTimeout: 90 * time.Second, BlockStatus: 403},
		Admin:   Admin{Listen: "[::1]:81", Hosts: []string{"haltd.example.com", "10.0.0.1"}},
		DataDir: "/var/lib/haltd",
		Pricing: Pricing{
			Default: pricing.Flat(haltd.Dollar, 2*haltd.Dollar), UnreadCall: haltd.Dollar / 10,
			Models: map[string]pricing.Price{"gpt-4.1": {Input: half, Output: haltd.Dollar + quarter, CacheWrite: half}},
		},
		Excerpts:  ExcerptsOn,
		Retention: Retention{Events: 36 * time.Hour, Excerpts: 36 * time.Hour, Audit: 365 * day},
		Log:       Log{Format: "json", Level: slog.LevelDebug},
		Defaults:  Defaults{Policy: haltd.DefaultPolicy()},
	}
	if d := diff(want, c); d != "" {
		t.Error(d)
	}
}

func TestBuiltInProviders(t *testing.T) {
	want := map[string]struct{ chat, variable string }{
		"openai":     {"https://api.openai.com/v1/chat/completions", "OPENAI_API_KEY"},
		"anthropic":  {"https://api.anthropic.com/v1/chat/completions", "ANTHROPIC_API_KEY"},
		"gemini":     {"https://generativelanguage.googleapis.com/v1/chat/completions", "GEMINI_API_KEY"},
		"mistral":    {"https://api.mistral.ai/v1/chat/completions", "MISTRAL_API_KEY"},
		"groq":       {"https://api.groq.com/openai/v1/chat/completions", "GROQ_API_KEY"},
		"deepseek":   {"https://api.deepseek.com/v1/chat/completions", "DEEPSEEK_API_KEY"},
		"openrouter": {"https://openrouter.ai/api/v1/chat/completions", "OPENROUTER_API_KEY"},
		"together":   {"https://api.together.xyz/v1/chat/completions", "TOGETHER_API_KEY"},
		"xai":        {"https://api.x.ai/v1/chat/completions", "XAI_API_KEY"},
		"moonshot":   {"https://api.moonshot.ai/v1/chat/completions", "MOONSHOT_API_KEY"},
		"ollama":     {"http://127.0.0.1:11434/v1/chat/completions", ""},
	}
	vars := map[string]string{}
	for name, w := range want {
		if w.variable != "" {
			vars[w.variable] = "key-of-" + name
		}
	}
	c, err := Load("", envOf(vars))
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Providers) != len(want) {
		t.Errorf("%d providers are built in, want %d", len(c.Providers), len(want))
	}
	for name, w := range want {
		p := c.Providers[name]
		if got := p.BaseURL.String() + "/v1/chat/completions"; got != w.chat {
			t.Errorf("%s: %s, want %s", name, got, w.chat)
		}
		if got := p.APIKey.Reveal(); w.variable != "" && got != "key-of-"+name {
			t.Errorf("%s: key %q", name, got)
		}
		if p.NeedsKey != (w.variable != "") {
			t.Errorf("%s: NeedsKey is %v", name, p.NeedsKey)
		}
	}
}

func TestGeminiKeyFallsBack(t *testing.T) {
	for want, vars := range map[string]map[string]string{
		"g1": {"GEMINI_API_KEY": "g1", "GOOGLE_API_KEY": "g2"},
		"g2": {"GEMINI_API_KEY": "", "GOOGLE_API_KEY": "g2"},
	} {
		c, err := Load("", envOf(vars))
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Providers["gemini"].APIKey.Reveal(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestEnvironmentSetsWhatTheFileLeavesOpen(t *testing.T) {
	vars := map[string]string{
		"HALTD_GATEWAY_LISTEN": "127.0.0.1:1",
		"HALTD_ADMIN_LISTEN":   "127.0.0.1:2",
		"HALTD_ADMIN_TOKEN":    "token-of-the-environment",
		"HALTD_DATA_DIR":       "/env",
		"HALTD_LOG_FORMAT":     "json",
		"HALTD_LOG_LEVEL":      "warn",
		"OPENAI_API_KEY":       "from-env",
	}
	type values struct{ gateway, admin, token, dir, format, level, key string }
	of := func(c *Config) values {
		return values{c.Gateway.Listen, c.Admin.Listen, c.Admin.Token.Reveal(), c.DataDir, c.Log.Format, c.Log.Level.String(), c.Providers["openai"].APIKey.Reveal()}
	}
	t.Run("no file", func(t *testing.T) {
		want := values{"127.0.0.1:1", "127.0.0.1:2", "token-of-the-environment", "/env", "json", "WARN", "from-env"}
		if got := of(mustLoad(t, "", vars)); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	})
	t.Run("the file wins, also over a bad value", func(t *testing.T) {
		vars["HALTD_LOG_LEVEL"] = "loud"
		want := values{"127.0.0.1:3", "127.0.0.1:4", "token-of-the-file", "/file", "text", "ERROR", "file"}
		got := of(mustLoad(t, `
gateway: {listen: "127.0.0.1:3"}
admin: {listen: "127.0.0.1:4", token: token-of-the-file}
data_dir: /file
log: {format: text, level: error}
providers: {openai: {api_key: file}}
`, vars))
		if got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	})
}

func TestSubstitution(t *testing.T) {
	env := envOf(map[string]string{"A": "alpha", "EMPTY": "", "NESTED": "${A} $$"})
	tests := []struct{ text, want string }{
		{"plain", "plain"},
		{"${A}", "alpha"},
		{"x${A}y${A}z", "xalphayalphaz"},
		{"${NONE:-d}", "d"},
		{"${EMPTY:-d}", "d"},
		{"${EMPTY}", ""},
		{"${NONE:-}", ""},
		{"${NONE:-a:-b}", "a:-b"},
		{"$$", "$"},
		{"$${A}", "${A}"},
		{"$5 and $", "$5 and $"},
		{"${NESTED}", "${A} $$"},
	}
	for _, tt := range tests {
		if got, err := substitute(tt.text, env); err != nil || got != tt.want {
			t.Errorf("%q: got %q, %v, want %q", tt.text, got, err, tt.want)
		}
	}
}

func TestSubstitutionServesEveryType(t *testing.T) {
	c := mustLoad(t, `
gateway: {require_keys: "${B}", max_body: "${S}"}
providers: {openai: {max_connections: "${N}"}}
`, map[string]string{"B": "true", "S": "1KiB", "N": "5"})
	if !c.Gateway.RequireKeys || c.Gateway.MaxBody != 1024 || c.Providers["openai"].MaxConnections != 5 {
		t.Errorf("got %+v, %+v", c.Gateway, c.Providers["openai"])
	}
}

func TestSecretFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "token", "s3cret-of-the-operator\n", 0o600)
	writeFile(t, "key", "k\r\n", 0o640)
	writeFile(t, "haltd.yaml", "admin: {token_file: token}\nproviders: {openai: {api_key_file: key}}\n", 0o600)
	c, err := Load("haltd.yaml", envOf(map[string]string{"HALTD_ADMIN_TOKEN": "no", "OPENAI_API_KEY": "no"}))
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Admin.Token.Reveal(); got != "s3cret-of-the-operator" {
		t.Errorf("token %q", got)
	}
	if got := c.Providers["openai"].APIKey.Reveal(); got != "k" {
		t.Errorf("key %q", got)
	}
	want := []string{`haltd.yaml:2: providers.openai.api_key_file: "key" can be read by other users; run chmod 600 on it`}
	if d := cmp.Diff(want, c.Warnings()); d != "" {
		t.Error(d)
	}
}

func TestUnencryptedKeyWarns(t *testing.T) {
	c := mustLoad(t, `
providers:
  near: {base_url: "http://127.0.0.1:1", api_key: k}
  far: {base_url: "http://lab.example.com", api_key: k}
  open: {base_url: "http://lab.example.com"}
`, nil)
	want := []string{"haltd.yaml:4: providers.far.base_url: the key of far travels unencrypted; use https"}
	if d := cmp.Diff(want, c.Warnings()); d != "" {
		t.Error(d)
	}
}

func TestRestartNeeded(t *testing.T) {
	old := mustLoad(t, "", nil)
	same := mustLoad(t, "log: {level: debug}\ndefaults: {kill_switch: {enabled: true}}\nagents: {a: {time_zone: UTC}}\n", nil)
	if got := RestartNeeded(old, same); len(got) != 0 {
		t.Errorf("a log level or a policy needs a restart: %v", got)
	}
	other := mustLoad(t, "gateway: {listen: \":1\"}\nadmin: {listen: \"localhost:2\", token: a-token-of-16-letters, hosts: [h]}\ndata_dir: d\nlog: {format: json}\n", nil)
	if d := cmp.Diff([]string{"gateway.listen", "admin.listen", "admin.token", "admin.hosts", "data_dir", "log.format"}, RestartNeeded(old, other)); d != "" {
		t.Error(d)
	}
}

func TestExampleIsTheDefaults(t *testing.T) {
	want, err := Load("", envOf(nil))
	if err != nil {
		t.Fatal(err)
	}
	got, err := Load(filepath.Join("..", "..", "haltd.example.yaml"), envOf(nil))
	if err != nil {
		t.Fatal(err)
	}
	if d := diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestDocumentedExamplesLoad(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	env := envOf(map[string]string{"LAB_API_KEY": "k", "WEBHOOK_SECRET": webhookSecret})
	examples := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(text, -1)
	if len(examples) == 0 {
		t.Fatal("docs/configuration.md has no example")
	}
	for _, example := range examples {
		_, err := read("example", example[1], env)
		for _, e := range leaves(err) {
			if !strings.Contains(e.Error(), "cannot read") && !strings.Contains(e.Error(), "no such file") { // there are no such files here
				t.Errorf("%v in\n%s", e, example[1])
			}
		}
	}
}

func TestEveryKeyIsDocumented(t *testing.T) {
	for _, file := range []string{"haltd.example.yaml", filepath.Join("docs", "configuration.md")} {
		text, err := os.ReadFile(filepath.Join("..", "..", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range yamlKeys(reflect.TypeFor[Config]()) {
			if !regexp.MustCompile(`\b` + key + `\b`).Match(text) {
				t.Errorf("%s does not mention %s", file, key)
			}
		}
	}
}

func TestEveryVariableIsDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range environment {
		names = append(names, e.variable)
	}
	for _, b := range builtIns {
		names = append(names, b.keyVariables...)
	}
	for _, name := range names {
		if !regexp.MustCompile(`\b` + name + `\b`).Match(text) {
			t.Errorf("docs/configuration.md does not mention %s", name)
		}
	}
}

// yamlKeys are the names of all keys below t.
func yamlKeys(t reflect.Type) []string {
	switch t.Kind() {
	case reflect.Map, reflect.Slice, reflect.Pointer:
		return yamlKeys(t.Elem())
	case reflect.Struct:
	default:
		return nil
	}
	keys := fieldNames(t)
	for _, f := range reflect.VisibleFields(t) {
		if keyOf(f) != "" {
			keys = append(keys, yamlKeys(f.Type)...)
		}
	}
	return keys
}
