package detection

import (
	"math/bits"
	"slices"
	"sync"
)

// maxWords bounds what is kept of one text: enough to see whether a long
// result is new, small enough for a cache of thousands of rounds.
const maxWords = 4096

// wordList collects the words of one text. What is kept of them is a copy of
// just the right size, so that lists can be used again.
type wordList struct {
	words  [2 * maxWords]uint32
	n      int
	sorted [2 * maxWords]uint32
	// buckets says where the next word of each bucket goes; see smallest.
	buckets [1 << bucketBits]uint16
	// recent has the words that were added last, each in a place of its own: most
	// words of a text come again soon.
	recent [512]uint32
}

const bucketBits = 10

var wordLists = sync.Pool{New: func() any { return new(wordList) }}

func newWordList() *wordList {
	return wordLists.Get().(*wordList)
}

// free lets the list be used again.
func (l *wordList) free() {
	if l.n < len(l.recent)/8 {
		for _, w := range l.words[:l.n] {
			*l.place(w) = 0
		}
	} else {
		clear(l.recent[:])
	}
	l.n = 0
	wordLists.Put(l)
}

// place is where a word stands in recent.
func (l *wordList) place(w uint32) *uint32 { return &l.recent[w>>1%uint32(len(l.recent))] }

func (l *wordList) full() bool { return l.n == len(l.words) }

// add adds a word, unless it did so lately: in a way that no processor has to foretell.
func (l *wordList) add(w uint32) {
	recent := l.place(w)
	l.words[l.n] = w
	n := l.n
	if *recent != w {
		n++
	}
	if w == 0 { // which stands in every place that has no word
		n = l.n + 1
	}
	*recent, l.n = w, n
}

// distinct is the words without duplicates, sorted, at most maxWords.
func (l *wordList) distinct() []uint32 { return l.distinctUpTo(maxWords) }

func (l *wordList) distinctUpTo(most int) []uint32 {
	return slices.Clone(l.smallest(most))
}

// fewToSort is the length up to which words are sorted without buckets, and how many
// one of those may have.
const fewToSort = 24

// smallest are the smallest of the words without duplicates, sorted. They are put
// into buckets by their first bits, which hashes fill evenly with a word or none each,
// so that nearly all stand where they belong. Words that fill one are sorted as they
// must be.
func (l *wordList) smallest(most int) []uint32 {
	ws := l.words[:l.n]
	shift := 32
	if len(ws) > fewToSort {
		size := min(bits.Len(uint(len(ws))), bucketBits)
		shift -= size
		ends := l.buckets[:1<<size]
		clear(ends)
		for _, w := range ws {
			ends[w>>shift]++
		}
		at, largest := uint16(0), uint16(0)
		for b, n := range ends {
			ends[b] = at
			at += n
			largest = max(largest, n)
		}
		if largest > fewToSort {
			slices.Sort(ws)
			ws = slices.Compact(ws)
			return ws[:min(len(ws), most)]
		}
		for _, w := range ws {
			end := &ends[w>>shift]
			l.sorted[*end] = w
			*end++
		}
		ws = l.sorted[:len(ws)]
	}
	n := 0
	for _, w := range ws {
		if n == 0 || w > ws[n-1] {
			if n >= most && w>>shift != ws[n-1]>>shift {
				break // what is left is larger
			}
			ws[n] = w
			n++
			continue
		}
		i := n - 1
		for i > 0 && ws[i-1] >= w {
			i--
		}
		if ws[i] != w {
			copy(ws[i+1:n+1], ws[i:n])
			ws[i] = w
			n++
		}
	}
	return ws[:min(n, most)]
}

// addAll adds the words and numbers of a text. keep, when given, selects.
func (l *wordList) addAll(text string, keep func(string, token) bool) {
	s := scanner{text: text}
	for !l.full() && s.next() {
		t := &s.token
		if t.class == mark || t.class == volatile || keep != nil && !keep(text, *t) {
			continue
		}
		l.add(t.asWord(text))
	}
}

// wordsAndSome are the words of a text, and those of them that are selected.
func wordsAndSome(text string, keep func(string, token) bool) (all, some []uint32) {
	if text == "" {
		return nil, nil
	}
	l, kept := newWordList(), newWordList()
	defer l.free()
	defer kept.free()
	s := scanner{text: text}
	for !kept.full() && s.next() {
		t := &s.token
		if t.class == mark || t.class == volatile {
			continue
		}
		w := t.asWord(text)
		if !l.full() {
			l.add(w)
		}
		if keep(text, *t) {
			kept.add(w)
		}
	}
	return l.distinct(), kept.distinct()
}

// words are the distinct words and numbers of a text, sorted. keep, when
// given, selects.
func words(text string, keep func(string, token) bool) []uint32 {
	if text == "" {
		return nil
	}
	l := newWordList()
	defer l.free()
	l.addAll(text, keep)
	return l.distinct()
}
