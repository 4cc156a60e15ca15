package formats

import (
	"bytes"
	"math"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/wire"
)

// Metered reads the replies to what is no LLM call: their counts, wherever they
// stand, and how much they say, and nothing that a detector could use. Its Errors
// are those of the dialect.
type Metered struct{ Errors wire.ReplyFormat }

var _ wire.ReplyFormat = Metered{}

// StreamError is that of the dialect.
func (f Metered) StreamError(d wire.Denied) []byte { return f.Errors.StreamError(d) }

// ReadReply reads a document, or one a line.
func (Metered) ReadReply(body []byte) (*haltd.Reply, error) {
	s := meteredStream{Assembly: wire.NewAssembly(math.MaxInt64)}
	err := s.ReadEvent(nil, body)
	if err != nil && bytes.Count(bytes.TrimSpace(body), []byte{'\n'}) > 0 {
		s = meteredStream{Assembly: wire.NewAssembly(math.MaxInt64)}
		for line := range bytes.Lines(body) {
			if err = s.ReadEvent(nil, bytes.TrimSpace(line)); err != nil {
				return nil, err
			}
		}
	}
	if err != nil {
		return nil, err
	}
	s.Assembly.Reply.Complete = s.Assembly.Reply.Err == ""
	return s.Reply(), nil
}

// NewStream reads events, each of which is a document.
func (Metered) NewStream(limit int64) wire.Stream {
	return &meteredStream{Assembly: wire.NewAssembly(limit)}
}

// meteredStream keeps all that a reply says as one text: nobody but the estimate of
// its tokens looks at it.
type meteredStream struct {
	wire.Assembly
	usage, cached haltd.Usage // cached is what Anthropic counts beside the input
	thoughts      int64       // that Google counts beside the output
}

const meteredText = 0

// Event takes one event.
func (s *meteredStream) Event(name, data []byte) error { return s.Follow(name, data, s.ReadEvent) }

// ReadEvent is Event without the short cut for events that repeat.
func (s *meteredStream) ReadEvent(_, data []byte) error {
	if len(data) == 0 {
		return nil
	}
	if string(data) == "[DONE]" {
		s.Assembly.Reply.Complete = s.Assembly.Reply.Err == ""
		return nil
	}
	if err := wire.ReadLenient(data, func(r *wire.Reader) { s.read(r, 0) }); err != nil {
		return err
	}
	return s.Err()
}

// Reply is what has arrived so far.
func (s *meteredStream) Reply() *haltd.Reply {
	reply := s.Finished()
	u := s.usage
	u.Output += s.thoughts
	u.Input += s.cached.CacheRead + s.cached.CacheWrite
	u.CacheRead, u.CacheWrite = max(u.CacheRead, s.cached.CacheRead), max(u.CacheWrite, s.cached.CacheWrite)
	reply.Usage = u
	return reply
}

// read walks a document. Only what looks like a reply's own member counts for
// its model; counts are taken wherever they stand, the largest of each, so that
// what a tool is given cannot make them smaller.
func (s *meteredStream) read(r *wire.Reader, depth int) {
	switch k := r.Kind(); {
	case depth > maxDepth:
		r.Skip()
	case k == wire.KindArray:
		for range r.Array() {
			s.read(r, depth+1)
		}
	case k == wire.KindObject:
		for name := range r.Object() {
			s.readMember(string(name), r, depth)
		}
	default:
		r.Skip()
	}
}

func (s *meteredStream) readMember(name string, r *wire.Reader, depth int) {
	reply := &s.Assembly.Reply
	switch name {
	case "usage", "usageMetadata", "usage_metadata", "metadata", "amazon-bedrock-invocationMetrics":
		s.readCounts(r)
	case "prompt_eval_count", "eval_count", "inputTextTokenCount", "prompt_token_count", "generation_token_count", "tokens_evaluated", "tokens_predicted":
		s.count(name, r)
	case "text", "response", "generation", "completion", "outputText", "content", "thinking", "reasoning", "reasoning_content", "arguments", "partial_json":
		if r.Kind() == wire.KindString {
			s.Text(meteredText, r)
			return
		}
		s.read(r, depth+1)
	case "model", "modelVersion":
		if text := r.OptionalText(); reply.Model == "" && depth <= 2 {
			reply.Model = text
		}
	case "id":
		if text := r.OptionalText(); reply.ID == "" && depth == 0 {
			reply.ID = text
		}
	case "status":
		if text := r.OptionalText(); depth == 0 {
			reply.Working = text == "queued" || text == "in_progress" || text == "validating"
		}
	case "processing_status":
		reply.Working = r.OptionalText() == "in_progress"
	case "done":
		if k := r.Kind(); k == 't' || k == 'f' {
			reply.Complete = r.Bool() && depth == 0
		}
	case "finish_reason", "stop_reason", "stopReason", "finishReason":
		if text := r.OptionalText(); text != "" {
			reply.Finish, reply.Complete = text, reply.Err == ""
		}
	case "error":
		if depth == 0 {
			s.ReadError(r)
			return
		}
		s.read(r, depth+1)
	default:
		s.read(r, depth+1)
	}
}

func (s *meteredStream) readCounts(r *wire.Reader) {
	if r.Kind() != wire.KindObject {
		r.Skip()
		return
	}
	var total int64
	for name := range r.Object() {
		switch string(name) {
		case "thoughtsTokenCount":
			s.thoughts = max(s.thoughts, r.Count())
		case "total_tokens", "totalTokens", "totalTokenCount":
			total = r.Count()
		case "usage": // of Bedrock's metadata
			s.readCounts(r)
		case "prompt_tokens_details", "input_tokens_details":
			for name := range r.Object() {
				if string(name) == "cached_tokens" {
					s.usage.CacheRead = max(s.usage.CacheRead, r.Count())
				}
			}
		default:
			if r.Kind() == wire.KindNumber {
				s.count(string(name), r)
			}
		}
	}
	if s.Assembly.Reply.Counted {
		s.usage.Output = max(s.usage.Output, total-s.usage.Input-s.thoughts)
	}
}

// count takes a count by its name.
func (s *meteredStream) count(name string, r *wire.Reader) {
	dst := (*int64)(nil)
	switch name {
	case "prompt_tokens", "input_tokens", "inputTokens", "inputTokenCount", "promptTokenCount", "prompt_eval_count", "inputTextTokenCount", "prompt_token_count", "tokens_evaluated":
		dst = &s.usage.Input
	case "completion_tokens", "output_tokens", "outputTokens", "outputTokenCount", "candidatesTokenCount", "eval_count", "generation_token_count", "tokens_predicted":
		dst = &s.usage.Output
	case "cache_read_input_tokens", "cacheReadInputTokens":
		dst = &s.cached.CacheRead
	case "cache_creation_input_tokens", "cacheWriteInputTokens":
		dst = &s.cached.CacheWrite
	default:
		return
	}
	*dst = max(*dst, r.Count())
	s.Assembly.Reply.Counted = true
}
