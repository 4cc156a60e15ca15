package detection

import (
	"slices"
	"strings"
)

// What an answer says of what is still going on.

// saysToWait reports an answer that says that something takes its time. short says
// that it has few words: in a long one such words are about something else.
func (f *round) saysToWait(answer string, says meaning, short bool) bool {
	text, head := strings.TrimSpace(answer), answer[:min(len(answer), headBytes)]
	if text != "" && text[0] == '{' && opensObject(text) && meaningOf(text[:min(len(text), headBytes)], shortAnswer, pending) != 0 && pends(strings.ReplaceAll(text[:min(len(text), 2*headBytes)], `\n`, "\n")) {
		return f.outcome != failed
	}
	switch {
	case !short || says&unpaid != 0 || announces(text):
		return false
	case says&later != 0, meaningOf(head, 1, rests) != 0:
		return true
	case f.outcome != failed && (says&pending != 0 && len(f.tells) <= 2*shortAnswer || inCell(text, pending)):
		return !runsTests(head)
	}
	return f.outcome == neutral && (says&pending != 0 && meaningOf(head, atOnce, pending) != 0 || unfinished(text))
}

// setsPending reports content that says itself that something is pending, which the
// answer may repeat: {"todos":[{"description":"…","status":"pending"}]}. A command
// that asks for what is pending has few words.
func (f *round) setsPending(act string) bool {
	const within = 64 // words
	return len(f.does) >= 2*manyWords && meaningOf(act[:min(len(act), 2*headBytes)], within, pending) != 0
}

// announces reports a text that begins by saying what is being done, and then tells what
// came of it: "Starting Nmap 7.95", "Running: a.bin", and more lines, in none of which
// anything is pending.
func announces(text string) bool {
	const fewest = 4 // words of the rest
	first, rest, more := strings.Cut(text, "\n")
	if i := strings.LastIndex(first[:min(len(first), headBytes)], " - "); i >= 0 {
		first = first[i+len(" - "):] // [2025-01-13T11:17:36Z] INFO - Starting attempt 5
	}
	what := strings.TrimLeft(first[runOf(first, 0, func(b byte) bool { return isWord[b] }):], ": ")
	if !more || what == "" || strings.Trim(what, ". ") == "" || meaningOf(first, 1, pending) == 0 {
		return false
	}
	rest = rest[:min(len(rest), 8*headBytes)]
	return len(words(rest, nil)) >= fewest && meaningOf(rest, manyTold*4, pending) == 0
}

// pends reports a text that says that something is pending, in a line that does more than
// say what a program is at: "[243/245] Building C object app/a.c.obj".
func pends(text string) bool {
	const named = 2 // words, of what it is at
	for line := range strings.Lines(text) {
		if meaningOf(line, manyTold, pending) == 0 {
			continue
		}
		does := strings.TrimRight(strings.TrimLeftFunc(line, notInName), " \r\n")
		does = strings.TrimLeft(does, "- ")
		if ws := strings.Fields(does); len(ws) < named || meaningOf(does, 1, pending) == 0 || strings.HasSuffix(does, "..") || strings.HasSuffix(does, "…") || !strings.ContainsAny(does[len(ws[0]):], "./\\_") {
			return true
		}
	}
	return false
}

// runsTests reports the line with which a test runner begins: "running 3 tests".
func runsTests(text string) bool {
	i := strings.Index(strings.ToLower(text), "running ")
	if i < 0 {
		return false
	}
	rest := text[i+len("running "):]
	return strings.HasPrefix(rest[endOfDigits(rest, 0):], " test")
}

// inCell reports a table in which a cell says what is asked for: "lint\tpending\t0".
func inCell(text string, what meaning) bool {
	for line := range strings.Lines(text[:min(len(text), 8*headBytes)]) {
		cells := strings.Split(strings.TrimRight(line, "\r\n"), "\t")
		if len(cells) > 2 && slices.ContainsFunc(cells, func(cell string) bool { return meaningOf(cell, 2, what) != 0 && len(cell) < labelBytes }) {
			return true
		}
	}
	return false
}
