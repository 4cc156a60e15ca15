// Package deploy holds the files of deploy/ against the programs that read
// them. It is a module of its own, so that none of them becomes a dependency of
// haltd.
package deploy

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/haltd/haltd/test/harness"
	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/linter"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
)

func TestMain(m *testing.M) { harness.Main(m) }

func file(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "deploy", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// The image is built in stages, and the last holds the binary on a distroless
// base and runs without root.
func TestDockerfile(t *testing.T) {
	read, err := parser.Parse(strings.NewReader(string(file(t, "Dockerfile"))))
	if err != nil {
		t.Fatal(err)
	}
	if len(read.Warnings) > 0 {
		t.Errorf("BuildKit warns: %+v", read.Warnings)
	}
	stages, _, err := instructions.Parse(read.AST, linter.New(&linter.Config{Warn: func(rule, _, _, says string, _ []parser.Range) {
		t.Errorf("BuildKit warns: %s: %s", rule, says)
	}}))
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, s := range stages {
		for _, c := range s.Commands {
			copied, ok := c.(*instructions.CopyCommand)
			if !ok {
				continue
			}
			if copied.From != "" && !slices.Contains(names, copied.From) {
				t.Errorf("%s copies from %s, which is no stage before it", s.Name, copied.From)
			}
			for _, path := range copied.SourcePaths {
				if copied.From == "" {
					exists(t, path)
				}
			}
		}
		names = append(names, s.Name)
	}
	if len(stages) < 3 {
		t.Fatalf("%d stages", len(stages))
	}
	last := stages[len(stages)-1]
	if !strings.Contains(last.BaseName, "distroless") || !strings.Contains(last.BaseName, "nonroot") {
		t.Errorf("the last stage is made from %s", last.BaseName)
	}
	user, volume, entry := "", []string{}, []string{}
	for _, c := range last.Commands {
		switch c := c.(type) {
		case *instructions.UserCommand:
			user = c.User
		case *instructions.VolumeCommand:
			volume = c.Volumes
		case *instructions.EntrypointCommand:
			entry = c.CmdLine
		case *instructions.RunCommand:
			t.Error("the last stage runs a command, for which it has no shell")
		}
	}
	if user != "65532:65532" || !slices.Equal(volume, []string{"/data"}) || !slices.Equal(entry, []string{"/haltd"}) {
		t.Errorf("user %q, volumes %v, entry point %v", user, volume, entry)
	}
}

// exists wants a path of the repository that .dockerignore lets through.
func exists(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join("..", "..", path)); err != nil {
		t.Error(err)
	}
	ignored, err := os.ReadFile(filepath.Join("..", "..", ".dockerignore"))
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(path, "/")
	if path != "." && !slices.Contains(strings.Split(string(ignored), "\n"), "!"+first) && !strings.HasPrefix(first, "go.") {
		t.Errorf(".dockerignore keeps %s out", path)
	}
}
