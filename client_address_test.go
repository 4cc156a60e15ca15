package haltd_test

import (
	"net/netip"
	"testing"

	"github.com/haltd/haltd"
)

func TestClientAddress(t *testing.T) {
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	for name, tt := range map[string]struct {
		peer      string
		forwarded []string
		want      string
		ok        bool
	}{
		"nobody forwards":             {"192.0.2.1", nil, "192.0.2.1", true},
		"a stranger claims":           {"192.0.2.1", []string{"198.51.100.7"}, "192.0.2.1", true},
		"a proxy tells":               {"10.0.0.1", []string{"198.51.100.7"}, "198.51.100.7", true},
		"the client claims as well":   {"10.0.0.1", []string{"203.0.113.9, 198.51.100.7"}, "198.51.100.7", true},
		"two proxies":                 {"10.0.0.1", []string{"203.0.113.9, 198.51.100.7, 10.9.9.9"}, "198.51.100.7", true},
		"in two headers":              {"10.0.0.1", []string{"203.0.113.9", "198.51.100.7, 10.9.9.9"}, "198.51.100.7", true},
		"with ports":                  {"::1", []string{"198.51.100.7:4711"}, "198.51.100.7", true},
		"an IPv6 client":              {"::1", []string{"[2001:db8::1]:4711"}, "2001:db8::1", true},
		"a proxy that calls itself":   {"10.0.0.1", []string{"10.0.0.2"}, "10.0.0.2", true},
		"what cannot be read":         {"10.0.0.1", []string{"unknown"}, "10.0.0.1", false},
		"unreadable before a trusted": {"10.0.0.1", []string{"_hidden, 10.0.0.2"}, "10.0.0.2", false},
		"written as IPv6":             {"::ffff:10.0.0.1", []string{"198.51.100.7"}, "198.51.100.7", true},
	} {
		got, ok := haltd.ClientAddress(netip.MustParseAddr(tt.peer), tt.forwarded, trusted)
		if got.String() != tt.want || ok != tt.ok {
			t.Errorf("%s: %s, %v; want %s, %v", name, got, ok, tt.want, tt.ok)
		}
	}
}
