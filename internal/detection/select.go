package detection

import "strings"

// endsAsSentence tells prose from a bare command such as SELECT … or ls -la .
func endsAsSentence(text string) bool {
	text = strings.TrimSpace(text)
	if n := len(text); n > 1 {
		switch text[n-1] {
		case '?', '!':
			return true
		case '.':
			return isWord[text[n-2]] && strings.Contains(text, " ")
		}
		return strings.HasSuffix(text, "。") || strings.HasSuffix(text, "！") || strings.HasSuffix(text, "？")
	}
	return false
}

// hasQuestion reports a question mark, or the word that Japanese ends a question with.
func hasQuestion(text string) bool {
	return strings.Contains(text, "?") || strings.Contains(text, "？") || strings.Contains(text, "؟") ||
		strings.Contains(text, "か。") || strings.HasSuffix(strings.TrimSpace(text), "か")
}

// isClaim selects the words by which a text states something that was not
// there before: numbers, and identifiers (digits, underscores, capitals
// inside). Praise and paraphrase have none.
func isClaim(text string, t token) bool {
	if t.class == number {
		return true
	}
	w := text[t.start:t.end]
	for i := range len(w) {
		if isDigit(w[i]) || w[i] == '_' || i > 0 && w[i]-'A' < 26 {
			return true
		}
	}
	return false
}

// isNamed selects the claims that are no numbers by themselves.
func isNamed(text string, t token) bool { return t.class != number && isClaim(text, t) }

// isCited selects the words of a sentence by which it names something: numbers of
// three digits and more, identifiers, and what has a capital amid the sentence.
func isCited(text string, t token) bool {
	w := text[t.start:t.end]
	switch {
	case t.class == number:
		return len(w) >= 3
	case isDrawn(w):
		return false
	case w[0]-'A' < 26 && len(w) > 1 && t.start >= 2:
		return text[t.start-1] != ' ' || strings.IndexByte(".!?\n", text[t.start-2]) < 0
	}
	return isClaim(text, t)
}

// isIdent selects words that look like the name of something, rather than
// like a word of a sentence.
func isIdent(text string, t *token) bool {
	return isClaim(text, *t) || goesOnFrom(text, t.start) ||
		t.end+1 < len(text) && joins(text[t.end]) && isWord[text[t.end+1]]
}

// goesOnFrom reports a word that is part of the name before it.
func goesOnFrom(text string, start int) bool {
	return start > 1 && joins(text[start-1]) && isWord[text[start-2]]
}

// joins reports the marks that join the parts of a name.
func joins(b byte) bool { return b == '-' || b == '.' || b == '/' || b == '@' }

// canName selects the words that can name a thing to work on. Small numbers
// cannot: whatever they are, some result has had them.
func canName(t *token) bool { return t.class != number || t.end-t.start > 2 }
