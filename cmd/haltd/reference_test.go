package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the references in docs anew")

// fresh holds what is between two marks of a page against what the code says.
func fresh(t *testing.T, page, mark, want string) {
	t.Helper()
	path := filepath.Join(root, page)
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- "+mark+", written by make reference -->\n", "<!-- "+mark+" end -->\n"
	before, rest, ok := strings.Cut(string(old), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has lost its marks of %s", page, mark)
	}
	want = before + begin + want + end + after
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, string(old)); diff != "" {
		t.Errorf("%s is stale, run make reference (-want +got):\n%s", page, diff)
	}
}

// docs/commands.md has every command with its flags and examples.
func TestReferenceOfCommandsIsFresh(t *testing.T) {
	var b strings.Builder
	top := newParser(new(commands)).Model.Node
	visit(top, func(n *kong.Node) {
		if n != top && n.Leaf() {
			describe(&b, n)
		}
	})
	fresh(t, "docs/commands.md", "commands", b.String())
}

// describe writes what there is to say of one command.
func describe(b *strings.Builder, n *kong.Node) {
	fmt.Fprintf(b, "\n### haltd %s\n\n%s\n\n", commandPath(n), n.Help)
	var rows []string
	for _, a := range n.Positional {
		rows = append(rows, fmt.Sprintf("| `%s` | %s |\n", a.Summary(), cell(a.Help)))
	}
	for _, f := range n.Flags {
		name := "--" + f.Name
		if !f.IsBool() {
			name += "=" + f.FormatPlaceHolder()
		}
		if f.Short != 0 {
			name = "-" + string(f.Short) + ", " + name
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s |\n", strings.ReplaceAll(name, "|", `\|`), cell(f.Help)))
	}
	if len(rows) > 0 {
		fmt.Fprintf(b, "| | |\n|---|---|\n%s\n", strings.Join(rows, ""))
	}
	fmt.Fprintf(b, "```sh\n%s\n```\n", strings.Join(examples[commandPath(n)], "\n"))
}

func cell(help string) string { return strings.ReplaceAll(help, "|", `\|`) }
