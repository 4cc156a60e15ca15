package soak

import (
	"os"
	"testing"
)

// hide puts a file in the place of a folder, into which nothing can be written
// either.
func hide(t *testing.T, folder string) (lift func()) {
	t.Helper()
	if err := os.Rename(folder, folder+".hidden"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(folder, nil, 0o400); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.Remove(folder); err != nil {
			t.Error(err)
		}
		if err := os.Rename(folder+".hidden", folder); err != nil {
			t.Error(err)
		}
	}
}
