package outbound

import "net/netip"

// special are the networks that lead to no receiver in the public internet.
// What netip knows by itself is not repeated here.
var special = prefixes(
	"0.0.0.0/8",        // this host
	"100.64.0.0/10",    // carrier-grade NAT
	"192.0.0.0/24",     // protocol assignments
	"192.0.2.0/24",     // documentation
	"192.88.99.0/24",   // 6to4 relays
	"198.18.0.0/15",    // benchmarks
	"198.51.100.0/24",  // documentation
	"203.0.113.0/24",   // documentation
	"240.0.0.0/4",      // reserved, and broadcast
	"168.63.129.16/32", // Azure's own, on every virtual machine
	"::/96",            // IPv4-compatible
	"64:ff9b:1::/48",   // NAT64 of a local network
	"100::/64",         // discard
	"2001::/23",        // protocol assignments, Teredo among them
	"2001:db8::/32",    // documentation
	"3fff::/20",        // documentation
	"5f00::/16",        // segment routing
	"fec0::/10",        // site-local
)

var (
	nat64  = netip.MustParsePrefix("64:ff9b::/96")
	sixTo4 = netip.MustParsePrefix("2002::/16")
)

func prefixes(texts ...string) []netip.Prefix {
	ps := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		ps[i] = netip.MustParsePrefix(text)
	}
	return ps
}

// metadata are where clouds tell a host its credentials, besides the
// link-local addresses.
var metadata = prefixes("100.100.100.200/32", "168.63.129.16/32", "192.0.0.192/32", "fd00:ec2::254/128")

// public reports whether an address belongs to the public internet.
func public(ip netip.Addr) bool {
	ip = carried(ip)
	return ip.IsValid() && ip.Zone() == "" && ip.IsGlobalUnicast() && !ip.IsPrivate() && !within(special, ip)
}

// byAddressOnly reports an address that no host name is trusted with: clouds
// keep their metadata there, or it is nobody's.
func byAddressOnly(ip netip.Addr) bool {
	ip = carried(ip)
	return ip.IsLinkLocalUnicast() || ip.IsMulticast() || ip.IsUnspecified() || within(metadata, ip)
}

// carried is the IPv4 address that an IPv6 address stands for, or else the
// address itself.
func carried(ip netip.Addr) netip.Addr {
	ip = ip.Unmap()
	b := ip.As16()
	switch {
	case nat64.Contains(ip):
		return netip.AddrFrom4([4]byte(b[12:]))
	case sixTo4.Contains(ip):
		return netip.AddrFrom4([4]byte(b[2:6]))
	}
	return ip
}

func within(ps []netip.Prefix, ip netip.Addr) bool {
	for _, p := range ps {
		if p.Contains(ip) {
			return true
		}
	}
	return false
}
