package detect

import (
	"encoding/binary"
	"math/bits"
	"unicode"
	"unicode/utf8"
	"unsafe"
)

// foldedDigest is a digest of a text in lower case, with single spaces and
// without signs that nobody sees, numbers and ids included: whoever adds a space
// says nothing new.
func foldedDigest(text string) uint64 {
	f := folder{hash: hashSeed, capitals: highBits}
	return f.digest(text)
}

// spacedDigest is the same for a text whose capitals count.
func spacedDigest(text string) uint64 { f := folder{hash: hashSeed}; return f.digest(text) }

// digest reads words of ASCII eight bytes at a time.
func (f *folder) digest(text string) uint64 {
	src := unsafe.Slice(unsafe.StringData(text), len(text)) // only read
	for i := 0; i < len(src); {
		if f.n > 0 || i+8 > len(src) {
			i += f.rune(text[i:])
			continue
		}
		w := binary.LittleEndian.Uint64(src[i:])
		if w&highBits != 0 {
			i += f.rune(text[i:])
			continue
		}
		n := bits.TrailingZeros64((w-'!'*eachByte)&^w&highBits) / 8 // bytes before the first space
		w |= ((w + (0x80-'A')*eachByte) &^ (w + (0x7f-'Z')*eachByte) & f.capitals) >> 2
		i += n
		if n == 8 {
			f.mix(w)
			continue
		}
		f.word, f.n = w&(1<<(8*n)-1), n
		f.endWord()
		i++
	}
	f.endWord()
	return f.hash
}

const (
	eachByte = 0x0101010101010101
	highBits = 0x80 * eachByte
)

// folder hashes words from their beginnings on, eight bytes at a time.
type folder struct {
	hash     uint64
	word     uint64 // bytes of the word that were not hashed yet
	n        int    // how many, fewer than eight
	more     bool   // the word began before them
	capitals uint64 // highBits where they fall on small letters, else 0
}

func (f *folder) mix(w uint64) {
	hi, lo := bits.Mul64(f.hash^w, hashSeed)
	f.hash, f.more = hi^lo^w, true
}

// endWord does nothing where no word began.
func (f *folder) endWord() {
	if f.n > 0 || f.more {
		f.mix(f.word | uint64(0x80+f.n)<<56)
	}
	f.word, f.n, f.more = 0, 0, false
}

// rune takes the first character of a text and says how long it is.
func (f *folder) rune(text string) int {
	r, width := rune(text[0]), 1
	if r >= utf8.RuneSelf {
		r, width = utf8.DecodeRuneInString(text)
	}
	switch {
	case r <= ' ' || unicode.IsSpace(r):
		f.endWord()
		return width
	case r >= utf8.RuneSelf && unicode.Is(unicode.Cf, r):
		return width
	}
	if f.capitals != 0 {
		r = unicode.ToLower(r)
	}
	var folded [utf8.UTFMax]byte
	for _, b := range folded[:utf8.EncodeRune(folded[:], r)] {
		f.word |= uint64(b) << (8 * f.n)
		if f.n++; f.n == 8 {
			f.mix(f.word)
			f.word, f.n = 0, 0
		}
	}
	return width
}
