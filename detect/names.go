package detect

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
}

func (n *nameReader) add(t *token) {
	n.digest = fold(n.digest, t.hash)
	n.words++
}

// end ends a name: at a mark of punctuation, at the end of a line.
func (n *nameReader) end() {
	if n.words >= n.least && n.words <= longestName && !n.list.full() {
		n.list.add(uint32(mix(n.digest)) &^ 1)
	}
	n.digest, n.words = 0, 0
}

// distinct is the names that are kept, those with the smallest hashes.
func (n *nameReader) distinct() []uint32 {
	n.end()
	return n.list.distinctUpTo(maxTurns)
}

// mentions are the names of several words in a text.
func mentions(text string) []uint32 {
	names := nameReader{list: newWordList(), least: 2}
	defer names.list.free()
	s := scanner{text: text}
	for s.next() {
		if s.class == mark || s.newLine {
			names.end()
		}
		if s.class != mark {
			names.add(&s.token)
		}
	}
	return names.distinct()
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
		s := scanner{text: value}
		for names.words <= longestName && s.next() {
			if s.class == word || s.class == number {
				names.add(&s.token)
			}
		}
		names.end()
		i = end
	}
	return names.distinct()
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
