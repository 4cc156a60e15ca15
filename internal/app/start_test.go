package app

import (
	"os"
	"path/filepath"
	"testing"
)

func TestReadableByOthers(t *testing.T) {
	for _, c := range []struct {
		file, dir os.FileMode
		want      bool
	}{
		{0o600, 0o755, false},
		{0o644, 0o755, true},
		{0o640, 0o750, true},
		{0o644, 0o700, false}, // nobody else gets there
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, tokenFile)
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, c.file); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, c.dir); err != nil {
			t.Fatal(err)
		}
		if got := readableByOthers(path); got != c.want {
			t.Errorf("file %o in a directory %o: %v, want %v", c.file, c.dir, got, c.want)
		}
	}
	if readableByOthers(filepath.Join(t.TempDir(), "none")) {
		t.Error("a file that is not there can be read")
	}
}
