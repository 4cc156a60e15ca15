package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/haltd/haltd/internal/cli"
)

// root is the repository, from this folder.
const root = "../.."

// page is a document: its text, its blocks of code by language, and what it
// says in backquotes outside of them.
type page struct {
	name   string // below the root
	text   string
	prose  string // without the blocks
	blocks []block
	inline []string
}

type block struct{ language, text string }

var (
	fenced     = regexp.MustCompile("(?ms)^ *```([a-z]*)\n(.*?)^ *```$")
	backquoted = regexp.MustCompile("`([^`]+)`")
)

// pages are all documents.
func pages(t *testing.T) (all []page) {
	t.Helper()
	names := []string{"README.md"}
	for _, pattern := range []string{"docs/*.md", "deploy/*.md", "deploy/*/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range found {
			rel, err := filepath.Rel(root, name)
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, rel)
		}
	}
	if len(names) < 10 {
		t.Fatalf("%d pages found", len(names))
	}
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		p := page{name: name, text: string(text), prose: fenced.ReplaceAllString(string(text), "")}
		for _, m := range fenced.FindAllStringSubmatch(p.text, -1) {
			p.blocks = append(p.blocks, block{m[1], m[2]})
		}
		for _, m := range backquoted.FindAllStringSubmatch(p.prose, -1) {
			p.inline = append(p.inline, strings.Join(strings.Fields(m[1]), " "))
		}
		all = append(all, p)
	}
	return all
}

var (
	link    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ +(.+)$`)
	notSlug = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// slugs are the anchors of a page's headings, as GitHub makes them.
func (p *page) slugs() (all []string) {
	for _, m := range heading.FindAllStringSubmatch(p.prose, -1) {
		slug := notSlug.ReplaceAllString(strings.ToLower(strings.TrimSpace(m[1])), "")
		all = append(all, strings.ReplaceAll(slug, " ", "-"))
	}
	return all
}

func TestDocsHaveNoDeadLinks(t *testing.T) {
	all := pages(t)
	links := 0
	for _, p := range all {
		for _, m := range link.FindAllStringSubmatch(p.prose, -1) {
			links++
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			file, anchor, _ := strings.Cut(m[1], "#")
			target := p.name
			if file != "" {
				target = filepath.Join(filepath.Dir(p.name), file)
			}
			if _, err := os.Stat(filepath.Join(root, target)); err != nil {
				t.Errorf("%s: the link %s leads nowhere", p.name, m[1])
				continue
			}
			if i := slices.IndexFunc(all, func(p page) bool { return p.name == target }); anchor != "" && i >= 0 && !slices.Contains(all[i].slugs(), anchor) {
				t.Errorf("%s: %s has no heading %s", p.name, target, anchor)
			}
		}
	}
	if links < 50 {
		t.Errorf("%d links found; the docs have more", links)
	}
}

// The index leads to every page.
func TestDocsAreInTheIndex(t *testing.T) {
	all := pages(t)
	i := slices.IndexFunc(all, func(p page) bool { return p.name == "docs/README.md" })
	if i < 0 {
		t.Fatal("docs/README.md, the index, is missing")
	}
	for _, p := range all {
		if filepath.Dir(p.name) == "docs" && p.name != all[i].name && !strings.Contains(all[i].text, "]("+filepath.Base(p.name)+")") {
			t.Errorf("the index does not lead to %s", p.name)
		}
	}
}

// commandLines are the calls of haltd in blocks that a shell runs.
func (p *page) commandLines() (lines []string) {
	for _, b := range p.blocks {
		if b.language != "" && b.language != "sh" {
			continue
		}
		for line := range strings.Lines(strings.ReplaceAll(b.text, "\\\n", " ")) {
			line = strings.TrimSpace(line)
			line = strings.TrimPrefix(strings.TrimPrefix(line, "$ "), "sudo ")
			line = strings.TrimPrefix(strings.TrimPrefix(line, "./"), "bin/")
			if strings.HasPrefix(line, "haltd ") && !strings.Contains(line, "…") {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// What the docs tell to type can be typed.
func TestDocsShowCommandsThatParse(t *testing.T) {
	all := pages(t)
	t.Chdir(t.TempDir())
	for _, name := range []string{"steps.jsonl", "events.jsonl"} { // replay wants to see them
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	lines := 0
	for _, p := range all {
		for _, line := range p.commandLines() {
			lines++
			if _, err := newParser(new(commands)).Parse(words(t, line)); err != nil {
				t.Errorf("%s: %s: %v", p.name, line, err)
			}
		}
	}
	if lines < 20 {
		t.Errorf("%d command lines found; the docs have more", lines)
	}
}

// Commands and flags that are named in passing exist.
func TestDocsNameCommandsAndFlagsThatExist(t *testing.T) {
	top := newParser(new(commands)).Model.Node
	flags := map[string]bool{"--help": true}
	visit(top, func(n *kong.Node) {
		for _, f := range n.Flags {
			flags["--"+f.Name] = true
		}
	})
	for _, p := range pages(t) {
		for _, code := range p.inline {
			if strings.HasPrefix(code, "--") {
				if name, _, _ := strings.Cut(strings.Fields(code)[0], "="); !flags[name] && !foreign[name] {
					t.Errorf("%s: no command has the flag %s", p.name, name)
				}
			}
			if rest, ok := strings.CutPrefix(code, "haltd "); ok {
				checkMention(t, p.name, top, rest)
			}
		}
	}
}

// foreign are flags of other programs that the docs name.
var foreign = map[string]bool{"--exclude-dynamic-system-prompt-sections": true}

// checkMention follows the words of a command as far as they are commands, and
// looks for the flags behind them.
func checkMention(t *testing.T, page string, n *kong.Node, mention string) {
	t.Helper()
	for i, word := range strings.Fields(mention) {
		if name, _, _ := strings.Cut(word, "="); strings.HasPrefix(name, "--") {
			if !hasFlag(n, strings.TrimPrefix(name, "--")) {
				t.Errorf("%s: haltd %s: no flag %s", page, mention, name)
			}
			continue
		}
		at := slices.IndexFunc(n.Children, func(c *kong.Node) bool { return c.Name == word })
		switch {
		case at >= 0:
			n = n.Children[at]
		case len(n.Children) > 0 && word != "COMMAND" && !strings.Contains(word, "|"):
			t.Errorf("%s: haltd %s: %s, word %d, is no command", page, mention, word, i+1)
			return
		}
	}
}

func hasFlag(n *kong.Node, name string) bool {
	for ; n != nil; n = n.Parent {
		if slices.ContainsFunc(n.Flags, func(f *kong.Flag) bool { return f.Name == name }) {
			return true
		}
	}
	return false
}

var (
	metric   = regexp.MustCompile(`\bhaltd_[a-z_]*[a-z]\b`)
	declared = regexp.MustCompile(`"(haltd_[a-z_]+)"`)
	// suffixes are what Prometheus adds to the name of a histogram.
	suffixes = []string{"_bucket", "_sum", "_count"}
	// noMetrics are other names that begin so: a cookie, and a member of a
	// request that was steered.
	noMetrics = []string{"haltd_session", "haltd_note"}
)

// Metrics in the docs exist, and those that exist are in the docs.
func TestDocsNameEveryMetric(t *testing.T) {
	exist := map[string]bool{}
	files, err := filepath.Glob(filepath.Join(root, "internal/telemetry/*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no source of metrics: %v", err)
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range declared.FindAllStringSubmatch(string(source), -1) {
			if !strings.HasSuffix(file, "_test.go") {
				exist[m[1]] = true
			}
		}
	}
	named := map[string]bool{}
	for _, p := range pages(t) {
		for _, name := range metric.FindAllString(p.text, -1) {
			for _, suffix := range suffixes {
				if base := strings.TrimSuffix(name, suffix); exist[base] {
					name = base
				}
			}
			named[name] = true
			if !exist[name] && !slices.Contains(noMetrics, name) {
				t.Errorf("%s: there is no metric %s", p.name, name)
			}
		}
	}
	for name := range exist {
		if !named[name] {
			t.Errorf("no page names the metric %s", name)
		}
	}
}

var route = regexp.MustCompile("\\b(GET|POST|PUT|PATCH|DELETE) (/(?:v1/[^\\s`\"'?)]+|metrics|healthz|readyz))")

// Routes in the docs exist; TestTheDocsNameEveryRoute of package admin looks
// for those that exist without docs.
func TestDocsNameRoutesThatExist(t *testing.T) {
	var out bytes.Buffer
	if err := (&openAPICmd{}).Run(&cli.Env{Stdout: &out}); err != nil {
		t.Fatal(err)
	}
	var api struct{ Paths map[string]map[string]any }
	if err := json.Unmarshal(out.Bytes(), &api); err != nil {
		t.Fatal(err)
	}
	exists := func(method, path string) bool {
		for known, methods := range api.Paths {
			if methods[strings.ToLower(method)] != nil && sameRoute(known, path) {
				return true
			}
		}
		return false
	}
	for _, p := range pages(t) {
		for _, m := range route.FindAllStringSubmatch(p.text, -1) {
			path := strings.TrimRight(m[2], ".,;:")
			if !exists(m[1], path) && !ofProvider(path) {
				t.Errorf("%s: there is no route %s %s", p.name, m[1], path)
			}
		}
	}
}

// sameRoute reports whether a path is one of a route; what stands for a
// parameter may have any name.
func sameRoute(known, path string) bool {
	a, b := strings.Split(known, "/"), strings.Split(path, "/")
	return slices.EqualFunc(a, b, func(a, b string) bool { return a == b || strings.HasPrefix(a, "{") && b != "" })
}

// ofProvider reports paths of the gateway that providers have.
func ofProvider(path string) bool {
	for _, name := range []string{"chat/completions", "responses", "messages", "models", "embeddings", "files", "batches", "tools"} {
		if strings.HasPrefix(path, "/v1/"+name) {
			return true
		}
	}
	return false
}

var (
	codeOf  = regexp.MustCompile(`(?m)^\s*(?:const )?[cC]ode[A-Z]\w*\s*= "([a-z_]+)"|Reason = "([a-z_]+)"`)
	codeRow = regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| \\d{3} \\|")
	// told are the reasons that stop nothing.
	told = []string{"budget_soft", "growth"}
)

// Every code that an answer may carry is explained, and no other.
func TestDocsExplainEveryError(t *testing.T) {
	exist := map[string]bool{}
	for _, pattern := range []string{"*.go", "internal/gateway/*.go", "internal/admin/*.go"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range codeOf.FindAllStringSubmatch(string(source), -1) {
				if code := m[1] + m[2]; !strings.HasSuffix(file, "_test.go") && !slices.Contains(told, code) {
					exist[code] = true
				}
			}
		}
	}
	text, err := os.ReadFile(filepath.Join(root, "docs/errors.md"))
	if err != nil {
		t.Fatal(err)
	}
	explained := map[string]bool{}
	for _, m := range codeRow.FindAllStringSubmatch(string(text), -1) {
		explained[m[1]] = true
	}
	for code := range exist {
		if !explained[code] {
			t.Errorf("docs/errors.md does not explain %s", code)
		}
	}
	for code := range explained {
		if !exist[code] && !saidInSource(t, code) {
			t.Errorf("docs/errors.md explains %s, which nothing answers", code)
		}
	}
}

// saidInSource reports whether gateway or admin write a code out.
func saidInSource(t *testing.T, code string) bool {
	t.Helper()
	for _, pattern := range []string{"internal/gateway/*.go", "internal/admin/*.go"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(file, "_test.go") && bytes.Contains(source, []byte(`"`+code+`"`)) {
				return true
			}
		}
	}
	return false
}

// The names of the systems that haltd learned from are for docs/seeds.md. A header
// that clients of one of them send is what it is.
func TestDocsKeepForeignNamesToTheirPage(t *testing.T) {
	names := regexp.MustCompile(`(?i)AgentGazer|Fairvisor|AgentWatch`)
	for _, p := range pages(t) {
		if p.name == "docs/seeds.md" {
			continue
		}
		if name := names.FindString(strings.ReplaceAll(p.text, "`x-agentwatch-session-id`", "")); name != "" {
			t.Errorf("%s speaks of %s", p.name, name)
		}
	}
}

var linkedTest = regexp.MustCompile("\\[`(Test[^`]+)`\\]\\(([^)]+_test\\.go)\\)")

// A test that a page rests on is in the file that it links, and each of its
// subtests is named in that folder.
func TestDocsLinkTestsThatExist(t *testing.T) {
	found := 0
	for _, p := range pages(t) {
		for _, link := range linkedTest.FindAllStringSubmatch(p.text, -1) {
			found++
			file := filepath.Join(root, filepath.Dir(p.name), link[2])
			name, subtests, _ := strings.Cut(link[1], "/")
			if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), "func "+name+"(") {
				t.Errorf("%s: there is no %s in %s (%v)", p.name, name, link[2], err)
			}
			folder := textOfTests(t, filepath.Dir(file))
			for _, sub := range strings.FieldsFunc(subtests, func(r rune) bool { return r == '/' }) {
				if !strings.Contains(folder, strings.ReplaceAll(sub, "_", " ")) && !strings.Contains(folder, sub) {
					t.Errorf("%s: %s has no subtest %q", p.name, name, sub)
				}
			}
		}
	}
	if found < 50 {
		t.Errorf("%d links to tests found", found)
	}
}

func textOfTests(t *testing.T, folder string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}
