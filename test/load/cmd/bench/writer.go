package main

import (
	"math/rand/v2"
	"strconv"
	"strings"
)

// writer makes text that looks like text and needs no escaping but for line
// breaks. It names new things all the time, as the work of a healthy agent
// does. The same seeds make the same text.
type writer struct{ *rand.Rand }

func newWriter(seed1, seed2 int) writer {
	return writer{rand.New(rand.NewPCG(uint64(seed1), uint64(seed2)))}
}

var vocabulary = strings.Fields("account agent balance batch cache call check client commit config cost count customer delay detect " +
	"error event fetch file filter flow gateway handle index invoice job key latency limit list load lock message meter model " +
	"order page parse payment plan policy prompt queue quota read record refund reply report request retry route rule session " +
	"state status store stream task test token tool total trace update user value verify window worker write the a of to in for with and")

func (w writer) word() string { return vocabulary[w.IntN(len(vocabulary))] }

// name is that of something which nobody has talked of before.
func (w writer) name() string { return w.word() + "_" + strconv.FormatUint(uint64(w.Uint32()), 36) }

func (w writer) sentence(words int) string {
	var b strings.Builder
	for range words - 1 {
		b.WriteString(w.word())
		b.WriteByte(' ')
	}
	b.WriteString(w.name())
	b.WriteByte('.')
	return b.String()
}

// text is exactly size bytes of sentences.
func (w writer) text(size int) string {
	var b strings.Builder
	for b.Len() < size {
		b.WriteString(w.sentence(12))
		b.WriteByte(' ')
	}
	return b.String()[:size]
}

// letters is exactly size bytes of words of random letters. Words are no longer than
// those of a language, but the letters that are rare there are as frequent as all others.
func (w writer) letters(size int) string {
	b := make([]byte, 0, size+randomWord)
	for len(b) < size {
		letters := w.Uint64() // enough for the longest word
		for range 2 + w.IntN(randomWord-2) {
			b = append(b, byte('a'+letters%26))
			letters /= 26
		}
		b = append(b, ' ')
	}
	return string(b[:size])
}

// randomWord is how long the longest word of random letters is, with the space behind it.
const randomWord = 11

// lines is about size bytes of what a tool could print. No two lines have a
// form in common, or one listing would look like the next.
func (w writer) lines(size int) string {
	var b strings.Builder
	for b.Len() < size {
		b.WriteString(w.sentence(5 + w.IntN(10)))
		b.WriteByte('\n')
	}
	return b.String()
}
