package browser

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/haltd/haltd/internal/store/sqlite"
)

// recorded makes a folder for a haltd with a record in it.
func recorded(t *testing.T, write func(context.Context, *sqlite.Store) error) (folder string) {
	t.Helper()
	folder = t.TempDir()
	store, err := sqlite.Open(t.Context(), filepath.Join(folder, "data", "haltd.db"))
	if err != nil {
		t.Fatal(err)
	}
	if err := write(t.Context(), store); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	return folder
}
