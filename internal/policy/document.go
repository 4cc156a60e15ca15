// Package policy holds the checks that need no memory of what an agent said:
// allowed hours, the periods of budgets, rate limits, rules, identical requests,
// and policies that select requests by path. It is pure: the clock and all state
// are arguments.
package policy

import "net/url"

// Document is one entry of `policies:`; docs/seeds.md says where its shape comes from.
type Document struct {
	ID   string `json:"id" yaml:"id"`
	Spec Spec   `json:"spec" yaml:"spec"`
}

// Spec is what a policy selects and does.
type Spec struct {
	Selector Selector `json:"selector" yaml:"selector"`
	// Mode is enforce (the default) or shadow, which counts apart and only
	// tells.
	Mode string `json:"mode,omitempty" yaml:"mode"`
	// Upstream is the service behind the selector; nil for requests that go
	// to a provider.
	Upstream      *url.URL       `json:"upstream,omitempty" yaml:"upstream"`
	LoopDetection *LoopDetection `json:"loop_detection,omitempty" yaml:"loop_detection"`
	Rules         []RateRule     `json:"rules,omitempty" yaml:"rules"`
}

// Selector matches requests; each field that is given must match. Paths are
// those that the upstream will see.
type Selector struct {
	PathPrefix string   `json:"pathPrefix,omitempty" yaml:"pathPrefix"`
	PathExact  string   `json:"pathExact,omitempty" yaml:"pathExact"`
	Methods    []string `json:"methods,omitempty" yaml:"methods"`
	Hosts      []string `json:"hosts,omitempty" yaml:"hosts"`
}

// RateRule limits requests that agree in the values of its keys.
type RateRule struct {
	Name      string          `json:"name" yaml:"name"`
	LimitKeys []string        `json:"limit_keys" yaml:"limit_keys"` // header:…, query:…, jwt:…, ip:address
	Algorithm string          `json:"algorithm" yaml:"algorithm"`   // token_bucket
	Config    AlgorithmConfig `json:"algorithm_config" yaml:"algorithm_config"`
}

// AlgorithmConfig is a token bucket: RPS or TokensPerSecond, which mean the
// same, and how many tokens it holds.
type AlgorithmConfig struct {
	RPS             float64 `json:"rps,omitempty" yaml:"rps"`
	TokensPerSecond float64 `json:"tokens_per_second,omitempty" yaml:"tokens_per_second"`
	Burst           float64 `json:"burst" yaml:"burst"`
}
