package detect

import (
	"cmp"
	"slices"
	"unicode/utf8"
)

// appendPlain appends the canonical form of a JSON object or array without
// building it in memory first. ok is false where it would have to: at strings
// in a spelling that is not theirs alone, keys with escapes or keys that come
// twice, deep nesting, and at all that is not JSON.
func appendPlain(b []byte, text string) (out []byte, ok bool) {
	p := plainJSON{text: text, out: b}
	if !p.value(0) {
		return b, false
	}
	p.space()
	return p.out, p.pos == len(text)
}

// plainJSON reads text at pos and writes to out.
type plainJSON struct {
	text    string
	pos     int
	out     []byte
	members []jsonMember // of the objects that are open, the innermost last
	moved   []byte       // the members of an object while they change places
}

// jsonMember is a key and its value in out; the key lies between the quotes.
type jsonMember struct{ key, keyEnd, end int }

// plainDepth is the deepest nesting that is read without a fuss.
const plainDepth = 32

func (p *plainJSON) value(depth int) bool {
	p.space()
	if p.pos == len(p.text) || depth > plainDepth {
		return false
	}
	switch p.text[p.pos] {
	case '{':
		return p.object(depth)
	case '[':
		return p.array(depth)
	case '"':
		_, ok := p.quoted()
		return ok
	case 't':
		return p.literal("true")
	case 'f':
		return p.literal("false")
	case 'n':
		return p.literal("null")
	}
	return p.number()
}

func (p *plainJSON) space() {
	for p.pos < len(p.text) {
		switch p.text[p.pos] {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return
		}
	}
}

// take copies b if it is next, white space aside.
func (p *plainJSON) take(b byte) bool {
	p.space()
	if p.pos == len(p.text) || p.text[p.pos] != b {
		return false
	}
	p.pos++
	p.out = append(p.out, b)
	return true
}

func (p *plainJSON) literal(word string) bool {
	end := p.pos + len(word)
	if end > len(p.text) || p.text[p.pos:end] != word {
		return false
	}
	p.out, p.pos = append(p.out, word...), end
	return true
}

func (p *plainJSON) array(depth int) bool {
	p.take('[')
	if p.take(']') {
		return true
	}
	for {
		if !p.value(depth + 1) {
			return false
		}
		if p.take(']') {
			return true
		}
		if !p.take(',') {
			return false
		}
	}
}

func (p *plainJSON) object(depth int) bool {
	p.take('{')
	if p.take('}') {
		return true
	}
	first, start := len(p.members), len(p.out)
	sorted := true
	for {
		m := jsonMember{key: len(p.out) + 1}
		p.space()
		escaped, ok := p.quoted()
		if !ok || escaped {
			return false
		}
		m.keyEnd = len(p.out) - 1
		if !p.take(':') || !p.value(depth+1) {
			return false
		}
		m.end = len(p.out)
		if n := len(p.members); n > first && p.compare(p.members[n-1], m) >= 0 {
			sorted = false
		}
		p.members = append(p.members, m)
		if p.take('}') {
			ok = sorted || p.sort(p.members[first:], start)
			p.members = p.members[:first]
			return ok
		}
		if !p.take(',') {
			return false
		}
	}
}

func (p *plainJSON) compare(a, b jsonMember) int {
	return cmp.Compare(string(p.out[a.key:a.keyEnd]), string(p.out[b.key:b.keyEnd]))
}

// sort puts the members of an object, which begin at start in out, in the
// order of their keys. It reports false when two have the same key.
func (p *plainJSON) sort(ms []jsonMember, start int) bool {
	slices.SortFunc(ms, p.compare)
	p.moved = p.moved[:0]
	for i, m := range ms {
		if i > 0 {
			if p.compare(ms[i-1], m) == 0 {
				return false
			}
			p.moved = append(p.moved, ',')
		}
		p.moved = append(p.moved, p.out[m.key-1:m.end]...)
	}
	copy(p.out[start:], p.moved) // as long as before, with the brace behind it
	return true
}

// quoted copies a string that has only one spelling. escaped says that an
// escape is in it.
func (p *plainJSON) quoted() (escaped, ok bool) {
	text, i := p.text, p.pos
	if i == len(text) || text[i] != '"' {
		return false, false
	}
	for i++; i < len(text); {
		switch b := text[i]; {
		case b == '"':
			p.out = append(p.out, text[p.pos:i+1]...)
			p.pos = i + 1
			return escaped, true
		case b == '\\':
			if i+1 == len(text) || !shortEscape[text[i+1]] {
				return false, false
			}
			escaped = true
			i += 2
		case b < ' ':
			return false, false
		case b < utf8.RuneSelf:
			i++
		default:
			r, n := utf8.DecodeRuneInString(text[i:])
			if r == utf8.RuneError || r == '\u2028' || r == '\u2029' {
				return false, false
			}
			i += n
		}
	}
	return false, false
}

// shortEscape tells the escapes that encoding/json writes itself.
var shortEscape = [256]bool{'"': true, '\\': true, 'b': true, 'f': true, 'n': true, 'r': true, 't': true}

// number copies a number, digit by digit as it was sent.
func (p *plainJSON) number() bool {
	text, i := p.text, p.pos
	if text[i] == '-' {
		i++
	}
	whole := runOf(text, i, isDigit)
	if whole == i || text[i] == '0' && whole > i+1 {
		return false
	}
	i = whole
	if i < len(text) && text[i] == '.' {
		fraction := runOf(text, i+1, isDigit)
		if fraction == i+1 {
			return false
		}
		i = fraction
	}
	if i < len(text) && text[i]|0x20 == 'e' {
		i++
		if i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		exponent := runOf(text, i, isDigit)
		if exponent == i {
			return false
		}
		i = exponent
	}
	p.out, p.pos = append(p.out, text[p.pos:i]...), i
	return true
}
