package policy

import "net/url"

// Set is the policies of a configuration after they were checked.
type Set struct{ policies []*RequestPolicy }

// RequestPolicy is a document in the form in which requests meet it.
type RequestPolicy struct {
	ID string
	// Shadow says that nothing is done: its checks count apart and only
	// tell.
	Shadow   bool
	Loop     *LoopDetection // nil when it is off
	Limits   []KeyedLimit
	Upstream *url.URL // nil for requests that go to a provider

	selector Selector
	keys     []limitKey // of all limits
	verifier *Verifier
}

// DefaultsID is the id of the policy that the block under `defaults:` makes.
const DefaultsID = "defaults"

// NewSet checks the documents and the loop detection that meets every
// request, which may be nil. v verifies the tokens of jwt keys; without
// it, or with a token it does not accept, their value is empty. All that is wrong is in the error: *haltd.Error with
// CodeInvalid, joined, each beginning with the field.
func NewSet(docs []Document, defaults *LoopDetection, v *Verifier) (*Set, error) {
	c := checker{verifier: v}
	s := &Set{}
	ids := map[string]int{}
	for i := range docs {
		field := at("policies", i)
		c.id(field+".id", docs[i].ID, i, ids)
		s.policies = append(s.policies, c.policy(field+".spec", &docs[i]))
	}
	if loop := c.loop("defaults", defaults); loop != nil {
		s.policies = append(s.policies, &RequestPolicy{ID: DefaultsID, Loop: loop})
	}
	if err := c.err(); err != nil {
		return nil, err
	}
	return s, nil
}

// Match finds the policies that select a request, in the order of the
// documents; the defaults come last. See Selector.Matches for path.
func (s *Set) Match(method, host, path string) []*RequestPolicy {
	var found []*RequestPolicy
	for _, p := range s.policies {
		if p.selector.Matches(method, host, path) {
			found = append(found, p)
		}
	}
	return found
}

// Upstream finds the first policy that selects a request and has an upstream
// of its own.
func (s *Set) Upstream(method, host, path string) (*RequestPolicy, bool) {
	for _, p := range s.policies {
		if p.Upstream != nil && p.selector.Matches(method, host, path) {
			return p, true
		}
	}
	return nil, false
}

// Upstreams are the policies that have a service of their own.
func (s *Set) Upstreams() []*RequestPolicy {
	var found []*RequestPolicy
	for _, p := range s.policies {
		if p.Upstream != nil {
			found = append(found, p)
		}
	}
	return found
}
