package haltd_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"strings"
	"testing"
)

// mostMethods is how many methods a port may have.
const mostMethods = 5

// A room keeps its neighbours to itself: a struct that embeds its Options
// hands all of them to whoever holds it. What a room asks for is small.
func TestRoomsHideTheirNeighbours(t *testing.T) {
	files := sources(t, "internal")
	maps.Copy(files, sources(t, "."))
	for file, parsed := range files {
		ast.Inspect(parsed, func(n ast.Node) bool {
			named, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			switch kind := named.Type.(type) {
			case *ast.StructType:
				for _, field := range kind.Fields.List {
					if id, ok := field.Type.(*ast.Ident); ok && len(field.Names) == 0 && id.Name == "Options" {
						t.Errorf("%s: %s embeds Options; keep it in a private field", file, named.Name)
					}
				}
			case *ast.InterfaceType:
				methods := 0
				for _, m := range kind.Methods.List {
					methods += len(m.Names)
				}
				// What formats are made of is no port of a room.
				if methods > mostMethods && !strings.HasPrefix(file, filepath.Join("internal", "wire")) {
					t.Errorf("%s: port %s has %d methods, want %d at most", file, named.Name, methods, mostMethods)
				}
			}
			return true
		})
	}
}

// sources parses the Go files below a folder, without those of tests; those of
// package haltd alone for ".".
func sources(t *testing.T, folder string) map[string]*ast.File {
	t.Helper()
	files := map[string]*ast.File{}
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && folder == "." && entry.IsDir() && path != "." {
			return fs.SkipDir
		}
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files[path], err = parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	return files
}
