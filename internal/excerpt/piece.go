package excerpt

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	// most is how many bytes of a text are kept, half of them from its end
	// where it is longer.
	most = 2 << 10
	// reach is how much of a long text is looked at, at either end: a secret
	// that begins before what is kept, or ends after it, must be seen whole
	// enough to be known as one. The longest are private keys.
	reach = 8 << 10
)

// piece is a text of bounded length: all of it in head, or both ends.
type piece struct {
	head, tail string
	length     int // of the whole text
}

// bound copies what may be needed of a text.
func bound(text string) piece {
	p := piece{length: len(text)}
	if len(text) <= 2*reach {
		p.head = strings.Clone(text)
		return p
	}
	p.head = strings.Clone(text[:reach])
	// The tail may begin inside of a key that is longer than any known; what
	// is left of its word cannot be told from one.
	p.tail = strings.Clone(strings.TrimLeftFunc(text[len(text)-reach:], inWord))
	return p
}

// inWord reports the letters that tokens of all kinds are made of.
func inWord(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("+/=_.~-%:", r)
}

// excerpt is the piece as it may be stored.
func (p piece) excerpt(secrets []string) string { return p.excerptOf(most, secrets) }

// excerptOf is the piece with so many bytes of it at most.
func (p piece) excerptOf(most int, secrets []string) string {
	found := find(p.head, secrets)
	if p.length <= most {
		return show(p.head, found, 0, len(p.head))
	}
	begin := show(p.head, found, 0, most/2)
	end, foundAtEnd := p.head, found
	if p.length > 2*reach {
		end, foundAtEnd = p.tail, find(p.tail, secrets)
	}
	from := max(0, len(end)-most/2)
	left := p.length - most/2 - (len(end) - from)
	return fmt.Sprintf("%s\n[… %d bytes left out …]\n%s", begin, left, show(end, foundAtEnd, from, len(end)))
}

// show is the text between two places with every secret that reaches into it
// replaced as a whole. A rune that a place falls into is left out.
func show(text string, found []span, from, to int) string {
	for to < len(text) && to > from && !utf8.RuneStart(text[to]) {
		to--
	}
	for from < to && !utf8.RuneStart(text[from]) {
		from++
	}
	var b strings.Builder
	for _, s := range found {
		if s.to <= from || s.from >= to {
			continue
		}
		if s.from > from {
			b.WriteString(text[from:s.from])
		}
		b.WriteString("[redacted " + s.what + "]")
		from = s.to
	}
	if from < to {
		b.WriteString(text[from:to])
	}
	return strings.ToValidUTF8(b.String(), "\uFFFD")
}
