package clients

import (
	"net/http"
	"strings"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/test/fakellm"
)

// scenario is one thing that clients do. A client gets a prompt of the
// scenario's own, so that no call looks like another's retry.
type scenario struct {
	name string
	ask  ask
	// ruled are the provider's scripts in order; the last one repeats.
	ruled func(k *sdk) []fakellm.Script
	// cancels leaves the stream after its first event.
	cancels bool
	// lists asks for the models instead.
	lists bool
	// keyed calls with a gateway key of agent keyHolder.
	keyed bool
	// named is the agent of calls whose path names none, where it is not
	// the SDK's default.
	named string

	want   func(k *sdk) outcome // Text, Tools, Failed, Status and Body only
	events func(k *sdk) []event
}

// event is what a scenario expects of haltd.Event.
type event struct {
	Type      haltd.EventType
	Status    int
	Stream    bool
	Tokens    haltd.Usage // not compared where the exchange failed
	Estimated bool        // nor this
	Retry     bool
	Finish    string
	ToolCalls []string
	Error     string // what it contains; empty for none at all
}

const (
	model     = "gpt-or-claude-or-gemini"
	keyHolder = "key-holder"
	text      = "It rains in Lübeck: <18 °C> & falling."
	arguments = `{"city":"Lübeck"}`
)

var usage = haltd.Usage{Input: 1200, Output: 34, CacheRead: 200}

func says(s fakellm.Script) func(*sdk) []fakellm.Script {
	return func(*sdk) []fakellm.Script { return []fakellm.Script{s} }
}

func wants(o outcome) func(*sdk) outcome { return func(*sdk) outcome { return o } }

// completes expects one complete call.
func completes(stream bool) func(*sdk) []event {
	return func(k *sdk) []event {
		return []event{{Type: haltd.EventCall, Status: 200, Stream: stream, Tokens: usage, Finish: k.finish[0]}}
	}
}

var scenarios = []scenario{
	{
		name:   "chat",
		ruled:  says(fakellm.Script{Text: text, Thinking: "Rain?", Usage: &usage}),
		want:   wants(outcome{Text: text}),
		events: completes(false),
	},
	{
		name:   "stream",
		ask:    ask{stream: true},
		ruled:  says(fakellm.Script{Text: text, Usage: &usage}),
		want:   wants(outcome{Text: text}),
		events: completes(true),
	},
	{
		name:   "stream in ragged writes",
		ask:    ask{stream: true},
		ruled:  says(fakellm.Script{Text: text, Usage: &usage, WriteSize: 11}),
		want:   wants(outcome{Text: text}),
		events: completes(true),
	},
	{
		name:   "gzip",
		ruled:  says(fakellm.Script{Text: text, Usage: &usage, Encoding: "gzip"}),
		want:   wants(outcome{Text: text}),
		events: completes(false),
	},
	{
		name:   "gzip stream",
		ask:    ask{stream: true},
		ruled:  says(fakellm.Script{Text: text, Usage: &usage, Encoding: "gzip"}),
		want:   wants(outcome{Text: text}),
		events: completes(true),
	},
	{
		name:  "stream without usage",
		ask:   ask{stream: true, withoutUsage: true},
		ruled: says(fakellm.Script{Text: text, NoUsage: true}),
		want:  wants(outcome{Text: text}),
		events: func(k *sdk) []event {
			return []event{{Type: haltd.EventCall, Status: 200, Stream: true, Estimated: true, Finish: k.finish[0]}}
		},
	},
	{name: "tools", ask: ask{tools: true}, ruled: callsThenSays, want: wants(usedTools), events: toolEvents(false)},
	{name: "stream tools", ask: ask{tools: true, stream: true}, ruled: callsThenSays, want: wants(usedTools), events: toolEvents(true)},
	refused(400), refused(401), refused(404),
	{
		name: "refused stream",
		ask:  ask{stream: true},
		ruled: func(k *sdk) []fakellm.Script {
			return []fakellm.Script{{Status: 400, Body: k.errorBody}}
		},
		want: func(k *sdk) outcome { return outcome{Failed: true, Status: 400, Body: k.errorBody} },
		events: func(*sdk) []event {
			return []event{{Type: haltd.EventCall, Status: 400, Stream: true}}
		},
	},
	repeated(429), repeated(500),
	{
		name: "error inside the stream",
		ask:  ask{stream: true},
		// The OpenAI and Google SDKs have no status to show for it.
		ruled: says(fakellm.Script{Text: text, InBandError: "overloaded"}),
		want:  wants(outcome{Failed: true}),
		events: func(*sdk) []event {
			return []event{{Type: haltd.EventCall, Status: 200, Stream: true, Error: "overloaded"}}
		},
	},
	{
		name:  "connection lost in mid-stream",
		ask:   ask{stream: true},
		ruled: says(fakellm.Script{Text: text, Cut: &fakellm.Cut{Chunks: 4}}),
		want:  wants(outcome{Failed: true}),
		events: func(*sdk) []event {
			return []event{{Type: haltd.EventCall, Status: 200, Stream: true, Error: "upstream_cut"}}
		},
	},
	{
		name:    "cancelled stream",
		ask:     ask{model: "drip-1h", stream: true},
		cancels: true,
		want:    wants(outcome{Failed: true}),
		events: func(*sdk) []event {
			return []event{{Type: haltd.EventCall, Status: 200, Stream: true, Error: "client_left"}}
		},
	},
	{
		name:   "large body",
		ask:    ask{prompt: strings.Repeat("Zeile für Zeile ein <langes> Gedicht.\n", 2<<20/40)},
		ruled:  says(fakellm.Script{Text: text, Usage: &usage}),
		want:   wants(outcome{Text: text}),
		events: completes(false),
	},
	{
		name:  "models",
		lists: true,
		events: func(*sdk) []event {
			return []event{{Type: haltd.EventPass, Status: 200}}
		},
	},
	{
		name:   "agent and session by header",
		ask:    ask{header: map[string]string{"X-Agent-Id": "Night-Shift", "X-Session-Id": "session-7"}},
		named:  "night-shift",
		ruled:  says(fakellm.Script{Text: text, Usage: &usage}),
		want:   wants(outcome{Text: text}),
		events: completes(false),
	},
	{
		name:   "gateway key",
		keyed:  true,
		ruled:  says(fakellm.Script{Text: text, Usage: &usage}),
		want:   wants(outcome{Text: text}),
		events: completes(false),
	},
}

func callsThenSays(*sdk) []fakellm.Script {
	return []fakellm.Script{
		{ToolCalls: []fakellm.ToolCall{{Name: toolName, Arguments: arguments}}, Usage: &usage},
		{Text: text, Usage: &usage},
	}
}

var usedTools = outcome{Text: text, Tools: []string{toolName + arguments}}

func toolEvents(stream bool) func(*sdk) []event {
	return func(k *sdk) []event {
		return []event{
			{Type: haltd.EventCall, Status: 200, Stream: stream, Tokens: usage, Finish: k.finish[1], ToolCalls: []string{toolName}},
			{Type: haltd.EventCall, Status: 200, Stream: stream, Tokens: usage, Finish: k.finish[0]},
		}
	}
}

// refused is an error that no SDK repeats.
func refused(status int) scenario {
	return scenario{
		name: "status " + http.StatusText(status),
		ruled: func(k *sdk) []fakellm.Script {
			return []fakellm.Script{{Status: status, Body: k.errorBody}}
		},
		want:   func(k *sdk) outcome { return outcome{Failed: true, Status: status, Body: k.errorBody} },
		events: func(*sdk) []event { return []event{{Type: haltd.EventCall, Status: status}} },
	}
}

// repeated is an error that SDKs answer with the same call again, until they
// give up.
func repeated(status int) scenario {
	return scenario{
		name:  "status " + http.StatusText(status),
		ask:   ask{retry: true},
		ruled: says(fakellm.Script{Status: status, Error: "later", Header: map[string]string{"Retry-After-Ms": "1"}}),
		want:  func(k *sdk) outcome { return outcome{Failed: true, Status: status} },
		events: func(k *sdk) []event {
			events := []event{{Type: haltd.EventCall, Status: status}}
			for range k.retries {
				events = append(events, event{Type: haltd.EventCall, Status: status, Retry: true})
			}
			return events
		},
	}
}
