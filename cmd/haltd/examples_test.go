package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// Every command shows how it is used, and what it shows can be typed.
func TestEveryCommandHasExamplesThatParse(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("steps.jsonl", nil, 0o600); err != nil { // replay wants to see it
		t.Fatal(err)
	}
	seen := map[string]bool{}
	var visit func(n *kong.Node)
	visit = func(n *kong.Node) {
		path := commandPath(n)
		seen[path] = true
		if !strings.HasPrefix(n.Detail, "Examples:\n\n    haltd") || n.Leaf() && len(examples[path]) == 0 {
			t.Errorf("haltd %s --help shows no example", path)
		}
		for _, line := range examples[path] {
			args := words(t, line)
			k, err := newParser(new(commands)).Parse(args)
			if err != nil {
				t.Errorf("%s: %v", line, err)
			} else if got := commandPath(k.Selected()); path != "haltd" && got != path {
				t.Errorf("%s is an example of %s, listed under %s", line, got, path)
			}
		}
		for _, child := range n.Children {
			visit(child)
		}
	}
	visit(newParser(new(commands)).Model.Node)
	for path := range examples {
		if !seen[path] {
			t.Errorf("there are examples of %s, which is no command", path)
		}
	}
}

// words splits a line as a shell does, as far as the examples need it, up to
// where another program, a file or a comment begins.
func words(t *testing.T, line string) []string {
	t.Helper()
	var all []string
	word, quoted, begun := strings.Builder{}, false, false
	for _, r := range line + " " {
		switch {
		case r == '\'':
			quoted, begun = !quoted, true
		case r == ' ' && !quoted:
			if begun {
				all = append(all, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if quoted || len(all) == 0 || all[0] != "haltd" {
		t.Fatalf("cannot read the example %s", line)
	}
	for i, w := range all {
		if slices.Contains([]string{"|", ">", "&", "&&", "#"}, w) {
			return all[1:i]
		}
	}
	return all[1:]
}
