// Package config reads haltd's configuration: defaults, then the environment,
// then one YAML file, each winning over the one before. It reads that file
// and the secret files it names, and nothing else; it starts nothing and
// writes nothing.
package config

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"net/url"
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/policy"
	"github.com/haltd/haltd/internal/pricing"
)

// Config is a complete, valid configuration. It is read-only: a reload makes
// a new one.
type Config struct {
	Gateway Gateway `yaml:"gateway"`
	Admin   Admin   `yaml:"admin"`
	// TrustedProxies are the proxies in front of both listeners; Trusted is
	// what became of them.
	TrustedProxies []string       `yaml:"trusted_proxies,omitempty"`
	Trusted        []netip.Prefix `yaml:"-"`
	DataDir        string         `yaml:"data_dir"`
	Store          Store          `yaml:"store,omitempty"`
	State          State          `yaml:"state,omitempty"`
	// SealKey is what nodes seal excerpts and channels with that share a
	// store; empty when the operator set none.
	SealKey     Secret `yaml:"seal_key"`
	SealKeyFile string `yaml:"seal_key_file"`
	// Providers are the built-in providers and those of the file, by name.
	Providers map[string]Provider `yaml:"providers"`
	Pricing   Pricing             `yaml:"pricing"`
	// Excerpts says of what is said in calls what is kept, redacted.
	Excerpts  Excerpts  `yaml:"excerpts"`
	Retention Retention `yaml:"retention"`
	Log       Log       `yaml:"log"`
	// Defaults is the policy of an agent that has none of its own.
	Defaults Defaults `yaml:"defaults"`
	// Agents are what agents have of their own, by id.
	Agents map[string]haltd.PolicyOverride `yaml:"agents"`
	// Policies select requests by path; PolicySet is what became of them
	// and of Defaults.LoopDetection.
	Policies  []policy.Document `yaml:"policies"`
	PolicySet *policy.Set       `yaml:"-"`
	// JWT is nil when no token is verified.
	JWT    *JWT   `yaml:"jwt"`
	Alerts Alerts `yaml:"alerts"`

	warnings []string
	notices  []string
}

// Gateway is the listener that agents call.
type Gateway struct {
	Listen      string   `yaml:"listen"`
	TLS         TLS      `yaml:"tls,omitempty"`
	RequireKeys bool     `yaml:"require_keys"`
	MaxBody     ByteSize `yaml:"max_body"`
	// BodyMemory is what all bodies in flight may take together.
	BodyMemory ByteSize `yaml:"body_memory"`
	// MaxCalls is how many calls may be in flight.
	MaxCalls int `yaml:"max_calls"`
	// StallTimeout is how long a client may send nothing of a body, or read
	// nothing of a reply.
	StallTimeout    time.Duration `yaml:"stall_timeout"`
	ShutdownTimeout time.Duration `yaml:"shutdown_timeout"`
	// BlockStatus is the status of the standard inactive answer.
	BlockStatus int `yaml:"block_status"`
}

// Admin is the listener of the API and the dashboard.
type Admin struct {
	Listen string `yaml:"listen"`
	TLS    TLS    `yaml:"tls,omitempty"`
	// Token is empty when the operator set none.
	Token     Secret `yaml:"token"`
	TokenFile string `yaml:"token_file"`
	// Hosts are names, lowercased, that the listener answers to besides its
	// own address.
	Hosts []string `yaml:"hosts"`
	// MetricsToken opens /metrics and nothing else; OpenMetrics needs none on
	// this machine.
	MetricsToken     Secret `yaml:"metrics_token"`
	MetricsTokenFile string `yaml:"metrics_token_file"`
	OpenMetrics      bool   `yaml:"open_metrics,omitempty"`
	// TraceURL is the page of a trace, with {trace_id} for its id; empty for
	// no links.
	TraceURL string `yaml:"trace_url,omitempty"`
}

// traceIDPlace stands for the id of a trace in Admin.TraceURL.
const traceIDPlace = "{trace_id}"

// TracePage is the page of a trace; "" where there is none.
func (a Admin) TracePage(id string) string {
	if a.TraceURL == "" || id == "" {
		return ""
	}
	return strings.ReplaceAll(a.TraceURL, traceIDPlace, id)
}

// Store is where the record is kept.
type Store struct {
	// URL is that of a PostgreSQL database; empty for SQLite in DataDir.
	URL     Secret `yaml:"url"`
	URLFile string `yaml:"url_file"`
}

// State is where what is short-lived is kept.
type State struct {
	// URL is that of a Redis or Valkey; empty for the memory of the process.
	URL     Secret `yaml:"url"`
	URLFile string `yaml:"url_file"`
}

// Provider is one upstream.
type Provider struct {
	Name string `yaml:"-"`
	// BaseURL is absolute and ends without a slash.
	BaseURL *url.URL `yaml:"base_url"`
	// Format names the manner of the provider: openai, anthropic or gemini.
	Format string `yaml:"format"`
	// APIKey is empty when the operator set none.
	APIKey     Secret `yaml:"api_key"`
	APIKeyFile string `yaml:"api_key_file"`
	// MaxConnections is 0 for no limit.
	MaxConnections int `yaml:"max_connections"`
	// CAFile holds authorities that are trusted besides those of the system;
	// Authorities is both, nil for those of the system alone.
	CAFile      string         `yaml:"ca_file"`
	Authorities *x509.CertPool `yaml:"-"`
	// Proxy is nil for what the environment says.
	Proxy *url.URL `yaml:"proxy"`
	// ConnectTimeout is for the connection and for its TLS handshake; the
	// others are 0 for as long as the provider likes.
	ConnectTimeout   time.Duration `yaml:"connect_timeout"`
	FirstByteTimeout time.Duration `yaml:"first_byte_timeout,omitempty"`
	IdleTimeout      time.Duration `yaml:"idle_timeout,omitempty"`
	// NeedsKey says that no call can succeed without a key.
	NeedsKey bool `yaml:"-"`
}

// Pricing is what models cost where the embedded table is not to be believed.
type Pricing struct {
	// Default prices models that nobody knows.
	Default pricing.Price `yaml:"default"`
	// Models are overrides by model name or pattern; see pricing.New.
	Models map[string]pricing.Price `yaml:"models"`
	// UnreadCall is what a reply costs that tells of no tokens.
	UnreadCall haltd.Money `yaml:"unread_call"`
}

// Retention says how long the record is kept.
type Retention struct {
	// Events is 0 to keep events for ever.
	Events time.Duration `yaml:"events"`
	// Excerpts is 0 to keep them as long as their events.
	Excerpts time.Duration `yaml:"excerpts"`
	// Audit is 0 to keep the audit log for ever.
	Audit time.Duration `yaml:"audit"`
}

// Log is how haltd logs.
type Log struct {
	Format string     `yaml:"format"` // text or json
	Level  slog.Level `yaml:"level"`
}

// defaults is the configuration that nobody wrote.
func defaults() *Config {
	return &Config{
		Gateway: Gateway{
			Listen:          "127.0.0.1:7070",
			MaxBody:         32 << 20,
			BodyMemory:      256 << 20,
			MaxCalls:        10_000,
			StallTimeout:    30 * time.Second,
			ShutdownTimeout: 30 * time.Second,
			BlockStatus:     400,
		},
		Admin:     Admin{Listen: "127.0.0.1:7071"},
		DataDir:   "./data",
		Providers: builtInProviders(),
		// An unknown model is priced like the dearest of the everyday ones:
		// a budget that stops too early is noticed, one that never stops is
		// not.
		Pricing:   Pricing{Default: pricing.Flat(5*haltd.Dollar, 30*haltd.Dollar), UnreadCall: haltd.Dollar / 10},
		Excerpts:  ExcerptsIncidents,
		Retention: Retention{Events: 30 * day, Excerpts: 7 * day, Audit: 365 * day},
		Log:       Log{Format: "text", Level: slog.LevelInfo},
		Defaults:  Defaults{Policy: haltd.DefaultPolicy()},
	}
}

// maxFile is far more than any configuration needs.
const maxFile = 1 << 20

// Load reads the file at path over the environment over the defaults; an
// empty path means no file. env is os.LookupEnv outside of tests. The error
// joins every problem found, one line each, as *haltd.Error with CodeInvalid.
func Load(path string, env func(string) (string, bool)) (*Config, error) {
	data, unread := readConfig(path)
	c, err := read(path, data, env)
	if err = errors.Join(unread, err); err != nil {
		return nil, flat(err)
	}
	return c, nil
}

func readConfig(path string) ([]byte, error) {
	if path == "" {
		return nil, nil
	}
	data, err := readFile(path, maxFile)
	if err != nil {
		return nil, haltd.Errorf(haltd.CodeInvalid, "%s: %v", path, err).
			WithFix("Name an existing file, or start without one: defaults alone run.")
	}
	return data, nil
}

// flat joins the problems of several errors in one list.
func flat(err error) error { return errors.Join(leaves(err)...) }

// read is Load after the file is in memory; file is its name in messages.
func read(file string, data []byte, env func(string) (string, bool)) (*Config, error) {
	c, d := decode(file, data, env)
	if len(d.problems) > 0 {
		return nil, d.joined()
	}
	c.warnings, c.notices = d.warnings, d.notices
	return c, nil
}

// decode reads as much as can be read, and notes what cannot. A file that is
// no YAML is checked as far as it is, section by section.
func decode(file string, data []byte, env func(string) (string, bool)) (*Config, *decoder) {
	c := defaults()
	d := &decoder{file: file, env: env, lines: map[string]int{}, origins: map[string]string{}}
	root := d.parse(data)
	if root == nil && len(d.problems) > 0 {
		root = rootOf(wholeSections(data))
	}
	if root != nil {
		d.value("", root, reflect.ValueOf(c).Elem())
	}
	d.applyEnvironment(c)
	d.validate(c)
	return c, d
}

// Notices are choices that the file leaves open and that an operator should
// make knowingly. Unlike warnings they are told only to who asks.
func (c *Config) Notices() []string { return c.notices }

// Warnings are things that an operator should know and that stop nothing.
func (c *Config) Warnings() []string { return c.warnings }

// RestartNeeded names the settings that differ between two configurations
// and that a running process cannot take over.
func RestartNeeded(old, new *Config) []string {
	var keys []string
	for _, s := range []struct{ key, old, new string }{
		{"gateway.listen", old.Gateway.Listen, new.Gateway.Listen},
		{"gateway.tls", old.Gateway.TLS.CertFile + " " + old.Gateway.TLS.KeyFile, new.Gateway.TLS.CertFile + " " + new.Gateway.TLS.KeyFile},
		{"admin.listen", old.Admin.Listen, new.Admin.Listen},
		{"admin.tls", old.Admin.TLS.CertFile + " " + old.Admin.TLS.KeyFile, new.Admin.TLS.CertFile + " " + new.Admin.TLS.KeyFile},
		{"admin.token", old.Admin.Token.Reveal(), new.Admin.Token.Reveal()},
		{"admin.hosts", strings.Join(old.Admin.Hosts, " "), strings.Join(new.Admin.Hosts, " ")},
		{"data_dir", old.DataDir, new.DataDir},
		{"store.url", old.Store.URL.Reveal(), new.Store.URL.Reveal()},
		{"state.url", old.State.URL.Reveal(), new.State.URL.Reveal()},
		{"seal_key", old.SealKey.Reveal(), new.SealKey.Reveal()},
		{"log.format", old.Log.Format, new.Log.Format},
	} {
		if s.old != s.new {
			keys = append(keys, s.key)
		}
	}
	return keys
}

// readFile reads a regular file of at most limit bytes. Its errors do not
// repeat the path.
func readFile(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, bare(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, bare(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, bare(err)
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("larger than %s", ByteSize(limit))
	}
	return data, nil
}

// bare takes the operation and the path off an error of package os.
func bare(err error) error {
	if pe := (*os.PathError)(nil); errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
