package wire

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/haltd/haltd"
)

// Reader walks one JSON document in a single validating pass. It is the only
// way in which this house reads the JSON of providers and their clients.
//
// The first error sticks: after it every method returns zero values and every
// loop ends, so that callers check once, at the end. A strict Reader, for
// requests, also refuses duplicate names, invalid UTF-8 and values of another
// kind than the one asked for; a lenient one, for replies, skips them.
type Reader struct {
	dec     jsontext.Decoder
	src     bytes.Buffer
	body    []byte
	name    []byte // last member name that had escapes in it
	text    []byte // scratch for strings that have escapes in them
	lenient bool
	base    string // pointer of the document, where it is part of another
	err     error
}

// The kinds of JSON values, as Reader.Kind tells them apart.
const (
	KindObject = '{'
	KindArray  = '['
	KindString = '"'
	KindNumber = '0'
	KindNull   = 'n'
)

const (
	malformedFix = "Send one JSON object as the provider's API describes it; what haltd cannot read it does not forward."
	// maxScratch is how much scratch space a pooled reader may keep.
	maxScratch = 1 << 20
)

var (
	readers        = sync.Pool{New: func() any { return new(Reader) }}
	lenientOptions = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}
	nothing        = bytes.NewBuffer(nil)
)

func newReader(body []byte, lenient bool) *Reader {
	r := readers.Get().(*Reader)
	r.src, r.body = *bytes.NewBuffer(body), body
	r.lenient = lenient
	if lenient {
		r.dec.Reset(&r.src, lenientOptions...)
	} else {
		r.dec.Reset(&r.src)
	}
	return r
}

// release gives r back without a trace of the document it read.
func (r *Reader) release() {
	r.dec.Reset(nothing)
	r.src, r.body, r.base, r.err = bytes.Buffer{}, nil, "", nil
	if cap(r.text) > maxScratch {
		r.text = nil
	}
	readers.Put(r)
}

// ReadLenient reads one JSON document of a reply. Values of an unexpected
// kind are skipped; an error means that the document is not JSON.
func ReadLenient(body []byte, read func(*Reader)) error {
	r := newReader(body, true)
	defer r.release()
	read(r)
	r.end()
	return r.err
}

// Reread reads a value that Raw gave earlier, when it was not yet known what
// it means. pointer says where it stands.
func (r *Reader) Reread(raw []byte, pointer string, read func(*Reader)) {
	if r.err != nil {
		return
	}
	inner := newReader(raw, r.lenient)
	defer inner.release()
	inner.base = pointer
	read(inner)
	r.err = inner.err
}

// end makes sure that nothing but white space follows the document.
func (r *Reader) end() {
	if r.err != nil {
		return
	}
	if _, err := r.dec.ReadToken(); err == nil {
		r.err = haltd.Errorf(haltd.CodeMalformed, "data follows the JSON document at byte %d", r.dec.InputOffset()).WithFix(malformedFix)
	} else if !errors.Is(err, io.EOF) {
		r.syntax(err)
	}
}

// Kind is the kind of the next value.
func (r *Reader) Kind() byte {
	if r.err != nil {
		return 0
	}
	return byte(r.dec.PeekKind())
}

// Offset is how many bytes of the document have been read.
func (r *Reader) Offset() int64 { return r.dec.InputOffset() }

// JSONSince is the value that was read since Offset was start, without white
// space.
func (r *Reader) JSONSince(start int64) string {
	return compact(bytes.TrimLeft(r.body[start:r.Offset()], ",: \t\r\n"))
}

// Object yields the member names of the next value, which must be an object
// or null. The loop's body reads the member's value at most once; a value
// that it leaves alone is skipped. The name is valid until then.
func (r *Reader) Object() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if !r.enter(KindObject, "an object") {
			return
		}
		for r.dec.PeekKind() != '}' {
			name := r.memberName()
			if r.err != nil || !yield(name) {
				return
			}
			if _, n := r.dec.StackIndex(r.dec.StackDepth()); n%2 == 1 {
				r.Skip()
			}
			if r.err != nil {
				return
			}
		}
		r.leave()
	}
}

// RequireObject refuses a next value that is no object, null included.
func (r *Reader) RequireObject() {
	if r.Kind() != KindObject {
		r.Skip()
		r.Refuse("an object")
	}
}

// Array yields the indexes of the next value, which must be an array or null.
// The loop's body reads the element at most once; an element that it leaves
// alone is skipped.
func (r *Reader) Array() iter.Seq[int] {
	return func(yield func(int) bool) {
		if !r.enter(KindArray, "an array") {
			return
		}
		for i := 0; r.dec.PeekKind() != ']'; i++ {
			if !yield(i) {
				return
			}
			if _, n := r.dec.StackIndex(r.dec.StackDepth()); n == int64(i) {
				r.Skip()
			}
			if r.err != nil {
				return
			}
		}
		r.leave()
	}
}

// ArrayOrOne is Array for fields where a single element may stand without
// the brackets.
func (r *Reader) ArrayOrOne() iter.Seq[int] {
	if r.Kind() != KindObject {
		return r.Array()
	}
	return func(yield func(int) bool) {
		at := r.Offset()
		if yield(0) && r.Offset() == at {
			r.Skip()
		}
	}
}

func (r *Reader) enter(kind byte, want string) bool {
	switch k := r.Kind(); {
	case r.err != nil:
		return false
	case k == kind:
		r.leave()
		return r.err == nil
	default:
		r.other(k, want)
		return false
	}
}

// leave reads the bracket that is next.
func (r *Reader) leave() {
	if _, err := r.dec.ReadToken(); err != nil {
		r.syntax(err)
	}
}

func (r *Reader) memberName() []byte {
	raw, err := r.dec.ReadValue()
	if err != nil {
		r.syntax(err)
		return nil
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	r.name, _ = jsontext.AppendUnquote(r.name[:0], raw)
	return r.name
}

// Skip passes over the next value and validates it.
func (r *Reader) Skip() { r.Raw() }

// Raw is the next value exactly as it was sent, valid as long as the document.
func (r *Reader) Raw() []byte {
	if r.err != nil {
		return nil
	}
	raw, err := r.dec.ReadValue()
	if err != nil {
		r.syntax(err)
		return nil
	}
	return raw
}

// Text is the next value, which must be a string or null.
func (r *Reader) Text() string {
	raw := r.scalar(KindString, "a string")
	if raw == nil {
		return ""
	}
	if plain(raw, r.lenient) {
		return string(raw[1 : len(raw)-1])
	}
	r.text = r.unquote(r.text[:0], raw)
	return string(r.text)
}

// AppendText appends the next value, a string or null, to dst.
func (r *Reader) AppendText(dst []byte) []byte {
	raw := r.scalar(KindString, "a string")
	return r.appendString(dst, raw)
}

// appendString appends what a quoted string means; nothing for none.
func (r *Reader) appendString(dst, raw []byte) []byte {
	switch {
	case raw == nil:
		return dst
	case plain(raw, r.lenient):
		return append(dst, raw[1:len(raw)-1]...)
	}
	return r.unquote(dst, raw)
}

// unquote appends what raw means, a string that the decoder has validated.
// Strings with none but the common escapes, which is nearly all of them, are
// read twice as fast as the library does.
func (r *Reader) unquote(dst, raw []byte) []byte {
	start, rest := len(dst), raw[1:len(raw)-1]
	for !r.lenient {
		i := bytes.IndexByte(rest, '\\')
		if i < 0 {
			return append(dst, rest...)
		}
		c := rest[i+1]
		switch c {
		case 'n':
			c = '\n'
		case 't':
			c = '\t'
		case 'r':
			c = '\r'
		case '"', '\\', '/':
		default:
			dst, _ = jsontext.AppendUnquote(dst[:start], raw)
			return dst
		}
		dst = append(append(dst, rest[:i]...), c)
		rest = rest[i+2:]
	}
	dst, _ = jsontext.AppendUnquote(dst, raw) // only ever invalid UTF-8, which it replaces
	return dst
}

// OptionalText is Text for fields on which nothing rests: whatever is no
// string is skipped and reads as "".
func (r *Reader) OptionalText() string {
	if r.Kind() == KindString {
		return r.Text()
	}
	r.Skip()
	return ""
}

// plain reports whether a quoted string means what it shows.
func plain(raw []byte, checkUTF8 bool) bool {
	return bytes.IndexByte(raw, '\\') < 0 && (!checkUTF8 || utf8.Valid(raw))
}

// TextOrJSON is the next value: the content of a string, or any other value
// as it was sent; "" for null.
func (r *Reader) TextOrJSON() string {
	switch r.Kind() {
	case KindString:
		return r.Text()
	case KindNull:
		r.Skip()
		return ""
	default:
		return string(r.Raw())
	}
}

// TextOrObject is TextOrJSON for fields that hold no other JSON than objects.
func (r *Reader) TextOrObject() string {
	switch r.Kind() {
	case KindString, KindNull, KindObject:
		return r.TextOrJSON()
	}
	r.Skip()
	r.Refuse("a string or an object")
	return ""
}

// Count is the next value, a number or null, as a count: not below zero,
// without its fraction, and within reason. A number in quotes counts too, as protocol buffers
// write large ones.
func (r *Reader) Count() int64 {
	if r.Kind() == KindString {
		return count(r.Text())
	}
	return count(string(r.scalar(KindNumber, "a number")))
}

func count(s string) int64 {
	const most = 1 << 48 // so that sums of counts do not overflow
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return min(max(n, 0), most)
	}
	f, _ := strconv.ParseFloat(s, 64) // 0 for what is no number, infinite for what is too large
	return int64(min(max(f, 0), most))
}

// Bool is the next value, which must be a boolean or null.
func (r *Reader) Bool() bool {
	switch k := r.Kind(); k {
	case 't', 'f':
		r.Skip()
		return k == 't' && r.err == nil
	default:
		r.other(k, "a boolean")
		return false
	}
}

func (r *Reader) scalar(kind byte, want string) []byte {
	if k := r.Kind(); k != kind {
		r.other(k, want)
		return nil
	}
	return r.Raw()
}

// other deals with a value that is not of the kind wanted.
func (r *Reader) other(kind byte, want string) {
	r.Skip()
	if kind != KindNull {
		r.Refuse(want)
	}
}

// Refuse says that the value just read is not what it must be. A lenient
// Reader lets it pass.
func (r *Reader) Refuse(want string) {
	if r.err == nil && !r.lenient {
		r.err = RefuseAt(r.Pointer(), want)
	}
}

// Fail makes err, where there is one, the reader's error.
func (r *Reader) Fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// RefuseAt is the error for a value that is not what it must be.
func RefuseAt(pointer, want string) error {
	if pointer == "" {
		pointer = "the request body"
	}
	return haltd.Errorf(haltd.CodeMalformed, "%s must be %s", pointer, want).WithFix(malformedFix)
}

// Pointer is the JSON pointer of the value just read.
func (r *Reader) Pointer() string { return shorten(r.base + string(r.dec.StackPointer())) }

// syntax keeps err, which the decoder reported, in words for a person.
func (r *Reader) syntax(err error) {
	if r.err != nil {
		return
	}
	what, where := err.Error(), ""
	var s *jsontext.SyntacticError
	switch {
	case errors.Is(err, io.EOF):
		what = "the document is empty"
	case errors.As(err, &s):
		what = s.Err.Error()
		pointer := s.JSONPointer
		if errors.Is(err, jsontext.ErrDuplicateName) {
			what = "duplicate member name " + strconv.Quote(shorten(pointer.LastToken()))
			pointer = pointer.Parent()
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			what = "the document ends early"
		}
		if pointer != "" {
			where = " in " + shorten(string(pointer))
		}
		where += " at byte " + strconv.FormatInt(s.ByteOffset, 10)
	}
	r.err = haltd.Errorf(haltd.CodeMalformed, "the body is not valid JSON: %s%s", what, where).WithFix(malformedFix)
}

// shorten keeps hostile names from filling an error message.
func shorten(s string) string {
	const limit = 120
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}

// AppendQuoted appends s as a JSON string. Bytes that are not UTF-8 are
// replaced.
func AppendQuoted(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s) // only ever invalid UTF-8, which it replaces
	return dst
}
