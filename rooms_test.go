package haltd_test

import (
	"go/ast"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/haltd/haltd"

// rooms says which other rooms each room may import, as docs/architecture.md
// draws it. A room covers the folders below it.
var rooms = map[string][]string{
	".":                  {},
	"detect":             {".", "internal/detection"},
	"internal/detection": {".", "internal/xxhash"},
	"internal/xxhash":    {},
	"internal/recent":    {},
	"internal/lock":      {},
	"internal/http1":     {},
	"calls":              {".", "internal/wire"},
	"web":                {},
	"internal/wire":      {"."},
	"internal/policy":    {"."},
	"internal/store":     {".", "internal/lock"},
	"internal/state":     {".", "internal/detection", "internal/policy", "internal/lock", "internal/recent"},
	"internal/control":   {".", "internal/policy", "internal/lock"},
	"internal/ledger":    {".", "internal/policy", "internal/lock"},
	"internal/judge":     {".", "internal/detection", "internal/policy", "internal/control", "internal/ledger", "internal/state"},
	"internal/pricing":   {"."},
	"internal/excerpt":   {"."},
	"internal/telemetry": {"."},
	"internal/record":    {"."},
	"internal/alert":     {"."},
	"internal/config":    {".", "internal/policy", "internal/pricing"},
	"internal/economics": {".", "internal/policy"},
	"internal/admin":     {".", "internal/economics"},
	"internal/replay":    {".", "internal/detection", "internal/wire", "internal/policy", "internal/config", "internal/economics"},
	"internal/gateway":   {".", "internal/detection", "internal/wire", "internal/judge", "internal/policy", "internal/config", "internal/excerpt", "internal/recent", "internal/http1"},
	"internal/cli":       {".", "internal/config"},
	"internal/app":       {".", "web", "internal/admin", "internal/alert", "internal/config", "internal/control", "internal/gateway", "internal/http1", "internal/judge", "internal/ledger", "internal/pricing", "internal/record", "internal/state", "internal/store", "internal/telemetry"},
	"internal/demo":      {".", "internal/app"},
	"cmd/haltd":          {".", "internal/app", "internal/cli", "internal/demo", "internal/replay"},
}

// pure are the rooms that do no I/O, and outside are the packages of the
// standard library that would.
var (
	pure    = []string{"detect", "internal/detection", "internal/economics"}
	outside = []string{"os", "os/exec", "net", "net/http", "database/sql", "syscall"}
)

func TestRoomsKeepTheirWalls(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	used := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		from := fields[0]
		room := roomOf(from)
		if strings.HasPrefix(relative(from), "test/") {
			continue
		}
		allowed, ok := rooms[room]
		if !ok {
			t.Errorf("%s is in no room: add it to docs/architecture.md and here", from)
			continue
		}
		for _, to := range fields[1:] {
			if !strings.HasPrefix(to, module) {
				if room == "." && strings.Contains(strings.Split(to, "/")[0], ".") {
					t.Errorf("the root package imports %s; it may import the standard library only", to)
				}
				if slices.Contains(pure, room) && slices.Contains(outside, to) {
					t.Errorf("%s imports %s; room %s does no I/O", from, to, room)
				}
				continue
			}
			target := roomOf(to)
			used[room+" "+target] = true
			if target != room && !slices.Contains(allowed, target) {
				t.Errorf("%s imports %s; room %s may import %v only", from, to, room, allowed)
			}
			if isAdapter(from) && isAdapter(to) && from != to {
				t.Errorf("%s imports %s; adapters never import each other", from, to)
			}
		}
	}
	for room, allowed := range rooms {
		for _, target := range allowed {
			if !used[room+" "+target] {
				t.Errorf("room %s may import %s and does not: take it off the list", room, target)
			}
		}
	}
}

// The page draws the walls that the test above holds.
func TestRoomsAreDrawn(t *testing.T) {
	drawn := map[string]bool{}
	for _, cells := range rows(t, "docs/architecture.md", "## The rooms") {
		room := strings.Trim(strings.Fields(cells[0])[0], "`")
		allowed, ok := rooms[room]
		if !ok || cells[2] == "everything" {
			drawn[room] = ok
			continue // a folder of a room, or app
		}
		drawn[room] = true
		var names []string
		for _, path := range allowed {
			if path == "." {
				path = "haltd"
			}
			names = append(names, strings.TrimPrefix(path, "internal/"))
		}
		if got, want := cells[2], strings.Join(names, ", "); got != want && (want != "" || got != "standard library" && got != "nothing") {
			t.Errorf("docs/architecture.md says that %s may import %s; it may import %s", room, got, want)
		}
	}
	for room := range rooms {
		if !drawn[room] {
			t.Errorf("docs/architecture.md has no room %s", room)
		}
	}
}

// Time is an argument of what is pure: the same call is judged the same when it is
// replayed. The guard alone has a clock, which its Options may replace.
func TestPureRoomsHaveNoClock(t *testing.T) {
	clocks := []string{"Now", "Since", "Until", "After", "AfterFunc", "NewTicker", "NewTimer", "Sleep", "Tick"}
	for _, room := range pure {
		if room == "detect" {
			continue
		}
		for file, parsed := range sources(t, room) {
			ast.Inspect(parsed, func(n ast.Node) bool {
				s, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				if from, ok := s.X.(*ast.Ident); ok && from.Name == "time" && slices.Contains(clocks, s.Sel.Name) {
					t.Errorf("%s asks time.%s; room %s is told the time", file, s.Sel.Name, room)
				}
				return true
			})
		}
	}
}

// What a Go program may import brings no other module with it.
func TestRootAndDetectNeedNoOtherModule(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".", "./detect").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	own := []string{module, module + "/detect", module + "/internal/detection", module + "/internal/xxhash"}
	for _, path := range strings.Fields(string(out)) {
		if !slices.Contains(own, path) {
			t.Errorf("package haltd or detect needs %s; they may need the standard library only", path)
		}
	}
	if !strings.Contains(string(out), module+"/detect") {
		t.Errorf("go list knows no package detect: %s", out)
	}
}

func relative(path string) string {
	rel := strings.TrimPrefix(strings.TrimPrefix(path, module), "/")
	if rel == "" {
		return "."
	}
	return rel
}

func roomOf(path string) string {
	rel := relative(path)
	for room := range rooms {
		if rel == room || room != "." && strings.HasPrefix(rel, room+"/") {
			return room
		}
	}
	return rel
}

// isAdapter reports the packages that speak to one technology or provider.
func isAdapter(path string) bool {
	switch rel := relative(path); rel {
	case "internal/wire/sse", "internal/wire/formats", "internal/store/table":
		return false // shared by the formats, the list of them, and shared by the stores
	default:
		for _, parent := range []string{"internal/wire/", "internal/store/", "internal/state/"} {
			if strings.HasPrefix(rel, parent) && !strings.HasSuffix(rel, "test") {
				return true
			}
		}
	}
	return false
}
