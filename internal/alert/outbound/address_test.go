package outbound

import (
	"net/netip"
	"testing"
)

func TestOnlyPublicAddressesArePublic(t *testing.T) {
	for address, want := range map[string]bool{
		"1.1.1.1": true, "52.1.2.3": true, "172.15.0.1": true, "172.32.0.1": true, "100.63.255.255": true, "100.128.0.1": true,
		"2606:4700::1111": true, "64:ff9b::101:101": true, "2002:101:101::1": true, "::ffff:1.1.1.1": true,

		"0.0.0.0": false, "0.1.2.3": false, "127.0.0.1": false, "127.255.255.254": false,
		"10.0.0.1": false, "172.16.0.1": false, "172.31.255.255": false, "192.168.1.1": false,
		"100.64.0.1": false, "100.127.255.255": false, "100.100.100.200": false, "168.63.129.16": false, "168.63.129.17": true,
		"169.254.169.254": false, "169.254.0.1": false, "224.0.0.1": false, "239.1.1.1": false,
		"240.0.0.1": false, "255.255.255.255": false, "198.18.0.1": false, "192.0.0.1": false, "192.0.2.1": false,

		"::": false, "::1": false, "fe80::1": false, "fe80::1%eth0": false, "fec0::1": false, "fc00::1": false, "fd00:ec2::254": false,
		"ff02::1": false, "2001:db8::1": false, "100::1": false, "::7f00:1": false,
		"::ffff:127.0.0.1": false, "::ffff:10.0.0.1": false, "::ffff:169.254.169.254": false,
		"64:ff9b::7f00:1": false, "64:ff9b::a9fe:a9fe": false, "64:ff9b::a00:1": false, "64:ff9b:1::101:101": false,
		"2002:7f00:1::1": false, "2002:a9fe:a9fe::": false, "2002:c0a8:101::1": false,
		"2001:0:7f00:1::1": false, "2001::1": false,
	} {
		if got := public(netip.MustParseAddr(address)); got != want {
			t.Errorf("public(%s) = %v, want %v", address, got, want)
		}
	}
	if public(netip.Addr{}) {
		t.Error("no address is public")
	}
}

func TestPermissions(t *testing.T) {
	n, err := NewNetwork([]string{"Mail.Internal.", "10.1.0.0/16", "192.168.5.5", "[fd00::5]", "169.254.169.254"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		host, address string
		allowed       bool
	}{
		{"anything.example", "1.1.1.1:443", true},
		{"anything.example", "10.1.2.3:443", true},
		{"anything.example", "[::ffff:10.1.2.3]:443", true},
		{"anything.example", "10.2.2.3:443", false},
		{"anything.example", "192.168.5.5:25", true},
		{"anything.example", "192.168.5.6:25", false},
		{"anything.example", "[fd00::5]:25", true},
		{"anything.example", "[fd00::6]:25", false},
		{"mail.internal", "10.9.9.9:25", true},
		{"MAIL.internal.", "127.0.0.1:25", true},
		{"mail.internal", "[fd00::9]:25", true},
		{"mail.internal", "100.100.100.200:80", false}, // metadata of a cloud
		{"mail.internal", "168.63.129.16:80", false},
		{"mail.internal", "192.0.0.192:80", false},
		{"mail.internal", "[fd00:ec2::254]:80", false},
		{"mail.internal", "169.254.1.1:80", false},
		{"mail.internal", "[64:ff9b::a9fe:101]:80", false},
		{"mail.internal", "0.0.0.0:80", false},
		{"evil-mail.internal", "10.9.9.9:25", false},
		{"mail.internal.evil.example", "10.9.9.9:25", false},
		{"anything.example", "169.254.169.254:80", true}, // named by its address
	} {
		if err := n.check(c.host, c.address); (err == nil) != c.allowed || err != nil && !Forbidden(err) {
			t.Errorf("%s at %s: %v, want allowed %v", c.host, c.address, err, c.allowed)
		}
	}
}

func TestPermissionsThatCannotBeRead(t *testing.T) {
	for _, entry := range []string{"", "10.0.0.0/33", "*.internal", "http://mail.internal", "mail.internal:25", "a b"} {
		if _, err := NewNetwork([]string{entry}, nil); err == nil {
			t.Errorf("%q was taken", entry)
		}
	}
}
