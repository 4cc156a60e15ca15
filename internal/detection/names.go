package detection

import (
	"strings"

	"github.com/haltd/haltd/internal/xxhash"
)

// A name is up to four words that stand by themselves: a line, an item of a
// list, a value in quotes. Words that were each seen before can make a name
// that was not.
const longestName = 4

// nameReader digests the names of a text while its tokens go by.
type nameReader struct {
	list   *wordList
	least  int // words of a name
	digest uint64
	words  int
	asked  int // of them, those that the act named
}

func (n *nameReader) add(t *token) {
	if n.words <= longestName { // of a longer one nobody asks
		n.digest = fold(n.digest, t.hash)
	}
	n.words++
}

// spoil drops the name that is being read: it has an id in it.
func (n *nameReader) spoil() { n.words = longestName + 1 }

// end ends a name: at a mark of punctuation, at the end of a line.
func (n *nameReader) end() {
	if n.words >= n.least && n.words <= longestName && n.asked == 0 && !n.list.full() {
		n.list.add(uint32(mix(n.digest)) &^ 1)
	}
	n.digest, n.words, n.asked = 0, 0, 0
}

// addListed adds a word that stands by itself in a list: an item between commas,
// in quotes, in a cell, on a line of its own.
func (l *wordList) addListed(text string, t *token) {
	if l.full() || t.class != word {
		return
	}
	j := t.end
	for j < len(text) && text[j] == ' ' {
		j++
	}
	if j < len(text) && !afterItem[text[j]] {
		return
	}
	i := t.start
	for i > 0 && text[i-1] == ' ' {
		i--
	}
	if i == 0 || beforeItem[text[i-1]] || text[i-1] == '-' && (i == 1 || text[i-2] == '\n') {
		l.add(listItem(t.asWord(text)))
	}
}

// The marks that an item of a list stands between.
var beforeItem, afterItem = marks("\n\t,;|\"'`[(*"), marks("\n\t,;|\"'`])*")

func marks(of string) (t [256]bool) {
	for i := range len(of) {
		t[of[i]] = true
	}
	return t
}

// addID adds a token that is an id.
func (l *wordList) addID(text string, t *token) {
	switch {
	case l.full():
	case t.class == word:
		l.add(t.asWord(text))
	case t.class == volatile && t.end-t.start == uuidLen:
		l.add(uint32(xxhash.Sum64String(text[t.start:t.end])) &^ 1)
	case t.class == volatile && t.start > 0 && text[t.start-1] == '#': // the number of an issue, as an act names it
		if s := (scanner{text: text[t.start:t.end]}); s.next() {
			l.add(s.asWord(s.text))
		}
	}
}

// isMaskedID reports an id that the core of an act leaves out.
func isMaskedID(text string, t *token) bool {
	return t.class == volatile || t.class == word && t.mixed && isRandom(text[t.start:t.end])
}

// readNames reads what an act is about. An act of several lines, such as a
// script, is about too much. says is what the name of the tool says.
func (f *round) readNames(act string, says meaning) {
	act = cut(act)
	f.aims = aims(act)
	f.enters = says&enters != 0 || entersText(act)
	items, idents, ids := newWordList(), newWordList(), newWordList()
	defer items.free()
	defer idents.free()
	defer ids.free()
	lines := hasLines(act, f.manner)
	s := scanner{text: act}
	for s.next() && !items.full() {
		t := &s.token
		if isMaskedID(act, t) {
			ids.addID(act, t)
		}
		if lines || t.class == mark || t.class == volatile || !canName(t) {
			continue
		}
		w := t.asWord(act)
		items.add(w)
		if isIdent(act, t) {
			idents.add(w)
		}
	}
	for i := 0; i < len(act) && !lines; i++ {
		if act[i] == '"' {
			end := endOfQuote(act, i)
			if h, ok := listedLine(act[i+1 : end]); ok && len(f.listed) < maxNames {
				f.listed = append(f.listed, h)
			}
			i = end
		}
	}
	f.items, f.idents, f.ids = items.distinct(), idents.distinct(), ids.distinctUpTo(maxTurns)
}

// listedLine is the hash of a line of some words, as it may stand in a list that a
// task gives: a claim to check, a question to answer.
func listedLine(line string) (hash uint32, ok bool) {
	const fewest, longest = 4, 400
	if len(line) > longest {
		return 0, false
	}
	line = strings.Trim(line, " \t\r.,;")
	return uint32(xxhash.Sum64String(line)) &^ 1, strings.Count(line, " ")+1 >= fewest
}

// asLine is the hash of a line as an item of a list, apart from all else. There are
// two, as one may be in the filter of a long conversation by chance.
func asLine(hash uint32, n uint64) uint32 { return uint32(mix(uint64(hash)<<1|n)) &^ 1 }

// listedLines are the lines of a task that may be items of a list, without what
// counts them.
func listedLines(task string) (hashes []uint32) {
	for line := range strings.Lines(task) {
		line = strings.TrimLeft(strings.TrimRight(line, "\r\n"), " \t-*•0123456789.)")
		if h, ok := listedLine(line); ok {
			hashes = append(hashes, asLine(h, 0), asLine(h, 1))
		}
		if len(hashes) >= maxTurns {
			break
		}
	}
	return hashes
}

// listItem is the hash of a word as an item of a list, apart from the word in
// any sentence.
func listItem(w uint32) uint32 { return (w*0x9e3779b1 ^ w>>15) &^ 1 }

// distinct is the names that are kept, those with the smallest hashes.
func (n *nameReader) distinct() []uint32 {
	n.end()
	return n.list.distinctUpTo(maxTurns)
}

// read takes the next token of a text.
func (n *nameReader) read(text string, s *scanner) {
	if s.class == mark || s.newLine {
		n.end()
	}
	if s.class != mark {
		n.add(&s.token)
		n.list.addListed(text, &s.token)
	}
}

// aims are the short values in quotes that an act has: whom it writes to,
// which file it asks for.
func aims(act string) []uint32 {
	names := nameReader{list: newWordList(), least: 1}
	defer names.list.free()
	for i := 0; i < len(act); i++ {
		if act[i] != '"' && act[i] != '\'' {
			continue
		}
		end := endOfQuote(act, i)
		value := act[i+1 : end]
		if isAddress(value) && !names.list.full() { // of whom it is about, however many words it has
			names.list.add(uint32(xxhash.Sum64String(value)) &^ 1)
			i = end
			continue
		}
		s := scanner{text: value}
		for names.words <= longestName && s.next() {
			if (s.class == word || s.class == number) && !isVersion(value[s.start:s.end]) { // "Plan v7" is about the plan
				names.add(&s.token)
				if s.class == number && goesOnFrom(value, s.start) {
					names.words-- // ip-10-18-68-215 is one word
				}
			}
		}
		names.end()
		i = end
	}
	return names.distinct()
}

// isAddress reports the address of a mailbox.
func isAddress(s string) bool {
	const longest = 254
	at := strings.IndexByte(s, '@')
	return at > 0 && len(s) <= longest && strings.IndexByte(s[at:], '.') > 1 && strings.IndexAny(s, " \t\\\"/") < 0
}

// entersText reports an act one of whose first values, or of the objects in it, says
// that it types a text: {"action":"type","text":"…"}, {"input_text":{"index":7,"text":"…"}}.
func entersText(act string) bool {
	act = act[:min(len(act), headBytes)]
	for i := 0; i < len(act); i++ {
		if act[i] != '"' {
			continue
		}
		end := endOfQuote(act, i)
		if (i > 0 && act[i-1] == ':' || strings.HasPrefix(act[min(end+1, len(act)):], ":{")) && keySays(act[i+1:end])&enters != 0 {
			return true
		}
		i = end
	}
	return false
}

// endOfQuote is where the string that begins at i ends.
func endOfQuote(text string, i int) int {
	quote := text[i]
	for i++; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case quote:
			return i
		}
	}
	return len(text)
}
