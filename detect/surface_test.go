package detect_test

import (
	"go/ast"
	"go/doc"
	"go/format"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// public is all that programs may rely on. A name that is added here stays; what
// only the gateway needs belongs to internal/detection.
var public = strings.Fields(`
	New Options
	Guard Guard.Session Guard.Forget
	GuardSession GuardSession.Check GuardSession.Observe GuardSession.Withdraw GuardSession.Resume
	GuardSession.MarshalBinary GuardSession.UnmarshalBinary
	Detection Detection.Sentence
	Level Pass Warn Kill
	Detector Similarity Stall Growth
	Family Repeat Cycle Futile Chatter Refusal Waiting Streak
	Signal Reason RoundEvidence Match ScoreParts
`)

// The library is small: it exports these names, says what each is for, and hands
// out no type that a program cannot name.
func TestPublicNames(t *testing.T) {
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	var files []*ast.File
	for _, path := range paths {
		file, err := parser.ParseFile(set, path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	pkg, err := doc.NewFromFiles(set, files, "github.com/haltd/haltd/detect")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	see := func(name, said string, decl ast.Decl) {
		found = append(found, name)
		if !slices.Contains(public, name) {
			t.Errorf("%s is exported and not on the list", name)
		}
		if said == "" {
			t.Errorf("%s has no comment", name)
		}
		var text strings.Builder
		if err := format.Node(&text, set, decl); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(text.String(), "detection.") {
			t.Errorf("%s shows a type of an internal package:\n%s", name, text.String())
		}
	}
	functions := func(of string, all []*doc.Func) {
		for _, f := range all {
			see(of+f.Name, f.Doc, f.Decl)
		}
	}
	values := func(all []*doc.Value) {
		for _, v := range all {
			for _, name := range v.Names {
				see(name, v.Doc, v.Decl)
			}
		}
	}
	functions("", pkg.Funcs)
	values(slices.Concat(pkg.Consts, pkg.Vars))
	for _, kind := range pkg.Types {
		see(kind.Name, kind.Doc, kind.Decl)
		functions("", kind.Funcs)
		functions(kind.Name+".", kind.Methods)
		values(slices.Concat(kind.Consts, kind.Vars))
	}
	for _, name := range public {
		if !slices.Contains(found, name) {
			t.Errorf("%s is on the list and not exported", name)
		}
	}
}
