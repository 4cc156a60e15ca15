// Package wire knows what the bytes of each provider mean. It turns requests
// into haltd.Call and replies into haltd.Reply, and writes denials in the
// provider's own shape. It never changes a byte that passes through: all it
// reads are copies.
//
// Each provider family is one folder that implements Dialect; the list of
// them is in the formats folder.
package wire

import "github.com/haltd/haltd"

// Dialect is the manner of one provider family: the formats it speaks, how
// it carries a key and how it says no.
type Dialect interface {
	// Name is what `format:` names in the configuration.
	Name() string
	Formats() []Format
	// Denial is an error body as the family's own servers would write it,
	// so that its clients show the message to a person.
	Denial(d Denied) []byte
	// KeyHeader is the request header that carries the provider's key.
	KeyHeader(key string) (name, value string)
	// Operation is what a call is called in traces, in the words of gen_ai.
	Operation() string
}

// Format reads one kind of LLM call.
type Format interface {
	// Name is the value of Call.Format, for example "openai-chat".
	Name() string
	// Match reports whether a POST to path is a call in this format. path
	// is decoded and clean, with any prefix the provider's base URL adds.
	Match(path string) bool
	// ReadCall reads a request body. Anything that is not one JSON object
	// of the format's shape, duplicate keys included, is an *haltd.Error
	// with CodeMalformed that says where: what the gateway cannot read must
	// not pass. m may be nil.
	ReadCall(path string, body []byte, m *Memory) (*haltd.Call, error)
	ReplyFormat
}

// ReplyFormat reads the replies to one kind of call.
type ReplyFormat interface {
	// ReadReply reads a complete reply that is not an event stream. An
	// error means that the reply is unread, nothing more.
	ReadReply(body []byte) (*haltd.Reply, error)
	// NewStream reads a reply that is an event stream and keeps at most
	// limit bytes of it.
	NewStream(limit int64) Stream
	// StreamError ends an event stream that haltd cuts: the last bytes to
	// write behind whole events, after which nothing may follow. Without
	// them clients take half a reply for a whole one.
	StreamError(d Denied) []byte
}

// Keeper is a Format whose provider keeps what was said: a request need not
// repeat the conversation, and a reply can be fetched again.
type Keeper interface {
	Format
	// Fetched is the id of the reply that a GET of path fetches; "" when it
	// fetches none.
	Fetched(path string) string
}

// Stream reassembles a reply from server-sent events.
type Stream interface {
	// Event takes the next event; name and data are only valid during the
	// call. ErrReplyTooLong means that from now on text is dropped, any
	// other error that this event could not be read. Later events are
	// welcome after both.
	Event(name, data []byte) error
	// Reply is what has arrived so far, Kept about how many bytes it has.
	Reply() *haltd.Reply
	Kept() int64
}
