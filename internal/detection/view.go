package detection

import (
	"strings"

	"github.com/haltd/haltd/internal/xxhash"
)

// viewOf is the digest of what a screen shows besides words: the one line that a
// cursor stands before, as in menus, and lines that are drawn with signs, as maps and
// boards are; 0 where there is none. The words of the screen are the same wherever
// the cursor stands and whoever walks over the map.
func viewOf(text string) uint64 {
	const fewest = 3 // lines of a menu, and of a drawing
	var view, drawing uint64
	var at string
	lines, marks, drawn := 0, 0, 0
	if strings.Count(text, `\n`) > fewest { // it stands in a JSON object
		text = strings.ReplaceAll(text, `\n`, "\n")
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		if isDrawing(line) || drawn > 0 && isCorridor(line) {
			drawing = fold(drawing, xxhash.Sum64String(line))
			drawn++
		} else {
			if drawn >= fewest {
				view = fold(view, drawing)
			}
			drawing, drawn = 0, 0
		}
		if line = strings.Trim(line, " \t|│║┃"); line == "" {
			continue
		}
		lines++
		if rest, marked := afterCursor(line); marked {
			at = rest
			marks++ // more than one are a quotation, or a list
		}
	}
	if drawn >= fewest {
		view = fold(view, drawing)
	}
	if marks == 1 && lines >= fewest {
		view = fold(view, xxhash.Sum64String(at))
	}
	return view
}

// afterCursor is what follows the mark that a line begins with.
func afterCursor(line string) (rest string, marked bool) {
	for _, m := range [...]string{"> ", "» ", "▶ ", "► ", "❯ ", "➤ "} {
		if rest, marked = strings.CutPrefix(line, m); marked {
			return rest, rest != ""
		}
	}
	return "", false
}

// isDrawing reports a line of signs, with single letters and digits among them.
// Brackets and commas end the parts of a program, where no floor or wall is drawn
// around them: |..(.%.|
func isDrawing(line string) bool {
	const shortest, longest = 3, 2 // of a line, and of letters in a row
	letters, signs := 0, 0
	floor, looked := false, false
	for i := 0; i < len(line); i++ {
		switch b := line[i]; {
		case b == ' ' || b == '\t' || b == '\r':
			letters = 0
		case isWord[b]:
			if letters++; letters > longest {
				return false
			}
		default:
			if !looked && strings.IndexByte(`{}[]();,:"'`, b) >= 0 {
				looked, floor = true, strings.Contains(line, "..") || strings.Contains(line, "##") || strings.Contains(line, "--")
				if !floor {
					return false
				}
			}
			letters = 0
			signs++
		}
	}
	return len(line) >= shortest && signs >= 2
}

// isCorridor reports a line of a drawing that has one sign and nothing else, away from the
// edge: a corridor on a map, or who walks there.
func isCorridor(line string) bool {
	sign := strings.TrimLeft(line, " ")
	return len(sign) == 1 && len(line) > 2 && !isWord[sign[0]]
}

// viewWord is a view as a word of what a screen tells.
func viewWord(view uint64) uint32 { return uint32(view) &^ 1 }
