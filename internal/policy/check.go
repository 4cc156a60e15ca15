package policy

import (
	"errors"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/haltd/haltd"
)

// checker turns documents into policies and collects what is wrong with them.
type checker struct {
	verifier *Verifier
	problems []error
}

func (c *checker) bad(field, format string, args ...any) {
	c.problems = append(c.problems, haltd.Errorf(haltd.CodeInvalid, format, args...).In(field))
}

func (c *checker) err() error { return errors.Join(c.problems...) }

func at(list string, i int) string { return list + "[" + strconv.Itoa(i) + "]" }

func (c *checker) id(field, id string, i int, seen map[string]int) {
	first, taken := seen[id]
	switch {
	case strings.TrimSpace(id) == "":
		c.bad(field, "expected a name, got %q", id)
	case id == DefaultsID:
		c.bad(field, "%q is the name of the defaults; choose another", id)
	case taken:
		c.bad(field, "%q is the name of %s; choose another", id, at("policies", first))
	default:
		seen[id] = i
	}
}

func (c *checker) policy(field string, doc *Document) *RequestPolicy {
	spec := &doc.Spec
	p := &RequestPolicy{
		ID: doc.ID, Shadow: spec.Mode == "shadow", Upstream: spec.Upstream,
		selector: spec.Selector, verifier: c.verifier,
	}
	if !slices.Contains([]string{"", "enforce", "shadow"}, spec.Mode) {
		c.bad(field+".mode", "expected enforce or shadow, got %q", spec.Mode)
	}
	c.selector(field+".selector", &spec.Selector)
	c.upstream(field+".upstream", spec.Upstream)
	p.Loop = c.loop(field, spec.LoopDetection)
	names := map[string]bool{}
	for i := range spec.Rules {
		r, rule := &spec.Rules[i], at(field+".rules", i)
		if strings.TrimSpace(r.Name) == "" || names[r.Name] {
			c.bad(rule+".name", "expected a name that no other rule of the policy has, got %q", r.Name)
		}
		names[r.Name] = true
		c.limit(rule, p, r)
	}
	return p
}

func (c *checker) selector(field string, s *Selector) {
	if s.PathPrefix == "" && s.PathExact == "" {
		c.bad(field, "expected pathPrefix or pathExact, got neither; pathPrefix / selects every request")
	}
	for _, p := range []struct{ field, path string }{{"pathPrefix", s.PathPrefix}, {"pathExact", s.PathExact}} {
		if p.path == "" {
			continue
		}
		clean := path.Clean(p.path)
		if p.path[0] != '/' || strings.Contains(p.path, "//") || p.path != clean && p.path != clean+"/" {
			c.bad(field+"."+p.field, "expected a path such as /v1/tools, without empty or dot segments, got %q", p.path)
		}
	}
	for i, m := range s.Methods {
		if !isToken(m) {
			c.bad(at(field+".methods", i), "expected a method such as POST, got %q", m)
		}
	}
	for i, h := range s.Hosts {
		if name := withoutPort(h); name == "" || strings.ContainsAny(h, "/ *") || name != strings.Trim(h, "[].") {
			c.bad(at(field+".hosts", i), "expected a name such as tools.example.com, without scheme, port or *, got %q", h)
		}
	}
}

func (c *checker) upstream(field string, u *url.URL) {
	switch {
	case u == nil:
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		c.bad(field, "expected a URL such as https://tools.example.com, got %q", u.Redacted())
	case u.User != nil:
		c.bad(field, "expected a URL without user name and password")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		c.bad(field, "expected a URL without query and fragment; end it at the path")
	}
}

// loop is nil for a block that is off.
func (c *checker) loop(field string, block *LoopDetection) *LoopDetection {
	if block == nil {
		return nil
	}
	checked, err := block.Checked()
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, each := range joined.Unwrap() {
			if e := (*haltd.Error)(nil); errors.As(each, &e) {
				c.problems = append(c.problems, e.In(field+".loop_detection."+e.Field))
			}
		}
		return nil
	}
	if !checked.Enabled {
		return nil
	}
	return &checked
}

func (c *checker) limit(field string, p *RequestPolicy, r *RateRule) {
	if r.Algorithm != "token_bucket" {
		c.bad(field+".algorithm", "expected token_bucket, got %q", r.Algorithm)
	}
	l := KeyedLimit{Name: r.Name, policy: p.ID, shadow: p.Shadow}
	for i, text := range r.LimitKeys {
		k, err := parseLimitKey(text)
		if err != nil {
			c.bad(at(field+".limit_keys", i), "%v", err)
		}
		l.keys = append(l.keys, text)
		if !slices.Contains(p.keys, k) {
			p.keys = append(p.keys, k)
		}
	}
	slices.Sort(l.keys)
	l.keys = slices.Compact(l.keys)
	if rate, ok := c.rate(field+".algorithm_config", &r.Config); ok {
		l.Limit = PerSecond(rate, r.Config.Burst)
	}
	p.Limits = append(p.Limits, l)
}

func (c *checker) rate(field string, a *AlgorithmConfig) (rate float64, ok bool) {
	before := len(c.problems)
	rate, name := a.RPS, "rps"
	if rate == 0 {
		rate, name = a.TokensPerSecond, "tokens_per_second"
	}
	switch {
	case a.RPS == 0 && a.TokensPerSecond == 0:
		c.bad(field, "expected rps or tokens_per_second above 0, got neither")
	case a.RPS != 0 && a.TokensPerSecond != 0:
		c.bad(field, "expected rps or tokens_per_second, which mean the same, got both")
	case !(rate >= minRate && rate <= maxRate):
		c.bad(field+"."+name, "expected a number from 0.000001 to 1000000000, got %v", rate)
	}
	if !(a.Burst >= 1 && a.Burst <= maxBurst) {
		c.bad(field+".burst", "expected a number from 1 to 1000000000, got %v", a.Burst)
	}
	return rate, len(c.problems) == before
}
