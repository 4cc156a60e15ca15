package cli

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/haltd/haltd/internal/config"
)

// clean makes a text safe for a terminal. Agents choose their own names, so
// whatever could move the cursor, colour the screen or turn the direction of
// writing is shown as its code instead.
func clean(text string) string {
	if strings.IndexFunc(text, unsafeRune) < 0 && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)):
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case unsafeRune(r) && r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case unsafeRune(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func unsafeRune(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co)
}

// quote makes a text one word for a shell: clients name their sessions, and a
// name must not do anything in the terminal of whoever copies a command.
func quote(text string) string {
	plain := func(r rune) bool {
		return r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) || strings.ContainsRune("-._:@/", r)
	}
	if text != "" && strings.TrimLeftFunc(text, plain) == "" {
		return text
	}
	return "'" + strings.ReplaceAll(clean(text), "'", `'\''`) + "'"
}

// short cuts a text to a number of letters and marks the cut.
func short(text string, letters int) string {
	if utf8.RuneCountInString(text) <= letters {
		return text
	}
	return string([]rune(text)[:letters-1]) + "…"
}

// pad fills a text up with spaces: on the right, or on the left for a
// negative width.
func pad(text string, width int) string {
	missing := max(width, -width) - utf8.RuneCountInString(text)
	if missing <= 0 {
		return text
	}
	if width < 0 {
		return strings.Repeat(" ", missing) + text
	}
	return text + strings.Repeat(" ", missing)
}

// table writes rows in aligned columns; the first row is the head.
func table(w io.Writer, rows [][]string) error {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(pad(cell, widths[i]+2))
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(line.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}

// colour is an ANSI colour code.
type colour string

const (
	red    colour = "31"
	yellow colour = "33"
	green  colour = "32"
	faint  colour = "2"
)

// paint colours a text that is clean already.
func (e *Env) paint(text string, c colour) string {
	if !e.Color || strings.TrimSpace(text) == "" {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}

// ParseSpan reads a span of time as the configuration writes it, with days.
func ParseSpan(text string) (time.Duration, error) {
	span, ok := config.ParseDuration(text)
	if !ok {
		return 0, fmt.Errorf("expected a span of time such as 30m, 12h or 90d, got %q", text)
	}
	return span, nil
}
