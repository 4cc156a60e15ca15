package ollama

import (
	"bytes"
	"math"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/wire"
)

// ReadReply reads a message, or the pieces of one, a document a line.
func (Chat) ReadReply(body []byte) (*haltd.Reply, error) {
	s := stream{Assembly: wire.NewAssembly(math.MaxInt64)}
	for line := range bytes.Lines(body) {
		if err := s.ReadEvent(nil, line); err != nil {
			s = stream{Assembly: wire.NewAssembly(math.MaxInt64)}
			if err = s.ReadEvent(nil, body); err != nil { // one document of many lines
				return nil, err
			}
			break
		}
	}
	return s.Reply(), nil
}

// NewStream reads the pieces of a message.
func (Chat) NewStream(limit int64) wire.Stream { return &stream{Assembly: wire.NewAssembly(limit)} }

// stream keeps what the assistant says under textKey and its tool calls, which
// come whole, under the keys that follow.
type stream struct {
	wire.Assembly
	calls int
}

const textKey = 0

// Reply is what has arrived so far.
func (s *stream) Reply() *haltd.Reply { return s.Finished() }

// Event takes a piece.
func (s *stream) Event(name, data []byte) error { return s.Follow(name, data, s.ReadEvent) }

// ReadEvent is Event without the short cut for events that repeat.
func (s *stream) ReadEvent(_, data []byte) error {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil
	}
	if err := wire.ReadLenient(data, s.readPiece); err != nil {
		return err
	}
	return s.Err()
}

func (s *stream) readPiece(r *wire.Reader) {
	reply := &s.Assembly.Reply
	for name := range r.Object() {
		switch string(name) {
		case "model":
			reply.Model = r.OptionalText()
		case "message":
			s.readMessage(r)
		case "done":
			if k := r.Kind(); k == 't' || k == 'f' {
				reply.Complete = r.Bool() && reply.Err == ""
			}
		case "done_reason":
			reply.Finish = r.OptionalText()
		case "prompt_eval_count":
			reply.Usage.Input, reply.Counted = r.Count(), true
		case "eval_count":
			reply.Usage.Output, reply.Counted = r.Count(), true
		case "error":
			s.ReadError(r)
			reply.Complete = reply.Complete && reply.Err == ""
		}
	}
}

func (s *stream) readMessage(r *wire.Reader) {
	if r.Kind() != wire.KindObject {
		r.Skip()
		return
	}
	for name := range r.Object() {
		switch string(name) {
		case "content":
			s.Text(textKey, r)
		case "thinking":
			s.Thinking(textKey, r)
		case "tool_calls":
			if r.Kind() == wire.KindNull {
				continue
			}
			for range r.Array() {
				s.calls++
				s.readToolCall(r, s.calls)
			}
		}
	}
}

func (s *stream) readToolCall(r *wire.Reader, key int) {
	s.Call(key, "", "")
	for name := range r.Object() {
		switch string(name) {
		case "id":
			s.Call(key, r.OptionalText(), "")
		case "function":
			for name := range r.Object() {
				switch string(name) {
				case "name":
					s.Call(key, "", r.OptionalText())
				case "arguments":
					s.FirstArguments(key, r)
				}
			}
		}
	}
}
