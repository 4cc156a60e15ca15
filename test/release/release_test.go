package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
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

// What is not in the commit, or another commit, is no release of it.
func TestReleaseIsMadeFromACommitAlone(t *testing.T) {
	dir := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(harness.Need(t, "git"), append([]string{"-c", "user.name=haltd", "-c", "user.email=haltd@example.com", "-C", dir}, args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q")
	git("commit", "-q", "--allow-empty", "-m", "first")
	first := git("rev-parse", "HEAD")
	if err := isCheckedOut(dir, first); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "own.go"), []byte("package main"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := isCheckedOut(dir, first); err == nil || !strings.Contains(err.Error(), "own.go") {
		t.Errorf("with a file of one's own: %v", err)
	}
	git("add", "own.go")
	git("commit", "-q", "-m", "second")
	if err := isCheckedOut(dir, first); err == nil {
		t.Error("another commit is released under the name of the first")
	}
}

// An archive has what its README leads to.
func TestArchiveHasWhatItsReadmeLeadsTo(t *testing.T) {
	files, err := beside(harness.Binary(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`\]\(((?:docs/|LICENSE)[^)#]*)`).FindAllSubmatch(files["README.md"], -1) {
		if files[string(m[1])] == nil {
			t.Errorf("the archive does not have %s", m[1])
		}
	}
	for _, name := range []string{"haltd.1", "completion/haltd.bash", "completion/_haltd", "completion/haltd.fish", "docs/deployment.md", "deploy/systemd/haltd.service", "deploy/proxy/nginx.conf"} {
		if len(files[name]) == 0 {
			t.Errorf("the archive does not have %s", name)
		}
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

// Shells complete by what haltd prints for them.
func TestCompletion(t *testing.T) {
	binary := harness.Binary(t)
	want := []struct{ typed, offered string }{
		{"ag", "agents"}, {"agents s", "set show"}, {"agents set --kill", "--kill-switch"},
		{"--config x keys create --bud", "--budget-day --budget-month"},
		{"channels add ", "--admin --config --help --json email slack webhook"},
	}
	typed := ""
	for _, w := range want {
		typed += "haltd " + w.typed + "\n"
	}
	for shell, script := range map[string]string{
		"bash": `. ./_haltd
while IFS= read -r line; do
	read -ra COMP_WORDS <<<"$line"; [[ $line == *' ' ]] && COMP_WORDS+=("")
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _haltd; echo "${COMPREPLY[@]}"
done`,
		// As from a folder of fpath; what shows the words stands here for zsh's own.
		"zsh": `fpath=($PWD $fpath); autoload -U compinit && compinit -D -u && [[ $_comps[haltd] == _haltd ]] || exit 1
_describe() { local all=(${${(P)2}%%:*}); echo ${(M)all:#$words[CURRENT]*} }
while IFS= read -r line; do words=("${(@s. .)line}"); CURRENT=$#words; _haltd; done`,
		"fish": `source _haltd; while read -l line; echo (complete -C "$line" | string split -f 1 \t); end`,
	} {
		completion, err := exec.Command(binary, "completion", shell).Output()
		if err != nil {
			t.Fatal(shell, err)
		}
		cmd := exec.Command(harness.Need(t, shell), map[string]string{"bash": "-c", "zsh": "-fc", "fish": "-Nc"}[shell], script)
		cmd.Dir, cmd.Stdin = t.TempDir(), strings.NewReader(typed)
		cmd.Env = append(os.Environ(), "HOME="+cmd.Dir)
		if err := os.WriteFile(filepath.Join(cmd.Dir, "_haltd"), completion, 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := cmd.CombinedOutput()
		lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
		if err != nil || len(lines) != len(want) {
			t.Errorf("%s: %v\n%s", shell, err, out)
			continue
		}
		for i, w := range want {
			words := strings.Fields(lines[i])
			slices.Sort(words)
			if got := strings.Join(words, " "); got != w.offered {
				t.Errorf("%s completes haltd %s with %q, want %q", shell, w.typed, got, w.offered)
			}
		}
	}
}

func TestManualPage(t *testing.T) {
	page, err := exec.Command(harness.Binary(t), "man").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{".TH HALTD 1", ".SS agents set", `\-\-kill\-switch`, "haltd agents set billing\\-bot", "the variable HALTD_CONFIG.", ".TP\n3\nno haltd answers\n"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the manual page does not say %q", want)
		}
	}
}
