package gateway

import (
	"cmp"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/config"
	"github.com/haltd/haltd/internal/http1"
	"github.com/haltd/haltd/internal/policy"
	"github.com/haltd/haltd/internal/wire"
	"github.com/haltd/haltd/internal/wire/formats"
)

// Settings is what the configuration says of the gateway, made ready for the
// request path. It never changes once made.
type Settings struct {
	requireKeys bool
	maxBody     int64
	bodyMemory  int64         // for all bodies in flight
	maxCalls    int64         // in flight
	stall       time.Duration // how long a client may neither send nor read
	upstreams   map[string]*upstream
	fallback    wire.Dialect // for answers to requests that name no provider
	blockStatus int          // of the standard inactive answer
	policies    *policy.Set
	services    map[string]*upstream // of policies, by policy id
	trusted     []netip.Prefix       // proxies that say for whom they call
	unreadCall  haltd.Money          // what a reply costs that tells of no tokens
	excerpts    config.Excerpts      // what is said in calls is kept
	secrets     []string             // that no excerpt may show
}

// upstream is one provider, its pool of connections and how it answers.
type upstream struct {
	config.Provider
	dialect   wire.Dialect
	transport *http.Transport
	plain     *http1.Transport // for what it takes; nil where TLS or a proxy is on the way
	forProxy  string           // what a path begins with for a proxy that is asked for whole URLs
	health    *health
}

// NewSettings makes settings from a configuration that has been checked.
// Upstreams that are as they were in old keep their connections, and what is
// known of them.
func NewSettings(c *config.Config, old *Settings) *Settings {
	s := &Settings{
		requireKeys: c.Gateway.RequireKeys,
		maxBody:     int64(c.Gateway.MaxBody),
		bodyMemory:  bodyMemoryOf(&c.Gateway),
		maxCalls:    int64(c.Gateway.MaxCalls),
		stall:       c.Gateway.StallTimeout,
		upstreams:   make(map[string]*upstream, len(c.Providers)),
		fallback:    formats.Dialect("openai"),
		blockStatus: c.Gateway.BlockStatus,
		policies:    c.PolicySet,
		services:    map[string]*upstream{},
		trusted:     c.Trusted,
		unreadCall:  c.Pricing.UnreadCall,
		excerpts:    c.Excerpts,
	}
	for _, p := range c.Providers {
		s.secrets = append(s.secrets, p.APIKey.Reveal())
		u := &upstream{Provider: p, dialect: formats.Dialect(p.Format)}
		u.inherit(old.upstream(p.Name))
		s.upstreams[p.Name] = u
	}
	for _, p := range c.PolicySet.Upstreams() {
		u := &upstream{Provider: config.Provider{Name: p.ID, BaseURL: p.Upstream}, dialect: s.fallback}
		u.inherit(old.service(p.ID))
		s.services[p.ID] = u
	}
	return s
}

// bodyMemoryOf is what all bodies may take. One body of the largest size always
// fits, as it was sent, decoded, and as text, unless it is all small parts.
func bodyMemoryOf(c *config.Gateway) int64 {
	return max(int64(c.BodyMemory), 3*(int64(c.MaxBody)+1))
}

// service is the upstream of a policy.
func (s *Settings) service(policyID string) *upstream {
	if s == nil {
		return nil
	}
	return s.services[policyID]
}

func (s *Settings) upstream(name string) *upstream {
	if s == nil {
		return nil
	}
	return s.upstreams[name]
}

// inherit takes over the connections and health of the upstream that had the
// name before, where its address is the same; nil when there was none.
func (u *upstream) inherit(before *upstream) {
	u.forProxy = u.hostForProxy()
	if before == nil || before.BaseURL.String() != u.BaseURL.String() {
		u.health = &health{}
		u.connect()
		return
	}
	u.transport, u.plain, u.health = before.transport, before.plain, before.health
	if !u.reachedLike(&before.Provider) {
		u.connect()
	}
}

// connect makes pools of its own.
func (u *upstream) connect() { u.transport, u.plain = u.newTransport(), u.newPlain() }

// reachedLike reports a provider that the connections of another one serve.
func (u *upstream) reachedLike(p *config.Provider) bool {
	return u.MaxConnections == p.MaxConnections && u.ConnectTimeout == p.ConnectTimeout && u.FirstByteTimeout == p.FirstByteTimeout &&
		u.Authorities.Equal(p.Authorities) && address(u.Proxy) == address(p.Proxy)
}

func address(u *url.URL) string {
	if u == nil {
		return ""
	}
	return u.String()
}

// closeIdle frees the pools that next does not use.
func (s *Settings) closeIdle(next *Settings) {
	for name, u := range s.upstreams {
		if v := next.upstream(name); v == nil || v.transport != u.transport {
			u.closeIdle()
		}
	}
	for id, u := range s.services {
		if v := next.service(id); v == nil || v.transport != u.transport {
			u.closeIdle()
		}
	}
}

func (u *upstream) closeIdle() {
	u.transport.CloseIdleConnections()
	if u.plain != nil {
		u.plain.CloseIdleConnections()
	}
}

// How connections are kept that nobody uses, and how long the header of a reply may
// be: it is in nobody's share of memory. It bounds 1xx replies, too.
const (
	mostIdle          = 256
	idleFor           = 90 * time.Second
	mostHeader        = 1 << 20
	defaultConnecting = 10 * time.Second // services of policies have none of their own
)

// roundTrip sends a request and reads the head of its reply.
func (u *upstream) roundTrip(r *http.Request) (*http.Response, error) {
	if u.plain != nil && u.plain.Takes(r) {
		return u.plain.RoundTrip(r)
	}
	return u.transport.RoundTrip(r)
}

// newPlain makes the pool of a provider that is reached without TLS, proxy or a limit
// of connections; nil for others.
func (u *upstream) newPlain() *http1.Transport {
	host := u.BaseURL.Host
	if u.BaseURL.Scheme != "http" || u.MaxConnections > 0 || strings.ContainsFunc(host, notInHost) {
		return nil
	}
	if proxy, err := u.proxy()(&http.Request{URL: u.BaseURL}); proxy != nil || err != nil {
		return nil
	}
	address := host
	if u.BaseURL.Port() == "" {
		address = net.JoinHostPort(u.BaseURL.Hostname(), "80")
	}
	d := net.Dialer{Timeout: cmp.Or(u.ConnectTimeout, defaultConnecting), KeepAlive: 30 * time.Second}
	return &http1.Transport{
		Dial:             func(ctx context.Context) (net.Conn, error) { return d.DialContext(ctx, "tcp", address) },
		FirstByteTimeout: u.FirstByteTimeout, IdleTimeout: idleFor, MaxIdle: mostIdle, MaxHeader: mostHeader,
	}
}

// notInHost reports what net/http writes otherwise in a request: names beyond ASCII,
// zones of an address.
func notInHost(r rune) bool { return r > unicode.MaxASCII || r == '%' }

// newTransport makes a pool. It must not decompress: what the client asked
// for is what it gets.
func (u *upstream) newTransport() *http.Transport {
	var trust *tls.Config
	if u.Authorities != nil {
		trust = &tls.Config{RootCAs: u.Authorities}
	}
	connect := cmp.Or(u.ConnectTimeout, defaultConnecting)
	return &http.Transport{
		Proxy:                  u.proxy(),
		DialContext:            dialer(connect),
		TLSHandshakeTimeout:    connect,
		TLSClientConfig:        trust,
		ResponseHeaderTimeout:  u.FirstByteTimeout,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		MaxIdleConns:           0,
		MaxIdleConnsPerHost:    mostIdle,
		MaxConnsPerHost:        u.MaxConnections,
		IdleConnTimeout:        idleFor,
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: mostHeader,
	}
}

func (u *upstream) proxy() func(*http.Request) (*url.URL, error) {
	if u.Proxy != nil {
		return http.ProxyURL(u.Proxy)
	}
	return http.ProxyFromEnvironment
}

// hostForProxy is "//" and the host where a proxy is asked for whole URLs: those
// of plain HTTP, which it reads. Into TLS and SOCKS it only opens a way.
func (u *upstream) hostForProxy() string {
	if u.BaseURL.Scheme != "http" {
		return ""
	}
	proxy, err := u.proxy()(&http.Request{URL: u.BaseURL})
	if proxy == nil || err != nil || strings.HasPrefix(proxy.Scheme, "socks") { // an error is that of each call
		return ""
	}
	return "//" + u.BaseURL.Host
}

func dialer(timeout time.Duration) func(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{Timeout: timeout, KeepAlive: 30 * time.Second}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := d.DialContext(ctx, network, address)
		if tcp, ok := c.(*net.TCPConn); ok {
			return sender{tcp}, nil
		}
		return c, err
	}
}

// sender is a connection that sends bodies through buffers that are used
// again; net takes a new one for each.
type sender struct{ *net.TCPConn }

func (s sender) ReadFrom(body io.Reader) (int64, error) {
	buf := acquireBuffer(longPiece)
	defer releaseBuffer(buf)
	return io.CopyBuffer(struct{ io.Writer }{s.TCPConn}, body, buf)
}

// target is where a request with this path and query goes: the configured
// host, whatever the request says. The escaped path is kept as sent.
func (u *upstream) target(escapedPath, rawQuery string, forceQuery bool) *url.URL {
	t := &url.URL{Scheme: u.BaseURL.Scheme, Host: u.BaseURL.Host, RawQuery: rawQuery, ForceQuery: forceQuery}
	base := strings.TrimSuffix(u.BaseURL.EscapedPath(), "/")
	// People write base URLs with and without the version that every path
	// starts with anyway.
	if version := base[strings.LastIndexByte(base, '/')+1:]; version != "" && strings.HasPrefix(escapedPath, "/"+version+"/") && isVersion(version) {
		base = strings.TrimSuffix(base, "/"+version)
	}
	full := base + escapedPath
	if strings.HasPrefix(full, "//") {
		t.Path = full // Opaque would read it as a host
		if p, err := url.PathUnescape(full); err == nil {
			t.Path, t.RawPath = p, full
		}
		return t
	}
	t.Opaque = u.forProxy + full // net/http makes no whole URL of it
	return t
}

func isVersion(segment string) bool {
	return segment == "v1" || segment == "v1beta" || segment == "v1alpha"
}
