package harness

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// binaryVariable names a haltd to test instead of a new build of the checkout.
const binaryVariable = "HALTD_BIN"

// built is where this process has built its haltd, for Main to remove.
var built struct {
	mu     sync.Mutex
	folder string
}

// Main is the TestMain of a package that runs haltd: it runs the tests, then
// ends what they share and removes the build.
func Main(m *testing.M, end ...func()) {
	code := m.Run()
	for _, f := range end {
		f()
	}
	built.mu.Lock()
	defer built.mu.Unlock()
	if built.folder != "" {
		if err := os.RemoveAll(built.folder); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// Binary is the haltd under test: the file that HALTD_BIN names, or a build of
// the checkout, with the race detector when the test has it.
func Binary(t testing.TB) string {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var binary = sync.OnceValues(func() (string, error) {
	if path := os.Getenv(binaryVariable); path != "" {
		return filepath.Abs(path)
	}
	return build("haltd")
})

// Changed is a build of the checkout in which files, by their path in it, have
// other texts, or are there at all; it calls itself by a version of its own.
func Changed(t testing.TB, version string, files map[string]string) string {
	t.Helper()
	root, err := root()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	replace := map[string]string{}
	for path, text := range files {
		replace[filepath.Join(root, path)] = filepath.Join(folder, filepath.Base(path))
		if err := os.WriteFile(filepath.Join(folder, filepath.Base(path)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	overlay := filepath.Join(folder, "overlay.json")
	text, _ := json.Marshal(map[string]any{"Replace": replace})
	if err := os.WriteFile(overlay, text, 0o600); err != nil {
		t.Fatal(err)
	}
	path, err := build("haltd-"+version, "-overlay", overlay, "-ldflags", "-s -w -X main.version="+version)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// build builds the checkout into the folder that Main removes.
func build(name string, flags ...string) (string, error) {
	root, err := root()
	if err != nil {
		return "", err
	}
	built.mu.Lock()
	defer built.mu.Unlock()
	if built.folder == "" {
		if built.folder, err = os.MkdirTemp("", "haltd-test-"); err != nil {
			return "", fmt.Errorf("make a folder for haltd: %w", err)
		}
	}
	path := filepath.Join(built.folder, name)
	args := append([]string{"build", "-o", path}, flags...)
	if raceEnabled {
		args = append(args, "-race")
	}
	build := exec.Command("go", append(args, "./cmd/haltd")...)
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build haltd (or set %s): %w\n%s", binaryVariable, err, out)
	}
	return path, nil
}

// root is the folder of haltd's module, from every module that uses it.
func root() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/haltd/haltd").Output()
	if err != nil {
		return "", fmt.Errorf("find the sources of haltd: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}
