package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/haltd/haltd/internal/detection"
)

// writeDocs puts the figures and the weights of a run into a document, each table
// between two lines that name it.
func writeDocs(path string, t table, m *detection.Model) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("reading the document: %w", err)
	}
	doc := string(b)
	for _, part := range [...]struct{ name, text string }{{"figures", t.bySet()}, {"sources", t.bySource()}, {"weights", weightsTable(m)}} {
		before, _, after, ok := cutPart(doc, part.name)
		if !ok {
			return fmt.Errorf("%s has no place for the %s: it must have the lines %q and %q", path, part.name, begins(part.name), ends(part.name))
		}
		doc = before + part.text + after
	}
	if err := os.WriteFile(path, []byte(doc), 0o644); err != nil {
		return fmt.Errorf("writing the document: %w", err)
	}
	return nil
}

func begins(part string) string { return "<!-- " + part + ", written by make train -->\n\n" }
func ends(part string) string   { return "\n<!-- end of the " + part + " -->\n" }

// cutPart finds a part of a document between its lines, which stay in what is
// before and after it.
func cutPart(doc, part string) (before, text, after string, found bool) {
	from := strings.Index(doc, begins(part)) + len(begins(part))
	if from < len(begins(part)) {
		return doc, "", "", false
	}
	length := strings.Index(doc[from:], ends(part))
	if length < 0 {
		return doc, "", "", false
	}
	return doc[:from], doc[from : from+length], doc[from+length:], true
}

// sets are the rows of the table of figures and what the report calls them.
var sets = [...]struct{ title, row string }{
	{"third set, readers sure (≥ .7)", "open3 read, sure"},
	{"third set, all labels", "open3 read"},
	{"first set, readers sure", "open read, sure"},
	{"first set, all labels", "open read"},
	{"first set, labels by rule", "open by rule"},
	{"second set, read", "open2 read"},
	{"second set, by rule", "open2 by rule"},
	{"made-up behaviours", "made up, all"},
}

func (t table) bySet() string {
	var b strings.Builder
	b.WriteString("| runs | stuck | wasteful | healthy |\n|---|---|---|---|\n")
	for _, s := range sets {
		t.writeRow(&b, s.title, s.row)
	}
	return b.String()
}

func (t table) bySource() string {
	var b strings.Builder
	b.WriteString("| source | stuck | wasteful | healthy |\n|---|---|---|---|\n")
	for _, row := range slices.Sorted(maps.Keys(t)) {
		if source, ok := strings.CutPrefix(row, "source "); ok {
			t.writeRow(&b, source, row)
		}
	}
	return b.String()
}

func (t table) writeRow(b *strings.Builder, title, row string) {
	fmt.Fprintf(b, "| %s | %s | %s | %s |\n", title, t[row]["stuck"], t[row]["wasteful"], t[row]["healthy"])
}

// weightsTable lists the signs that weigh something, those of several windows
// together.
func weightsTable(m *detection.Model) string {
	var b strings.Builder
	b.WriteString("| sign | speaks for | what it is | weight over 4, 8, 16 rounds |\n|---|---|---|---|\n")
	catalog, weighing := detection.Catalog(), 0
	for i := 0; i < len(catalog); {
		first, weights, any := catalog[i], []string(nil), false
		name := signName(first.Name)
		for ; i < len(catalog) && signName(catalog[i].Name) == name; i++ {
			w := m.Weights[catalog[i].Name]
			weights = append(weights, fmt.Sprintf("%+.2f", w))
			weighing += count(w != 0)
			any = any || w != 0
		}
		if any {
			doc, _, _ := strings.Cut(first.Doc, ", in the last ")
			family := string(first.Family)
			if family == "" {
				family = "news"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", name, family, doc, strings.Join(weights, ", "))
		}
	}
	fmt.Fprintf(&b, "\nThe sum begins at log-odds of %.2f; %d features in all, %d with a weight.\n", m.Bias, len(catalog), weighing)
	return b.String()
}

// signName is the name of a feature without its window.
func signName(feature string) string { return strings.TrimRight(feature, "_0123456789") }
