package wire

import (
	"errors"
	"strings"

	"github.com/haltd/haltd"
)

// ErrReplyTooLong is what a Stream answers when a reply no longer fits its
// limit. What does not fit is dropped; later events still count for the rest
// of the reply, the usage above all.
var ErrReplyTooLong = errors.New("reply is too long to keep")

// Assembly is a reply under construction. Its pieces have keys, such as the
// index of a content block, so that deltas find the piece that they continue.
type Assembly struct {
	// Reply takes all but Text, Thinking and Calls.
	Reply haltd.Reply

	pieces []piece
	index  map[int]int // key to place in pieces
	limit  int64
	kept   int64
	over   bool
	beside int64 // bytes of choices that are not read
	frame  frame
}

type piece struct {
	text, thinking []byte
	isCall         bool
	call           haltd.ToolCall
	arguments      []byte
}

// pieceCost stands for what a piece takes beside its text.
const pieceCost = 256

// NewAssembly makes an empty reply that keeps at most limit bytes.
func NewAssembly(limit int64) Assembly { return Assembly{limit: limit} }

// hold counts n more bytes, or reports false where they do not fit.
func (a *Assembly) hold(n int) bool {
	if a.over || int64(n) > a.limit-a.kept {
		a.over = true
		return false
	}
	a.kept += int64(n)
	return true
}

// piece is the piece of that key, or nil where there is no room for it.
func (a *Assembly) piece(key int) *piece {
	if i, ok := a.index[key]; ok {
		return &a.pieces[i]
	}
	if !a.hold(pieceCost) {
		return nil
	}
	if a.index == nil {
		a.index = make(map[int]int)
	}
	a.index[key] = len(a.pieces)
	a.pieces = append(a.pieces, piece{})
	return &a.pieces[len(a.pieces)-1]
}

// add is dst with the string, or any other value as sent, that r reads next.
func (a *Assembly) add(dst []byte, r *Reader) []byte {
	if a.over {
		r.Skip()
		return dst
	}
	var longer []byte
	switch r.Kind() {
	case KindString, KindNull:
		longer = r.AppendText(dst)
	default:
		longer = append(dst, r.Raw()...)
	}
	if !a.hold(len(longer) - len(dst)) {
		return dst
	}
	return longer
}

// Text appends the string that r reads next to what the assistant says.
func (a *Assembly) Text(key int, r *Reader) {
	a.addString(key, r, func(p *piece) *[]byte { return &p.text })
}

// Thinking appends the string that r reads next to what the assistant thinks.
func (a *Assembly) Thinking(key int, r *Reader) {
	a.addString(key, r, func(p *piece) *[]byte { return &p.thinking })
}

func (a *Assembly) addString(key int, r *Reader, field func(*piece) *[]byte) {
	if r.Kind() != KindString {
		r.Skip()
		return
	}
	p := a.piece(key)
	if p == nil {
		r.Skip()
		return
	}
	dst := field(p)
	longer, raw := r.appendText(*dst)
	if raw != nil && a.hold(len(longer)-len(*dst)) {
		*dst = longer
		a.frame.added(raw, key, field)
	}
}

// Call says that the piece is a tool call. Empty words leave what is known.
func (a *Assembly) Call(key int, id, name string) {
	a.frame.spoil()
	p := a.piece(key)
	if p == nil || !a.hold(len(id)+len(name)) {
		return
	}
	p.isCall = true
	if id != "" {
		p.call.ID = id
	}
	if name != "" {
		p.call.Name = name
	}
}

// CallID is the id of the tool call of that key, where there is one.
func (a *Assembly) CallID(key int) (id string, ok bool) {
	a.frame.spoil()
	i, ok := a.index[key]
	if !ok || !a.pieces[i].isCall {
		return "", false
	}
	return a.pieces[i].call.ID, true
}

// Arguments appends what r reads next to the arguments of a call: the content
// of a string, or any other value as it was sent.
func (a *Assembly) Arguments(key int, r *Reader) {
	a.frame.spoil()
	if p := a.piece(key); p != nil {
		p.arguments = a.add(p.arguments, r)
	}
}

// FirstArguments are the arguments of a call unless Arguments adds others.
func (a *Assembly) FirstArguments(key int, r *Reader) {
	a.frame.spoil()
	if p := a.piece(key); p != nil {
		p.call.Arguments = string(a.add(nil, r))
	}
}

// Has reports whether the piece of that key has content. A whole that follows
// its own deltas adds nothing.
func (a *Assembly) Has(key int) bool {
	a.frame.spoil() // what the event does depends on what came before it
	i, ok := a.index[key]
	if !ok {
		return false
	}
	p := &a.pieces[i]
	return len(p.text)+len(p.thinking)+len(p.arguments) > 0
}

// Beside counts what the value that r reads next says, for a choice that is not
// read: it is paid for all the same.
func (a *Assembly) Beside(r *Reader) {
	a.frame.spoil()
	switch r.Kind() {
	case KindString:
		a.beside += int64(len(r.Raw()) - 2)
	case KindObject:
		for name := range r.Object() {
			if string(name) != "role" {
				a.Beside(r)
			}
		}
	case KindArray:
		for range r.Array() {
			a.Beside(r)
		}
	default:
		r.Skip()
	}
}

// Err is ErrReplyTooLong once something was dropped.
func (a *Assembly) Err() error {
	if a.over {
		return ErrReplyTooLong
	}
	return nil
}

// Finished is the reply as far as it has arrived. Pieces of text are joined
// with line breaks.
func (a *Assembly) Finished() *haltd.Reply {
	reply := a.Reply
	reply.Beside = a.beside
	reply.Text = a.join(func(p *piece) []byte { return p.text })
	reply.Thinking = a.join(func(p *piece) []byte { return p.thinking })
	for i := range a.pieces {
		p := &a.pieces[i]
		if !p.isCall {
			continue
		}
		call := p.call
		if len(p.arguments) > 0 {
			call.Arguments = string(p.arguments)
		}
		reply.Calls = append(reply.Calls, call)
	}
	return &reply
}

func (a *Assembly) join(field func(*piece) []byte) string {
	var b strings.Builder
	for i := range a.pieces {
		s := field(&a.pieces[i])
		if len(s) == 0 {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.Write(s)
	}
	return b.String()
}

// ReadError reads the error that a provider reports: an object with a
// message, or a plain string.
func (a *Assembly) ReadError(r *Reader) {
	switch r.Kind() {
	case KindNull:
		r.Skip()
		return
	case KindObject:
	default:
		a.setError(r.TextOrJSON())
		return
	}
	var message, kind string
	for name := range r.Object() {
		switch string(name) {
		case "message":
			message = r.OptionalText()
		case "type", "code", "status":
			if word := r.OptionalText(); kind == "" && word != "error" {
				kind = word
			}
		}
	}
	switch {
	case message == "":
		message = kind
	case kind != "":
		message = kind + ": " + message
	}
	a.setError(message)
}

func (a *Assembly) setError(message string) {
	if message == "" {
		message = "unnamed error"
	}
	const limit = 1000
	if len(message) > limit {
		message = strings.ToValidUTF8(message[:limit], "")
	}
	a.Reply.Err = message
}

// Kept is how many bytes of the reply have come so far, about what it says, with
// the choices that are not kept.
func (a *Assembly) Kept() int64 { return a.kept + a.beside }
