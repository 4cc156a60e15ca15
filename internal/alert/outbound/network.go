package outbound

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"github.com/haltd/haltd"
)

// CodeForbidden is the code of an error about an address that haltd may not
// call.
const CodeForbidden = "forbidden_address"

// Network reaches receivers. Whoever can set up a channel must not reach
// through haltd what only haltd's host can reach, so it looks at each address
// when it is dialled, after the name was resolved, and refuses what is not
// public and not allowed.
type Network struct {
	hosts map[string]bool
	nets  []netip.Prefix
	roots *x509.CertPool
}

// NewNetwork makes a network on which the hosts, addresses and networks (in
// CIDR notation) of allow can be reached besides public ones. Certificates
// are checked against roots, nil for the system's.
func NewNetwork(allow []string, roots *x509.CertPool) (*Network, error) {
	n := &Network{hosts: map[string]bool{}, roots: roots}
	for _, entry := range allow {
		host := canonical(strings.Trim(entry, "[]"))
		if ip, err := netip.ParseAddr(host); err == nil {
			n.nets = append(n.nets, netip.PrefixFrom(ip.Unmap(), ip.Unmap().BitLen()))
		} else if p, err := netip.ParsePrefix(host); err == nil {
			n.nets = append(n.nets, p.Masked())
		} else if host == "" || strings.ContainsAny(host, "/:*@ ") {
			return nil, haltd.Errorf(haltd.CodeInvalid, "%q is not a host, an address or a network", entry).In("alerts.allow_internal").
				WithFix("Write for example mail.internal, 10.1.2.3 or 10.0.0.0/8.")
		} else {
			n.hosts[host] = true
		}
	}
	return n, nil
}

// Trusting is a network on which one more host can be reached.
func (n *Network) Trusting(host string) *Network {
	more := &Network{hosts: map[string]bool{canonical(host): true}, nets: n.nets, roots: n.roots}
	for h := range n.hosts {
		more.hosts[h] = true
	}
	return more
}

func canonical(host string) string { return strings.ToLower(strings.TrimSuffix(host, ".")) }

// Dial connects over TCP. A refusal is CodeForbidden.
func (n *Network) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	d := net.Dialer{
		Timeout: 10 * time.Second,
		Control: func(_, resolved string, _ syscall.RawConn) error { return n.check(host, resolved) },
	}
	return d.DialContext(ctx, network, address)
}

// check decides about an address that a host has turned out to have. An
// allowed host may be on a private network, but not where clouds keep their
// metadata: that takes an entry for the address itself.
func (n *Network) check(host, resolved string) error {
	ap, err := netip.ParseAddrPort(resolved)
	if err != nil {
		return err
	}
	ip := ap.Addr().Unmap()
	if public(ip) || within(n.nets, ip) || n.hosts[canonical(host)] && !byAddressOnly(ip) {
		return nil
	}
	return haltd.Errorf(CodeForbidden, "%s has the address %s, which is not public", Line(host, 253), ip).
		WithFix("If haltd may call it, add it to alerts.allow_internal in the configuration.")
}

// TLS is how a connection to a host is encrypted.
func (n *Network) TLS(host string) *tls.Config {
	return &tls.Config{ServerName: host, RootCAs: n.roots, MinVersion: tls.VersionTLS12}
}

// client speaks HTTP. It follows no redirect, because the receiver is who the
// operator named; it takes no proxy from the environment, which would dial in
// its place; and it keeps no connection, because alerts are rare.
func (n *Network) client() *http.Client {
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext:            n.Dial,
			TLSClientConfig:        &tls.Config{RootCAs: n.roots, MinVersion: tls.VersionTLS12},
			DisableKeepAlives:      true,
			DisableCompression:     true,
			MaxResponseHeaderBytes: 64 << 10,
		},
	}
}
