package detect

import (
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
}

var wordLists = sync.Pool{New: func() any { return new(wordList) }}

func newWordList() *wordList {
	l := wordLists.Get().(*wordList)
	l.n = 0
	return l
}

// free lets the list be used again.
func (l *wordList) free() { wordLists.Put(l) }

func (l *wordList) full() bool { return l.n == len(l.words) }

func (l *wordList) add(w uint32) {
	l.words[l.n] = w
	l.n++
}

// distinct is the words without duplicates, sorted, at most maxWords.
func (l *wordList) distinct() []uint32 { return l.distinctUpTo(maxWords) }

func (l *wordList) distinctUpTo(most int) []uint32 {
	ws := slices.Compact(l.sort())
	return slices.Clone(ws[:min(len(ws), most)])
}

// fewToSort is the length up to which a sort without buckets is faster.
const fewToSort = 48

// sort puts the words into buckets by their first byte, which hashes fill
// evenly, and sorts those.
func (l *wordList) sort() []uint32 {
	ws := l.words[:l.n]
	if len(ws) <= fewToSort {
		slices.Sort(ws)
		return ws
	}
	var ends [256]int
	for _, w := range ws {
		ends[w>>24]++
	}
	start := 0
	for b, n := range ends {
		ends[b] = start
		start += n
	}
	for _, w := range ws {
		l.sorted[ends[w>>24]] = w
		ends[w>>24]++
	}
	start = 0
	for _, end := range ends {
		if end-start > 1 {
			slices.Sort(l.sorted[start:end])
		}
		start = end
	}
	return l.sorted[:len(ws)]
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
