package haltd

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"
)

// Event is one line of the record. Prompt text is not in it: digests,
// lengths and tool names are; see Excerpt.
type Event struct {
	ID   EventID   `json:"id"`
	Time time.Time `json:"time"` // when the request arrived
	Type EventType `json:"event_type"`

	Agent   string `json:"agent"`
	Label   string `json:"label,omitempty"` // the name the client gave itself, where a gateway key named the agent
	Session string `json:"session"`
	Client  string `json:"client"`
	Trace   string `json:"trace_id,omitempty"` // that the client's traceparent names or, with OpenTelemetry on, haltd's own

	Provider string `json:"provider"`
	Format   string `json:"format,omitempty"` // wire format; empty for paths that pass through
	Path     string `json:"path"`             // as the upstream sees it, without the query
	Model    string `json:"model"`

	Status    int      `json:"status"` // HTTP status the client received; 0 when it left before one was sent
	Stream    bool     `json:"stream"`
	Tokens    Usage    `json:"tokens"`
	Estimated bool     `json:"tokens_estimated"` // the provider sent no usage
	Cost      Money    `json:"cost_usd"`
	Unpriced  bool     `json:"cost_default"` // the model is not in the price table; the default price was used
	Latency   Duration `json:"latency_ms"`
	FirstByte Duration `json:"first_byte_ms"` // 0 when no byte came

	Blocked     bool   `json:"blocked"`
	BlockReason Reason `json:"block_reason,omitempty"`
	Incident    string `json:"incident,omitempty"`
	Shadow      bool   `json:"shadow"`
	Retry       bool   `json:"retry"`

	Score float64  `json:"score"`          // of similarity
	Rule  string   `json:"rule,omitempty"` // name of the rule that matched
	Tags  []string `json:"tags,omitempty"` // that rules put on it

	Finish     string   `json:"finish,omitempty"`
	ToolCalls  []string `json:"tool_calls,omitempty"` // names of the tools the reply called
	PromptHash string   `json:"prompt_hash,omitempty"`
	PromptLen  int      `json:"prompt_bytes"`
	ReplyHash  string   `json:"reply_hash,omitempty"`
	ReplyLen   int      `json:"reply_bytes"`

	Unread string `json:"unread,omitempty"` // why the reply could not be read
	Error  string `json:"error,omitempty"`  // how the exchange failed: client_left, upstream_cut, upstream_idle, operator_cut, budget_cut, an error code, or a provider's in-stream error

	// Verdict says what was decided and why; nil where there is nothing to
	// say.
	Verdict *Verdict `json:"verdict,omitempty"`
	// Audit is a person's change, in a policy_change event.
	Audit *Audit `json:"audit,omitempty"`

	// Excerpt goes into the record with the event and is read by itself:
	// events that come out of the record have none.
	Excerpt *Excerpt `json:"-"`
}

// EventType is the kind of an event.
type EventType string

// The kinds of events.
const (
	EventCall       EventType = "llm_call"
	EventPass       EventType = "pass_through" // a provider path that is no LLM call; never loop evidence
	EventBlocked    EventType = "blocked"
	EventKillSwitch EventType = "kill_switch"
	EventHalt       EventType = "halt"
	EventSteer      EventType = "steer" // a note was added to a call, besides the event of the call
	EventWarning    EventType = "warning"
	EventGrowth     EventType = "growth"
	EventPolicy     EventType = "policy_change"
	EventAlert      EventType = "alert"
	EventError      EventType = "error" // a request that haltd refused or could not forward
)

// Failed reports whether the exchange ended without a complete 2xx reply.
func (e *Event) Failed() bool {
	return e.Error != "" || e.Status < 200 || e.Status > 299
}

// EventID orders events by time. Its text form sorts the same way.
type EventID int64

const eventIDDigits = "0123456789abcdefghjkmnpqrstvwxyz"

// String is "evt_" and thirteen letters and digits.
func (id EventID) String() string {
	b := [17]byte{'e', 'v', 't', '_'}
	n := uint64(id)
	for i := len(b) - 1; i > 3; i-- {
		b[i] = eventIDDigits[n&31]
		n >>= 5
	}
	return string(b[:])
}

// ParseEventID reads what String wrote.
func ParseEventID(s string) (EventID, error) {
	bad := Errorf(CodeInvalid, "%q is not an event id", s).WithFix("Event ids look like evt_ and 13 letters and digits.")
	if len(s) != 17 || s[:4] != "evt_" {
		return 0, bad
	}
	var n uint64
	for i := 4; i < len(s); i++ {
		d := indexDigit(s[i])
		if d < 0 || n > (1<<63-1)>>5 {
			return 0, bad
		}
		n = n<<5 | uint64(d)
	}
	return EventID(n), nil
}

func indexDigit(c byte) int {
	for i := range len(eventIDDigits) {
		if eventIDDigits[i] == c {
			return i
		}
	}
	return -1
}

// MarshalText makes the id a string in JSON.
func (id EventID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (id *EventID) UnmarshalText(b []byte) error {
	v, err := ParseEventID(string(b))
	*id = v
	return err
}

// An event id is, from the highest bit on, the millisecond, the number of the
// node, and a count. Ids of the first release had no node and counted in its
// bits too: they are valid, and smaller than those of every later millisecond.
const (
	nodeBits  = 10
	countBits = 10
)

// Node is the number of the node that made the id.
func (id EventID) Node() int { return int(id>>countBits) & (MostNodes - 1) }

// EventIDs hands out ids that grow, whatever the clock does, and also across
// restarts when they go on after the last one. Nodes with different numbers
// never make the same. A node that makes more than fit into a millisecond
// borrows from the next.
type EventIDs struct {
	last atomic.Int64 // millisecond and count
	node atomic.Int64
}

// Node makes all ids to come those of the node with that number.
func (g *EventIDs) Node(number int) { g.node.Store(int64(number) & (MostNodes - 1)) }

// Number is that of the node whose ids are made.
func (g *EventIDs) Number() int { return int(g.node.Load()) }

// After makes all ids to come larger than id.
func (g *EventIDs) After(id EventID) {
	g.last.Store((int64(id)>>(nodeBits+countBits)+1)<<countBits - 1)
}

// Next is the next id for an event at t.
func (g *EventIDs) Next(t time.Time) EventID {
	floor := t.UnixMilli() << countBits
	for {
		last := g.last.Load()
		next := max(floor, last+1)
		if g.last.CompareAndSwap(last, next) {
			const counts = 1<<countBits - 1
			return EventID(next>>countBits<<(nodeBits+countBits) | g.node.Load()<<countBits | next&counts)
		}
	}
}

// Duration is a time span that JSON shows as a number of milliseconds.
type Duration time.Duration

// MarshalJSON writes milliseconds with three decimals at most.
func (d Duration) MarshalJSON() ([]byte, error) {
	return json.Marshal(float64(time.Duration(d).Microseconds()) / 1000)
}

// UnmarshalJSON reads a number of milliseconds.
func (d *Duration) UnmarshalJSON(b []byte) error {
	var ms float64
	if err := json.Unmarshal(b, &ms); err != nil {
		return fmt.Errorf("duration %s is not a number of milliseconds", b)
	}
	*d = Duration(ms * float64(time.Millisecond))
	return nil
}

// EventQuery selects events, newest first; zero fields select all.
type EventQuery struct {
	Types    []EventType
	Agent    string
	Session  string
	Client   string
	Provider string
	Model    string
	Blocked  *bool
	Since    time.Time // inclusive
	Until    time.Time // exclusive
	Before   EventID   // cursor: only events with a smaller id; 0 starts at the newest
	Limit    int
}

// EventStore keeps the record.
type EventStore interface {
	// AppendEvents writes events in one transaction and adds them to the
	// totals of their agents, sessions and hours; their excerpts go with
	// them. An id that is there already is left as it is and not counted
	// again. After it returns nil the events survive a crash of the process.
	AppendEvents(ctx context.Context, events []Event) error
	// Events answers at most q.Limit events.
	Events(ctx context.Context, q EventQuery) ([]Event, error)
	// LastEvent is the largest id of an event; 0 without any.
	LastEvent(ctx context.Context) (EventID, error)
	// Stats sums the record per bucket of time.
	Stats(ctx context.Context, q StatsQuery) (Stats, error)
}

// EventFeed tells which events were written, by whichever node, in the order
// of the commits: the ids of several nodes, or of an event that was written
// with a kill, do not come in order.
type EventFeed interface {
	// Position is that of the newest commit, 0 before the first.
	Position(ctx context.Context) (int64, error)
	// Committed are the events of the commits after a position, in their
	// order, and the position of the last of these commits, of which it
	// answers about as many as have so many events. It waits until there is
	// one, and fails with the error of ctx when that ends first. Commits are
	// kept for an hour at least; CodeNotFound where some after that position
	// have gone, or where the store has not had it, because it was set back:
	// what they wrote is found by Events.
	Committed(ctx context.Context, after int64, limit int) (events []Event, last int64, err error)
}

// StatsQuery asks for sums between Since and Until, which are cut to whole
// hours. By is "" or one of agent, provider, model: then Stats.Groups is
// filled, the most expensive first.
type StatsQuery struct {
	Since, Until time.Time
	Step         time.Duration // width of a bucket, a multiple of an hour
	Agent        string
	Agents       []string // only these; empty for all
	By           string
	// Limit and Offset choose among the groups; 100 of them by default. Series
	// asks for the calls of each step as well.
	Limit, Offset int
	Series        bool
}

// Stats is what happened in a time.
type Stats struct {
	Since   time.Time    `json:"since"`
	Until   time.Time    `json:"until"`
	Totals  Totals       `json:"totals"`
	Buckets []StatBucket `json:"buckets"` // oldest first, empty ones included
	Groups  []StatGroup  `json:"groups,omitempty"`
	// GroupCount is how many groups there are, whichever of them were asked for.
	GroupCount int64 `json:"group_count" doc:"How many groups there are in all."`
}

// StatBucket is one step of time.
type StatBucket struct {
	Start time.Time `json:"start"`
	Totals
}

// StatGroup is one agent, provider or model.
type StatGroup struct {
	Name string `json:"name"`
	Totals
	Series []int64 `json:"series,omitempty" doc:"Where it was asked for: the calls of each step, the oldest first."`
}
