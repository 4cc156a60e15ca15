package wire

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// hotPhrases are what clients search the text of an error for, whatever its
// status, in order to try again or to shorten their history. A space stands
// for whatever may separate two words, or for nothing.
var hotPhrases = []string{
	// statuses that clients retry, as part of any number
	"408", "409", "429", "500", "502", "503", "504", "524", "529",
	// asked too fast
	"rate limit", "rate increased", "too many requests", "throttl", "slow down", "quota", "usage limit", "exhausted",
	// the provider is in trouble
	"overload", "unavailable", "temporarily", "at capacity", "capacity exceeded", "server error", "server had an error",
	"internal error", "internal server", "provider returned", "litellm",
	// the way to it is in trouble
	"network", "connection", "socket", "econn", "epipe", "enotfound", "eai again", "getaddrinfo", "upstream connect",
	"fetch failed", "failed to fetch", "hang up", "other side closed", "reset before", "terminated", "time out", "timed out",
	// asked to come back
	"retry", "try again", "try your",
	// the history is too long
	"context", "too long", "too large", "too many tokens", "token count", "token exceed", "tokens exceed", "max tokens",
	"input length", "prompt length", "current length", "reduce the length", "longer than", "content size", "exceeds",
	"prompt contains", "for a total of", "no body",
	// the content is refused, which a client may want to see once more
	"content filter", "content polic", "usage polic", "safety system",
}

// hotPairs are words that clients search for with anything between them. They
// are hot in either order, for a body may hold a message twice.
var hotPairs = [][]string{
	{"token", "limit"}, {"token", "maximum"}, {"length", "maximum"}, {"token", "requested"},
}

// hotPhrase is a phrase in the form in which it is searched for.
type hotPhrase struct {
	words  []string
	joined *regexp.Regexp // the words beside each other; nil for a single one
}

var hot = func() []hotPhrase {
	phrases := make([]hotPhrase, len(hotPhrases))
	for i, text := range hotPhrases {
		words := strings.Fields(text)
		phrases[i].words = words
		if len(words) > 1 {
			phrases[i].joined = regexp.MustCompile(`(?s)` + strings.Join(words, `(?:.|[\W_]*)`))
		}
	}
	return phrases
}()

// Calm reports whether a text is free of everything that makes a client try
// again or compact its history. Line breaks and other control characters are
// not calm either: written as an escape in a body, they could complete a
// number or a word.
func Calm(text string) bool {
	if strings.ContainsFunc(text, breaksLine) {
		return false
	}
	text = strings.ToLower(text)
	return !slices.ContainsFunc(hot, func(p hotPhrase) bool {
		return containsAll(text, p.words) && (p.joined == nil || p.joined.MatchString(text))
	}) && !slices.ContainsFunc(hotPairs, func(pair []string) bool {
		return containsAll(text, pair)
	})
}

func breaksLine(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }

func containsAll(text string, words []string) bool {
	for _, word := range words {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// CalmMessage joins sentences with spaces and leaves out each one that would
// not leave the whole Calm. It makes messages of parts that others have a say
// in, such as names and figures.
func CalmMessage(sentences ...string) string {
	message := ""
	for _, s := range sentences {
		longer := strings.TrimSpace(message + " " + strings.TrimSpace(s))
		if Calm(longer) {
			message = longer
		}
	}
	return message
}
