package policy

import "testing"

func TestSelectorMatches(t *testing.T) {
	for _, c := range []struct {
		name               string
		selector           Selector
		method, host, path string
		want               bool
	}{
		{"prefix: itself", Selector{PathPrefix: "/v1/tools"}, "GET", "", "/v1/tools", true},
		{"prefix: with a slash", Selector{PathPrefix: "/v1/tools"}, "GET", "", "/v1/tools/", true},
		{"prefix: below", Selector{PathPrefix: "/v1/tools"}, "GET", "", "/v1/tools/search", true},
		{"prefix: a longer segment", Selector{PathPrefix: "/v1/tools"}, "GET", "", "/v1/toolshed", false},
		{"prefix: above", Selector{PathPrefix: "/v1/tools"}, "GET", "", "/v1", false},
		{"prefix: another case", Selector{PathPrefix: "/v1/tools"}, "GET", "", "/v1/Tools", false},
		{"prefix with slash: itself", Selector{PathPrefix: "/v1/tools/"}, "GET", "", "/v1/tools/", true},
		{"prefix with slash: below", Selector{PathPrefix: "/v1/tools/"}, "GET", "", "/v1/tools/search", true},
		{"prefix with slash: without it", Selector{PathPrefix: "/v1/tools/"}, "GET", "", "/v1/tools", false},
		{"prefix /", Selector{PathPrefix: "/"}, "GET", "", "/anything", true},
		{"exact: itself", Selector{PathExact: "/v1/tools"}, "GET", "", "/v1/tools", true},
		{"exact: below", Selector{PathExact: "/v1/tools"}, "GET", "", "/v1/tools/search", false},
		{"exact: with a slash", Selector{PathExact: "/v1/tools"}, "GET", "", "/v1/tools/", false},
		{"both must match", Selector{PathPrefix: "/v2", PathExact: "/v1/tools"}, "GET", "", "/v1/tools", false},
		{"method", Selector{PathPrefix: "/", Methods: []string{"GET", "POST"}}, "POST", "", "/x", true},
		{"method in lower case", Selector{PathPrefix: "/", Methods: []string{"post"}}, "POST", "", "/x", true},
		{"another method", Selector{PathPrefix: "/", Methods: []string{"POST"}}, "PUT", "", "/x", false},
		{"host", Selector{PathPrefix: "/", Hosts: []string{"tools.example.com"}}, "GET", "tools.example.com", "/x", true},
		{"host with port", Selector{PathPrefix: "/", Hosts: []string{"tools.example.com"}}, "GET", "tools.example.com:7070", "/x", true},
		{"host in another case", Selector{PathPrefix: "/", Hosts: []string{"Tools.example.com"}}, "GET", "tools.EXAMPLE.com", "/x", true},
		{"host with its last dot", Selector{PathPrefix: "/", Hosts: []string{"tools.example.com"}}, "GET", "tools.example.com.:80", "/x", true},
		{"another host", Selector{PathPrefix: "/", Hosts: []string{"tools.example.com"}}, "GET", "example.com", "/x", false},
		{"IPv6 with port", Selector{PathPrefix: "/", Hosts: []string{"::1"}}, "GET", "[::1]:7070", "/x", true},
		{"IPv6 without port", Selector{PathPrefix: "/", Hosts: []string{"[::1]"}}, "GET", "[::1]", "/x", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.selector.Matches(c.method, c.host, c.path); got != c.want {
				t.Errorf("Matches(%s, %q, %s) = %v, want %v", c.method, c.host, c.path, got, c.want)
			}
		})
	}
}
