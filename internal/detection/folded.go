package detection

import (
	"encoding/binary"
	"math/bits"
	"unicode"
	"unicode/utf8"

	"github.com/haltd/haltd/internal/xxhash"
)

// foldedDigest is a digest of a text in lower case, with single spaces and
// without signs that nobody sees, numbers and ids included: whoever adds a space
// says nothing new.
func foldedDigest(text string) uint64 { return digestFolded(text, highBits) }

// spacedDigest is the same for a text whose capitals count.
func spacedDigest(text string) uint64 { return digestFolded(text, 0) }

func digestFolded(text string, capitals uint64) uint64 {
	f := folder{capitals: capitals, spaced: true}
	f.digest.Reset()
	f.write(text)
	if f.n > 0 && f.spaced {
		f.n-- // the space at the end
	}
	f.digest.Write(f.folded[:f.n])
	return f.digest.Sum64()
}

// folder writes a text anew and takes the digest of what it writes.
type folder struct {
	digest   xxhash.Digest
	folded   [512]byte // the end of what was written, not yet in the digest
	n        int
	spaced   bool   // it ends with a space, or is empty
	capitals uint64 // highBits where they fall on small letters, else 0
}

const (
	eachByte = 0x0101010101010101
	highBits = 0x80 * eachByte
)

// write takes ASCII eight bytes at a time.
func (f *folder) write(text string) {
	src := []byte(text)
	for i := 0; i < len(src); {
		if f.n+8 > len(f.folded) {
			f.flush()
		}
		if n := f.ascii(src[i:]); n > 0 {
			i += n
			continue
		}
		i += f.rune(text[i:])
	}
}

// ascii takes what is plain, while there is room for it, and says how much.
func (f *folder) ascii(src []byte) int {
	all, out, capitals, after := len(src), f.folded[f.n:], f.capitals, uint64(0)
	if f.spaced {
		after = 0x80
	}
	for len(src) >= 8 && len(out) >= 8 {
		w := binary.LittleEndian.Uint64(src[:8:len(src)])
		if w&highBits != 0 {
			break
		}
		spaces := ^((w | highBits) - '!'*eachByte) & highBits
		again := (spaces<<8 | after) & spaces // those after another
		w |= ((w + (0x80-'A')*eachByte) &^ (w + (0x7f-'Z')*eachByte) & capitals) >> 2
		mask := spaces<<1 - spaces>>7
		binary.LittleEndian.PutUint64(out[:8:len(out)], w&^mask|mask&(' '*eachByte))
		if again == 0 {
			src, out, after = src[8:len(src):len(src)], out[8:len(out):len(out)], spaces>>56
			continue
		}
		took := bits.TrailingZeros64(again) / 8
		src, out, after = src[took:], out[took:], 0x80
		for len(src) > 0 && src[0] <= ' ' {
			src = src[1:]
		}
	}
	f.n, f.spaced = len(f.folded)-len(out), after != 0
	return all - len(src)
}

// flush gives the digest all but the last byte, which may be a space that the
// text ends with.
func (f *folder) flush() {
	f.digest.Write(f.folded[:f.n-1])
	f.folded[0], f.n = f.folded[f.n-1], 1
}

// rune takes the first character of a text and says how long it is.
func (f *folder) rune(text string) int {
	r, width := rune(text[0]), 1
	if r >= utf8.RuneSelf {
		r, width = utf8.DecodeRuneInString(text)
	}
	switch {
	case r <= ' ' || unicode.IsSpace(r):
		if !f.spaced {
			f.folded[f.n], f.spaced = ' ', true
			f.n++
		}
		return width
	case r >= utf8.RuneSelf && unicode.Is(unicode.Cf, r):
		return width
	}
	if f.capitals != 0 {
		r = unicode.ToLower(r)
	}
	f.n += utf8.EncodeRune(f.folded[f.n:], r)
	f.spaced = false
	return width
}
