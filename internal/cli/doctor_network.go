package cli

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/config"
)

// providers says where the keys of the providers come from and, where it may
// use the network, whether they can be reached.
func (d *doctor) providers(cfg *config.Config, network bool) {
	configured := configuredProviders(cfg)
	for _, p := range configured {
		switch {
		case p.APIKey != "":
			d.ok("Provider %s: haltd has its key", p.Name)
		case p.NeedsKey && cfg.Gateway.RequireKeys:
			d.problem(fmt.Sprintf("Set providers.%s.api_key.", p.Name),
				"Provider %s: gateway keys are required, and haltd has no key of the provider to put in their place", p.Name)
		default:
			d.ok("Provider %s: the client's own key passes through", p.Name)
		}
		if network {
			d.reach(&p)
		}
	}
	if len(configured) == 0 {
		d.ok("Providers: all %d built-in ones, with the clients' own keys passed through", len(cfg.Providers))
	}
}

// upstreams says how the calls of agents went. A failure may be long over, so
// it is no fault by itself.
func (d *doctor) upstreams(all []haltd.Upstream) {
	var answered []string
	for _, u := range all {
		switch u.State {
		case haltd.UpstreamFailing:
			d.notice("If it goes on, look at its address, at the network and at the provider's own status page.",
				"The last call to %s failed (%s): %s", u.Name, minute(u.LastFailure), u.Error)
		case haltd.UpstreamOK:
			answered = append(answered, u.Name)
		}
	}
	if len(answered) > 0 {
		d.ok("The last call was answered by %s", strings.Join(answered, ", "))
	}
}

// configuredProviders are those that have a key or differ from what haltd
// knows by itself, by name.
func configuredProviders(cfg *config.Config) []config.Provider {
	plain, err := config.Load("", func(string) (string, bool) { return "", false })
	if err != nil {
		plain = &config.Config{}
	}
	var found []config.Provider
	for _, name := range slices.Sorted(maps.Keys(cfg.Providers)) {
		p := cfg.Providers[name]
		known, ok := plain.Providers[name]
		if !ok || p.APIKey != "" || p.BaseURL.String() != known.BaseURL.String() {
			found = append(found, p)
		}
	}
	return found
}

// reach opens a connection and closes it; nothing is sent.
func (d *doctor) reach(p *config.Provider) {
	port := cmp.Or(p.BaseURL.Port(), map[string]string{"http": "80", "https": "443"}[p.BaseURL.Scheme])
	address := net.JoinHostPort(p.BaseURL.Hostname(), port)
	dialer := net.Dialer{Timeout: patience}
	conn, err := dialer.DialContext(d.env.Context, "tcp", address)
	if err != nil {
		d.problem(fmt.Sprintf("Look at the network, a proxy or firewall, and at providers.%s.base_url.", p.Name),
			"Provider %s cannot be reached at %s", p.Name, address)
		return
	}
	_ = conn.Close()
	d.ok("Provider %s can be reached at %s", p.Name, address)
}

// gatewayOf is where agents call; "" when nobody can say.
func gatewayOf(cfg *config.Config, status *nodeStatus) string {
	switch {
	case status != nil && status.Gateway != "":
		if u, err := url.Parse(status.Gateway); err == nil {
			return u.Scheme + "://" + callableAddress(u.Host)
		}
	case cfg != nil && cfg.Gateway.TLS.On():
		return "https://" + callableAddress(cfg.Gateway.Listen)
	case cfg != nil:
		return "http://" + callableAddress(cfg.Gateway.Listen)
	}
	return ""
}

// shell looks at the variables by which clients started from this shell find
// their provider.
func (d *doctor) shell(cfg *config.Config, gateway string) {
	for _, v := range []struct{ name, end string }{{"OPENAI_BASE_URL", "/v1"}, {"ANTHROPIC_BASE_URL", ""}} {
		value := d.env.getenv(v.name)
		fix := "export " + v.name + "=" + gateway + v.end
		u, err := url.Parse(value)
		switch {
		case value == "":
			d.notice(fix, "%s is not set in this shell: its clients call the provider directly", v.name)
		case err != nil || u.Host == "":
			d.problem(fix, "%s is not a URL: %s", v.name, value)
		case !sameListener(u, gateway) && isProvider(cfg, u.Hostname()):
			d.problem(fix, "%s points to the provider and not to the gateway: %s", v.name, u.Redacted())
		case !sameListener(u, gateway):
			d.notice(fix+", unless that address leads to haltd", "%s points elsewhere: %s", v.name, u.Redacted())
		case strings.HasSuffix(strings.TrimSuffix(u.Path, "/"), "/v1") != (v.end == "/v1"):
			d.problem(fix, "%s has the wrong path for its clients: %s", v.name, u.Redacted())
		default:
			d.ok("%s points to the gateway", v.name)
		}
	}
}

func isProvider(cfg *config.Config, host string) bool {
	if cfg == nil {
		return false
	}
	for _, p := range cfg.Providers {
		if strings.EqualFold(p.BaseURL.Hostname(), host) {
			return true
		}
	}
	return false
}

// sameListener reports whether a URL leads to the gateway: the same host, or
// two names of this machine, and the same port.
func sameListener(u *url.URL, gateway string) bool {
	g, err := url.Parse(gateway)
	if err != nil || u.Port() != g.Port() {
		return false
	}
	return strings.EqualFold(u.Hostname(), g.Hostname()) || isHere(u.Hostname()) && isHere(g.Hostname())
}

func isHere(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.IsLoopback()
}
