package detect

import (
	"unicode"
	"unicode/utf8"

	"github.com/haltd/haltd/internal/xxhash"
)

// foldedDigest is a digest of a text in lower case, with single spaces and
// without signs that nobody sees, numbers and ids included: whoever adds a space
// says nothing new.
func foldedDigest(text string) uint64 {
	var d xxhash.Digest
	d.Reset()
	var folded [512]byte
	n, began, space := 0, false, false
	for i := 0; i < len(text); {
		if n > len(folded)-2*utf8.UTFMax {
			_, _ = d.Write(folded[:n]) // never fails
			n = 0
		}
		b := text[i]
		if b < utf8.RuneSelf {
			i++
			if b <= ' ' {
				space = began
				continue
			}
			if space {
				folded[n] = ' '
				n++
				space = false
			}
			if b-'A' < 26 {
				b |= 0x20
			}
			folded[n], began = b, true
			n++
			continue
		}
		r, width := utf8.DecodeRuneInString(text[i:])
		i += width
		switch {
		case unicode.IsSpace(r):
			space = began
			continue
		case unicode.Is(unicode.Cf, r):
			continue
		}
		if space {
			folded[n] = ' '
			n++
			space = false
		}
		n += utf8.EncodeRune(folded[n:], unicode.ToLower(r))
		began = true
	}
	_, _ = d.Write(folded[:n])
	return d.Sum64()
}
