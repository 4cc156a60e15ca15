package haltd_test

import (
	"go/ast"
	"maps"
	"path/filepath"
	"regexp"
	"testing"
)

// An error carries its field (Error.In), so that nobody has to cut it out of a
// message.
func TestErrorsCarryTheirField(t *testing.T) {
	field := regexp.MustCompile(`^["` + "`" + `](?:[a-z][a-zA-Z0-9_.\[\]%]*|[A-Z]+_[A-Z_]+|%[sv]): `)
	files := sources(t, "internal")
	maps.Copy(files, sources(t, "."))
	found := 0
	for file, parsed := range files {
		ast.Inspect(parsed, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || !isErrorf(call.Fun, parsed.Name.Name) || len(call.Args) < 2 {
				return true
			}
			found++
			format, ok := call.Args[1].(*ast.BasicLit)
			isFile := ok && file == filepath.Join("internal", "config", "config.go") && format.Value == `"%s: %v"`
			if ok && !isFile && field.MatchString(format.Value) {
				t.Errorf("%s: the message %s begins with its field; use In", file, format.Value)
			}
			return true
		})
	}
	if found < 100 {
		t.Errorf("%d errors were looked at; are they made another way now?", found)
	}
}

func isErrorf(fun ast.Expr, in string) bool {
	switch fun := fun.(type) {
	case *ast.Ident:
		return in == "haltd" && fun.Name == "Errorf"
	case *ast.SelectorExpr:
		from, ok := fun.X.(*ast.Ident)
		return ok && from.Name == "haltd" && fun.Sel.Name == "Errorf"
	}
	return false
}
