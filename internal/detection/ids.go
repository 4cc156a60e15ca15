package detection

import "strings"

// isDigest reports whether the word before a token says that the token is the
// digest of something, which tells one screen or file from another.
func isDigest(text string, s *scanner) bool {
	const letters = 8
	if s.class != word || s.end-s.start < letters || !s.prev.word || !isDrawn(text[s.start:s.end]) {
		return false
	}
	key := text[s.prev.start:s.prev.end]
	return (keySays(key)|keySays(key[strings.LastIndexByte(key, '_')+1:]))&digests != 0 // screenshot_sha
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

// isSerial reports the number of a record, of eleven digits or more, and a short
// one of digits and the letters of hexadecimal numbers that is all of a value, or
// ends a name: "hop": "5a15", rev=6df8, worker-c2d4, window id 84f4; and what is numbered on a page.
func isSerial(text string, t *token) bool {
	const digits, long, short = 11, 8, 4
	w := text[t.start:t.end]
	if t.class == number && (len(w) >= digits && endOfDigits(w, 0) == len(w) || numbersElement(text, t)) {
		return true
	}
	if inHexGroups(text, t) || isReference(text, t) {
		return true
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
		return strings.HasSuffix(text[:t.start], " id ") || strings.HasSuffix(text[:t.start], "(trace ") || strings.HasSuffix(text[:t.start], "(ref ") // window id 84f43, (trace 1f79a0)
	case '-':
		return t.start > 1 && isWord[text[t.start-2]] && (t.end == len(text) || text[t.end] != '.' && text[t.end] != '-')
	}
	return false
}

// isReference reports a part of what an error says that the request is filed under:
// (request 0ECG:D56D6B:462A3CD).
func isReference(text string, t *token) bool {
	const shortest, longest = 8, 64
	if t.start == 0 || !beforeReference[text[t.start-1]] {
		return false
	}
	from, to := t.start, t.end
	for to < len(text) && to-t.end < longest && inReference[text[to]] {
		to++
	}
	for from > 0 && t.start-from < longest && inReference[text[from-1]] {
		from--
	}
	if to-from < shortest || !strings.ContainsAny(text[from:to], "0123456789") {
		return false
	}
	before := strings.ToLower(strings.TrimRight(text[max(0, from-len("correlation id: ")):from], " :="))
	for _, name := range [...]string{"(request", "(req", "request id", "request-id", "trace id", "trace-id", "correlation id", "correlation-id"} {
		if strings.HasSuffix(before, name) {
			return true
		}
	}
	return false
}

var beforeReference, inReference = marks(" :-="), func() [256]bool {
	t := isWord
	t[':'], t['-'] = true, true
	return t
}()

// inHexGroups reports a part of an id that is written in groups of four to twelve
// hexadecimal digits, some of them letters: 4407a796-ea67-05b6.
func inHexGroups(text string, t *token) bool {
	const fewest, most = 4, 12
	isGroup := func(w string) bool {
		return len(w) >= fewest && len(w) <= most && runOf(w, 0, isHex) == len(w)
	}
	if !isGroup(text[t.start:t.end]) {
		return false
	}
	from, to := t.start, t.end
	for from > 0 && (isHex(text[from-1]) || text[from-1] == '-') && t.start-from < 3*most {
		from--
	}
	for to < len(text) && (isHex(text[to]) || text[to] == '-') && to-t.end < 3*most {
		to++
	}
	if from > 0 && isWord[text[from-1]] || to < len(text) && isWord[text[to]] {
		return false
	}
	groups, lettered := 0, 0
	for g := range strings.SplitSeq(text[from:to], "-") {
		if !isGroup(g) {
			return false
		}
		groups++
		if isShortHex(g) {
			lettered++
		}
	}
	return groups >= 2 && lettered >= 2 // 2026-1117 is a date
}

// numbersElement reports the number that stands before a part of a page, at the
// beginning of its line: [1937] link 'Home'.
func numbersElement(text string, t *token) bool {
	if t.start == 0 || text[t.start-1] != '[' || t.end+1 >= len(text) || text[t.end] != ']' || text[t.end+1] != ' ' {
		return false
	}
	at := t.start - 1
	for at > 0 && (text[at-1] == ' ' || text[at-1] == '\t') {
		at--
	}
	return at == 0 || text[at-1] == '\n'
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
