package anthropic

import (
	"strings"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/wire"
)

// Cloud is the Messages format as other clouds offer it: the model and whether
// the reply is a stream are in the path. Requests to Bedrock may be signed with
// their body, so it takes no notes.
type Cloud struct{}

var _ wire.Format = Cloud{}

// Name is that of Messages: the conversation reads the same.
func (Cloud) Name() string { return Messages{}.Name() }

// Match accepts Vertex's rawPredict and Bedrock's invoke of Anthropic's models,
// but those that are older than the format.
func (Cloud) Match(path string) bool {
	s := wire.Segments(path)
	n := len(s)
	if n < 2 {
		return false
	}
	switch last := s[n-1]; last {
	case "invoke", "invoke-with-response-stream":
		model := strings.ToLower(wire.PathModel(path))
		return strings.Contains(model, "anthropic.claude-") && !strings.Contains(model, "claude-v") && !strings.Contains(model, "claude-instant")
	default:
		return n >= 4 && s[n-4] == "publishers" && s[n-3] == "anthropic" && s[n-2] == "models" &&
			(strings.HasSuffix(last, ":rawpredict") || strings.HasSuffix(last, ":streamrawpredict"))
	}
}

// ReadCall reads a request for a message.
func (f Cloud) ReadCall(path string, body []byte, m *wire.Memory) (*haltd.Call, error) {
	call, err := wire.ReadCall(f.Name(), body, m, readCall)
	if err != nil {
		return nil, err
	}
	s := wire.Segments(path)
	name := wire.PathModel(path)
	if call.Model = wire.PlainModel(name); call.Model != name {
		call.Alias = name
	}
	call.Stream = strings.Contains(s[len(s)-1], "stream")
	return call, nil
}

// ReadReply reads a message.
func (Cloud) ReadReply(body []byte) (*haltd.Reply, error) { return Messages{}.ReadReply(body) }

// NewStream reads the events of a message.
func (Cloud) NewStream(limit int64) wire.Stream { return Messages{}.NewStream(limit) }

// StreamError is that of Messages.
func (Cloud) StreamError(d wire.Denied) []byte { return Messages{}.StreamError(d) }
