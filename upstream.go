package haltd

import "time"

// Upstream is where calls go, and how it answered last. All of it comes from
// the calls of agents: haltd asks no upstream by itself.
type Upstream struct {
	Name    string        `json:"name"`
	Kind    UpstreamKind  `json:"kind" enum:"provider,service" doc:"A service is the upstream of a policy and bears its id."`
	BaseURL string        `json:"base_url"`
	State   UpstreamState `json:"state" enum:"ok,failing,unused" doc:"How the latest call went; failing is no answer, or one of 500 and above."`

	LastSuccess time.Time `json:"last_success,omitzero" doc:"When the last answer below 500 began."`
	Status      int       `json:"status,omitzero" doc:"HTTP status of that answer; a 401 or 429 is one, too."`
	FirstByte   Duration  `json:"first_byte_ms,omitzero" doc:"How long that answer took to begin."`

	LastFailure time.Time `json:"last_failure,omitzero"`
	Failures    int       `json:"failures,omitzero" doc:"How many calls in a row have failed."`
	Error       string    `json:"error,omitempty" doc:"What the last failure was, in a few words."`
}

// UpstreamKind says by what part of the configuration calls go there.
type UpstreamKind string

// The kinds of upstreams.
const (
	UpstreamProvider UpstreamKind = "provider"
	UpstreamService  UpstreamKind = "service" // of a policy
)

// UpstreamState is how the latest call to an upstream went.
type UpstreamState string

// The states of an upstream.
const (
	UpstreamOK      UpstreamState = "ok"
	UpstreamFailing UpstreamState = "failing"
	UpstreamUnused  UpstreamState = "unused" // nobody called it since haltd started
)
