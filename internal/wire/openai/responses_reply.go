package openai

import (
	"math"
	"strings"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/wire"
)

// ReadReply reads a response.
func (Responses) ReadReply(body []byte) (*haltd.Reply, error) {
	s := responsesStream{Assembly: wire.NewAssembly(math.MaxInt64)}
	if err := wire.ReadLenient(body, s.readResponse); err != nil {
		return nil, err
	}
	s.Assembly.Reply.Complete = true
	s.Assembly.Reply.Working = s.working
	return s.Finished(), nil
}

// NewStream reads the events of a response.
func (Responses) NewStream(limit int64) wire.Stream {
	return &responsesStream{Assembly: wire.NewAssembly(limit)}
}

type responsesStream struct {
	wire.Assembly
	working bool // there is more to come
}

// The key of a piece is made of its item's place in the output and its own
// place in the item. A tool call is the whole item.
const (
	itemStep    = 1 << 16
	summaryStep = 1 << 15
)

func itemKey(index int64) int { return int(min(index, math.MaxInt32)) * itemStep }

func partKey(item int, index int64) int { return item + int(index%summaryStep) }

// Reply is what has arrived so far.
func (s *responsesStream) Reply() *haltd.Reply { return s.Finished() }

// responsesEvent is an event whose members are kept until its type is known.
type responsesEvent struct {
	kind                   string
	item, content, summary int64
	delta, output, whole   []byte
}

// Event takes one event. Its type is in the data; the name only repeats it.
func (s *responsesStream) Event(name, data []byte) error { return s.Follow(name, data, s.ReadEvent) }

// ReadEvent is Event without the short cut for events that repeat.
func (s *responsesStream) ReadEvent(name, data []byte) error {
	e := responsesEvent{kind: string(name)}
	var problem []byte
	err := wire.ReadLenient(data, func(r *wire.Reader) {
		for name := range r.Object() {
			switch string(name) {
			case "type":
				e.kind = r.OptionalText()
			case "output_index":
				e.item = r.Count()
			case "content_index":
				e.content = r.Count()
			case "summary_index":
				e.summary = r.Count()
			case "delta":
				e.delta = r.Raw()
			case "item":
				e.output = r.Raw()
			case "response":
				e.whole = r.Raw()
			case "error":
				if r.Kind() == wire.KindObject {
					problem = r.Raw()
				}
			}
		}
	})
	if err == nil && (e.kind == "error" || problem != nil) {
		if problem == nil {
			problem = data
		}
		s.Assembly.Reply.Complete = false
		err = wire.ReadLenient(problem, s.ReadError)
	}
	if err == nil {
		err = s.take(&e)
	}
	if err != nil {
		return err
	}
	return s.Err()
}

func (s *responsesStream) take(e *responsesEvent) error {
	item := itemKey(e.item)
	switch {
	case e.delta != nil:
		return wire.ReadLenient(e.delta, func(r *wire.Reader) { s.readDelta(e, item, r) })
	case e.output != nil:
		whole := e.kind == "response.output_item.done"
		return wire.ReadLenient(e.output, func(r *wire.Reader) { s.readItem(r, item, whole) })
	case e.whole != nil:
		if err := wire.ReadLenient(e.whole, s.readResponse); err != nil {
			return err
		}
		ended := e.kind == "response.completed" || e.kind == "response.incomplete"
		s.Assembly.Reply.Complete = ended && s.Assembly.Reply.Err == ""
		if e.kind == "response.failed" && s.Assembly.Reply.Err == "" {
			s.Assembly.Reply.Err = "response failed"
		}
	}
	return nil
}

func (s *responsesStream) readDelta(e *responsesEvent, item int, r *wire.Reader) {
	switch kind := strings.TrimPrefix(e.kind, "response."); {
	case r.Kind() != wire.KindString:
		r.Skip()
	case kind == "output_text.delta", kind == "refusal.delta":
		s.Text(partKey(item, e.content), r)
	case kind == "reasoning_text.delta":
		s.Thinking(partKey(item, e.content), r)
	case kind == "reasoning_summary_text.delta":
		s.Thinking(partKey(item+summaryStep, e.summary), r)
	case strings.Contains(kind, "_call_"):
		s.Arguments(item, r)
	default:
		r.Skip()
	}
}

// readResponse reads the response object.
func (s *responsesStream) readResponse(r *wire.Reader) {
	reply := &s.Assembly.Reply
	var status, reason string
	for name := range r.Object() {
		switch string(name) {
		case "id":
			setText(&reply.ID, r)
		case "model":
			setText(&reply.Model, r)
		case "status":
			status = r.OptionalText()
		case "incomplete_details":
			for name := range r.Object() {
				if string(name) == "reason" {
					reason = r.OptionalText()
				}
			}
		case "output":
			for i := range r.Array() {
				s.readItem(r, itemKey(int64(i)), true)
			}
		case "usage":
			readUsage(r, reply)
		case "error":
			s.ReadError(r)
		}
	}
	s.working = status == "in_progress" || status == "queued"
	switch {
	case reason != "":
		reply.Finish = reason
	case status != "" && !s.working:
		reply.Finish = status
	}
}

// readItem reads an output item. whole says that it is finished; before that
// its arguments are still to come as deltas.
func (s *responsesStream) readItem(r *wire.Reader, key int, whole bool) {
	var kind, id, callID, tool string
	var arguments, content, summary []byte
	for name := range r.Object() {
		switch string(name) {
		case "type":
			kind = r.OptionalText()
		case "id":
			id = r.OptionalText()
		case "call_id":
			callID = r.OptionalText()
		case "name":
			tool = r.OptionalText()
		case "arguments", "input", "action", "operation", "code", "queries":
			arguments = r.Raw()
		case "content":
			content = r.Raw()
		case "summary":
			summary = r.Raw()
		}
	}
	if strings.HasSuffix(kind, "_call") {
		if callID == "" {
			callID = id
		}
		if tool == "" {
			tool = strings.TrimSuffix(kind, "_call")
		}
		s.Call(key, callID, tool)
		if whole && arguments != nil && !s.Has(key) {
			r.Fail(wire.ReadLenient(arguments, func(r *wire.Reader) { s.Arguments(key, r) }))
		}
		return
	}
	if !whole {
		return
	}
	thinking := kind == "reasoning"
	if content != nil {
		r.Fail(wire.ReadLenient(content, func(r *wire.Reader) { s.readParts(r, key, thinking) }))
	}
	if summary != nil {
		r.Fail(wire.ReadLenient(summary, func(r *wire.Reader) { s.readParts(r, key+summaryStep, true) }))
	}
}

func (s *responsesStream) readParts(r *wire.Reader, item int, thinking bool) {
	for i := range r.Array() {
		key := partKey(item, int64(i))
		for name := range r.Object() {
			if string(name) != "text" && string(name) != "refusal" || s.Has(key) {
				continue
			}
			if thinking {
				s.Thinking(key, r)
			} else {
				s.Text(key, r)
			}
		}
	}
}
