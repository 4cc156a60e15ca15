package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/admin"
	"github.com/haltd/haltd/internal/gateway"
)

// docs/errors.md explains every code as gateway and admin do.
func TestReferenceOfErrorsIsFresh(t *testing.T) {
	for _, part := range []struct {
		mark, head string
		rows       []haltd.Explanation
	}{{"refusals", "code", gateway.Refusals}, {"stops", "reason", gateway.Stops}, {"api", "code", admin.Refusals}} {
		var b strings.Builder
		fmt.Fprintf(&b, "| %s | status | what happened | what to do |\n|---|---|---|---|\n", part.head)
		for _, e := range part.rows {
			fmt.Fprintf(&b, "| `%s` | %d | %s | %s |\n", e.Code, e.Status, cell(e.Means), cell(e.Do))
		}
		fresh(t, "docs/errors.md", part.mark, b.String())
	}
}

// Whatever gateway and admin answer with, code and status together, they
// explain.
func TestEveryRefusalIsExplained(t *testing.T) {
	for _, room := range []struct {
		folder, call string
		explained    []haltd.Explanation
		atLeast      int
	}{{"internal/gateway", "refuse", gateway.Refusals, 15}, {"internal/admin", "newProblem", admin.Refusals, 5}} {
		found := refusals(t, room.folder, room.call)
		if len(found) < room.atLeast {
			t.Errorf("%s: %d refusals found in the source; there are more", room.folder, len(found))
		}
		for _, r := range found {
			if !slices.ContainsFunc(room.explained, func(e haltd.Explanation) bool { return e.Code == r.code && e.Status == r.status }) {
				t.Errorf("%s answers %s with %d and does not explain it", r.at, r.code, r.status)
			}
		}
	}
}

type refusal struct {
	at, code string
	status   int
}

// refusals are the calls such as refuse(http.StatusX, haltd.Errorf(code, …)) in
// the source of a room.
func refusals(t *testing.T, folder, call string) (all []refusal) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob(filepath.Join(root, "error.go"))
	if err != nil {
		t.Fatal(err)
	}
	set, codes := token.NewFileSet(), map[string]string{}
	var sources []*ast.File
	for _, name := range append(more, files...) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, source)
		ast.Inspect(source, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok {
				for i, value := range spec.Values {
					if text, ok := literal(value); ok {
						codes[spec.Names[i].Name] = text
					}
				}
			}
			return true
		})
	}
	for _, source := range sources {
		ast.Inspect(source, func(n ast.Node) bool {
			c, ok := n.(*ast.CallExpr)
			if !ok || name(c.Fun) != call || len(c.Args) != 2 {
				return true
			}
			status, code := statuses[name(c.Args[0])], ""
			ast.Inspect(c.Args[1], func(n ast.Node) bool {
				if made, ok := n.(*ast.CallExpr); ok && name(made.Fun) == "Errorf" && len(made.Args) > 0 {
					if text, ok := literal(made.Args[0]); ok {
						code = text
					} else {
						code = codes[name(made.Args[0])]
					}
				}
				return true
			})
			if status != 0 && code != "" {
				all = append(all, refusal{set.Position(c.Pos()).String(), code, status})
			}
			return true
		})
	}
	return all
}

// name is that of a function or constant, without its package.
func name(n ast.Expr) string {
	switch n := n.(type) {
	case *ast.Ident:
		return n.Name
	case *ast.SelectorExpr:
		return n.Sel.Name
	}
	return ""
}

func literal(n ast.Expr) (string, bool) {
	lit, ok := n.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil
}

// statuses are those of package http by the names of their constants.
var statuses = func() map[string]int {
	all := map[string]int{}
	for status := 400; status < 600; status++ {
		if text := http.StatusText(status); text != "" {
			all["Status"+strings.NewReplacer(" ", "", "-", "", "'", "").Replace(text)] = status
		}
	}
	return all
}()
