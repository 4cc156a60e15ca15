package detection

import (
	"strings"

	"github.com/haltd/haltd/internal/xxhash"
)

// An edit says itself which lines of a text it takes out and which it puts in: as two
// arguments, as the two halves of a replacement, or as a patch. Where it changes lines
// that no edit has touched it is the next piece of work, however much it looks like the
// last one. Where it changes again what an edit put in, it is one more attempt.

// edit is what the edits of a reply take out and put in, as digests of lines.
type edit struct {
	old, new []uint32
}

// mostLines bounds how many lines of an edit are looked at, and kept.
const mostLines = 64

// changed are the lines that an edit is about: those that it takes out, else those
// beside which it puts others; and those that it leaves. A path tells those of one file
// from those of another.
func (e *edit) changed(path uint64) (about, left []uint32) {
	if len(e.new) == 0 || len(e.old) == 0 {
		return nil, nil
	}
	salted := func(lines, without []uint32) (ws []uint32) {
		for _, w := range lines {
			if !containsWord(without, w) {
				ws = append(ws, uint32(mix(path^uint64(w)))&^1)
			}
		}
		return ws
	}
	if about = salted(e.old, e.new); len(about) == 0 {
		about = salted(e.old, nil)
	}
	return about, salted(e.new, e.old)
}

func containsWord(ws []uint32, w uint32) bool {
	for _, x := range ws {
		if x == w {
			return true
		}
	}
	return false
}

// addLines adds the digests of the lines of a text that have some letters. Canonical
// arguments have \n where the text has a line break.
func addLines(ws []uint32, text string) []uint32 {
	for text != "" && len(ws) < mostLines {
		var line string
		line, text = cutLine(text)
		ws = addLine(ws, line)
	}
	return ws
}

func addLine(ws []uint32, line string) []uint32 {
	const fewest = 3 // letters and digits
	line = strings.TrimRight(line, " \t\r")
	for {
		rest := strings.TrimLeft(line, " \t")
		if rest = strings.TrimPrefix(rest, `\t`); rest == line {
			break
		}
		line = rest
	}
	letters := 0
	for i := 0; i < len(line) && letters < fewest; i++ {
		if isWord[line[i]] || line[i] >= 0x80 {
			letters++
		}
	}
	if letters < fewest || len(ws) >= mostLines {
		return ws
	}
	return append(ws, uint32(xxhash.Sum64String(line)))
}

// cutLine is the first line of a text, and the rest.
func cutLine(text string) (line, rest string) {
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\n':
			return text[:i], text[i+1:]
		case text[i] == '\\' && i+1 < len(text):
			if text[i+1] == 'n' {
				return text[:i], text[i+2:]
			}
			i++
		}
	}
	return text, ""
}

// readChanges adds the lines of a replacement (<<<<<<< SEARCH … ======= … >>>>>>>) or of
// a patch to an edit. Where a patch only puts lines in, those around them are what it is
// about.
func (e *edit) readChanges(text string) {
	switch {
	case strings.Contains(text, "======="):
		e.readReplacement(text)
	case strings.Contains(text, "@@") || strings.Contains(text, "*** "):
		e.readPatch(text)
	}
}

func (e *edit) readReplacement(text string) {
	const outside, old, new = 0, 1, 2
	in := outside
	for text != "" {
		var line string
		line, text = cutLine(text)
		switch {
		case strings.HasPrefix(line, "<<<<<<<") || strings.HasPrefix(line, "------- "):
			in = old
		case in == old && strings.HasPrefix(line, "======="):
			in = new
		case in == new && (strings.HasPrefix(line, ">>>>>>>") || strings.HasPrefix(line, "+++++++ ")):
			in = outside
		case in == old:
			e.old = addLine(e.old, line)
		case in == new:
			e.new = addLine(e.new, line)
		}
	}
}

func (e *edit) readPatch(text string) {
	for text != "" {
		var line string
		line, text = cutLine(text)
		switch {
		case line == "" || strings.HasPrefix(line, "---") || strings.HasPrefix(line, "+++") || strings.HasPrefix(line, "***") || strings.HasPrefix(line, "@@"):
		case line[0] == '-':
			e.old = addLine(e.old, line[1:])
		case line[0] == '+':
			e.new = addLine(e.new, line[1:])
		case line[0] == ' ':
			e.old, e.new = addLine(e.old, line[1:]), addLine(e.new, line[1:])
		}
	}
}

// leavesNew reports an edit that leaves lines of which most were never put in.
func (f *round) leavesNew(acted *wordFilter) bool {
	return len(f.leaves) > 0 && f.outcome != failed && 2*acted.count(f.leaves) >= len(f.leaves)
}

// opensPlace reports an edit of lines of which no edit touched more than half.
func (f *round) opensPlace(acted *wordFilter) bool {
	return len(f.changes) > 0 && f.outcome != failed && 2*acted.count(f.changes) >= len(f.changes)
}
