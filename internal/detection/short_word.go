package detection

import (
	"math"
	"math/bits"
)

// shortWord reads the word at pos as word does where it is what most words are:
// up to seven letters of ASCII, with no sign after them that could go on with it. Its end
// is found in eight bytes at once. No volatile token begins so.
func (s *scanner) shortWord() bool {
	start := s.pos
	if len(s.text)-start < 8 {
		return false
	}
	w := load(s.text[start:])
	small := w | 0x20*eachByte
	n := uint(bits.TrailingZeros64(^letterBits(small)&highBits)) / 8
	if n-1 >= 7 || isWord[byte(w>>(8*n&63))] {
		return false
	}
	end := start + int(n)
	s.token = token{hash: hashShort(w, n), start: start, end: end, newLine: s.broke}
	s.mixed = n == 5 && start > 0 && s.text[start-1] == '-' && isTail(s.text[start:end])
	s.pos, s.broke = end, false
	return true
}

// letterBits has the highest bit of each of eight bytes, capitals made small, up to the
// first that is no letter of ASCII. What it has behind that says nothing.
func letterBits(small uint64) uint64 {
	return (small + (0x80-'a')*eachByte) &^ (small + (0x7f-'z')*eachByte)
}

// hashShort is hashWord of the first n of eight bytes, from 1 to 7.
func hashShort(w uint64, n uint) uint64 {
	few := w&0xff | w>>(8*(n/2)&63)&0xff<<8 | w>>(8*(n-1)&63)&0xff<<16
	more := w&0xffffffff | w>>(8*(n-4)&63)<<32
	isFew := uint64(int64(n)-4) >> 63 * math.MaxUint64 // no processor can foretell how long a word is
	return mix(uint64(n)*hashSeed ^ (few&isFew | more&^isFew | 0x20*eachByte))
}
