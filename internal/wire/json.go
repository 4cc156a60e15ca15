package wire

import (
	"bytes"
	"errors"
	"iter"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
	"unsafe"

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
	scan    scanner
	text    []byte // scratch for the string being read
	memory  []byte // of Piece
	shares  bool   // a piece may be a part of the document
	parts   grant  // of memory for what is read beside the bytes
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

var readers = sync.Pool{New: func() any { return new(Reader) }}

func newReader(body []byte, lenient bool) *Reader { return newReaderOn(body, lenient, nil) }

// newReaderOn is newReader for a body that begins with what is known.
func newReaderOn(body []byte, lenient bool, known *Prefix) *Reader {
	r := readers.Get().(*Reader)
	r.lenient = lenient
	r.scan.reset(body, !lenient, !lenient && known.isText(body))
	return r
}

// release gives r back without a trace of the document it read.
func (r *Reader) release() {
	r.scan.reset(nil, false, false)
	r.memory, r.shares, r.parts, r.base, r.err = nil, false, grant{}, "", nil
	if cap(r.text) > maxScratch {
		r.text = nil
	}
	readers.Put(r)
}

// grant has memory for many parts taken.
func (r *Reader) grant(take Take) {
	r.parts = grant{take: take}
	r.scan.grant = &r.parts
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

// ReadStrict reads one JSON document of a request, which must be an object.
// Every error is an *haltd.Error; CodeUnavailable is that of a document for whose
// parts take refused memory.
func ReadStrict(body []byte, take Take, read func(*Reader)) error {
	r := newReader(body, false)
	defer r.release()
	r.grant(take)
	if k := r.Kind(); k != KindObject {
		r.Skip()
		r.Refuse("a JSON object")
	}
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
	inner.base, inner.memory, inner.shares, inner.scan.grant = pointer, r.memory, r.shares, r.scan.grant
	read(inner)
	r.err, r.memory = inner.err, inner.memory
}

// end makes sure that nothing but white space follows the document.
func (r *Reader) end() {
	if r.err != nil {
		return
	}
	if !r.scan.atEnd() {
		r.err = haltd.Errorf(haltd.CodeMalformed, "data follows the JSON document at byte %d", r.Offset()).WithFix(malformedFix)
	}
}

// Kind is the kind of the next value.
func (r *Reader) Kind() byte {
	if r.err != nil {
		return 0
	}
	c, err := r.scan.peek()
	switch {
	case err != nil:
		r.syntax(err)
		return 0
	case c == '-' || '0' <= c && c <= '9':
		return KindNumber
	}
	return c
}

// Offset is how many bytes of the document have been read.
func (r *Reader) Offset() int64 { return int64(r.scan.last) }

// JSONSince is the value that was read since Offset was start, without white
// space.
func (r *Reader) JSONSince(start int64) string {
	return compact(bytes.TrimLeft(r.scan.buf[start:r.Offset()], ",: \t\r\n"))
}

// Object yields the member names of the next value, which must be an object
// of the provider's API, or null. The loop's body reads the member's value at
// most once; a value that it leaves alone is skipped. The name is valid until
// then. Some servers read names in whatever case: a strict Reader refuses
// those that would mean one thing to them and another to haltd.
func (r *Reader) Object() iter.Seq[[]byte] { return r.object(!r.lenient) }

// Members is Object for an object whose names are not the API's but the
// client's: in what case they are is its own business.
func (r *Reader) Members() iter.Seq[[]byte] { return r.object(false) }

func (r *Reader) object(folded bool) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if !r.enter(KindObject, "an object") {
			return
		}
		top := len(r.scan.levels) - 1
		r.scan.levels[top].folded = folded
		for r.Kind() != '}' {
			r.leave()
			if folded && r.err == nil {
				r.err = checkCase(r.scan.levels[top].name)
			}
			if r.err != nil || !yield(r.scan.levels[top].name) {
				return
			}
			if r.err == nil && r.scan.levels[top].valued {
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
		top := len(r.scan.levels) - 1
		for i := 0; r.Kind() != ']'; i++ {
			if r.err != nil || !yield(i) {
				return
			}
			if r.err == nil && r.scan.levels[top].count == i {
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

// leave reads the bracket or name that is next.
func (r *Reader) leave() {
	if r.err != nil {
		return
	}
	if _, err := r.scan.token(); err != nil {
		r.syntax(err)
	}
}

// Skip passes over the next value and validates it.
func (r *Reader) Skip() { r.Raw() }

// Raw is the next value exactly as it was sent, valid as long as the document.
func (r *Reader) Raw() []byte {
	if r.err != nil {
		return nil
	}
	raw, err := r.scan.value()
	if err != nil {
		r.syntax(err)
		return nil
	}
	return raw
}

// Text is the next value, which must be a string or null.
func (r *Reader) Text() string {
	r.text = r.AppendText(r.text[:0])
	return string(r.text)
}

// Piece is Text for what a conversation says: it is written to the memory
// that the caller of ReadCall gave, and valid as long as that is, or it is a part
// of the document where the caller shares that.
func (r *Reader) Piece() string {
	if r.shares && r.Kind() == KindString {
		if text, ok := r.scan.plainText(); ok {
			return unsafe.String(unsafe.SliceData(text), len(text))
		}
	}
	longer := r.AppendText(r.memory)
	return r.piece(longer)
}

// piece is what longer has more than the memory so far.
func (r *Reader) piece(longer []byte) string {
	start := len(r.memory)
	text := longer[start:]
	if len(text) == 0 {
		return ""
	}
	if cap(longer) != cap(r.memory) { // there was no room
		return string(text)
	}
	r.memory = longer
	return unsafe.String(&text[0], len(text))
}

// AppendText appends the next value, a string or null, to dst.
func (r *Reader) AppendText(dst []byte) []byte {
	dst, _ = r.appendText(dst)
	return dst
}

// appendText is AppendText that also tells how the string was sent; nil for
// none.
func (r *Reader) appendText(dst []byte) (longer, raw []byte) {
	if k := r.Kind(); k != KindString {
		r.other(k, "a string")
		return dst, nil
	}
	start := r.scan.next
	longer, err := r.scan.text(dst)
	if err != nil {
		r.syntax(err)
		return dst, nil
	}
	raw = r.scan.buf[start:r.scan.last]
	if r.lenient && !utf8.Valid(longer[len(dst):]) {
		longer, _ = jsontext.AppendUnquote(dst, raw) // replaces what is not UTF-8
	}
	return longer, raw
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

// Identifier is OptionalText for names of users and sessions, which some clients
// send as numbers.
func (r *Reader) Identifier() string {
	if r.Kind() == KindNumber {
		return string(r.Raw())
	}
	return r.OptionalText()
}

// TextOrJSON is the next value: the content of a string, or any other value
// as it was sent; "" for null.
func (r *Reader) TextOrJSON() string {
	switch r.Kind() {
	case KindString:
		return r.Piece()
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
	// No model reads or writes as much. Sums of what it costs must not overflow,
	// neither here nor in the stores.
	const most = 1 << 27
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return min(max(n, 0), most)
	}
	f, _ := strconv.ParseFloat(s, 64) // 0 for what is no number, infinite for what is too large
	return int64(min(max(f, 0), most))
}

// Choices reads how many replies a call asks for. No provider gives as many as
// it is bounded to.
func Choices(r *Reader) int { return int(min(r.Count(), 1<<16)) }

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
func (r *Reader) Pointer() string { return shorten(r.base + r.scan.pointer()) }

// syntax keeps err, which the scanner reported, in words for a person.
func (r *Reader) syntax(err error) {
	if r.err != nil {
		return
	}
	if errors.Is(err, errTooManyParts) {
		r.err = noMemoryForParts()
		return
	}
	where := ""
	if pointer := r.Pointer(); pointer != "" {
		where = " in " + pointer
	}
	r.err = haltd.Errorf(haltd.CodeMalformed, "the body is not valid JSON: %v%s at byte %d", err, where, r.scan.next).WithFix(malformedFix)
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
