package haltd

import (
	"strings"
	"time"
	"unicode"
)

// Call is one LLM request, read into the same shape whatever the wire
// format. Texts are copies: a Call outlives the body it was read from. They
// may share memory with each other: whoever keeps one for longer than the Call
// makes a copy of it.
type Call struct {
	Format    string // wire format, for example "openai-chat"
	Model     string
	Alias     string   `json:",omitempty"` // how the request calls the model, where its maker calls it otherwise
	Models    []string `json:",omitempty"` // that may answer in its place, where the request names some
	Stream    bool
	MaxTokens int  // what the request allows for the reply; 0 when it does not say
	Choices   int  `json:",omitempty"` // how many replies it asks for; 0 is one
	Predicted int  `json:",omitempty"` // tokens of a prediction, which are billed as output where they are wrong
	Reasons   bool `json:",omitempty"` // it asks for thoughts that the reply may not show

	// System is a digest of the standing instructions: top-level system
	// text and system messages before the first user message. 0 when there
	// are none.
	System uint64
	// Opening is what was said before the assistant's first turn.
	Opening []Message
	// Rounds is the history, oldest first.
	Rounds []Round
	// Tools are the names of the declared tools, in the order declared.
	Tools []string

	Hints Hints
	// PromptTokens is an estimate from the lengths of all texts; the
	// provider's own count arrives with the reply.
	PromptTokens int
}

// Round is one assistant turn together with all that came back before the
// next one.
type Round struct {
	Text    string // what the assistant said; empty when it only called tools
	Calls   []ToolCall
	Results []ToolResult
	// Inputs are the messages from the other side that are not tool
	// results, in order.
	Inputs []Message
}

// Message is a text from the client's side that is no tool result.
type Message struct {
	Role Role
	Text string
	// Digest is the xxHash of Text where somebody needed it before; else 0.
	Digest uint64 `json:"-"`
}

// Role says who speaks. Providers' "developer" reads as system.
type Role uint8

// The roles that a Message can have.
const (
	RoleUser Role = iota
	RoleSystem
)

// ToolCall is one tool call the assistant made. Arguments is as sent: JSON
// text, or free text for tools that take it; empty when there are none.
type ToolCall struct {
	ID        string
	Name      string
	Arguments string
}

// ToolResult is what a tool call returned. Text joins the text parts;
// parts that are not text stand in it as a bracketed kind and digest, so that
// another image is another result.
type ToolResult struct {
	CallID string
	Name   string // of the tool, where it is known
	Text   string
	Error  bool // the format's own error mark, not a guess from words
}

// Hints are the fields of a request body by which real clients name their
// user or session.
type Hints struct {
	User           string // `user`, `safety_identifier`, or an Anthropic metadata.user_id without a session in it
	Session        string // metadata.session_id and what real clients send in its place
	PromptCacheKey string
	PreviousID     string // previous_response_id: history that the provider keeps
	Conversation   string // the same by the id of a conversation
}

// Newest is what the client newly said: the tool results where the request
// ends with tool results, else the last user message. fromTools tells which.
func (c *Call) Newest() (text string, fromTools bool) {
	inputs := c.Opening
	if n := len(c.Rounds); n > 0 {
		last := &c.Rounds[n-1]
		inputs = last.Inputs
		if !hasUser(inputs) && len(last.Results) > 0 {
			return joinResults(last.Results), true
		}
		if !hasUser(inputs) {
			return lastUser(c), false
		}
	}
	for i := len(inputs) - 1; i >= 0; i-- {
		if inputs[i].isFromUser() {
			return inputs[i].Text, false
		}
	}
	return "", false
}

// isFromUser reports a message in which the user says something. One without a
// sign that anybody could see says nothing, whatever stands before it.
func (m *Message) isFromUser() bool {
	return m.Role == RoleUser && strings.ContainsFunc(m.Text, func(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) })
}

// FirstUser is the text of the first user message, by which a session
// without an id is recognised.
func (c *Call) FirstUser() string {
	for _, m := range c.Opening {
		if m.Role == RoleUser {
			return m.Text
		}
	}
	for i := range c.Rounds {
		for _, m := range c.Rounds[i].Inputs {
			if m.Role == RoleUser {
				return m.Text
			}
		}
	}
	return ""
}

func hasUser(ms []Message) bool {
	for i := range ms {
		if ms[i].isFromUser() {
			return true
		}
	}
	return false
}

// lastUser looks back over rounds that ended without a word from the client
// (an assistant prefill, say) to the last user message there is.
func lastUser(c *Call) string {
	for i := len(c.Rounds) - 1; i >= 0; i-- {
		ms := c.Rounds[i].Inputs
		for j := len(ms) - 1; j >= 0; j-- {
			if ms[j].isFromUser() {
				return ms[j].Text
			}
		}
	}
	for j := len(c.Opening) - 1; j >= 0; j-- {
		if c.Opening[j].isFromUser() {
			return c.Opening[j].Text
		}
	}
	return ""
}

func joinResults(rs []ToolResult) string {
	if len(rs) == 1 {
		return rs[0].Text
	}
	n := 0
	for i := range rs {
		n += len(rs[i].Text) + 1
	}
	b := make([]byte, 0, n)
	for i := range rs {
		if i > 0 {
			b = append(b, '\n')
		}
		b = append(b, rs[i].Text...)
	}
	return string(b)
}

// Reply is what the provider answered, from JSON or reassembled from a
// stream.
type Reply struct {
	ID       string
	Model    string
	Text     string
	Thinking string
	Calls    []ToolCall
	Finish   string // the provider's own word: "stop", "tool_use", "STOP", …
	Usage    Usage
	// Counted says that Usage came from the provider. Without it the
	// tokens are an estimate.
	Counted bool
	// Complete says that the reply reached its end as the format marks it.
	Complete bool
	// Working says that the provider goes on after this reply: what it says,
	// and what that costs, is fetched by other requests.
	Working bool
	// Err is an error that the provider reported inside a 2xx stream.
	Err string
	// Beside is how many bytes further choices say. Only the first is read.
	Beside int64 `json:"-"`
}

// Usage counts tokens the same way for every provider: Input is the whole
// prompt, cache reads and writes included; Output is all that was generated,
// thinking included.
type Usage struct {
	Input      int64 `json:"input"`
	Output     int64 `json:"output"`
	CacheRead  int64 `json:"cache_read"`  // part of Input
	CacheWrite int64 `json:"cache_write"` // part of Input
}

// Add sums two usages.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.Input + v.Input, u.Output + v.Output, u.CacheRead + v.CacheRead, u.CacheWrite + v.CacheWrite}
}

// Unsettled is what a reply was charged by estimate, because its provider was
// not done with it or its client left before the end.
type Unsettled struct {
	Model  string
	Time   time.Time // of the call
	Tokens Usage
	Cost   Money
}
