package gemini

import (
	"math"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/wire"
)

// ReadReply reads a response or, as streams come without alt=sse, an array of
// its chunks.
func (Generate) ReadReply(body []byte) (*haltd.Reply, error) {
	s := stream{Assembly: wire.NewAssembly(math.MaxInt64)}
	err := wire.ReadLenient(body, func(r *wire.Reader) {
		for range r.ArrayOrOne() {
			s.readChunk(r)
		}
	})
	if err != nil {
		return nil, err
	}
	s.Assembly.Reply.Complete = true
	return s.Finished(), nil
}

// NewStream reads the chunks of a response.
func (Generate) NewStream(limit int64) wire.Stream {
	return &stream{Assembly: wire.NewAssembly(limit)}
}

// stream keeps all that the model says under textKey, for chunks continue
// each other, and each function call, which comes whole, under the next key.
type stream struct {
	wire.Assembly
	calls int
}

const textKey = 0

// Event takes one chunk.
func (s *stream) Event(name, data []byte) error { return s.Follow(name, data, s.ReadEvent) }

// ReadEvent is Event without the short cut for events that repeat.
func (s *stream) ReadEvent(_, data []byte) error {
	if err := wire.ReadLenient(data, s.readChunk); err != nil {
		return err
	}
	return s.Err()
}

// Reply is what has arrived so far.
func (s *stream) Reply() *haltd.Reply { return s.Finished() }

func (s *stream) readChunk(r *wire.Reader) {
	reply := &s.Assembly.Reply
	for name := range r.Object() {
		switch string(name) {
		case "responseId":
			reply.ID = r.OptionalText()
		case "modelVersion":
			reply.Model = r.OptionalText()
		case "candidates":
			for i := range r.Array() {
				s.readCandidate(r, i)
			}
		case "promptFeedback":
			for name := range r.Object() {
				if string(name) == "blockReason" {
					s.finish(r.OptionalText())
				}
			}
		case "usageMetadata":
			readUsage(r, reply)
		case "error":
			s.ReadError(r)
			reply.Complete = false
		}
	}
}

func (s *stream) finish(reason string) {
	if reason != "" {
		s.Assembly.Reply.Finish = reason
		s.Assembly.Reply.Complete = s.Assembly.Reply.Err == ""
	}
}

// readCandidate reads the first candidate and counts the others. The index that tells
// them apart is left out where it is 0, and may be written last.
func (s *stream) readCandidate(r *wire.Reader, position int) {
	index, reason := int64(position), ""
	var content []byte
	for name := range r.Object() {
		switch string(name) {
		case "index":
			index = r.Count()
		case "content":
			content = r.Raw()
		case "finishReason":
			reason = r.OptionalText()
		}
	}
	if index != 0 {
		if content != nil {
			r.Reread(content, "", s.Beside)
		}
		return
	}
	if content != nil {
		r.Reread(content, "", s.readContent)
	}
	s.finish(reason)
}

func (s *stream) readContent(r *wire.Reader) {
	for name := range r.Object() {
		if string(name) == "parts" {
			for range r.Array() {
				s.readPart(r)
			}
		}
	}
}

func (s *stream) readPart(r *wire.Reader) {
	var text []byte
	thought := false
	for name := range r.Object() {
		switch string(name) {
		case "text":
			text = r.Raw()
		case "thought":
			thought = r.Bool()
		case "functionCall":
			s.readCall(r)
		case "executableCode":
			s.calls++
			s.Call(s.calls, "", codeExecution)
			s.Arguments(s.calls, r)
		}
	}
	switch {
	case text == nil:
	case thought:
		r.Reread(text, "", func(r *wire.Reader) { s.Thinking(textKey, r) })
	default:
		r.Reread(text, "", func(r *wire.Reader) { s.Text(textKey, r) })
	}
}

func (s *stream) readCall(r *wire.Reader) {
	s.calls++
	s.Call(s.calls, "", "")
	for name := range r.Object() {
		switch string(name) {
		case "id":
			s.Call(s.calls, r.OptionalText(), "")
		case "name":
			s.Call(s.calls, "", r.OptionalText())
		case "args":
			s.Arguments(s.calls, r)
		}
	}
}

// readUsage reads token counts. Every chunk repeats them; the last one counts.
func readUsage(r *wire.Reader, reply *haltd.Reply) {
	if r.Kind() != wire.KindObject {
		return
	}
	var u haltd.Usage
	for name := range r.Object() {
		switch string(name) {
		case "promptTokenCount", "toolUsePromptTokenCount":
			u.Input += r.Count()
		case "candidatesTokenCount", "thoughtsTokenCount":
			u.Output += r.Count()
		case "cachedContentTokenCount":
			u.CacheRead = r.Count()
		}
	}
	reply.Usage, reply.Counted = u, true
}
