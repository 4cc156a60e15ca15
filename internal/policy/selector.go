package policy

import (
	"net"
	"slices"
	"strings"
)

// Matches reports whether the selector selects a request. path is decoded and
// has no empty or dot segments. A pathPrefix ends at the border of a segment:
// /v1/tools is that path and all below it, /v1/tools/ is what lies below. The
// port of the host and the case of host and method do not matter.
func (s Selector) Matches(method, host, path string) bool {
	return (s.PathExact == "" || path == s.PathExact) &&
		(s.PathPrefix == "" || isBelow(path, s.PathPrefix)) &&
		(len(s.Methods) == 0 || slices.ContainsFunc(s.Methods, func(m string) bool { return strings.EqualFold(m, method) })) &&
		(len(s.Hosts) == 0 || s.hasHost(host))
}

func isBelow(path, prefix string) bool {
	rest, ok := strings.CutPrefix(path, prefix)
	return ok && (rest == "" || rest[0] == '/' || prefix[len(prefix)-1] == '/')
}

func (s Selector) hasHost(host string) bool {
	host = withoutPort(host)
	return slices.ContainsFunc(s.Hosts, func(h string) bool { return strings.EqualFold(withoutPort(h), host) })
}

// withoutPort is the name or address in a Host header. The dot that ends an
// absolute name says nothing about where it leads.
func withoutPort(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.TrimSuffix(strings.Trim(host, "[]"), ".")
}
