package detection

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/haltd/haltd/internal/xxhash"
)

// actReader digests an act without what changes from one attempt to the next.
type actReader struct {
	*round
	prose []string // strings of the call being read that are prose
	other int      // values of it that are not
	acts  bool     // one of them names a deed: {"service":"turn_off"}
	views bool     // a command of one name tells the tool to show something: {"command":"view"}
	aloud []string // what the calls say to themselves
	edit  edit     // what the call being read takes out and puts in
	path  uint64   // digest of the file in which it does
}

// call reads one tool call: its name and canonical arguments.
func (a *actReader) call(text string) {
	name, args, _ := strings.Cut(text, " ")
	a.fold(&token{hash: xxhash.Sum64String(name), class: word}, "")
	if args == "" || args[0] != '{' && args[0] != '[' {
		a.text(args)
		return
	}
	a.object(args)
}

// object reads the arguments of a call, or a command that is written as JSON.
func (a *actReader) object(args string) {
	a.prose, a.other = a.prose[:0], 0
	a.edit, a.path = edit{}, 0
	a.arguments(args)
	a.edited()
	a.values += a.other + len(a.prose)
	if a.other > 0 {
		return
	}
	a.wordy = len(a.prose) > 0
	for _, p := range a.prose { // there is nothing else to tell the call by
		a.text(p)
	}
}

// arguments reads canonical JSON: keys and values as they come. Values of
// arguments that change with every call are left out, prose is set aside.
func (a *actReader) arguments(text string) {
	skip, aside, command := false, false, false
	var key meaning
	for i := 0; i < len(text); {
		switch b := text[i]; {
		case b == '"':
			end := endOfString(text, i)
			s := text[i+1 : max(i+1, end-1)]
			switch {
			case isKeyEnd(text, end-1):
				says := keySays(s)
				a.paged = a.paged || says&pages != 0
				key = says
				skip, aside, command = says&volatileID != 0, says&narration != 0, says&commandArg != 0
				a.fold(&token{hash: xxhash.Sum64String(s), class: word}, "")
			case aside:
				a.measure(s)
				a.prose, a.aloud = append(a.prose, s), append(a.aloud, s)
			case !skip:
				a.measure(s)
				if command && len(s) <= maxVerb && strings.IndexByte(s, ' ') < 0 {
					a.views = nameSays(s)&shows != 0
				}
				if command && a.program == 0 && !opensShell(s) {
					a.program = programIn(s)
					a.looks, a.shapes = looks(s), shapes(s)
				}
				a.paged = a.paged || asksForPage(s)
				a.edits(key, s)
				a.value(s, command)
			}
			i = end
		case isDigit(b) || b == '-' || b|0x20 >= 'a' && b|0x20 <= 'z':
			end := i + 1
			for end < len(text) && strings.IndexByte(",}]", text[end]) < 0 {
				end++
			}
			if !skip {
				a.other++
				a.text(text[i:end])
			}
			i = end
		default:
			i++
		}
	}
}

// edits reads what an argument says of an edit.
func (a *actReader) edits(key meaning, s string) {
	switch {
	case key&takesOut != 0:
		a.edit.old = addLines(a.edit.old, s)
	case key&putsIn != 0:
		a.edit.new = addLines(a.edit.new, s)
	case key&inFile != 0:
		a.path = xxhash.Sum64String(s)
	default:
		a.edit.readChanges(s)
	}
}

// edited keeps what an act changes.
func (a *actReader) edited() {
	about, left := a.edit.changed(a.path)
	a.changes = append(a.changes, about[:min(len(about), max(0, mostLines-len(a.changes)))]...)
	a.leaves = append(a.leaves, left[:min(len(left), max(0, mostLines-len(a.leaves)))]...)
}

// asksForPage reports an address of a part of a list, or its fields alone:
// https://…/?page=3, offset=50 limit=50.
func asksForPage(s string) bool {
	for field := range strings.FieldsFuncSeq(s[:min(len(s), headBytes)], func(r rune) bool { return r == '?' || r == '&' || r == ' ' }) {
		if key, _, ok := strings.Cut(field, "="); ok && keySays(key)&pages != 0 {
			return true
		}
	}
	return false
}

// keySays is what the name of an argument says as a whole.
func keySays(key string) (says meaning) {
	s := scanner{text: key}
	if !s.next() || s.end != len(key) || opens(s.hash) == 0 {
		return 0
	}
	for _, p := range phrasesOf(s.hash) {
		if len(p.rest) == 0 {
			says |= p.says
		}
	}
	return says
}

func endOfString(text string, i int) int {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

func (a *actReader) value(s string, command bool) {
	if !command && isProse(s) {
		a.prose = append(a.prose, s)
		return
	}
	a.other++
	a.acts = a.acts || strings.IndexByte(s, '_') > 0 && len(s) <= maxVerb && nameSays(s)&effects != 0
	a.text(s)
}

// maxVerb is how long the name of what a tool is told to do is at most: turn_off.
const maxVerb = 24

// measure keeps how long the longest text is that the act hands over: tools say so
// when they have written it.
func (a *actReader) measure(s string) {
	const short = 20
	if len(s) <= max(short, a.bytes) {
		return
	}
	var text string
	if strings.IndexByte(s, '\\') < 0 {
		text = s
	} else if json.Unmarshal([]byte(`"`+s+`"`), &text) != nil {
		return
	}
	if len(text) > a.bytes {
		a.bytes, a.runes = len(text), utf8.RuneCountInString(text)
	}
}

// isLength reports a number that is the length of what the act handed over, in bytes
// or letters, with or without the end of its last line.
func (f *round) isLength(digits string) bool {
	if f.bytes == 0 {
		return false
	}
	n, err := strconv.Atoi(strings.ReplaceAll(digits, ",", ""))
	return err == nil && (n == f.bytes || n == f.bytes+1 || n == f.runes || n == f.runes+1)
}

// isProse reports a text of some words with hardly a symbol in it.
func isProse(s string) bool {
	spaces := strings.Count(s, " ")
	if spaces < 4 && !mayBeUnspaced(s) || len(s) < 24 {
		return false
	}
	symbols := 0
	for i := range len(s) {
		if strings.IndexByte("/\\|{}[]()<>=$&;_*+#@~^`", s[i]) >= 0 {
			symbols++
		}
	}
	return 50*symbols <= len(s)
}

// text folds the words of a text.
func (a *actReader) text(s string) {
	sc := scanner{text: s}
	for sc.next() {
		if sc.class != mark {
			a.fold(&sc.token, s)
		}
	}
}

// words reads an act that is a text, in one pass: its digests, its words, and
// those of them that claim something.
func (a *actReader) words(s string) {
	if len(s) > maxRead {
		a.text(cut(s))
		a.does, a.claims = words(s, nil), nil
		return
	}
	does, claims := newWordList(), newWordList()
	defer does.free()
	defer claims.free()
	sc := scanner{text: s}
	for sc.next() {
		t := &sc.token
		if t.class == mark {
			continue
		}
		a.fold(t, s)
		if t.class == volatile {
			continue
		}
		w := t.asWord(s)
		if !does.full() {
			does.add(w)
		}
		if !claims.full() && isClaim(s, *t) {
			claims.add(w)
		}
	}
	a.does, a.claims = does.distinct(), claims.distinct()
}

// isPort reports the number of a port in the address of a page: nobody walks over those,
// and what is walked over stands behind it.
func isPort(text string, start int) bool {
	const longest = 64 // name of a host
	if start == 0 || text[start-1] != ':' {
		return false
	}
	host := text[max(0, start-longest) : start-1]
	i := strings.LastIndex(host, "://")
	return i >= 0 && strings.IndexAny(host[i+3:], "/ \"'?") < 0
}

func (a *actReader) fold(t *token, text string) {
	core, shape := t.hash, t.hash
	switch {
	case t.class == number || t.class == volatile && text != "" && isDigit(text[t.start]):
		shape = volatileHash
		if !isPort(text, t.start) {
			a.numbers.add(text[t.start:t.end])
		}
		if t.class == volatile { // a date or a clock may be what is walked over
			core = xxhash.Sum64String(text[t.start:t.end])
			if uuidAt(text, t.start) {
				core = volatileHash
			}
		}
	case text != "" && isRandom(text[t.start:t.end]):
		core, shape = volatileHash, volatileHash
	case t.class == word && text != "" && isDigit(text[t.end-1]): // B012, host7, 10.0.0.7
		w := text[t.start:t.end]
		letters := len(strings.TrimRight(w, "0123456789"))
		shape = fold(hashWord(w[:letters], false), volatileHash)
		a.numbers.add(w[letters:])
	}
	frame := shape
	if t.mixed {
		frame = volatileHash
	}
	a.core, a.shape, a.frame = fold(a.core, core), fold(a.shape, shape), fold(a.frame, frame)
}

// numberOf reads the digits of a number or of a date as one number.
func numberOf(s string) float64 {
	const exact = 15 // digits that a float64 holds, whatever they are
	whole, digits, fraction, dots := 0, 0, 0, 0
	for i := range len(s) {
		switch {
		case isDigit(s[i]):
			whole = 10*whole + int(s[i]-'0')
			digits++
			fraction += dots
		case s[i] == '.' && digits > 0:
			dots++
		}
		if digits > exact || dots > 1 {
			return longNumberOf(s)
		}
	}
	return float64(whole) / powersOf10[fraction]
}

var powersOf10 = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// longNumberOf is numberOf of many digits, or of more than two parts.
func longNumberOf(s string) float64 {
	b := make([]byte, 0, 20)
	for i := range len(s) {
		if isDigit(s[i]) || s[i] == '.' && len(b) > 0 {
			b = append(b, s[i])
		}
	}
	if bytes.Count(b, []byte(".")) > 1 {
		b = withoutDots(b)
	}
	n, err := strconv.ParseFloat(string(b), 64)
	if err != nil || math.IsInf(n, 0) {
		return 0
	}
	return n
}

// withoutDots are the digits of 1.234.567, of a version or, with the year first, of a
// date, so that a later one is more: 04.03.2026 is 20260304, and 4.3. is 304.
func withoutDots(number []byte) []byte {
	parts := bytes.Split(number, []byte("."))
	day, month := parts[0], parts[1]
	year := parts[len(parts)-1]
	if len(parts) != 3 || len(day) > 2 || len(month) > 2 || len(year) != 4 && len(year) != 0 {
		return bytes.ReplaceAll(number, []byte("."), nil)
	}
	date := append([]byte(nil), year...)
	for _, part := range [...][]byte{month, day} {
		date = append(append(date, "00"[len(part):]...), part...)
	}
	return date
}

// amounts are the first numbers of a text, and how many it has.
type amounts struct {
	first [4]float64
	n     int
}

func (a *amounts) add(digits string) {
	if a.n < len(a.first) {
		a.first[a.n] = numberOf(digits)
	}
	a.n++
}

// hasDate reports a text that is a date, which is one of the numbers.
func (a *amounts) hasDate(text string) bool {
	return isoDate(text, 0) == len(text) && slices.Contains(a.first[:min(a.n, len(a.first))], numberOf(text))
}

// within reports numbers that are all among others.
func (a *amounts) within(others *amounts) bool {
	for _, v := range a.first[:min(a.n, len(a.first))] {
		if !slices.Contains(others.first[:min(others.n, len(others.first))], v) {
			return false
		}
	}
	return true
}

// names reports a text whose numbers, zeros left out, are all large ones of the others:
// "10000 rows affected. Matched: 10000, changed: 10000, warnings: 0".
func (a *amounts) names(others *amounts) bool {
	const large = 10
	named := 0
	for _, v := range a.first[:min(a.n, len(a.first))] {
		switch {
		case v == 0:
		case v >= large && slices.Contains(others.first[:min(others.n, len(others.first))], v):
			named++
		default:
			return false
		}
	}
	return named > 0 && a.n <= len(a.first)
}

// steps are which numbers went up and which went down.
type steps [len(amounts{}.first)]int8

// stepOf is where the numbers of a text went; ok is false where they stayed,
// or where there are more or fewer of them.
func stepOf(from, to *amounts) (s steps, ok bool) {
	if from.n != to.n {
		return s, false
	}
	for k := range min(to.n, len(to.first)) {
		switch d := to.first[k] - from.first[k]; {
		case d > 0:
			s[k], ok = 1, true
		case d < 0:
			s[k], ok = -1, true
		}
	}
	return s, ok
}

// isDrawn reports an id that was drawn at random, or a digest: nobody has
// seen it before, and it says nothing.
func isDrawn(w string) bool {
	if len(w) < 8 {
		return false
	}
	digit, letter := false, false
	for i := range len(w) {
		switch {
		case isDigit(w[i]):
			digit = true
		case isHex(w[i]):
			letter = true
		default:
			return isRandom(w)
		}
	}
	return digit && letter
}

// isRandom reports a word that no one would choose: eight characters or more
// that change between letters and digits again and again.
func isRandom(w string) bool {
	if len(w) < 8 {
		return false
	}
	changes, letters := 0, false
	for i := 1; i < len(w); i++ {
		if isDigit(w[i]) != isDigit(w[i-1]) {
			changes++
		}
		letters = letters || isWord[w[i]] && !isDigit(w[i])
	}
	return letters && changes >= 3 && 4*changes >= len(w) // 10.0.0.7 is a host
}
