package outbound

import (
	"strings"
	"unicode"
)

const hidden = "[redacted]"

// Line is text that somebody else wrote, as one line of visible characters
// and at most max of them: no line breaks that would make headers or lines of
// their own, no control characters, none that turn the direction of writing.
func Line(text string, max int) string {
	var b strings.Builder
	space, count := false, 0
	for _, r := range text {
		if unicode.IsSpace(r) {
			space = b.Len() > 0
			continue
		}
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
			count++
		}
		if count >= max {
			b.WriteRune('…')
			break
		}
		b.WriteRune(r)
		count++
	}
	return b.String()
}

// Conceal takes secrets out of a text that a receiver may have repeated.
func Conceal(text string, secrets ...string) string {
	for _, s := range secrets {
		if s != "" {
			text = strings.ReplaceAll(text, s, hidden)
		}
	}
	return text
}
