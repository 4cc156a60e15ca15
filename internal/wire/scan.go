package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// scanner goes through one JSON document token by token and holds it to RFC
// 8259. It is written by hand because conversations are long strings sent
// again and again, and searching for the byte that ends one is several times
// as fast as looking at each; a fuzzer holds it to what jsontext accepts.
//
// strict also refuses text that is not Unicode and duplicate names, in some
// objects those too that differ only in case.
type scanner struct {
	buf    []byte
	next   int // where the next token begins, once ready, or what is before it
	last   int // the end of the token last read
	ready  bool
	done   bool // the document's one value has begun
	plain  bool // the string last read has no escapes
	strict bool
	utf8   bool // the document is valid UTF-8, of a strict scanner
	levels []level
	names  [][]byte // of the open objects, the outermost first
	grant  *grant   // of memory for many names
}

// level is an array or object that is open.
type level struct {
	object bool
	valued bool              // a name was read and its value was not
	folded bool              // names that differ only in case are duplicates
	count  int               // members or elements that have begun
	name   []byte            // of the newest member
	first  int               // where the names of this object begin
	seen   map[string]string // where there are many: the name, by its key
}

const (
	maxDepth = 10_000
	// fewNames is how many names are searched one by one for a duplicate.
	fewNames = 24
)

var (
	errEmpty     = errors.New("the document is empty")
	errEndsEarly = errors.New("the document ends early")
	errTooDeep   = errors.New("it is nested too deeply")
	errNotUTF8   = errors.New("a string is not valid UTF-8")
	errHalfPair  = errors.New("half of a surrogate pair stands alone")
)

// reset makes a document the one to read; isText says that all of it is UTF-8,
// so that its strings need not be looked at one by one.
func (s *scanner) reset(buf []byte, strict, isText bool) {
	clear(s.levels[:cap(s.levels)])
	clear(s.names[:cap(s.names)])
	*s = scanner{buf: buf, strict: strict, utf8: isText, levels: s.levels[:0], names: s.names[:0]}
	if cap(s.levels) > 1<<8 || cap(s.names) > 1<<10 {
		s.levels, s.names = nil, nil
	}
}

// peek finds the next token and checks what stands before it. It is the first
// byte of the token: a bracket, a quote, or that of a number or literal.
func (s *scanner) peek() (byte, error) {
	if s.ready {
		return s.buf[s.next], nil
	}
	c, err := s.separate()
	s.ready = err == nil
	return c, err
}

// separate passes over white space and the comma or colon that must be there.
func (s *scanner) separate() (byte, error) {
	c, err := s.space()
	if err != nil || len(s.levels) == 0 {
		return c, err
	}
	l := &s.levels[len(s.levels)-1]
	switch {
	case l.valued:
		if c != ':' {
			return 0, s.unexpected("a colon after a member's name")
		}
		s.next++
		return s.space()
	case c == l.closing():
		return c, nil
	case l.count > 0:
		if c != ',' {
			return 0, s.unexpected("a comma or " + string(l.closing()))
		}
		s.next++
		if c, err = s.space(); err != nil {
			return 0, err
		}
		if c == l.closing() {
			return 0, s.unexpected("a value")
		}
	}
	if l.object && c != '"' {
		return 0, s.unexpected("a member's name")
	}
	return c, nil
}

func (l *level) closing() byte {
	if l.object {
		return '}'
	}
	return ']'
}

// space passes over white space, after which something must follow.
func (s *scanner) space() (byte, error) {
	for ; s.next < len(s.buf); s.next++ {
		if c := s.buf[s.next]; c > ' ' || c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c, nil
		}
	}
	if !s.done {
		return 0, errEmpty
	}
	return 0, errEndsEarly
}

// token reads the next token, which it returns as it stands in the document.
func (s *scanner) token() ([]byte, error) {
	c, err := s.peek()
	if err != nil {
		return nil, err
	}
	start := s.next
	if n := len(s.levels); n > 0 {
		l := &s.levels[n-1]
		switch {
		case l.valued:
			l.valued = false
		case c == l.closing():
			s.close()
			return s.took(start, start+1), nil
		case l.object:
			return s.memberName(l)
		default:
			l.count++
		}
	}
	s.done = true
	end := start + 1
	switch c {
	case '{', '[':
		err = s.open(c == '{')
	case '"':
		end, _, err = s.str(start, nil, false)
	case 't':
		end, err = s.literal("true")
	case 'f':
		end, err = s.literal("false")
	case 'n':
		end, err = s.literal("null")
	default:
		end, err = s.number(start)
	}
	if err != nil {
		return nil, err
	}
	return s.took(start, end), nil
}

// text reads the next token, a string that is a value, and appends what it
// means to dst, in one pass.
func (s *scanner) text(dst []byte) ([]byte, error) {
	s.beginText()
	end, dst, err := s.str(s.next, dst, true)
	if err != nil {
		return dst, err
	}
	s.took(s.next, end)
	return dst, nil
}

// plainText reads the next token, a string that is a value, where it stands in the
// document as what it means. Else it reads nothing, and is false.
func (s *scanner) plainText() (text []byte, ok bool) {
	start := s.next + 1
	end := start + special(s.buf[start:])
	if end == len(s.buf) || s.buf[end] != '"' || !s.utf8 {
		return nil, false
	}
	s.beginText()
	s.took(s.next, end+1)
	return s.buf[start:end], true
}

// beginText counts a string as the value that it is.
func (s *scanner) beginText() {
	if n := len(s.levels); n > 0 {
		l := &s.levels[n-1]
		if !l.object {
			l.count++
		}
		l.valued = false
	}
	s.done = true
}

func (s *scanner) took(start, end int) []byte {
	s.next, s.last, s.ready = end, end, false
	return s.buf[start:end:end]
}

// value reads the next value, whatever it holds.
func (s *scanner) value() ([]byte, error) {
	depth := len(s.levels)
	raw, err := s.token()
	if err != nil || len(s.levels) <= depth {
		return raw, err
	}
	start := s.last - 1
	for len(s.levels) > depth {
		if _, err := s.token(); err != nil {
			return nil, err
		}
	}
	return s.buf[start:s.last:s.last], nil
}

func (s *scanner) open(object bool) error {
	if len(s.levels) == maxDepth {
		return errTooDeep
	}
	s.levels = append(s.levels, level{object: object, first: len(s.names)})
	return nil
}

func (s *scanner) close() {
	top := len(s.levels) - 1
	s.names = s.names[:s.levels[top].first]
	s.levels = s.levels[:top]
}

// memberName reads a name that, when strict, must be new.
func (s *scanner) memberName(l *level) ([]byte, error) {
	start := s.next
	end, _, err := s.str(start, nil, false)
	if err != nil {
		return nil, err
	}
	l.count++
	l.valued = true
	l.name = s.buf[start+1 : end-1]
	if !s.plain {
		_, l.name, _ = s.str(start, nil, true)
	}
	if s.strict {
		if err := s.checkNew(l); err != nil {
			return nil, err
		}
	}
	return s.took(start, end), nil
}

// checkNew refuses a name that its object has already.
func (s *scanner) checkNew(l *level) error {
	if l.seen != nil {
		key := l.key(l.name)
		if earlier, ok := l.seen[key]; ok {
			return duplicate(earlier, string(l.name))
		}
		if !s.grant.hold(nameCost + 2*int64(len(key))) {
			return errTooManyParts
		}
		l.seen[key] = string(l.name)
		return nil
	}
	for _, name := range s.names[l.first:] {
		if bytes.Equal(name, l.name) || l.folded && bytes.EqualFold(name, l.name) {
			return duplicate(string(name), string(l.name))
		}
	}
	s.names = append(s.names, l.name)
	if len(s.names)-l.first > fewNames {
		l.seen = make(map[string]string, 2*fewNames)
		for _, name := range s.names[l.first:] {
			l.seen[l.key(name)] = string(name)
		}
	}
	return nil
}

func duplicate(earlier, name string) error {
	if earlier == name {
		return fmt.Errorf("duplicate member name %s", strconv.Quote(shorten(name)))
	}
	return fmt.Errorf("member names %s and %s differ only in case", strconv.Quote(shorten(earlier)), strconv.Quote(shorten(name)))
}

// key is what makes a name of this object equal to another.
func (l *level) key(name []byte) string {
	if l.folded {
		return fold(name)
	}
	return string(name)
}

// fold is the same for all names that differ only in case.
func fold(name []byte) string { return strings.ToLower(strings.ToUpper(string(name))) }

// str is the end of the string that begins at start. With decode it also
// appends what the string means to dst.
func (s *scanner) str(start int, dst []byte, decode bool) (int, []byte, error) {
	s.plain = true
	for at := start + 1; ; {
		var n int
		if decode {
			dst, n = appendPlain(dst, s.buf[at:])
		} else {
			n = special(s.buf[at:])
		}
		stop := at + n
		if stop == len(s.buf) {
			return 0, dst, errEndsEarly
		}
		switch s.buf[stop] {
		case '"':
			if s.strict && !s.utf8 && !utf8.Valid(s.buf[start:stop]) {
				s.next = start
				return 0, dst, errNotUTF8
			}
			return stop + 1, dst, nil
		case '\\':
			s.plain = false
			r, n, err := s.escape(stop)
			if err != nil {
				return 0, dst, err
			}
			if decode {
				dst = utf8.AppendRune(dst, r)
			}
			at = stop + n
		default:
			s.next = stop
			return 0, dst, s.unexpected("a string without control characters")
		}
	}
}

// appendPlain appends the bytes that stand for themselves to dst, and says how many
// they are. Lines are short: where there is room, they are copied as they are looked
// at.
func appendPlain(dst, b []byte) ([]byte, int) {
	const far = 128
	start := len(dst)
	if cap(dst)-start < far || len(b) < far {
		n := special(b)
		return append(dst, b[:n]...), n
	}
	room := dst[start : start+far : start+far]
	for i := 0; i < far; i += 8 {
		binary.LittleEndian.PutUint64(room[i:], binary.LittleEndian.Uint64(b[i:]))
		if marks := specials(b[i:]); marks != 0 {
			n := i + bits.TrailingZeros64(marks)>>3
			return dst[:start+n], n
		}
	}
	n := far + special(b[far:])
	return append(dst[:start+far], b[far:n]...), n
}

// special is the index of the first byte that does not stand for itself in a
// string: a quote, a backslash or a control character. It looks at 32 bytes at
// a time.
func special(b []byte) int {
	i := 0
	for ; i+32 <= len(b); i += 32 {
		w := b[i : i+32 : i+32]
		if specials(w)|specials(w[8:])|specials(w[16:])|specials(w[24:]) != 0 {
			break
		}
	}
	for ; i+8 <= len(b); i += 8 {
		if marks := specials(b[i:]); marks != 0 {
			return i + bits.TrailingZeros64(marks)>>3
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c == '"' || c == '\\' || c < 0x20 {
			break
		}
	}
	return i
}

// specials marks the special ones of eight bytes; only the lowest mark is sure. With
// one bit turned, a quote comes right behind the control characters.
func specials(b []byte) uint64 {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	word := binary.LittleEndian.Uint64(b)
	turned, escape := word^('"'^0x20)*ones, word^'\\'*ones
	return ((turned - 0x21*ones) | (escape - ones)) &^ word & high
}

// escape reads the escape sequence at at: what it means, and its length. Half
// a surrogate pair means nothing, which only a strict scanner refuses.
func (s *scanner) escape(at int) (rune, int, error) {
	if at+1 >= len(s.buf) {
		return 0, 0, errEndsEarly
	}
	switch c := s.buf[at+1]; c {
	case '"', '\\', '/':
		return rune(c), 2, nil
	case 'n':
		return '\n', 2, nil
	case 't':
		return '\t', 2, nil
	case 'r':
		return '\r', 2, nil
	case 'b':
		return '\b', 2, nil
	case 'f':
		return '\f', 2, nil
	case 'u':
	default:
		s.next = at
		return 0, 0, s.unexpected("an escape sequence")
	}
	r, err := s.hex(at)
	if err != nil || !utf16.IsSurrogate(r) {
		return r, 6, err
	}
	if at+12 <= len(s.buf) && s.buf[at+6] == '\\' && s.buf[at+7] == 'u' {
		low, err := s.hex(at + 6)
		if err != nil {
			return 0, 0, err
		}
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return pair, 12, nil
		}
	}
	if s.strict {
		s.next = at
		return 0, 0, errHalfPair
	}
	return utf8.RuneError, 6, nil
}

// hex reads the four digits of the \uXXXX at at.
func (s *scanner) hex(at int) (r rune, err error) {
	if at+6 > len(s.buf) {
		return 0, errEndsEarly
	}
	for _, c := range s.buf[at+2 : at+6] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			s.next = at
			return 0, s.unexpected("four hexadecimal digits after \\u")
		}
		r = r<<4 | rune(c)
	}
	return r, nil
}

func (s *scanner) literal(word string) (int, error) {
	if rest := s.buf[s.next:]; !bytes.HasPrefix(rest, []byte(word)) {
		if len(rest) < len(word) && strings.HasPrefix(word, string(rest)) {
			return 0, errEndsEarly
		}
		return 0, s.unexpected("a value")
	}
	return s.next + len(word), nil
}

func (s *scanner) number(start int) (int, error) {
	at := start
	if s.buf[at] == '-' {
		at++
	}
	whole := s.digits(at)
	switch {
	case whole == at && at < len(s.buf):
		return 0, s.unexpected("a value")
	case whole == at:
		return 0, errEndsEarly
	case s.buf[at] == '0':
		whole = at + 1 // no number begins with 0 but 0 itself
	}
	at = whole
	if at < len(s.buf) && s.buf[at] == '.' {
		fraction := s.digits(at + 1)
		if fraction == at+1 {
			return 0, s.cutNumber(fraction)
		}
		at = fraction
	}
	if at < len(s.buf) && s.buf[at]|0x20 == 'e' {
		at++
		if at < len(s.buf) && (s.buf[at] == '+' || s.buf[at] == '-') {
			at++
		}
		exponent := s.digits(at)
		if exponent == at {
			return 0, s.cutNumber(exponent)
		}
		at = exponent
	}
	return at, nil
}

func (s *scanner) cutNumber(at int) error {
	if at >= len(s.buf) {
		return errEndsEarly
	}
	s.next = at
	return s.unexpected("a digit")
}

// digits is the end of the digits at at.
func (s *scanner) digits(at int) int {
	for at < len(s.buf) && '0' <= s.buf[at] && s.buf[at] <= '9' {
		at++
	}
	return at
}

// atEnd reports whether nothing but white space is left.
func (s *scanner) atEnd() bool {
	return len(bytes.TrimLeft(s.buf[s.next:], " \t\r\n")) == 0
}

func (s *scanner) unexpected(want string) error {
	r, _ := utf8.DecodeRune(s.buf[s.next:])
	return fmt.Errorf("%q stands where %s must be", r, want)
}

// pointer is the JSON pointer of the value that is read, or was read last.
func (s *scanner) pointer() string {
	var b strings.Builder
	for i := range s.levels {
		switch l := &s.levels[i]; {
		case l.count == 0:
		case l.object:
			b.WriteByte('/')
			_, _ = pointerEscapes.WriteString(&b, string(l.name))
		default:
			b.WriteByte('/')
			b.WriteString(strconv.Itoa(l.count - 1))
		}
	}
	return b.String()
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")
