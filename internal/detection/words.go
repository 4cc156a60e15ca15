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
	// recent has the words that were added last, each in a place of its own: most
	// words of a text come again soon.
	recent [512]uint32
}

var wordLists = sync.Pool{New: func() any { return new(wordList) }}

func newWordList() *wordList {
	l := wordLists.Get().(*wordList)
	l.n = 0
	clear(l.recent[:])
	return l
}

// free lets the list be used again.
func (l *wordList) free() { wordLists.Put(l) }

func (l *wordList) full() bool { return l.n == len(l.words) }

func (l *wordList) add(w uint32) {
	recent := &l.recent[w>>1%uint32(len(l.recent))]
	if *recent == w && w != 0 {
		return
	}
	*recent = w
	l.words[l.n] = w
	l.n++
}

// distinct is the words without duplicates, sorted, at most maxWords.
func (l *wordList) distinct() []uint32 { return l.distinctUpTo(maxWords) }

func (l *wordList) distinctUpTo(most int) []uint32 {
	return slices.Clone(l.smallest(most))
}

// fewToSort is the length up to which a sort without buckets is faster.
const fewToSort = 24

// smallest are the smallest of the words without duplicates, sorted. They are put
// into buckets by their first bits, which hashes fill evenly, about two words in
// each, and as many of those are sorted as it takes.
func (l *wordList) smallest(most int) []uint32 {
	ws := l.words[:l.n]
	if len(ws) <= fewToSort {
		slices.Sort(ws)
		ws = slices.Compact(ws)
		return ws[:min(len(ws), most)]
	}
	var buckets [256]uint16
	size := min(8, bits.Len(uint(len(ws)))-1)
	shift, ends := 32-size, buckets[:1<<size]
	for _, w := range ws {
		ends[w>>shift]++
	}
	at := uint16(0)
	for b, n := range ends {
		ends[b] = at
		at += n
	}
	for _, w := range ws {
		end := &ends[w>>shift]
		l.sorted[*end] = w
		*end++
	}
	start, n := uint16(0), 0
	for _, end := range ends {
		bucket := l.sorted[start:end]
		insertionSort(bucket)
		for i, w := range bucket {
			if i == 0 || w != bucket[i-1] {
				l.sorted[n] = w
				n++
			}
		}
		if n >= most {
			return l.sorted[:most]
		}
		start = end
	}
	return l.sorted[:n]
}

// insertionSort sorts a bucket, which mostly has a few words. One that has many
// is sorted as it must be.
func insertionSort(ws []uint32) {
	if len(ws) > fewToSort {
		slices.Sort(ws)
		return
	}
	for i := 1; i < len(ws); i++ {
		w := ws[i]
		j := i
		for ; j > 0 && ws[j-1] > w; j-- {
			ws[j] = ws[j-1]
		}
		ws[j] = w
	}
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
