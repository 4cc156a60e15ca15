package sqlite

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/haltd/haltd/internal/store/table"
)

// ofThisFile are the tables that mean nothing in another store: what nodes told
// each other, and who had which lease.
var ofThisFile = []string{"changes", "commits", "leaders", "nodes"}

// Whoever adds a table says whether it is copied to another store.
func TestEveryTableIsExported(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "haltd.db"))
	if _, err := s.secrets.key(true); err != nil {
		t.Fatal(err)
	}
	var exported []string
	if err := s.Export(t.Context(), func(c table.Chunk) error {
		exported = append(exported, c.Table)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	rows, err := s.readers.QueryContext(t.Context(), "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(exported, name) && !slices.Contains(ofThisFile, name) {
			t.Errorf("haltd migrate leaves %s behind", name)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}
