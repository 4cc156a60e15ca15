package fakellm

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/haltd/haltd"
)

// Script is what to answer. The zero Script answers an empty text.
type Script struct {
	Text      string     `json:"text,omitempty"`
	Thinking  string     `json:"thinking,omitempty"`
	ToolCalls []ToolCall `json:"tool_calls,omitempty"`
	// Finish is the provider's own word; empty means the one that fits.
	Finish string `json:"finish,omitempty"`
	// Usage is estimated from the lengths of texts when nil.
	Usage   *haltd.Usage `json:"usage,omitempty"`
	NoUsage bool         `json:"no_usage,omitempty"` // leave usage out of the reply

	// Status of 400 and above answers an error in the provider's shape,
	// with Error as its message.
	Status int    `json:"status,omitempty"`
	Error  string `json:"error,omitempty"`
	// Body is sent as it is, in place of all the above but Status.
	Body string `json:"body,omitempty"`
	// InBandError ends a stream with an error event after the texts and
	// tool calls; without a stream it is answered as status 500.
	InBandError string            `json:"in_band_error,omitempty"`
	Header      map[string]string `json:"header,omitempty"` // added to, or in place of, the usual headers

	Delay      Delay `json:"delay,omitempty"`       // before the first byte, headers included
	ChunkDelay Delay `json:"chunk_delay,omitempty"` // between one write and the next
	// Chunks is into how many pieces a stream divides each text, ChunkSize
	// how many characters a piece has; the first that is set counts. By
	// default there are at most 20 pieces.
	Chunks    int `json:"chunks,omitempty"`
	ChunkSize int `json:"chunk_size,omitempty"`
	// WriteSize sends the body in writes of this many bytes, whatever the
	// borders of events. By default each event of a stream is one write.
	WriteSize int    `json:"write_size,omitempty"`
	Encoding  string `json:"encoding,omitempty"` // gzip, br or zstd, asked for or not
	Cut       *Cut   `json:"cut,omitempty"`
}

// ToolCall is a tool call of the reply. An empty ID gets one of the
// provider's shape; Gemini's stays empty.
type ToolCall struct {
	ID        string `json:"id,omitempty"`
	Name      string `json:"name"`
	Arguments string `json:"arguments,omitempty"` // JSON text, or free text for a custom tool
}

// Cut ends the connection before the reply is complete: after Chunks writes,
// or after Bytes of the body, whichever is set, and before the headers when
// neither is.
type Cut struct {
	Chunks int    `json:"chunks,omitempty"`
	Bytes  int    `json:"bytes,omitempty"`
	How    CutHow `json:"how,omitempty"`
}

// CutHow is the way a connection ends.
type CutHow string

// The ways to cut. A reset may also take bytes away that the client has not
// read yet.
const (
	CutEOF   CutHow = ""      // the connection closes in mid-reply
	CutReset CutHow = "reset" // the connection is reset
	CutClean CutHow = "clean" // the reply ends as if it were complete
)

// Delay is a time span that JSON writes like "250ms".
type Delay time.Duration

// MarshalText writes the span as time.Duration does.
func (d Delay) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads what time.ParseDuration reads.
func (d *Delay) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	if err != nil {
		return fmt.Errorf("delay %q: %w", b, err)
	}
	*d = Delay(v)
	return nil
}

// Rule gives a script to the requests that it matches; what is empty matches
// all. A rule is used Times times, or always when that is 0.
type Rule struct {
	Model  string            `json:"model,omitempty"`
	Path   string            `json:"path,omitempty"`
	Header map[string]string `json:"header,omitempty"`
	Times  int               `json:"times,omitempty"`
	Script Script            `json:"script"`

	used int
}

func (r *Rule) spent() bool { return r.Times > 0 && r.used >= r.Times }

func (r *Rule) matches(req *Request) bool {
	if r.Model != "" && r.Model != req.Ask.Model || r.Path != "" && r.Path != req.Path {
		return false
	}
	for name, value := range r.Header {
		if req.Header.Get(name) != value {
			return false
		}
	}
	return true
}

// check refuses what could not be played.
func (s *Script) check() error {
	switch {
	case s.Status != 0 && (s.Status < 200 || s.Status > 599):
		return fmt.Errorf("status %d is not between 200 and 599", s.Status)
	case !knownEncoding(s.Encoding):
		return fmt.Errorf("encoding %q is none of gzip, br, zstd", s.Encoding)
	case s.Cut != nil && s.Cut.How != CutEOF && s.Cut.How != CutReset && s.Cut.How != CutClean:
		return fmt.Errorf("cut.how %q is none of reset, clean or empty", s.Cut.How)
	}
	return nil
}

// fixedText is what a model without a meaning says.
const fixedText = "Hello from the fake provider."

// ByModel chooses by the model's name, so that any client can use it without
// setup:
//
//	echo            the last user message, or the tool results that end the request
//	say-TEXT        TEXT
//	think-TEXT      TEXT as thinking, then a fixed text
//	tools           calls the first declared tool, then tells its result
//	loop            calls the first declared tool for ever, with the same arguments
//	error-STATUS    an error in the provider's shape
//	in-band-error   an error event inside the stream
//	slow-DURATION   waits before the first byte
//	drip-DURATION   waits between the chunks
//	cut-N, reset-N  ends the connection after N chunks
//	nousage         no usage in the reply
//	gzip, br, zstd  an encoded reply
//	bench-BYTES     a text of that size, in 20 chunks when streamed
//
// Any other name answers a fixed text. As long as there are no rules, the
// server answers bench models from prepared bytes, without asking.
func ByModel(r Request) Script {
	ask := &r.Ask
	switch ask.Model {
	case "echo":
		if len(ask.Results) > 0 {
			return Script{Text: strings.Join(ask.Results, "\n")}
		}
		return Script{Text: ask.User}
	case "tools":
		if len(ask.Results) > 0 {
			return Script{Text: "The tool answered: " + strings.Join(ask.Results, "\n")}
		}
		return callFirstTool(ask)
	case "loop":
		return callFirstTool(ask)
	case "in-band-error":
		return Script{Text: fixedText, InBandError: "The server is overloaded"}
	case "nousage":
		return Script{Text: fixedText, NoUsage: true}
	case "gzip", "br", "zstd":
		return Script{Text: fixedText, Encoding: ask.Model}
	}
	if verb, value, ok := strings.Cut(ask.Model, "-"); ok {
		return byPrefix(verb, value)
	}
	return Script{Text: fixedText}
}

func byPrefix(verb, value string) Script {
	s := Script{Text: fixedText}
	n, notNumber := strconv.Atoi(value)
	d, notDuration := time.ParseDuration(value)
	switch {
	case verb == "say":
		s.Text = value
	case verb == "think":
		s.Thinking = value
	case verb == "error" && notNumber == nil && n >= 400 && n <= 599:
		s = Script{Status: n}
		if n == http.StatusTooManyRequests {
			s.Header = map[string]string{"Retry-After": "1"}
		}
	case verb == "bench" && notNumber == nil && n >= 0 && n <= maxBenchBytes:
		s = benchScript(n)
	case verb == "slow" && notDuration == nil:
		s.Delay = Delay(d)
	case verb == "drip" && notDuration == nil:
		s.ChunkDelay = Delay(d)
	case verb == "cut" && notNumber == nil:
		s.Cut = &Cut{Chunks: n}
	case verb == "reset" && notNumber == nil:
		s.Cut = &Cut{Chunks: n, How: CutReset}
	}
	return s
}

func callFirstTool(ask *Ask) Script {
	if len(ask.Tools) == 0 {
		return Script{Text: "There is no tool to call."}
	}
	tool := ask.Tools[0]
	call := ToolCall{Name: tool.Name, Arguments: "sample"}
	if !tool.Custom {
		call.Arguments = string(encode(sampleArguments(tool.Schema)))
	}
	return Script{ToolCalls: []ToolCall{call}}
}

// sampleArguments makes an object with every property of a schema, in the
// order of their names.
func sampleArguments(schema json.RawMessage) object {
	var s struct {
		Properties map[string]struct {
			Type any   `json:"type"`
			Enum []any `json:"enum"`
		} `json:"properties"`
	}
	// A schema that cannot be read is a tool without arguments.
	_ = json.Unmarshal(schema, &s)
	args := object{}
	for _, name := range sortedKeys(s.Properties) {
		p := s.Properties[name]
		var value any = "sample"
		kind, _ := p.Type.(string)
		switch strings.ToLower(kind) {
		case "integer", "number":
			value = 1
		case "boolean":
			value = true
		case "array":
			value = list{}
		case "object":
			value = object{}
		}
		if len(p.Enum) > 0 {
			value = p.Enum[0]
		}
		args = append(args, name, value)
	}
	return args
}
