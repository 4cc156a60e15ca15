package haltd

import (
	"net/netip"
	"slices"
	"strings"
)

// ClientAddress is who made a request that came from peer, with these values of
// X-Forwarded-For. Only trusted proxies are believed: each adds the address
// that called it, so the client is the last one that is not itself trusted.
// ok is false where a proxy names somebody who cannot be read; then the
// address is that of the proxy.
func ClientAddress(peer netip.Addr, forwarded []string, trusted []netip.Prefix) (client netip.Addr, ok bool) {
	isTrusted := func(a netip.Addr) bool {
		return slices.ContainsFunc(trusted, func(p netip.Prefix) bool { return p.Contains(a) })
	}
	client = peer.Unmap().WithZone("")
	if len(trusted) == 0 || len(forwarded) == 0 || !isTrusted(client) {
		return client, true
	}
	chain := strings.Join(forwarded, ",")
	for chain != "" {
		last := chain[strings.LastIndexByte(chain, ',')+1:]
		chain = strings.TrimSuffix(strings.TrimSuffix(chain, last), ",")
		before, err := readAddress(strings.TrimSpace(last))
		if err != nil {
			return client, false
		}
		if client = before; !isTrusted(client) {
			break
		}
	}
	return client, true
}

// readAddress takes an address with or without port, as proxies write it.
func readAddress(text string) (netip.Addr, error) {
	a, err := netip.ParseAddr(strings.Trim(text, "[]"))
	if err != nil {
		var withPort netip.AddrPort
		if withPort, err = netip.ParseAddrPort(text); err == nil {
			a = withPort.Addr()
		}
	}
	return a.Unmap().WithZone(""), err
}
