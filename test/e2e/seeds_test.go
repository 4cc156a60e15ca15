package e2e

import (
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

const root = "../.."

var namedTest = regexp.MustCompile("`([a-z0-9/]+)` `((?:Test|Benchmark)[^`]+)`")

// TestSeedsAreTested keeps docs/seeds.md honest: every test that it names
// exists.
func TestSeedsAreTested(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(root, "docs", "seeds.md"))
	if err != nil {
		t.Fatal(err)
	}
	folders := map[string]testNames{}
	rows := 0
	for line := range strings.Lines(string(page)) {
		named := namedTest.FindAllStringSubmatch(line, -1)
		if strings.HasPrefix(line, "| ") && named == nil && !strings.Contains(line, "| test |") {
			t.Errorf("no test is named in %q", line)
		}
		rows += len(named)
		for _, m := range named {
			folder, name := m[1], m[2]
			if folders[folder].functions == nil {
				folders[folder] = namesIn(t, filepath.Join(root, folder))
			}
			function, subtests, _ := strings.Cut(name, "/")
			if !folders[folder].functions[function] {
				t.Errorf("docs/seeds.md names %s, which is not in %s", function, folder)
			}
			for subtest := range strings.SplitSeq(subtests, "/") {
				if subtest != "" && !folders[folder].texts[subtest] {
					t.Errorf("docs/seeds.md names %s, but no test in %s is called %q", name, folder, subtest)
				}
			}
		}
	}
	if rows == 0 {
		t.Error("docs/seeds.md names no test")
	}
}

var linkedTest = regexp.MustCompile("\\[`(Test[^`]+)`\\]\\(\\.\\./([^)]+)/([^/)]+)\\)")

// TestPromisesAreTested keeps docs/threat-model.md and docs/reliability.md
// honest: every test that they name is linked, and is in the file that the link
// leads to; every attack names one.
func TestPromisesAreTested(t *testing.T) {
	t.Parallel()
	folders := map[string]testNames{}
	for _, name := range []string{"threat-model.md", "reliability.md"} {
		page, err := os.ReadFile(filepath.Join(root, "docs", name))
		if err != nil {
			t.Fatal(err)
		}
		promises := 0
		for line := range strings.Lines(string(page)) {
			if !strings.HasPrefix(line, "| ") || strings.Contains(line, "| test |") {
				continue
			}
			linked := linkedTest.FindAllStringSubmatch(line, -1)
			if n := strings.Count(line, "`Test"); n != len(linked) || n == 0 && name == "threat-model.md" {
				t.Errorf("docs/%s names %d tests and links %d in %q", name, n, len(linked), line)
			}
			promises += len(linked)
			for _, m := range linked {
				folder, file := m[2], m[3]
				function, subtests, _ := strings.Cut(m[1], "/")
				code, err := os.ReadFile(filepath.Join(root, folder, file))
				if err != nil || !strings.Contains(string(code), "\nfunc "+function+"(t *testing.T) {") {
					t.Errorf("docs/%s names %s, which is not in %s/%s (%v)", name, function, folder, file, err)
				}
				if folders[folder].functions == nil {
					folders[folder] = namesIn(t, filepath.Join(root, folder))
				}
				for subtest := range strings.SplitSeq(subtests, "/") {
					if subtest != "" && !folders[folder].texts[subtest] {
						t.Errorf("docs/%s names %s, but no test in %s is called %q", name, m[1], folder, subtest)
					}
				}
			}
		}
		if promises == 0 {
			t.Errorf("docs/%s links no test", name)
		}
	}
}

// testNames is what the tests of a folder may be called.
type testNames struct {
	functions map[string]bool
	texts     map[string]bool // as the test runner writes them
}

func namesIn(t *testing.T, folder string) testNames {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	names := testNames{map[string]bool{}, map[string]bool{}}
	for _, path := range files {
		file, err := parser.ParseFile(gotoken.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				names.functions[n.Name.Name] = true
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); n.Kind == gotoken.STRING && err == nil {
					names.texts[strings.ReplaceAll(text, " ", "_")] = true
				}
			}
			return true
		})
	}
	return names
}
