package detection

import (
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is one word of a text: a hash of its lower-cased letters, and what
// kind of word it is.
type token struct {
	hash       uint64
	start, end int
	class      class
	newLine    bool // a line ended between the word before and this one
	mixed      bool // it has digits and other characters, or is drawn as those are
}

type class uint8

const (
	word     class = iota
	number         // a plain number, which may mean progress
	volatile       // changes by itself: an address, an id, a clock, a duration
	mark           // one byte of punctuation
)

const (
	hashSeed  = 0x9e3779b97f4a7c15
	hashPrime = 0x100000001b3
	// volatileHash stands for every volatile token, so that two results
	// which differ only in a clock are the same result.
	volatileHash = 0x6b5fca6af3a1d1c3
)

// mix spreads a hash over all 64 bits.
func mix(h uint64) uint64 {
	h ^= h >> 32
	h *= 0xe9846af9b1a615d5
	return h ^ h>>32
}

// fold adds v to a running digest, order included.
func fold(digest, v uint64) uint64 {
	return bits.RotateLeft64(digest^v, 23)*hashSeed + 0x52dce729
}

// scanner cuts a text into tokens in one pass.
type scanner struct {
	text  string
	pos   int
	token        // the last that was read
	prev  before // the last word, number or volatile token before it
	broke bool   // a line ended since then
}

// before is where the word before a token stands.
type before struct {
	start, end int
	word       bool
}

// isWord tells the bytes a word is made of. All of UTF-8 beyond ASCII counts
// as letters.
var isWord = func() (t [256]bool) {
	for c := range t {
		b := byte(c)
		t[c] = b >= 0x80 || b == '_' || b-'0' < 10 || b|0x20 >= 'a' && b|0x20 <= 'z'
	}
	return t
}()

// plainWord tells those of them that are ASCII by their kind.
var plainWord = func() (t [256]uint8) {
	for c := range 0x80 {
		switch {
		case isDigit(byte(c)):
			t[c] = ofDigit
		case isWord[c]:
			t[c] = ofLetter
		}
	}
	t['_'] = ofUnderscore
	return t
}()

const ofLetter, ofUnderscore, ofDigit = 1, 2, 4

// mayVary tells the bytes that a volatile token may begin with.
var mayVary = func() (t [256]bool) {
	for c := range t {
		t[c] = isHex(byte(c)) || strings.IndexByte("ctrm", byte(c)) >= 0
	}
	return t
}()

func isDigit(b byte) bool { return b-'0' < 10 }

func isHex(b byte) bool { return isDigit(b) || b|0x20 >= 'a' && b|0x20 <= 'f' }

// next reads the next token; it is false at the end of the text.
func (s *scanner) next() bool {
	text := s.text
	if s.class != mark {
		s.prev = before{s.start, s.end, s.class == word}
	}
	start := s.pos
	for start < len(text) && (text[start] <= ' ' || text[start] == 0x7f) {
		s.broke = s.broke || text[start] == '\n'
		start++
	}
	if s.pos = start; start >= len(text) {
		return false
	}
	if s.shortWord() || isDigit(text[start]) && s.plainNumber() {
		return true
	}
	if text[start] >= 0x80 {
		if r, n := utf8.DecodeRuneInString(text[start:]); isPunctuation(r) {
			s.pos += n
			s.token = token{hash: mix(uint64(r)), start: start, end: s.pos, class: mark}
			return true
		}
	}
	if !isWord[text[start]] {
		s.pos++
		if text[start] == '\\' && s.pos < len(text) && (text[s.pos] == 'n' || text[s.pos] == 't' || text[s.pos] == 'r') {
			s.pos++ // a line break inside of JSON is no letter of the word after it
		}
		s.token = token{hash: mix(uint64(text[start])), start: start, end: s.pos, class: mark}
		return true
	}
	end := 0
	if mayVary[text[start]] {
		end = volatileRun(text, start)
	}
	if end > 0 {
		s.token = token{hash: volatileHash, start: start, end: end, class: volatile}
	} else {
		s.word(start)
		if s.class == number && s.changesByItself() {
			s.class, s.hash = volatile, volatileHash
		} else if s.mixed && (isTimes(text, s.start, s.end) || isMark(text, s.start, s.end) || isCountedTag(text, s.start, s.end)) {
			s.class, s.hash = volatile, volatileHash
		}
	}
	s.newLine, s.broke = s.broke, false
	s.pos = s.end
	return true
}

// plainNumber reads the number at pos as word does where it is what most numbers are:
// a few digits, with no sign after them that could go on with them as a fraction, a
// clock, a date or an id.
func (s *scanner) plainNumber() bool {
	const most = 9 // fewer than a time in seconds has
	text, start := s.text, s.pos
	end := endOfDigits(text, start)
	if end-start > most || end < len(text) && isWord[text[end]] || end+1 < len(text) && joinsDigits[text[end]] && isWord[text[end+1]] {
		return false
	}
	s.token = token{hash: hashWord(text[start:end], true), start: start, end: end, class: number, newLine: s.broke}
	if s.changesByItself() {
		s.class, s.hash = volatile, volatileHash
	}
	s.pos, s.broke = end, false
	return true
}

// joinsDigits are the marks that stand between the parts of a number, a clock, a date
// or an id.
var joinsDigits = marks(".,:/-")

// word reads a word or a number, decimals included. Scripts that put no
// space between words are cut into single characters.
func (s *scanner) word(start int) {
	text, i := s.text, endOfDigits(s.text, start)
	digits := i > start
	kinds := uint8(0)
	if digits {
		kinds = ofDigit
	}
	if digits && i+1 < len(text) && (text[i] == '.' || text[i] == ',') && isDigit(text[i+1]) {
		i, digits = decimals(text, i)
		kinds |= ofLetter
	} else {
		for i < len(text) {
			kind := plainWord[text[i]]
			if kind == 0 {
				break
			}
			kinds |= kind
			if kind == ofUnderscore && i+1 < len(text) && isDigit(text[i+1]) && isoDate(text, i+1) > 0 {
				i++ // a run's name that ends in a clock
				break
			}
			i++
			digits = false
		}
	}
	if i < len(text) && text[i] >= 0x80 {
		if r, _ := utf8.DecodeRuneInString(text[i:]); r < unspaced && !isPunctuation(r) || i == start {
			s.foreignWord(start, i, kinds&ofDigit != 0)
			return
		}
	}
	c := word
	if digits {
		c = number
	}
	s.hash, s.start, s.end, s.class, s.mixed = hashWord(text[start:i], digits), start, i, c, kinds > ofDigit
	s.mixed = s.mixed || kinds == ofLetter && start > 0 && text[start-1] == '-' && isTail(text[start:i])
}

// isTimes reports how often something came, in brackets: (x23 over 9m).
func isTimes(text string, start, end int) bool {
	return text[start] == 'x' && start > 0 && text[start-1] == '(' && endOfDigits(text, start+1) == end
}

// isMark reports the few digits and letters up to f that a service puts in brackets
// to find a line by: [f6bda], (62b61a).
func isMark(text string, start, end int) bool {
	const shortest, longest = 5, 6 // the digest of a picture is longer
	if n := end - start; n < shortest || n > longest || start == 0 || end == len(text) || runOf(text, start, isHex) != end {
		return false
	}
	return text[start-1] == '[' && text[end] == ']' || text[start-1] == '(' && text[end] == ')'
}

// isCountedTag reports a tag around what a client tells of one turn, <step_14>, or the
// name of a field of it: [[ ## observation_14 ## ]].
func isCountedTag(text string, start, end int) bool {
	if end == len(text) || start == 0 {
		return false
	}
	if text[end] == ' ' && strings.HasSuffix(text[:start], "[[ ## ") {
		return text[end-1] <= '9'
	}
	if text[end] != '>' || text[start-1] != '<' && text[start-1] != '/' {
		return false
	}
	name := strings.TrimRight(text[start:end], "0123456789")
	return turnWords[hashWord(strings.TrimRight(name, "_"), false)]
}

// isVersion reports how often something was written: v7.
func isVersion(w string) bool {
	return len(w) > 1 && len(w) <= 4 && w[0]|0x20 == 'v' && digits(w[1:])
}

// isTail reports the last part of a name that a cluster made up: letters that nobody
// could say, as in worker-7f75b9-hmvxk. It counts as one with digits.
func isTail(w string) bool {
	return len(w) == 5 && !strings.ContainsAny(w, "aeiouyAEIOUY")
}

// decimals is the end of the word that goes on after the first digits of a
// number at i: 1.25, 1,234,567, 1.2rc3. digits says that it is a number.
func decimals(text string, i int) (end int, digits bool) {
	digits = true
	dots := 0
	for i < len(text) && isWord[text[i]] && text[i] < 0x80 || digits && i+1 < len(text) && (text[i] == '.' || text[i] == ',') && isDigit(text[i+1]) {
		digits = digits && (isDigit(text[i]) || text[i] == '.' || text[i] == ',')
		if text[i] == '.' {
			dots++
		}
		i++
	}
	return i, digits && dots < 3 // an address such as 10.0.0.7 names a host
}

// foreignWord is a word that has a character beyond ASCII, the first at i. digits
// says that one stands before it.
func (s *scanner) foreignWord(start, i int, digits bool) {
	text, h := s.text, hashWord(s.text[start:i], false)
	for i < len(text) && isWord[text[i]] {
		r, n := utf8.DecodeRuneInString(text[i:])
		if r >= unspaced {
			if i > start {
				break
			}
			s.token = token{hash: mix(uint64(r)), start: start, end: i + n, class: word}
			return
		}
		if isPunctuation(r) {
			break
		}
		h = (h ^ uint64(unicode.ToLower(r))) * hashPrime
		digits = digits || n == 1 && isDigit(text[i])
		i += n
	}
	s.token = token{hash: mix(h), start: start, end: i, class: word, mixed: digits}
}

// hashWord hashes a word of ASCII, capitals as small letters, eight bytes at
// a time: the bit that tells them apart is set in all of them. A comma in a
// number is a point.
func hashWord(w string, digits bool) uint64 {
	const small = 0x2020202020202020
	h := uint64(len(w)) * hashSeed
	if digits {
		for i := range len(w) {
			b := w[i]
			if b == ',' {
				b = '.'
			}
			h = (h ^ uint64(b)) * hashPrime
		}
		return mix(h)
	}
	for len(w) >= 8 {
		h = mix(h ^ (load(w) | small))
		w = w[8:]
	}
	tail := uint64(0)
	switch n := len(w); {
	case n >= 4:
		tail = load4(w) | load4(w[n-4:])<<32
	case n > 0:
		tail = uint64(w[0]) | uint64(w[n/2])<<8 | uint64(w[n-1])<<16
	}
	return mix(h ^ (tail | small))
}

// load is the first eight bytes of a string.
func load(w string) uint64 {
	_ = w[7]
	return uint64(w[0]) | uint64(w[1])<<8 | uint64(w[2])<<16 | uint64(w[3])<<24 |
		uint64(w[4])<<32 | uint64(w[5])<<40 | uint64(w[6])<<48 | uint64(w[7])<<56
}

func load4(w string) uint64 {
	_ = w[3]
	return uint64(w[0]) | uint64(w[1])<<8 | uint64(w[2])<<16 | uint64(w[3])<<24
}

// isPunctuation reports the marks beyond ASCII: quotation marks, dashes,
// arrows, spaces, the lines that tables are drawn with.
func isPunctuation(r rune) bool {
	switch {
	case r < 0x2000:
		return r >= 0xa0 && r <= 0xbf && r != 0xaa && r != 0xb5 && r != 0xba || r == 0xd7 || r == 0xf7 || r == 0x85 || r == 0x1680
	case r < unspaced:
		return r <= 0x206f || r >= 0x2190
	}
	return r >= 0x3000 && r <= 0x3004 || r >= 0x3008 && r <= 0x3020 || r == 0x30fb ||
		r >= 0xff01 && r <= 0xff0f || r >= 0xff1a && r <= 0xff20 || r >= 0xff3b && r <= 0xff40 || r >= 0xff5b && r <= 0xff65
}

// unspaced is where the scripts begin that put no space between words: CJK
// and beyond.
const unspaced = 0x2e80

// leadsUnspaced is the first byte that characters of such scripts begin with.
const leadsUnspaced = 0xe2

// mayBeUnspaced reports whether a text may have characters of such scripts.
func mayBeUnspaced(text string) bool {
	for i := range len(text) {
		if text[i] >= leadsUnspaced {
			return true
		}
	}
	return false
}

// asWord is a token of a text as a word that may be new. Scripts without
// spaces have few characters, and after a page all of them are known; each
// together with the next, they are about what words are elsewhere.
//
// The lowest bit tells numbers from words.
func (t *token) asWord(text string) uint32 {
	if t.class == number {
		return uint32(t.hash) | 1
	}
	return t.letters(text) &^ 1
}

func isNumber(w uint32) bool { return w&1 == 1 }

func (t *token) letters(text string) uint32 {
	if text[t.start] < leadsUnspaced {
		return uint32(t.hash)
	}
	r, n := utf8.DecodeRuneInString(text[t.start:])
	next, _ := utf8.DecodeRuneInString(text[t.start+n:])
	if r < unspaced || next < unspaced || !unicode.IsLetter(r) || !unicode.IsLetter(next) {
		return uint32(t.hash)
	}
	return uint32(mix(uint64(r)<<32 | uint64(next)))
}
