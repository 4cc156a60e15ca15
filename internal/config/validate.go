package config

import (
	"net"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/pricing"
)

// validate checks what no single value shows by itself and completes what
// follows from other values.
func (d *decoder) validate(c *Config) {
	d.listeners(c)
	d.certificate("gateway.tls", c.Gateway.TLS)
	d.certificate("admin.tls", c.Admin.TLS)
	d.trusted(c)
	size := func(n int64) string { return ByteSize(n).String() }
	d.between("gateway.max_body", int64(c.Gateway.MaxBody), 1<<10, 1<<30, size)
	d.between("gateway.body_memory", int64(c.Gateway.BodyMemory), 1<<20, 1<<40, size)
	d.between("gateway.max_calls", int64(c.Gateway.MaxCalls), 1, 1_000_000, number)
	d.between("gateway.stall_timeout", int64(c.Gateway.StallTimeout), int64(100*time.Millisecond), int64(time.Hour), duration)
	d.between("gateway.shutdown_timeout", int64(c.Gateway.ShutdownTimeout), 0, int64(time.Hour), duration)
	d.between("gateway.block_status", int64(c.Gateway.BlockStatus), 400, 499, number)
	d.between("retention.events", int64(c.Retention.Events), 0, 36500*int64(day), duration)
	d.between("retention.audit", int64(c.Retention.Audit), 0, 36500*int64(day), duration)
	d.between("retention.excerpts", int64(c.Retention.Excerpts), 0, 36500*int64(day), duration)
	if c.DataDir == "" {
		d.problem("data_dir", "expected a directory, got nothing")
	}
	d.store(c)
	d.state(c)
	if c.Log.Format != "text" && c.Log.Format != "json" {
		d.problem("log.format", "expected text or json, got %s", quote(c.Log.Format))
	}
	for _, name := range sortedKeys(c.Providers) {
		c.Providers[name] = d.provider(name, c.Providers[name])
	}
	d.prices(&c.Pricing)
	d.policies(c)
	d.alerts(&c.Alerts)
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

func duration(n int64) string { return formatDuration(time.Duration(n)) }

func (d *decoder) between(key string, n, low, high int64, format func(int64) string) {
	if n < low || n > high {
		d.problem(key, "expected %s to %s, got %s", format(low), format(high), format(n))
	}
}

func (d *decoder) listeners(c *Config) {
	gateway, admin := &c.Gateway.Listen, &c.Admin.Listen
	gatewayOK, adminOK := d.address("gateway.listen", *gateway), d.address("admin.listen", *admin)
	if gatewayOK && adminOK && *gateway == *admin && !strings.HasSuffix(*admin, ":0") {
		d.problem("admin.listen", "the gateway listens on %s already; choose another port", *admin)
	}
	c.Admin.Token = d.headerSecret("admin.token", c.Admin.Token, c.Admin.TokenFile)
	if adminOK && c.Admin.Token == "" && !d.failed("admin.token") && !d.failed("admin.token_file") {
		if host, _, _ := net.SplitHostPort(*admin); !isLoopback(host) {
			d.problem("admin.listen", "%s can be reached from other machines and needs a token; set admin.token, admin.token_file or HALTD_ADMIN_TOKEN", *admin)
		}
	}
	c.Admin.MetricsToken = d.headerSecret("admin.metrics_token", c.Admin.MetricsToken, c.Admin.MetricsTokenFile)
	if n := len(c.Admin.MetricsToken); n > 0 && n < shortestToken {
		source, _ := d.source("admin.metrics_token")
		d.problem(source, "%d characters can be guessed; use %d or more, for example what openssl rand -hex 32 prints", n, shortestToken)
	}
	if u, err := url.Parse(c.Admin.TraceURL); c.Admin.TraceURL != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || !strings.Contains(c.Admin.TraceURL, traceIDPlace)) {
		d.problem("admin.trace_url", "expected a URL with %s in it, such as https://tempo.example.com/trace/%[1]s", traceIDPlace)
	}
	if host, _, _ := net.SplitHostPort(*admin); c.Admin.OpenMetrics && adminOK && !isLoopback(host) {
		d.problem("admin.open_metrics", "%s can be reached from other machines; set admin.metrics_token instead", *admin)
	}
	if n := len(c.Admin.Token); n > 0 && n < shortestToken {
		source, _ := d.source("admin.token")
		d.problem(source, "%d characters can be guessed; use %d or more, for example what openssl rand -hex 32 prints", n, shortestToken)
	}
	for i, host := range c.Admin.Hosts {
		c.Admin.Hosts[i] = strings.ToLower(host)
		if !isHost(host) {
			d.problem("admin.hosts["+strconv.Itoa(i)+"]", "expected a host name without port, got %s", quote(host))
		}
	}
}

// store checks where the record is kept. Messages never repeat the URL: it holds
// a password.
func (d *decoder) store(c *Config) {
	c.Store.URL = d.secret("store.url", c.Store.URL, c.Store.URLFile)
	if text := c.Store.URL.Reveal(); text != "" {
		u, err := url.Parse(text)
		source, _ := d.source("store.url")
		switch {
		case err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql":
			d.problem(source, "expected postgres://user:password@host:5432/database")
		case u.Host == "" && !u.Query().Has("host"):
			d.problem(source, "it names no host; expected postgres://user:password@host:5432/database")
		}
	}
	c.SealKey = d.secret("seal_key", c.SealKey, c.SealKeyFile)
	if c.Store.URL != "" && c.SealKey == "" && c.Excerpts != ExcerptsOff {
		d.warn("excerpts", "off, because nodes that share a store need a seal_key for them; set seal_key or HALTD_SEAL_KEY")
		c.Excerpts = ExcerptsOff
	}
	if n := len(c.SealKey); n > 0 && n < shortestToken {
		source, _ := d.source("seal_key")
		d.problem(source, "%d characters can be guessed; use %d or more, for example what openssl rand -hex 32 prints", n, shortestToken)
	}
}

// state checks where short-lived state is kept. Like that of the store its URL
// holds a password.
func (d *decoder) state(c *Config) {
	c.State.URL = d.secret("state.url", c.State.URL, c.State.URLFile)
	text := c.State.URL.Reveal()
	if text == "" {
		return
	}
	source, _ := d.source("state.url")
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "redis" && u.Scheme != "rediss" && u.Scheme != "valkey" && u.Scheme != "valkeys" && u.Scheme != "unix":
		d.problem(source, "expected redis://user:password@host:6379/0, or rediss:// for TLS")
	case u.Host == "" && u.Scheme != "unix":
		d.problem(source, "it names no host; expected redis://user:password@host:6379/0")
	case c.Store.URL == "" && !d.failed("store.url") && !d.failed("store.url_file"):
		d.problem(source, "nodes that share a Redis must share the record too, or a kill on one does not hold on the others; set store.url to a PostgreSQL database, or leave state.url out")
	}
}

// shortestToken is what an operator's own admin token needs at least.
const shortestToken = 16

// address checks a listen address.
func (d *decoder) address(key, address string) bool {
	ok := isAddress(address)
	if !ok {
		d.problem(key, "expected host:port such as 127.0.0.1:7070, got %s", quote(address))
	}
	return ok
}

// isAddress reports one to listen on; an empty host means all interfaces.
func isAddress(address string) bool {
	host, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	return err == nil && (host == "" || isHost(host))
}

var hostName = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9_-]{0,62}[A-Za-z0-9_])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]{0,62}[A-Za-z0-9_])?)*$`)

func isHost(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil || len(host) <= 253 && hostName.MatchString(host)
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && addr.Unmap().IsLoopback()
}

// prices lets cache prices that are not given fall back to the input price.
func (d *decoder) prices(p *Pricing) {
	p.Default = d.price("pricing.default", p.Default)
	for _, name := range sortedKeys(p.Models) {
		key := join("pricing.models", name)
		if name == "" {
			d.problem(key, "expected the name of a model, got nothing")
		}
		for _, field := range []string{"input", "output"} {
			if !d.isSet(key + "." + field) {
				d.problem(key, "%s is missing; a model needs input and output", field)
			}
		}
		p.Models[name] = d.price(key, p.Models[name])
	}
}

func (d *decoder) price(key string, p pricing.Price) pricing.Price {
	if !d.isSet(key + ".cache_read") {
		p.CacheRead = p.Input
	}
	if !d.isSet(key + ".cache_write") {
		p.CacheWrite = p.Input
	}
	if p.MaxOutput < 0 || p.MaxOutput > 10_000_000 {
		d.problem(key+".max_output", "expected a number of tokens from 0 to 10000000, got %d", p.MaxOutput)
	}
	return p
}

const maxSecretFile = 64 << 10

// secret is the value of key, or of the file that key_file names.
func (d *decoder) secret(key string, value Secret, file string) Secret {
	fileKey := key + "_file"
	switch {
	case d.isSet(key) && d.isSet(fileKey):
		d.problem(fileKey, "set together with %s; keep one of them", key)
		return ""
	case d.isSet(fileKey):
		return d.secretFile(fileKey, file)
	}
	return value
}

// source is the key that gives a secret: key itself or key_file.
func (d *decoder) source(key string) (source string, given bool) {
	if d.isSet(key + "_file") {
		return key + "_file", true
	}
	return key, d.isSet(key)
}

// headerSecret is a secret that travels in an HTTP header.
func (d *decoder) headerSecret(key string, value Secret, file string) Secret {
	value = d.secret(key, value, file)
	key, _ = d.source(key)
	switch {
	case !value.sendable():
		d.problem(key, "spaces, line breaks or other characters that no HTTP header can carry")
	case strings.HasPrefix(value.Reveal(), haltd.KeyPrefix) && strings.HasPrefix(key, "providers"):
		d.problem(key, "a gateway key of haltd; give the provider's own key")
	}
	return value
}

func (d *decoder) secretFile(key, file string) Secret {
	if file == "" {
		d.problem(key, "expected the name of a file, got nothing")
		return ""
	}
	data, err := readFile(file, maxSecretFile)
	if err != nil {
		d.problem(key, "cannot read %s: %v", quote(file), err)
		return ""
	}
	text := strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
	if text == "" {
		d.problem(key, "%s is empty", quote(file))
		return ""
	}
	if info, err := os.Stat(file); err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o044 != 0 {
		d.warn(key, "%s can be read by other users; run chmod 600 on it", quote(file))
	}
	return Secret(text)
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
