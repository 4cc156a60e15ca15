package wire

import (
	"bytes"
	"unicode/utf8"
)

// frame is an event of a stream without the one string that it added to the
// reply. Most events of a stream differ from the one before in that string
// alone; they are recognised by their frame and not parsed again, which is
// most of what a stream would cost.
type frame struct {
	name, before, after []byte
	key                 int
	field               func(*piece) *[]byte
	kept                bool

	// what the event being read has done so far
	raw      []byte // the quoted string that it added
	addKey   int
	addField func(*piece) *[]byte
	adds     int
}

// Follow takes the next event of a stream. Where it differs from an earlier
// one in nothing but the text that it adds, the text is added; all else it
// says has been read then. Otherwise read reads it.
func (a *Assembly) Follow(name, data []byte, read func(name, data []byte) error) error {
	f := &a.frame
	if text, ok := f.text(name, data); ok && !a.over {
		if p := &a.pieces[a.index[f.key]]; a.hold(len(text)) {
			dst := f.field(p)
			*dst = append(*dst, text...)
		}
		return a.Err()
	}
	f.adds, f.raw = 0, nil
	err := read(name, data)
	if err == nil && f.adds == 1 {
		f.keep(name, data)
	}
	return err
}

// text is the string of an event that has this frame. Only a string without
// escapes means what it shows.
func (f *frame) text(name, data []byte) ([]byte, bool) {
	n := len(data) - len(f.before) - len(f.after)
	if !f.kept || n < 0 || !bytes.Equal(name, f.name) || !bytes.HasPrefix(data, f.before) || !bytes.HasSuffix(data, f.after) {
		return nil, false
	}
	text := data[len(f.before) : len(f.before)+n]
	return text, special(text) == n && utf8.Valid(text)
}

// added notes that the event being read added the string raw to a piece.
func (f *frame) added(raw []byte, key int, field func(*piece) *[]byte) {
	f.adds++
	f.raw, f.addKey, f.addField = raw, key, field
}

// spoil notes that the event being read did what must be done anew each time.
func (f *frame) spoil() { f.adds = 2 }

// keep makes a frame of the event just read, where its string stands in it
// once only.
func (f *frame) keep(name, data []byte) {
	at := bytes.Index(data, f.raw)
	if at < 0 || bytes.LastIndex(data, f.raw) != at {
		return
	}
	f.name = append(f.name[:0], name...)
	f.before = append(f.before[:0], data[:at+1]...)
	f.after = append(f.after[:0], data[at+len(f.raw)-1:]...)
	f.key, f.field, f.kept = f.addKey, f.addField, true
}
