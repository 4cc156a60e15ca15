package wire

import (
	"bytes"
	"encoding/json"
)

// Steerer is a Format that can add a note to a request.
type Steerer interface {
	// Steer is the body with a note at the end of the newest tool result, in
	// the place where clients of the format put such notes. Nothing before
	// that changes. ok is false where the newest message is no tool result.
	Steer(body []byte, note string) (steered []byte, ok bool)
}

// Place is where something can be added to a value that was read: before its
// last byte.
type Place struct {
	kind byte
	end  int64
}

// Next skips the next value and says where something can be added to it.
func (r *Reader) Next() Place {
	kind := r.Kind()
	r.Skip()
	return Place{kind, r.Offset()}
}

// IsArray, IsString and IsObject tell what was read; the zero Place is none.
func (p Place) IsArray() bool  { return p.kind == KindArray }
func (p Place) IsString() bool { return p.kind == KindString }
func (p Place) IsObject() bool { return p.kind == KindObject }

// AppendText adds a text to a string.
func (p Place) AppendText(body []byte, text string) []byte {
	quoted, _ := json.Marshal(text) // a string always can
	return p.insert(body, quoted[1:len(quoted)-1])
}

// AppendItem adds an element to an array, or a member to an object.
func (p Place) AppendItem(body []byte, item string) []byte {
	before := bytes.TrimRight(body[:p.end-1], " \t\r\n")
	if c := before[len(before)-1]; c != '[' && c != '{' {
		item = "," + item
	}
	return p.insert(body, []byte(item))
}

func (p Place) insert(body, what []byte) []byte {
	out := make([]byte, 0, len(body)+len(what))
	out = append(out, body[:p.end-1]...)
	out = append(out, what...)
	return append(out, body[p.end-1:]...)
}

// Quote is a text as JSON.
func Quote(text string) string {
	b, _ := json.Marshal(text)
	return string(b)
}

// Here is the place of the value of this kind that was just read to its end.
func (r *Reader) Here(kind byte) Place { return Place{kind, r.Offset()} }
