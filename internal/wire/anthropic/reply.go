package anthropic

import (
	"math"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/wire"
)

// ReadReply reads a message.
func (Messages) ReadReply(body []byte) (*haltd.Reply, error) {
	s := stream{Assembly: wire.NewAssembly(math.MaxInt64)}
	if err := wire.ReadLenient(body, s.readMessage); err != nil {
		return nil, err
	}
	s.Assembly.Reply.Complete = true
	return s.Reply(), nil
}

// NewStream reads the events of a message.
func (Messages) NewStream(limit int64) wire.Stream {
	return &stream{Assembly: wire.NewAssembly(limit)}
}

// stream keeps each content block under its index.
type stream struct {
	wire.Assembly
	input, output, cacheRead, cacheWrite int64 // as sent; input is without the cache
}

// Reply is what has arrived so far.
func (s *stream) Reply() *haltd.Reply {
	reply := s.Finished()
	reply.Usage = haltd.Usage{
		Input:      s.input + s.cacheRead + s.cacheWrite,
		Output:     s.output,
		CacheRead:  s.cacheRead,
		CacheWrite: s.cacheWrite,
	}
	return reply
}

// Event takes one event. Its type is in the data; the name only repeats it.
func (s *stream) Event(name, data []byte) error { return s.Follow(name, data, s.ReadEvent) }

// ReadEvent is Event without the short cut for events that repeat.
func (s *stream) ReadEvent(name, data []byte) error {
	kind, index := string(name), int64(0)
	var message, block, delta []byte
	err := wire.ReadLenient(data, func(r *wire.Reader) {
		for name := range r.Object() {
			switch string(name) {
			case "type":
				kind = r.OptionalText()
			case "index":
				index = min(r.Count(), math.MaxInt32)
			case "message":
				message = r.Raw()
			case "content_block":
				block = r.Raw()
			case "delta":
				delta = r.Raw()
			case "usage", "amazon-bedrock-invocationMetrics":
				s.readUsage(r)
			case "error":
				s.ReadError(r)
			}
		}
	})
	if err != nil {
		return err
	}
	switch {
	case kind == "error" && s.Assembly.Reply.Err == "":
		err = wire.ReadLenient(data, s.ReadError)
	case kind == "message_start" && message != nil:
		err = wire.ReadLenient(message, s.readMessage)
	case kind == "content_block_start" && block != nil:
		err = wire.ReadLenient(block, func(r *wire.Reader) { s.readBlock(r, int(index)) })
	case kind == "content_block_delta" && delta != nil:
		err = wire.ReadLenient(delta, func(r *wire.Reader) { s.readDelta(r, int(index)) })
	case kind == "message_delta" && delta != nil:
		err = wire.ReadLenient(delta, s.readMessage)
	case kind == "message_stop":
		s.Assembly.Reply.Complete = true
	}
	if s.Assembly.Reply.Err != "" {
		s.Assembly.Reply.Complete = false
	}
	if err != nil {
		return err
	}
	return s.Err()
}

// readMessage reads a whole message, the empty one that starts a stream, or
// the changes to it at the end.
func (s *stream) readMessage(r *wire.Reader) {
	reply := &s.Assembly.Reply
	for name := range r.Object() {
		switch string(name) {
		case "id":
			reply.ID = r.OptionalText()
		case "model":
			reply.Model = r.OptionalText()
		case "content":
			for i := range r.Array() {
				s.readBlock(r, i)
			}
		case "stop_reason":
			if reason := r.OptionalText(); reason != "" {
				reply.Finish = reason
			}
		case "usage":
			s.readUsage(r)
		case "error":
			s.ReadError(r)
		}
	}
}

// readBlock reads a content block, or the start of one whose content is still
// to come.
func (s *stream) readBlock(r *wire.Reader, key int) {
	id, isCall := "", false
	for name := range r.Object() {
		switch string(name) {
		case "text":
			s.Text(key, r)
		case "thinking":
			s.Thinking(key, r)
		case "id":
			id = r.OptionalText()
		case "name":
			s.Call(key, "", r.OptionalText())
			isCall = true
		case "input":
			s.FirstArguments(key, r)
		}
	}
	if isCall {
		s.Call(key, id, "")
	}
}

func (s *stream) readDelta(r *wire.Reader, key int) {
	for name := range r.Object() {
		switch string(name) {
		case "text":
			s.Text(key, r)
		case "thinking":
			s.Thinking(key, r)
		case "partial_json":
			s.Arguments(key, r)
		}
	}
}

// readUsage merges counts: the start of a stream has the input, its end the
// output and, from some providers, the input that the start did not know.
func (s *stream) readUsage(r *wire.Reader) {
	if r.Kind() != wire.KindObject {
		return
	}
	for name := range r.Object() {
		switch string(name) {
		case "input_tokens", "inputTokenCount": // the latter are Bedrock's
			s.count(&s.input, r)
		case "output_tokens", "outputTokenCount":
			s.count(&s.output, r)
		case "cache_read_input_tokens", "cacheReadInputTokenCount":
			s.count(&s.cacheRead, r)
		case "cache_creation_input_tokens", "cacheWriteInputTokenCount":
			s.count(&s.cacheWrite, r)
		}
	}
}

func (s *stream) count(dst *int64, r *wire.Reader) {
	s.Assembly.Reply.Counted = true
	if n := r.Count(); n > 0 {
		*dst = n
	}
}
