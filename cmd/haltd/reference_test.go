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

var update = flag.Bool("update", false, "write docs/commands.md anew")

const (
	commandsBegin = "<!-- commands, written by make reference -->\n"
	commandsEnd   = "<!-- commands end -->\n"
)

// docs/commands.md has every command with its flags and examples.
func TestReferenceOfCommandsIsFresh(t *testing.T) {
	path := filepath.Join(root, "docs/commands.md")
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(old), commandsBegin)
	_, after, ok2 := strings.Cut(rest, commandsEnd)
	if !ok || !ok2 {
		t.Fatal("docs/commands.md has lost its marks")
	}
	var b strings.Builder
	top := newParser(new(commands)).Model.Node
	visit(top, func(n *kong.Node) {
		if n != top && n.Leaf() {
			describe(&b, n)
		}
	})
	want := before + commandsBegin + b.String() + commandsEnd + after
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, string(old)); diff != "" {
		t.Errorf("docs/commands.md is stale, run make reference (-want +got):\n%s", diff)
	}
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
