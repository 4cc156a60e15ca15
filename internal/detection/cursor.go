package detection

import (
	"strings"

	"github.com/haltd/haltd/internal/xxhash"
)

// cursorAt is the digest of the one line of a screen that a mark stands before, as
// menus show where one is; 0 where there is none. The words of the screen are the
// same wherever it stands.
func cursorAt(text string) uint64 {
	const fewest = 3 // lines of a menu
	var at string
	lines := 0
	for line := range strings.Lines(text) {
		line = strings.Trim(line, " \t\r\n|│║┃")
		if line == "" {
			continue
		}
		lines++
		rest, marked := afterCursor(line)
		switch {
		case !marked:
		case at != "":
			return 0 // a quotation, or a list
		default:
			at = rest
		}
	}
	if at == "" || lines < fewest {
		return 0
	}
	return xxhash.Sum64String(at)
}

// cursorWord is the place of a cursor as a word of what a screen tells.
func cursorWord(cursor uint64) uint32 { return uint32(cursor) &^ 1 }

// afterCursor is what follows the mark that a line begins with.
func afterCursor(line string) (rest string, marked bool) {
	for _, m := range [...]string{"> ", "» ", "▶ ", "► ", "❯ ", "➤ "} {
		if rest, marked = strings.CutPrefix(line, m); marked {
			return rest, rest != ""
		}
	}
	return "", false
}
