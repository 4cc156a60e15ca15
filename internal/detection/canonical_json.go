package detection

import (
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// appendCanonical appends one JSON value without white space, with the keys of
// objects sorted by UTF-16 code units and with one spelling for each string.
// Numbers stay as they are. ok is false, and what was appended is of no use,
// where the text is not JSON, or names a key twice, or is not UTF-8.
func appendCanonical(b []byte, text string) (out []byte, ok bool) {
	c := canonicaliser{text: text, out: b}
	if !c.value(0) {
		return b, false
	}
	c.space()
	return c.out, c.at == len(text)
}

// deepest bounds how deep values lie in each other, as encoding/json does.
const deepest = 10_000

type canonicaliser struct {
	text string
	at   int
	out  []byte
}

func (c *canonicaliser) space() {
	for c.at < len(c.text) && strings.IndexByte(" \t\r\n", c.text[c.at]) >= 0 {
		c.at++
	}
}

// is takes a byte where it comes next, after white space.
func (c *canonicaliser) is(b byte) bool {
	c.space()
	if c.at == len(c.text) || c.text[c.at] != b {
		return false
	}
	c.at++
	return true
}

func (c *canonicaliser) value(depth int) bool {
	if c.space(); c.at == len(c.text) {
		return false
	}
	switch c.text[c.at] {
	case '{':
		return depth < deepest && c.object(depth)
	case '[':
		return depth < deepest && c.array(depth)
	case '"':
		_, ok := c.string()
		return ok
	case 't':
		return c.word("true")
	case 'f':
		return c.word("false")
	case 'n':
		return c.word("null")
	default:
		return c.number()
	}
}

func (c *canonicaliser) word(w string) bool {
	if !strings.HasPrefix(c.text[c.at:], w) {
		return false
	}
	c.at += len(w)
	c.out = append(c.out, w...)
	return true
}

func (c *canonicaliser) array(depth int) bool {
	c.at++
	c.out = append(c.out, '[')
	if !c.is(']') {
		for {
			if !c.value(depth + 1) {
				return false
			}
			if c.is(']') {
				break
			}
			if !c.is(',') {
				return false
			}
			c.out = append(c.out, ',')
		}
	}
	c.out = append(c.out, ']')
	return true
}

// member is one of an object: its name, and where it stands in what was
// written.
type member struct {
	name     string
	from, to int
}

func (c *canonicaliser) object(depth int) bool {
	c.at++
	c.out = append(c.out, '{')
	if c.is('}') {
		c.out = append(c.out, '}')
		return true
	}
	var few [16]member
	all, sorted := few[:0], true
	for {
		if c.space(); c.at == len(c.text) || c.text[c.at] != '"' {
			return false
		}
		m := member{from: len(c.out)}
		var ok bool
		if m.name, ok = c.string(); !ok || !c.is(':') {
			return false
		}
		c.out = append(c.out, ':')
		if !c.value(depth + 1) {
			return false
		}
		m.to = len(c.out)
		if n := len(all); n > 0 {
			sorted = sorted && compareUTF16(all[n-1].name, m.name) < 0
		}
		all = append(all, m)
		if c.is('}') {
			break
		}
		if !c.is(',') {
			return false
		}
		c.out = append(c.out, ',')
	}
	if !sorted && !c.sort(all) {
		return false
	}
	c.out = append(c.out, '}')
	return true
}

// sort brings the members that were just written into order; false where two
// have the same name.
func (c *canonicaliser) sort(all []member) bool {
	from := all[0].from
	var memory [512]byte
	written := append(memory[:0], c.out[from:]...)
	slices.SortFunc(all, func(a, b member) int { return compareUTF16(a.name, b.name) })
	c.out = c.out[:from]
	for i, m := range all {
		if i > 0 {
			if m.name == all[i-1].name {
				return false
			}
			c.out = append(c.out, ',')
		}
		c.out = append(c.out, written[m.from-from:m.to-from]...)
	}
	return true
}

// compareUTF16 orders texts by their UTF-16 code units.
func compareUTF16(a, b string) int {
	for len(a) > 0 && len(b) > 0 {
		x, n := utf8.DecodeRuneInString(a)
		y, m := utf8.DecodeRuneInString(b)
		if x != y {
			if utf16.RuneLen(x) != utf16.RuneLen(y) { // a surrogate pair begins at U+D800
				if utf16.RuneLen(x) == 2 {
					x = 0xd800
				} else {
					y = 0xd800
				}
			}
			return int(x) - int(y)
		}
		a, b = a[n:], b[m:]
	}
	return len(a) - len(b)
}

// string reads a string, writes it in its one spelling, and returns what it
// says.
func (c *canonicaliser) string() (says string, ok bool) {
	start := c.at + 1
	end := start
	for end < len(c.text) && c.text[end] != '"' && c.text[end] != '\\' && c.text[end] >= ' ' {
		end++
	}
	if end == len(c.text) || c.text[end] < ' ' {
		return "", false
	}
	if c.text[end] == '"' {
		c.at, says = end+1, c.text[start:end]
		c.out = append(c.out, c.text[start-1:c.at]...)
		return says, utf8.ValidString(says)
	}
	said, ok := c.escaped(start)
	if !ok {
		return "", false
	}
	c.out = appendString(c.out, said)
	return said, true
}

// escaped reads a string that has escapes.
func (c *canonicaliser) escaped(i int) (string, bool) {
	var b []byte
	for i < len(c.text) {
		switch ch := c.text[i]; {
		case ch == '"':
			c.at = i + 1
			return string(b), utf8.Valid(b)
		case ch < ' ':
			return "", false
		case ch != '\\':
			b = append(b, ch)
			i++
		case i+1 == len(c.text):
			return "", false
		case c.text[i+1] == 'u':
			r, n := escapedRune(c.text[i:])
			if n == 0 {
				return "", false
			}
			b = utf8.AppendRune(b, r)
			i += n
		default:
			k := strings.IndexByte(`"\/bfnrt`, c.text[i+1])
			if k < 0 {
				return "", false
			}
			b = append(b, "\"\\/\b\f\n\r\t"[k])
			i += 2
		}
	}
	return "", false
}

// escapedRune reads \uXXXX, or two of them that are one character, and how
// long that is; 0 where it is neither.
func escapedRune(s string) (r rune, n int) {
	r, ok := hex4(s)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	low, ok := hex4(s[6:])
	if r = utf16.DecodeRune(r, low); !ok || r == utf8.RuneError {
		return 0, 0
	}
	return r, 12
}

func hex4(s string) (r rune, ok bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	for _, ch := range []byte(s[2:6]) {
		k := strings.IndexByte("0123456789abcdef", ch|0x20)
		if k < 0 || k < 10 && !isDigit(ch) {
			return 0, false
		}
		r = r<<4 | rune(k)
	}
	return r, true
}

// appendString writes a string with no more escapes than JSON asks for.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	for i := range len(s) {
		switch ch := s[i]; {
		case ch == '"' || ch == '\\':
			b = append(b, '\\', ch)
		case ch >= ' ':
			b = append(b, ch)
		default:
			if k := strings.IndexByte("\b\f\n\r\t", ch); k >= 0 {
				b = append(b, '\\', "bfnrt"[k])
			} else {
				b = append(b, '\\', 'u', '0', '0', "0123456789abcdef"[ch>>4], "0123456789abcdef"[ch&15])
			}
		}
	}
	return append(b, '"')
}

// number reads a number as JSON allows it.
func (c *canonicaliser) number() bool {
	s, i := c.text, c.at
	digits := func() bool {
		from := i
		for i < len(s) && isDigit(s[i]) {
			i++
		}
		return i > from
	}
	if i < len(s) && s[i] == '-' {
		i++
	}
	if i < len(s) && s[i] == '0' {
		i++
	} else if !digits() {
		return false
	}
	if i < len(s) && s[i] == '.' {
		i++
		if !digits() {
			return false
		}
	}
	if i < len(s) && s[i]|0x20 == 'e' {
		i++
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		if !digits() {
			return false
		}
	}
	c.out = append(c.out, s[c.at:i]...)
	c.at = i
	return true
}
