package detection

import (
	"math/bits"
)

// resembles estimates how much two sorted lists of words have in common, from
// the smallest of them, which hashes choose at random.
func resembles(a, b []uint32) float32 {
	const sample, enough = 24, 8 // words; where so few have nothing in common, all have little
	if 2*len(a) < len(b) || 2*len(b) < len(a) {
		return 0
	}
	common, n := 0, 0
	for i, j := 0, 0; n < sample && (n < enough || common > 0) && i < len(a) && j < len(b); n++ {
		v, w := a[i], b[j]
		if v == w {
			common++
		}
		if v <= w {
			i++
		}
		if w <= v {
			j++
		}
	}
	if n == 0 {
		return 0
	}
	return float32(common) / float32(n)
}

// sketch is a sample of a list of words: of each sixteenth of all hashes the
// smallest word that the list has. Two lists have as much in common as their
// sketches have, about, and sketches are compared without a loop over words:
// a result is compared with every one before it.
type sketch struct {
	lanes [4]uint64 // four words of 16 bits each
	has   uint16    // the lanes that hold a word
}

// sketchOf is the sketch of a sorted list.
func sketchOf(ws []uint32) (s sketch) {
	for _, w := range ws {
		lane := w >> 28
		if s.has>>lane&1 == 0 {
			s.has |= 1 << lane
			s.lanes[lane>>2] |= uint64(w>>12&0xffff) << (lane & 3 << 4)
		}
	}
	return s
}

// resembles reports whether two lists may have most of their words in common.
func (s *sketch) resembles(o *sketch) bool {
	const low, high = 0x7fff7fff7fff7fff, 0x8000800080008000
	equal := 0
	for i := range s.lanes {
		x := s.lanes[i] ^ o.lanes[i]
		equal += bits.OnesCount64(^((x&low + low) | x) & high) // lanes of x that are zero
	}
	union := bits.OnesCount16(s.has | o.has)
	equal -= len(s.lanes)*4 - union // lanes that neither has
	return 8*equal >= 3*union
}

// overlap is how much two sorted lists have in common, of all their words
// and without the numbers.
func overlap(a, b []uint32) (all, letters float32) {
	var common, words int
	for i, j := 0, 0; i < len(a) && j < len(b); { // in steps that no processor has to foretell
		v, w := a[i], b[j]
		same := 0
		if v == w {
			same = 1
		}
		common += same
		words += same &^ int(v)
		if v <= w {
			i++
		}
		if w <= v {
			j++
		}
	}
	union := len(a) + len(b) - common
	if union == 0 {
		return 1, 1
	}
	return ratio(common, union), ratio(words, countLetters(a)+countLetters(b)-words)
}

// countLetters is how many words are no numbers.
func countLetters(ws []uint32) (n int) {
	for _, w := range ws {
		n += int(^w & 1)
	}
	return n
}

// overlapBeside is overlap without the words of a third list. Where it leaves
// numbers alone, no word differs.
func overlapBeside(a, b, without []uint32) (all, letters float32) {
	var common, words, union, unionWords int
	i, j, k := 0, 0, 0
	for i < len(a) || j < len(b) {
		var w uint32
		both := false
		switch {
		case j == len(b) || i < len(a) && a[i] < b[j]:
			w = a[i]
			i++
		case i == len(a) || b[j] < a[i]:
			w = b[j]
			j++
		default:
			w, both = a[i], true
			i++
			j++
		}
		for k < len(without) && without[k] < w {
			k++
		}
		if k < len(without) && without[k] == w {
			continue
		}
		union++
		if both {
			common++
		}
		if !isNumber(w) {
			unionWords++
			if both {
				words++
			}
		}
	}
	switch {
	case union == 0:
		return 1, 1
	case unionWords == 0 && len(without) > 0:
		return ratio(common, union), 1
	}
	return ratio(common, union), ratio(words, unionWords)
}

// countMissing is how many words of a sorted list another does not have.
func countMissing(ws, in []uint32) (n int) {
	j := 0
	for _, w := range ws {
		for j < len(in) && in[j] < w {
			j++
		}
		if j == len(in) || in[j] != w {
			n++
		}
	}
	return n
}

// smallFilter tells most words that a short list does not have.
type smallFilter [512 / 64]uint64

func smallFilterOf(ws []uint32) (f smallFilter) {
	for _, w := range ws {
		f[w>>7%uint32(len(f))] |= 1 << (w >> 1 & 63)
	}
	return f
}

func (f *smallFilter) mayHave(w uint32) bool {
	return f[w>>7%uint32(len(f))]>>(w>>1&63)&1 == 1
}

func ratio(n, of int) float32 {
	if of == 0 {
		return 0
	}
	return float32(n) / float32(of)
}

// wordFilter tells words that were seen from words that were not, in one bit
// each. With the ten to twenty thousand words of a long conversation about
// one word in thirty is taken for seen although it is new, which only makes
// news a little rarer.
type wordFilter [filterBits / 64]uint64

const filterBits = 1 << 19

// add adds words and says how many were new.
func (f *wordFilter) add(ws []uint32) (fresh int) {
	for _, w := range ws {
		i := w & (filterBits - 1)
		bit := uint64(1) << (i & 63)
		if f[i>>6]&bit == 0 {
			f[i>>6] |= bit
			fresh++
		}
	}
	return fresh
}

// set adds words, a quarter faster than add: it need not know which are new, which
// nobody can foretell.
func (f *wordFilter) set(ws []uint32) {
	for _, w := range ws {
		i := w & (filterBits - 1)
		f[i>>6] |= 1 << (i & 63)
	}
}

// countWords says how many words are new, numbers left out.
func (f *wordFilter) countWords(ws []uint32) (fresh int) {
	for _, w := range ws {
		i := w & (filterBits - 1)
		if !isNumber(w) && f[i>>6]&(1<<(i&63)) == 0 {
			fresh++
		}
	}
	return fresh
}

// count says how many words are new.
func (f *wordFilter) count(ws []uint32) (fresh int) {
	for _, w := range ws {
		i := w & (filterBits - 1)
		if f[i>>6]&(1<<(i&63)) == 0 {
			fresh++
		}
	}
	return fresh
}

func (f *wordFilter) has(w uint32) bool {
	i := w & (filterBits - 1)
	return f[i>>6]&(1<<(i&63)) != 0
}
