package wire

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"mime"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/wire/eventstream"
	"github.com/haltd/haltd/internal/wire/sse"
)

// Tap reads a reply from a copy of its bytes while they flow to the client.
// It never fails and never holds the flow up: what it cannot follow it reports
// as unread when the reply is over. Use it from one goroutine at a time.
//
// A plain event stream is parsed as it flows. Everything else is kept, up to
// the limit, and read at the end.
type Tap struct {
	format   ReplyFormat
	limit    int64
	take     Take
	ok       bool   // the status is 2xx
	encoding string // of the content; empty for none
	stream   Stream
	parser   parser
	body     []byte
	short    *[shortReply]byte // that body is in while it is short; nil where it is not
	held     int64             // the most that the parser has held of an event
	taken    int64             // memory for that and for what the stream keeps
	full     bool              // no more was granted: the rest of the stream is not followed
	unread   string            // the first reason why something could not be read
	fault    error             // of haltd, which ended the reading
}

// NewTap reads a reply in format f from status and header on. limit bounds
// what is kept of the reply, encoded and decoded alike. Where take refuses
// memory for what is read at the end, the reply is unread.
func NewTap(f ReplyFormat, status int, header http.Header, limit int64, take Take) *Tap {
	t := &Tap{format: f, limit: limit, take: take, ok: status >= 200 && status <= 299}
	for name := range strings.SplitSeq(strings.Join(header["Content-Encoding"], ","), ",") {
		if name = strings.TrimSpace(name); name != "" && !strings.EqualFold(name, "identity") {
			t.encoding = strings.TrimPrefix(t.encoding+","+name, ",")
		}
	}
	kind := mediaType(header)
	switch {
	case t.encoding != "":
	case kind == "text/event-stream":
		t.guard(t.follow)
	case kind == eventstream.MediaType:
		t.guard(t.followMessages)
	case kind == linesMediaType:
		t.guard(t.followLines)
	}
	return t
}

// mediaType is the type of a body, without parameters.
func mediaType(header http.Header) string {
	kind := header.Get("Content-Type")
	switch kind {
	case "application/json", "text/event-stream":
		return kind
	}
	kind, _, _ = mime.ParseMediaType(kind)
	return kind
}

// HoldsText reports whether a reply with this header can hold text that a Tap
// reads: it is no sound and no image.
func HoldsText(header http.Header) bool {
	kind := mediaType(header)
	return kind == "" || strings.HasPrefix(kind, "text/") || strings.Contains(kind, "json") || kind == eventstream.MediaType
}

// parser cuts a stream into events.
type parser interface {
	Feed(chunk []byte) error
	Flush() error
	// Held is how much memory it takes for an event that has not ended.
	Held() int
}

// noParser stands for one that is no longer needed, so that what it held is
// free.
type noParser struct{}

func (noParser) Feed([]byte) error { return nil }
func (noParser) Flush() error      { return nil }
func (noParser) Held() int         { return 0 }

// guard keeps a fault of haltd from ending the reply with its reading.
func (t *Tap) guard(read func()) {
	defer func() {
		if p := recover(); p != nil {
			t.fault = fmt.Errorf("%v\n%s", p, debug.Stack())
			t.giveUp(haltd.CodeInternal)
			t.body = nil
		}
	}()
	if t.fault == nil {
		read()
	}
}

// Fault is what went wrong in haltd itself while it read; nil when nothing did.
func (t *Tap) Fault() error { return t.fault }

// follow starts to read the reply as an event stream.
func (t *Tap) follow() {
	t.stream = t.format.NewStream(t.limit)
	t.parser = sse.NewParser(t.longest(), t.event)
}

// followMessages starts to read it as an event stream of Amazon's.
func (t *Tap) followMessages() {
	t.stream = t.format.NewStream(t.limit)
	t.parser = eventstream.NewParser(t.longest(), t.event)
}

// followLines starts to read it as documents, one a line.
func (t *Tap) followLines() {
	t.stream = t.format.NewStream(t.limit)
	t.parser = &lineParser{limit: t.longest(), emit: t.event}
}

// longest is how long one event may be.
func (t *Tap) longest() int { return int(min(t.limit, math.MaxInt32)) }

func (t *Tap) event(name, data []byte) {
	if err := t.stream.Event(name, data); errors.Is(err, ErrReplyTooLong) {
		t.giveUp(t.tooLong())
	} else if err != nil {
		t.giveUp("malformed reply")
	}
}

// noMemory is why a reply is unread that came while bodies took all the memory
// they may.
const noMemory = "no memory left for bodies"

func (t *Tap) tooLong() string { return fmt.Sprintf("reply over %d bytes", t.limit) }

func (t *Tap) giveUp(reason string) {
	if t.unread == "" {
		t.unread = reason
	}
}

// Write takes the next bytes of the reply and does not keep them. It always
// answers len(p) and nil.
func (t *Tap) Write(p []byte) (int, error) {
	t.guard(func() { t.keep(p) })
	return len(p), nil
}

func (t *Tap) keep(p []byte) {
	switch {
	case t.parser != nil:
		t.feed(p)
	case t.unread != "":
	case int64(len(t.body)+len(p)) > t.limit:
		t.body = nil
		t.giveUp(t.tooLong())
	case !t.grow(len(p)):
		t.body = nil
		t.giveUp(noMemory)
	default:
		t.body = append(t.body, p...)
	}
}

// grow makes room for n bytes more. The memory is taken before it is used, and
// what it was copied from until then counts as well.
func (t *Tap) grow(n int) bool {
	size := len(t.body) + n
	if size <= cap(t.body) {
		return true
	}
	size = int(min(int64(max(2*cap(t.body), size, shortReply)), t.limit))
	if t.take.refuses(int64(size)) {
		return false
	}
	if size == shortReply {
		t.short = shortReplies.Get().(*[shortReply]byte)
		t.body = t.short[:0]
		return true
	}
	t.body = append(make([]byte, 0, size), t.body...)
	t.releaseShort()
	return true
}

// shortReply is how long a reply is at most that is kept in memory which another
// one has used.
const shortReply = 4 << 10

var shortReplies = sync.Pool{New: func() any { return new([shortReply]byte) }}

// releaseShort returns the memory of a short reply, which nobody reads any more:
// what is read from a reply is copied.
func (t *Tap) releaseShort() {
	if t.short != nil {
		shortReplies.Put(t.short)
		t.short = nil
	}
}

func (t *Tap) feed(p []byte) {
	if t.full {
		return
	}
	if err := t.parser.Feed(p); errors.Is(err, eventstream.ErrMalformed) {
		t.giveUp("malformed reply")
	} else if err != nil {
		t.giveUp(t.tooLong())
	}
	t.held = max(t.held, int64(t.parser.Held()))
	if more := t.stream.Kept() + t.held - t.taken; more > 0 {
		t.taken += more
		if t.full = t.take.refuses(more); t.full {
			t.giveUp(noMemory)
			t.parser = noParser{}
		}
	}
}

// Follows reports whether the reply is read as it flows.
func (t *Tap) Follows() bool { return t.parser != nil && t.fault == nil && !t.full }

// Kept is how many bytes of what a stream says have arrived; 0 for replies
// that are read at their end.
func (t *Tap) Kept() int64 {
	if t.parser == nil || t.fault != nil {
		return 0
	}
	return t.stream.Kept()
}

// Close ends the reply. complete says that all its bytes came. The Reply is
// never nil: it holds what could be read. unread is empty, or says in short
// why something could not. Error replies (not 2xx) only give Reply.Err, where
// they say it in the format's own way, and are never unread.
func (t *Tap) Close(complete bool) (reply *haltd.Reply, unread string) {
	reply = &haltd.Reply{}
	t.guard(func() {
		if t.parser != nil {
			reply = t.endStream(complete)
		} else if t.unread == "" {
			reply = t.readBody(complete)
		}
	})
	t.body, t.parser = nil, nil
	t.releaseShort()
	if !t.ok {
		reply.Complete = false
		return reply, ""
	}
	return reply, t.unread
}

// endStream takes the event at the end that lacks its empty line, unless the
// stream was cut there.
func (t *Tap) endStream(complete bool) *haltd.Reply {
	if complete && t.parser.Flush() != nil {
		t.giveUp(t.tooLong())
	}
	return t.stream.Reply()
}

// readBody reads what was kept.
func (t *Tap) readBody(complete bool) *haltd.Reply {
	body, err := decode(t.encoding, t.body, t.limit, t.take)
	switch {
	case errors.Is(err, errUnknownEncoding):
		t.giveUp(err.Error())
		return &haltd.Reply{}
	case errors.Is(err, errOverLimit):
		t.giveUp(t.tooLong())
		return &haltd.Reply{}
	case errors.Is(err, errNoMemory):
		t.giveUp(noMemory)
		return &haltd.Reply{}
	case err != nil && complete:
		t.giveUp("malformed " + shorten(t.encoding))
	}
	start := bytes.TrimLeft(body, "\xef\xbb\xbf \t\r\n")
	switch {
	case looksLikeEvents(start):
		t.follow()
		t.feed(body)
		return t.endStream(complete && err == nil)
	case len(start) == 0:
		t.giveUp("empty reply")
	case start[0] != '{' && start[0] != '[':
		t.giveUp("not JSON nor an event stream")
	default:
		if reply, err := t.format.ReadReply(start); err == nil {
			reply.Complete = reply.Complete && complete
			return reply
		}
		if !complete {
			if reply, ok := readCut(t.format, start); ok {
				return reply
			}
		}
		t.giveUp("malformed reply")
	}
	return &haltd.Reply{}
}

// looksLikeEvents recognises an event stream by its first line, whatever its
// media type says.
func looksLikeEvents(start []byte) bool {
	for _, field := range []string{"data", "event", "id", "retry"} {
		if rest, ok := bytes.CutPrefix(start, []byte(field)); ok {
			return len(rest) > 0 && rest[0] == ':'
		}
	}
	return len(start) > 0 && start[0] == ':'
}
