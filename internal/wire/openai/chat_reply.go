package openai

import (
	"bytes"
	"math"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/wire"
)

// ReadReply reads a chat completion.
func (Chat) ReadReply(body []byte) (*haltd.Reply, error) {
	s := chatStream{Assembly: wire.NewAssembly(math.MaxInt64)}
	if err := wire.ReadLenient(body, s.readChunk); err != nil {
		return nil, err
	}
	s.Assembly.Reply.Complete = true
	return s.Finished(), nil
}

// NewStream reads chat completion chunks.
func (Chat) NewStream(limit int64) wire.Stream {
	return &chatStream{Assembly: wire.NewAssembly(limit)}
}

// chatStream keeps what the assistant says under textKey and its tool calls
// under the keys that follow.
type chatStream struct {
	wire.Assembly
	keys map[int64]int // index of a tool call to its key
	last int           // key handed out last
}

const textKey = 0

var done = []byte("[DONE]")

// Event takes a chunk, or the mark at the end.
func (s *chatStream) Event(name, data []byte) error { return s.Follow(name, data, s.ReadEvent) }

// ReadEvent is Event without the short cut for events that repeat.
func (s *chatStream) ReadEvent(_, data []byte) error {
	if bytes.Equal(bytes.TrimSpace(data), done) {
		s.Assembly.Reply.Complete = s.Assembly.Reply.Err == ""
		return nil
	}
	if err := wire.ReadLenient(data, s.readChunk); err != nil {
		return err
	}
	return s.Err()
}

// Reply is what has arrived so far.
func (s *chatStream) Reply() *haltd.Reply { return s.Finished() }

// readChunk reads a chunk of a stream or, which is the same with other
// words, a whole completion.
func (s *chatStream) readChunk(r *wire.Reader) {
	reply := &s.Assembly.Reply
	for name := range r.Object() {
		switch string(name) {
		case "id":
			setText(&reply.ID, r)
		case "model":
			setText(&reply.Model, r)
		case "choices":
			for range r.Array() {
				s.readChoice(r)
			}
		case "usage":
			readUsage(r, reply)
		case "x_groq":
			for name := range r.Object() {
				if string(name) == "usage" {
					readUsage(r, reply)
				}
			}
		case "error":
			s.ReadError(r)
			reply.Complete = reply.Complete && reply.Err == ""
		}
	}
}

// setText keeps the first value that says something.
func setText(dst *string, r *wire.Reader) {
	if text := r.OptionalText(); *dst == "" {
		*dst = text
	}
}

// readChoice reads the first choice and counts the others. The index that tells them
// apart may be written behind the message.
func (s *chatStream) readChoice(r *wire.Reader) {
	index, hasIndex := int64(0), false
	var message []byte
	var finish string
	for name := range r.Object() {
		switch string(name) {
		case "index":
			index, hasIndex = r.Count(), true
		case "delta", "message":
			switch {
			case !hasIndex:
				message = r.Raw()
			case index == 0:
				s.readMessage(r)
			default:
				s.Beside(r)
			}
		case "finish_reason":
			finish = r.OptionalText()
		case "usage":
			if index == 0 {
				readUsage(r, &s.Assembly.Reply)
			}
		}
	}
	if index != 0 {
		if message != nil {
			r.Fail(wire.ReadLenient(message, s.Beside))
		}
		return
	}
	if message != nil {
		r.Fail(wire.ReadLenient(message, s.readMessage))
	}
	if finish != "" {
		s.Assembly.Reply.Finish = finish
		s.Assembly.Reply.Complete = s.Assembly.Reply.Err == ""
	}
}

func (s *chatStream) readMessage(r *wire.Reader) {
	thought := false
	for name := range r.Object() {
		switch string(name) {
		case "content":
			s.readContent(r)
		case "refusal":
			s.Text(textKey, r)
		case "reasoning_content", "reasoning":
			// Some providers send the same thoughts under both names.
			if !thought && r.Kind() == wire.KindString {
				s.Thinking(textKey, r)
				thought = true
			}
		case "tool_calls":
			for i := range r.Array() {
				s.readToolCall(r, i)
			}
		case "function_call":
			if r.Kind() == wire.KindObject {
				key := s.callKey(0, "")
				s.Call(key, "", "")
				s.readFunction(r, key)
			}
		}
	}
}

// readContent reads text or, from some providers, an array of parts.
func (s *chatStream) readContent(r *wire.Reader) {
	if r.Kind() != wire.KindArray {
		s.Text(textKey, r)
		return
	}
	for range r.Array() {
		s.readPart(r)
	}
}

func (s *chatStream) readPart(r *wire.Reader) {
	for name := range r.Object() {
		switch string(name) {
		case "text", "refusal":
			s.Text(textKey, r)
		case "thinking":
			for range r.Array() {
				for name := range r.Object() {
					if string(name) == "text" {
						s.Thinking(textKey, r)
					}
				}
			}
		}
	}
}

// readToolCall reads a tool call or the continuation of one. Members may come
// in any order, so that the function waits until it is known whose it is.
func (s *chatStream) readToolCall(r *wire.Reader, position int) {
	index, id := int64(position), ""
	var function []byte
	for name := range r.Object() {
		switch string(name) {
		case "index":
			if r.Kind() == wire.KindNumber {
				index = r.Count()
			}
		case "id":
			id = r.OptionalText()
		case "function", "custom":
			function = r.Raw()
		}
	}
	key := s.callKey(index, id)
	s.Call(key, id, "")
	if function != nil {
		r.Fail(wire.ReadLenient(function, func(r *wire.Reader) { s.readFunction(r, key) }))
	}
}

// callKey is the key of the call with that index. Some providers give every
// call index 0: another id at the same index is another call.
func (s *chatStream) callKey(index int64, id string) int {
	key, ok := s.keys[index]
	if ok {
		if known, _ := s.CallID(key); id == "" || known == "" || id == known {
			return key
		}
	}
	if s.keys == nil {
		s.keys = make(map[int64]int)
	}
	if s.Err() == nil {
		s.last++
		s.keys[index] = s.last
	}
	return s.last
}

func (s *chatStream) readFunction(r *wire.Reader, key int) {
	for name := range r.Object() {
		switch string(name) {
		case "name":
			s.Call(key, "", r.OptionalText())
		case "arguments", "input":
			s.Arguments(key, r)
		}
	}
}
