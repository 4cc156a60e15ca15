package haltd_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/haltd/haltd"
)

var backquoted = regexp.MustCompile("`([^`]+)`")

// rows are those of the tables in a document, without their heads.
func rows(t *testing.T, path, heading string) (rows [][]string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(string(b), heading)
	if !ok {
		t.Fatalf("%s has no %q", path, heading)
	}
	if section, _, more := strings.Cut(text, "\n## "); more {
		text = section
	}
	for line := range strings.Lines(text) {
		if cells := strings.Split(strings.Trim(line, "| \n"), " | "); len(cells) == 3 {
			rows = append(rows, cells)
		}
	}
	if len(rows) < 2 {
		t.Fatalf("%s has no table after %q", path, heading)
	}
	return rows[1:]
}

// says reports whether a file says a word, in whatever case.
func says(t *testing.T, file, word string) bool {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Error(err)
		return true
	}
	return strings.Contains(strings.ToLower(string(b)), strings.ToLower(word))
}

// The glossary is short, and every word is at home where it says.
func TestWordsAreWhereTheGlossarySays(t *testing.T) {
	words := rows(t, "docs/glossary.md", "# Words")
	if len(words) > 40 {
		t.Errorf("%d words; forty are as many as anybody learns", len(words))
	}
	for _, cells := range words {
		word, file := cells[0], strings.Trim(cells[2], "`")
		if !says(t, file, word) {
			t.Errorf("%s does not say %q", file, word)
		}
	}
}

// A stranger who searches for the word finds the file.
func TestSearchesFindTheirFile(t *testing.T) {
	for _, cells := range rows(t, "docs/architecture.md", "## Where to look") {
		word := strings.Trim(cells[1], "`")
		found := 0
		for _, m := range backquoted.FindAllStringSubmatch(cells[2], -1) {
			if strings.HasSuffix(m[1], ".go") {
				if found++; found == 1 && !says(t, m[1], word) {
					t.Errorf("%s: %s does not say %q", cells[0], m[1], word)
				}
				if _, err := os.Stat(m[1]); err != nil {
					t.Error(err)
				}
			}
		}
		if found == 0 {
			t.Errorf("%s: no file", cells[0])
		}
	}
}

// What was kept is told by what it was: a stop, a halt, or nothing stopped.
func TestStatusInWords(t *testing.T) {
	for _, tc := range []struct {
		want string
		of   haltd.Incident
	}{
		{"Open", haltd.Incident{Status: haltd.IncidentOpen, Action: haltd.Kill}},
		{"Kept stopped", haltd.Incident{Status: haltd.IncidentKept, Action: haltd.Kill}},
		{"Kept halted", haltd.Incident{Status: haltd.IncidentKept, Action: haltd.Halt}},
		{"Closed", haltd.Incident{Status: haltd.IncidentKept, Action: haltd.Kill, Shadow: true}},
		{"Closed", haltd.Incident{Status: haltd.IncidentKept, Action: haltd.Warn}},
		{"Marked as wrong", haltd.Incident{Status: haltd.IncidentFalsePositive, Action: haltd.Halt}},
	} {
		if got := tc.of.StatusWords(); got != tc.want {
			t.Errorf("%s, %v, shadow %v is %q, want %q", tc.of.Status, tc.of.Action, tc.of.Shadow, got, tc.want)
		}
	}
}
