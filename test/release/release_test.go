package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/haltd/haltd/test/harness"
)

func TestMain(m *testing.M) {
	if err := os.Chdir(filepath.Join("..", "..")); err != nil {
		panic(err)
	}
	harness.Main(m)
}

// What is inside is listed with its licence, twice the same.
func TestComponentsHaveLicences(t *testing.T) {
	binary := harness.Binary(t)
	parts, err := components(binary)
	if err != nil {
		t.Fatal(err)
	}
	again, err := components(binary)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(sbom("v1", parts), sbom("v1", again)) || !bytes.Equal(licences(parts), licences(again)) {
		t.Error("the lists differ from one time to the next")
	}
	var bom struct {
		BOMFormat  string
		Components []struct {
			Name, Version, PURL string
			Licenses            []struct{ Expression string }
		}
	}
	if err := json.Unmarshal(sbom("v1", parts), &bom); err != nil || bom.BOMFormat != "CycloneDX" {
		t.Fatal(err, bom.BOMFormat)
	}
	found, licensed := map[string]bool{}, map[string]string{}
	for _, c := range bom.Components {
		found[c.Name] = true
		if c.Version == "" || len(c.Licenses) != 1 || c.Licenses[0].Expression == "" || !strings.HasPrefix(c.PURL, "pkg:") {
			t.Errorf("%+v", c)
			continue
		}
		licensed[c.Name] = c.Licenses[0].Expression
	}
	for name, want := range map[string]string{
		"std": "BSD-3-Clause", "github.com/alecthomas/kong": "MIT",
		"github.com/klauspost/compress": "Apache-2.0 AND BSD-3-Clause AND MIT", // for parts of it
	} {
		if licensed[name] != want {
			t.Errorf("the licence of %s is %q, want %q", name, licensed[name], want)
		}
	}
	for _, name := range []string{"std", "modernc.org/sqlite", "github.com/alecthomas/kong", "react", "@mantine/core"} {
		if !found[name] {
			t.Errorf("%s is not in the list", name)
		}
	}
	text := string(licences(parts))
	for what, says := range map[string]string{
		"the notice of a module":             "Prometheus instrumentation library for Go applications",
		"the licence of what a module holds": "SQLite Is Public Domain",
		"the licence of Go":                  "Copyright 2009 The Go Authors.",
	} {
		if !strings.Contains(text, says) {
			t.Errorf("the licences leave out %s: %q", what, says)
		}
	}
	if found["vite"] {
		t.Error("the list has what only builds the dashboard")
	}
}

// A binary of a release says which version it is and from which commit, which is
// what somebody who reports a fault is asked for.
func TestReleaseNamesItsCommit(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "haltd")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-pgo=off", "-ldflags", flags("v1.2.3", "0123456789abcdef0123"), "-o", binary, "./cmd/haltd").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(binary, "version").Output()
	if err != nil || !strings.HasPrefix(string(out), "haltd v1.2.3 (commit 0123456789ab, ") {
		t.Errorf("haltd version says %q, %v", out, err)
	}
}

func TestArchivesAreTheSame(t *testing.T) {
	files := map[string][]byte{"haltd": []byte("binary"), "LICENSE": []byte("licence"), "completion/haltd.bash": []byte("x")}
	one, err := archive("haltd-v1", files, time.Unix(1e9, 0))
	if err != nil {
		t.Fatal(err)
	}
	two, err := archive("haltd-v1", files, time.Unix(1e9, 0))
	if err != nil || !bytes.Equal(one, two) {
		t.Error("the same files give other archives", err)
	}
}

// Shells take the completions, and man the page.
func TestCompletionAndManualPage(t *testing.T) {
	binary := harness.Binary(t)
	print := func(args ...string) string {
		t.Helper()
		out, err := exec.Command(binary, args...).Output()
		if err != nil {
			t.Fatal(args, err)
		}
		return string(out)
	}
	script := print("completion", "bash") + `
complete_at() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _haltd; echo "${COMPREPLY[@]}"; }
complete_at haltd ag
complete_at haltd agents s
complete_at haltd agents set --kill
complete_at haltd --config x keys create --bud
`
	out, err := exec.Command("bash", "-c", script).CombinedOutput()
	want := "agents\nshow set\n--kill-switch\n--budget-day --budget-month\n"
	if err != nil || string(out) != want {
		t.Errorf("bash completes %v:\n%s\nwant\n%s", err, out, want)
	}
	if fish := print("completion", "fish"); !strings.Contains(fish, "complete -c haltd -n '__fish_seen_subcommand_from agents; and __fish_seen_subcommand_from set' -l budget-day") {
		t.Errorf("fish:\n%.600s", fish)
	}
	page := print("man")
	for _, want := range []string{".TH HALTD 1", ".SS agents set", `\-\-kill\-switch`, "haltd agents set billing\\-bot", "the variable HALTD_CONFIG.", ".TP\n3\nno haltd answers\n"} {
		if !strings.Contains(page, want) {
			t.Errorf("the manual page does not say %q", want)
		}
	}
}
