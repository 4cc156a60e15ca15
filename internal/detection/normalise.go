package detection

import (
	"unicode"
	"unicode/utf8"
)

// normalise makes texts equal that differ only in what a loop changes by
// itself: it lowercases, turns white space into single spaces, drops signs that
// nobody sees, and puts <TS> for ISO dates and times, <ID> for UUIDs and <NUM>
// for numbers.
func normalise(text string) string {
	dst := make([]byte, 0, len(text))
	space := false // a space is due before the next byte
	for i := 0; i < len(text); {
		b := text[i]
		if n := spaceAt(text, i); n > 0 {
			space = len(dst) > 0
			i += n
			continue
		}
		if n := unseenAt(text, i); n > 0 {
			i += n
			continue
		}
		if space {
			dst = append(dst, ' ')
			space = false
		}
		switch {
		case isHex(b) && startsToken(text, i) && uuidAt(text, i):
			dst = append(dst, "<ID>"...)
			i += uuidLen
		case isDigit(b):
			dst, i = appendNumber(dst, text, i)
		case b < utf8.RuneSelf:
			if b-'A' < 26 {
				b |= 0x20
			}
			dst = append(dst, b)
			i++
		default:
			r, n := utf8.DecodeRuneInString(text[i:])
			i += n
			dst = utf8.AppendRune(dst, unicode.ToLower(r))
		}
	}
	return string(dst)
}

// spaceAt is the length of the white space character at i, or 0.
func spaceAt(text string, i int) int {
	if b := text[i]; b < utf8.RuneSelf {
		if b <= ' ' {
			return 1
		}
		return 0
	}
	r, n := utf8.DecodeRuneInString(text[i:])
	if unicode.IsSpace(r) {
		return n
	}
	return 0
}

// unseenAt is the length of the sign at i that nobody sees, or 0.
func unseenAt(text string, i int) int {
	if text[i] < utf8.RuneSelf {
		return 0
	}
	if r, n := utf8.DecodeRuneInString(text[i:]); unicode.Is(unicode.Cf, r) {
		return n
	}
	return 0
}

// startsToken reports whether a word may start at i.
func startsToken(text string, i int) bool { return i == 0 || !isWord[text[i-1]] }

// appendNumber replaces the timestamp or the number at i.
func appendNumber(dst []byte, text string, i int) ([]byte, int) {
	if startsToken(text, i) {
		if end := timestamp(text, i); end > 0 {
			return append(dst, "<TS>"...), end
		}
	}
	return append(dst, "<NUM>"...), numberEnd(text, i)
}

// numberEnd is the end of the number at i, decimals and thousands included.
func numberEnd(text string, i int) int {
	i = endOfDigits(text, i)
	for i+1 < len(text) && (text[i] == '.' || text[i] == ',') && isDigit(text[i+1]) {
		i = endOfDigits(text, i+1)
	}
	return i
}

// timestamp is the end of the ISO date, or date and time with its zone, that
// starts at i, or 0.
func timestamp(text string, i int) int {
	end := isoDate(text, i)
	if end == 0 {
		return 0
	}
	if end+1 < len(text) && (text[end]|0x20 == 't' || text[end] == ' ') {
		if e := clock(text, end+1); e > 0 {
			return zone(text, e)
		}
		if e := clockInName(text, end+1); e > 0 {
			return zone(text, e)
		}
	}
	return end
}

// clockInName is the end of a time as names of files have it, 02_32_22_591 or
// 02-32-22, or 0.
func clockInName(text string, i int) int {
	if len(text)-i < 8 {
		return 0
	}
	sep := text[i+2]
	if sep != '_' && sep != '-' || text[i+5] != sep || !digits(text[i:i+2]) || !digits(text[i+3:i+5]) || !digits(text[i+6:i+8]) {
		return 0
	}
	end := i + 8
	if end+1 < len(text) && (text[end] == '_' || text[end] == '-' || text[end] == '.') && isDigit(text[end+1]) {
		end = endOfDigits(text, end+1)
	}
	return end
}
