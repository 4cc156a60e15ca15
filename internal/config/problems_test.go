package config

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/haltd/haltd"
)

type problemTest struct {
	name string
	text string
	want []string // all lines of the error
}

func TestProblems(t *testing.T) {
	runProblems(t, []problemTest{
		{"unknown key", "providers:\n  lab:\n    base_url: http://x\n    bse_url: y\n", []string{
			"haltd.yaml:4: providers.lab.bse_url: unknown key; did you mean base_url?"}},
		{"unknown key at the top", "gatewy: {}\n", []string{
			"haltd.yaml:1: gatewy: unknown key; did you mean gateway?"}},
		{"unknown key like no other", "log: {zzzzzzzz: 1}\n", []string{
			"haltd.yaml:1: log.zzzzzzzz: unknown key; expected one of format, level"}},
		{"unknown key with odd letters", "log: {\"a.b\\nc\": 1}\n", []string{
			`haltd.yaml:1: log["a.b\nc"]: unknown key; expected one of format, level`}},
		{"duplicate key", "log: {level: info}\ndata_dir: x\nlog: {level: warn}\n", []string{
			"haltd.yaml:3: log: set twice; line 1 has it already"}},
		{"duplicate provider", "providers:\n  a: {base_url: http://x}\n  a: {base_url: http://y}\n", []string{
			"haltd.yaml:3: providers.a: set twice; line 2 has it already"}},
		{"key that is no name", "? [a]\n: b\n", []string{
			"haltd.yaml:1: expected a name as key, got a list"}},
		{"merge key", "log: &l {level: info}\ngateway: {<<: *l}\n", []string{
			`haltd.yaml:2: gateway["<<"]: unknown key; expected one of listen, tls, require_keys, max_body, body_memory, max_calls, stall_timeout, shutdown_timeout, block_status`}},

		{"section is a text", "gateway: yes please\n", []string{
			`haltd.yaml:1: gateway: expected keys and values, got "yes please"`}},
		{"document is a list", "- a\n", []string{
			"haltd.yaml:1: expected keys and values, got a list"}},
		{"text is a list", "data_dir: [a]\n", []string{
			"haltd.yaml:1: data_dir: expected a text, got a list"}},
		{"text is nothing", "data_dir:\n", []string{
			"haltd.yaml:1: data_dir: expected a text, got nothing"}},
		{"text is a truth", "admin: {token: true}\n", []string{
			"haltd.yaml:1: admin.token: expected a text, got true"}},
		{"truth is a text", "gateway:\n  require_keys: maybe\n", []string{
			`haltd.yaml:2: gateway.require_keys: expected true or false, got "maybe"`}},
		{"truth is a mapping", "gateway: {require_keys: {a: b}}\n", []string{
			"haltd.yaml:1: gateway.require_keys: expected true or false, got keys and values"}},
		{"number is a text", "providers: {openai: {max_connections: many}}\n", []string{
			`haltd.yaml:1: providers.openai.max_connections: expected a whole number, got "many"`}},
		{"number is a fraction", "defaults: {kill_switch: {window_size: 2.5}}\n", []string{
			"haltd.yaml:1: defaults.kill_switch.window_size: expected a whole number, got 2.5"}},
		{"list is a text", "admin: {hosts: a.example.com}\n", []string{
			`haltd.yaml:1: admin.hosts: expected a list, got "a.example.com"`}},
		{"store that is none", "store: {url: \"mysql://haltd:hush@db/haltd\"}\n", []string{
			"haltd.yaml:1: store.url: expected postgres://user:password@host:5432/database"}},
		{"store without a host", "store: {url: \"postgres:///haltd\"}\n", []string{
			"haltd.yaml:1: store.url: it names no host; expected postgres://user:password@host:5432/database"}},
		{"seal key that can be guessed", "seal_key: short\n", []string{
			"haltd.yaml:1: seal_key: 5 characters can be guessed; use 16 or more, for example what openssl rand -hex 32 prints"}},
		{"size", "gateway: {max_body: 5 parsecs}\n", []string{
			`haltd.yaml:1: gateway.max_body: expected a size such as 32MiB, got "5 parsecs"`}},
		{"size that overflows", "gateway: {max_body: 9999999999999GiB}\n", []string{
			`haltd.yaml:1: gateway.max_body: expected a size such as 32MiB, got "9999999999999GiB"`}},
		{"size out of range", "gateway: {max_body: 0}\n", []string{
			"haltd.yaml:1: gateway.max_body: expected 1KiB to 1GiB, got 0B"}},
		{"calls out of range", "gateway: {max_calls: 0}\n", []string{
			"haltd.yaml:1: gateway.max_calls: expected 1 to 1000000, got 0"}},
		{"memory out of range", "gateway: {body_memory: 1KiB}\n", []string{
			"haltd.yaml:1: gateway.body_memory: expected 1MiB to 1024GiB, got 1KiB"}},
		{"a client that may not even blink", "gateway: {stall_timeout: 1ms}\n", []string{
			"haltd.yaml:1: gateway.stall_timeout: expected 100ms to 1h, got 1ms"}},
		{"duration", "gateway: {shutdown_timeout: 30}\n", []string{
			"haltd.yaml:1: gateway.shutdown_timeout: expected a duration such as 30s, 12h or 30d, got 30"}},
		{"no switch", "excerpts: sometimes\n", []string{
			`haltd.yaml:1: excerpts: expected incidents, on or off, got "sometimes"`}},
		{"switch with keys", "excerpts: {}\n", []string{
			"haltd.yaml:1: excerpts: expected incidents, on or off, got keys and values"}},
		{"negative retention of excerpts", "retention: {excerpts: -1h}\n", []string{
			"haltd.yaml:1: retention.excerpts: expected 0 to 36500d, got -1h"}},
		{"negative duration", "retention: {events: -1h}\n", []string{
			"haltd.yaml:1: retention.events: expected 0 to 36500d, got -1h"}},
		{"level", "log: {level: loud}\n", []string{
			`haltd.yaml:1: log.level: expected debug, info, warn or error, got "loud"`}},
		{"block status", "gateway: {block_status: 503}\n", []string{
			"haltd.yaml:1: gateway.block_status: expected 400 to 499, got 503"}},
		{"log format", "log: {format: xml}\n", []string{
			`haltd.yaml:1: log.format: expected text or json, got "xml"`}},
		{"not a number", "defaults: {kill_switch: {threshold: .nan}}\n", []string{
			"haltd.yaml:1: defaults.kill_switch.threshold: expected a number, got .nan"}},
		{"long values are cut", "log: {format: " + strings.Repeat("x", 500) + "}\n", []string{
			`haltd.yaml:1: log.format: expected text or json, got "` + strings.Repeat("x", 60) + `"…`}},

		{"window and threshold", "defaults:\n  kill_switch:\n    window_size: 1\n    threshold: 0\n", []string{
			"haltd.yaml:3: defaults.kill_switch.window_size: expected 2 to 1000, got 1",
			"haltd.yaml:4: defaults.kill_switch.threshold: expected a number above 0, 10000 at most, got 0"}},
		{"listen without port", "gateway: {listen: localhost}\n", []string{
			`haltd.yaml:1: gateway.listen: expected host:port such as 127.0.0.1:7070, got "localhost"`}},
		{"listen with a bad port", "gateway: {listen: \"localhost:70700\"}\n", []string{
			`haltd.yaml:1: gateway.listen: expected host:port such as 127.0.0.1:7070, got "localhost:70700"`}},
		{"listen with a bad host", "gateway: {listen: \"a b:1\"}\n", []string{
			`haltd.yaml:1: gateway.listen: expected host:port such as 127.0.0.1:7070, got "a b:1"`}},
		{"both on one address", "gateway: {listen: \"127.0.0.1:7071\"}\n", []string{
			"haltd.yaml: admin.listen: the gateway listens on 127.0.0.1:7071 already; choose another port"}},
		{"open admin listener", "admin: {listen: \"0.0.0.0:7071\"}\n", []string{
			"haltd.yaml:1: admin.listen: 0.0.0.0:7071 can be reached from other machines and needs a token; set admin.token, admin.token_file or HALTD_ADMIN_TOKEN"}},
		{"host with port", "admin:\n  hosts:\n    - a.example.com\n    - \"b:80\"\n", []string{
			`haltd.yaml:4: admin.hosts[1]: expected a host name without port, got "b:80"`}},
		{"state without store", "state: {url: 'redis://:secret@r:6379'}\n", []string{
			"haltd.yaml:1: state.url: nodes that share a Redis must share the record too, or a kill on one does not hold on the others; set store.url to a PostgreSQL database, or leave state.url out"}},
		{"state of another kind", "store: {url: 'postgres://u@h/d'}\nstate: {url: 'http://:secret@r:6379'}\n", []string{
			"haltd.yaml:2: state.url: expected redis://user:password@host:6379/0, or rediss:// for TLS"}},
		{"empty data_dir", "data_dir: \"\"\n", []string{
			"haltd.yaml:1: data_dir: expected a directory, got nothing"}},

		{"provider name", "providers:\n  Lab!: {base_url: http://x}\n", []string{
			`haltd.yaml:2: providers["Lab!"]: not a provider name; use lower-case letters, digits and dashes, 32 at most, and a letter first`}},
		{"reserved name", "providers: {v1beta: {base_url: http://x}}\n", []string{
			"haltd.yaml:1: providers.v1beta: the name is taken by a path of the gateway; choose another"}},
		{"no base_url", "providers:\n  lab: {format: openai}\n", []string{
			"haltd.yaml:2: providers.lab: base_url is missing; only built-in providers go without"}},
		{"relative base_url", "providers: {lab: {base_url: api.example.com}}\n", []string{
			`haltd.yaml:1: providers.lab.base_url: expected a URL such as https://api.example.com, got "api.example.com"`}},
		{"other scheme", "providers: {lab: {base_url: \"ftp://x\"}}\n", []string{
			`haltd.yaml:1: providers.lab.base_url: expected a URL such as https://api.example.com, got "ftp://x"`}},
		{"password in base_url", "providers: {lab: {base_url: \"https://u:p4ss@x\"}}\n", []string{
			"haltd.yaml:1: providers.lab.base_url: a URL with a user name or password; use api_key for the key"}},
		{"query in base_url", "providers: {lab: {base_url: \"https://x/?key=1\"}}\n", []string{
			"haltd.yaml:1: providers.lab.base_url: a URL with a query or fragment; end it at the path"}},
		{"base_url that is none", "providers: {lab: {base_url: \"https://u:p4ss@x:y/%zz\"}}\n", []string{
			"haltd.yaml:1: providers.lab.base_url: expected a URL such as https://api.example.com"}},
		{"provider format", "providers: {lab: {base_url: http://x, format: soap}}\n", []string{
			`haltd.yaml:1: providers.lab.format: expected openai, anthropic or gemini, got "soap"`}},
		{"negative connections", "providers: {openai: {max_connections: -1}}\n", []string{
			"haltd.yaml:1: providers.openai.max_connections: expected 0 (no limit) or more, got -1"}},

		{"negative price", "pricing: {default: {input: -1}}\n", []string{
			"haltd.yaml:1: pricing.default.input: expected a number of US dollars from 0 to 1000000, got -1"}},
		{"half a price", "pricing:\n  models:\n    gpt-4.1: {input: 1}\n", []string{
			`haltd.yaml:3: pricing.models["gpt-4.1"]: output is missing; a model needs input and output`}},
		{"keys do not stand in for each other", "pricing:\n  models:\n    x: {output: 1}\n    x.input: {input: 1, output: 1}\n", []string{
			"haltd.yaml:3: pricing.models.x: input is missing; a model needs input and output"}},

		{"unset variable", "admin:\n  token: ${NO_SUCH_TOKEN}\n", []string{
			"haltd.yaml:2: admin.token: environment variable NO_SUCH_TOKEN is not set; set it or write ${NO_SUCH_TOKEN:-default}"}},
		{"open brace", "data_dir: a${b\n", []string{
			"haltd.yaml:1: data_dir: ${ without a closing }; write $$ for a plain $"}},
		{"no variable name", "data_dir: ${a-b}\n", []string{
			`haltd.yaml:1: data_dir: "a-b" is not the name of an environment variable; write $$ for a plain $`}},

		{"token twice", "admin:\n  token: a\n  token_file: b\n", []string{
			"haltd.yaml:3: admin.token_file: set together with admin.token; keep one of them"}},
		{"token file is not there", "admin: {token_file: missing}\n", []string{
			`haltd.yaml:1: admin.token_file: cannot read "missing": no such file or directory`}},
		{"token file is a directory", "admin: {token_file: .}\n", []string{
			`haltd.yaml:1: admin.token_file: cannot read ".": not a regular file`}},
		{"token file is empty", "admin: {token_file: empty}\n", []string{
			`haltd.yaml:1: admin.token_file: "empty" is empty`}},
		{"token file has lines", "admin: {token_file: lines}\n", []string{
			"haltd.yaml:1: admin.token_file: spaces, line breaks or other characters that no HTTP header can carry"}},
		{"token file without name", "admin: {token_file: \"\"}\n", []string{
			"haltd.yaml:1: admin.token_file: expected the name of a file, got nothing"}},
		{"gateway key as provider key", "providers: {openai: {api_key: haltd_abc}}\n", []string{
			"haltd.yaml:1: providers.openai.api_key: a gateway key of haltd; give the provider's own key"}},

		{"not YAML", "gateway:\n  listen: a: b\n", []string{
			"haltd.yaml:2: not valid YAML: mapping values are not allowed in this context"}},
		{"a tab", "gateway:\n\tlisten: a\n", []string{
			"haltd.yaml:2: not valid YAML: found character that cannot start any token; indent with spaces, YAML takes no tabs"}},
		{"not text", "\xff\xfe\x00", []string{
			"haltd.yaml:1: not valid YAML: incomplete UTF-16 character"}},
		{"two documents", "log: {level: info}\n---\nlog: {level: warn}\n", []string{
			"haltd.yaml:2: a second YAML document; keep everything in one"}},
		{"all at once, in order", "log: {level: loud}\nfoo: 1\ngateway: {listen: x}\n", []string{
			`haltd.yaml:1: log.level: expected debug, info, warn or error, got "loud"`,
			"haltd.yaml:2: foo: unknown key; expected one of gateway, admin, trusted_proxies, data_dir, store, state, seal_key, seal_key_file, providers, pricing, excerpts, retention, log, defaults, agents, policies, jwt, alerts",
			`haltd.yaml:3: gateway.listen: expected host:port such as 127.0.0.1:7070, got "x"`}},
	})
}

func runProblems(t *testing.T, tests []problemTest) {
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			writeFile(t, "haltd.yaml", tt.text, 0o600)
			writeFile(t, "empty", "\n", 0o600)
			writeFile(t, "lines", "a\nb\n", 0o600)
			c, err := Load("haltd.yaml", envOf(nil))
			if err == nil || c != nil {
				t.Fatalf("loaded: %+v", c)
			}
			if d := cmp.Diff(tt.want, strings.Split(err.Error(), "\n")); d != "" {
				t.Error(d)
			}
			if code := haltd.ErrorCode(err); code != haltd.CodeInvalid {
				t.Errorf("code %s", code)
			}
		})
	}
}

func TestProblemsOfTheEnvironment(t *testing.T) {
	tests := []struct{ variable, value, want string }{
		{"HALTD_LOG_LEVEL", "loud", `HALTD_LOG_LEVEL: log.level: expected debug, info, warn or error, got "loud"`},
		{"HALTD_LOG_FORMAT", "xml", `HALTD_LOG_FORMAT: log.format: expected text or json, got "xml"`},
		{"HALTD_GATEWAY_LISTEN", "x", `HALTD_GATEWAY_LISTEN: gateway.listen: expected host:port such as 127.0.0.1:7070, got "x"`},
		{"HALTD_ADMIN_TOKEN", "a b", "HALTD_ADMIN_TOKEN: admin.token: spaces, line breaks or other characters that no HTTP header can carry"},
		{"OPENAI_API_KEY", "a\nb", "OPENAI_API_KEY: providers.openai.api_key: spaces, line breaks or other characters that no HTTP header can carry"},
	}
	for _, tt := range tests {
		_, err := Load("", envOf(map[string]string{tt.variable: tt.value}))
		if err == nil || err.Error() != tt.want {
			t.Errorf("got %v, want %s", err, tt.want)
		}
	}
}

func TestUnreadableFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "large.yaml", strings.Repeat("#", maxFile+1), 0o600)
	const fix = ". Name an existing file, or start without one: defaults alone run."
	for path, want := range map[string]string{
		"missing.yaml": "missing.yaml: no such file or directory" + fix,
		".":            ".: not a regular file" + fix,
		"large.yaml":   "large.yaml: larger than 1MiB" + fix,
	} {
		if _, err := Load(path, envOf(nil)); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestNoSecretInAnyMessage(t *testing.T) {
	const secret = "hunter2"
	for _, text := range []string{
		"admin: {token: \"hunter2 hunter2\"}\n",
		"providers: {lab: {base_url: \"https://me:hunter2@[::1\"}}\n",
		"providers: {lab: {base_url: \"https://me:hunter2@x\"}}\n",
		"providers: {lab: {base_url: \"ftp://me:hunter2@x\"}}\n",
		"providers: {lab: {base_url: http://x, api_key: \"haltd_hunter2\"}}\n",
		"jwt: {secret: hunter2}\n",
		"alerts: {channels: [{name: a, kind: slack, url: \"ftp://x/hunter2\"}]}\n",
		"alerts: {channels: [{name: a, kind: webhook, url: \"http://x:y/hunter2\", secret: hunter2}]}\n",
		"alerts: {channels: [{name: a, kind: email, password: hunter2}]}\n",
	} {
		if _, err := loadText(t, text, nil); err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// standIns pass for the secrets that are checked for more than their letters.
var standIns = strings.NewReplacer(
	"url: '"+redacted+"'", "url: https://hooks.example.com",
	"secret: '"+redacted+"'", "secret: "+webhookSecret,
)

func FuzzLoad(f *testing.F) {
	example, err := os.ReadFile("../../haltd.example.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(example)
	f.Add([]byte(under("defaults:", fairvisorBlock) + under("policies:\n  -", fairvisorPolicy) + "jwt: {secret: " + sharedSecret + "}\n"))
	f.Add([]byte("agents: {A: {kill_switch: {enabled: ~, stall: warn}, budgets: {day: {hard_usd: 1}}, allowed_hours: []}}"))
	f.Add([]byte(alertChannels))
	f.Add([]byte("a: &a [*a]\nproviders: {x: *a}\n"))
	f.Add([]byte("? *a\n: b"))
	f.Add([]byte("providers: &p\n  lab: *p\n"))
	f.Add([]byte("admin: {token: ${A:-${B}}, hosts: [[]]}\n---\n"))
	f.Add([]byte("pricing: {models: {? {a: b} : c, ~: {input: 1e999}}}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := read("haltd.yaml", data, envOf(map[string]string{"A": "x"}))
		if (c == nil) != (err != nil) {
			t.Fatalf("configuration %v with error %v", c, err)
		}
		if err != nil {
			if e := (*haltd.Error)(nil); !errors.As(err, &e) {
				t.Fatalf("%v is no *haltd.Error", err)
			}
			return
		}
		text, err := c.Redacted()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := read("redacted.yaml", []byte(standIns.Replace(string(text))), envOf(nil)); err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
	})
}
