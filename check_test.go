package haltd_test

import (
	"go/ast"
	"reflect"
	"strings"
	"testing"

	"github.com/haltd/haltd"
)

// Who reads the API is told all checks, wherever one is named.
func TestChecksAreAllInTheSchema(t *testing.T) {
	var declared []string
	ast.Inspect(sources(t, ".")["check.go"], func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok {
			declared = append(declared, strings.ToLower(strings.TrimPrefix(v.Names[0].Name, "Check")))
		}
		return true
	})
	want := strings.Join(declared, ",")
	for _, of := range []any{haltd.Finding{}, haltd.Verdict{}, haltd.Incident{}, haltd.IncidentCount{}} {
		named := 0
		for f := range reflect.TypeOf(of).Fields() {
			if f.Type != reflect.TypeFor[haltd.Check]() {
				continue
			}
			if named++; f.Tag.Get("enum") != want {
				t.Errorf("%T.%s tells the checks %s, want %s", of, f.Name, f.Tag.Get("enum"), want)
			}
		}
		if named == 0 {
			t.Errorf("%T names no check", of)
		}
	}
}
