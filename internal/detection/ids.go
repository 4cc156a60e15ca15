package detection

import "strings"

// isDigest reports whether the word before a token says that the token is the
// digest of something, which tells one screen or file from another.
func isDigest(text string, s *scanner) bool {
	const letters = 8
	if s.class != word || s.end-s.start < letters || !s.prev.word || !isDrawn(text[s.start:s.end]) {
		return false
	}
	return keySays(text[s.prev.start:s.prev.end])&digests != 0
}

// isID reports a word of letters and digits, as ids are. What follows a colon
// or stands in brackets is the digest of a picture, which tells it from
// another.
func isID(text string, t *token) bool {
	if t.end-t.start < 5 || t.start > 0 && (text[t.start-1] == ':' || text[t.start-1] == '[') {
		return false
	}
	return t.mixed
}

// isSerial reports the number of a record, of twelve digits or more, and a short
// one of digits and the letters of hexadecimal numbers that is all of a value, or
// ends a name: "hop": "5a15", rev=6df8, worker-c2d4, window id 84f4; and what is numbered on a page.
func isSerial(text string, t *token) bool {
	const digits, long, short = 12, 8, 4
	w := text[t.start:t.end]
	if t.class == number {
		return len(w) >= digits && endOfDigits(w, 0) == len(w)
	}
	if t.class != word || t.start == 0 || len(w) >= long {
		return false
	}
	if t.mixed && strings.HasSuffix(text[:t.start], "ref=") {
		return true // how a browser numbers what is on a page: [ref=e67]
	}
	if len(w) < short || !isShortHex(w) {
		return false
	}
	switch text[t.start-1] {
	case '"':
		return t.end < len(text) && text[t.end] == '"'
	case '=':
		return t.end == len(text) || !isWord[text[t.end]]
	case ' ':
		return strings.HasSuffix(text[:t.start], " id ") // window id 84f43
	case '-':
		return t.start > 1 && isWord[text[t.start-2]] && (t.end == len(text) || text[t.end] != '.' && text[t.end] != '-')
	}
	return false
}

// isShortHex reports digits and letters of hexadecimal numbers, some of both.
func isShortHex(w string) bool {
	digits := 0
	for i := range len(w) {
		if !isHex(w[i]) {
			return false
		}
		if isDigit(w[i]) {
			digits++
		}
	}
	return digits > 0 && digits < len(w)
}
