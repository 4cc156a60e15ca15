package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/storetest"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(crashPathEnv); path != "" {
		if os.Getenv(crashCommitEnv) != "" {
			os.Exit(commitUntilKilled(path))
		}
		os.Exit(appendUntilKilled(path))
	}
	goleak.VerifyTestMain(m)
}

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Store { return openTest(t, filepath.Join(t.TempDir(), "record.db")) })
}

func openTest(t *testing.T, path string) *Store {
	t.Helper()
	s, err := open(t.Context(), path, time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

func event(id int, at time.Time) haltd.Event {
	return haltd.Event{ID: haltd.EventID(id), Time: at, Type: haltd.EventCall, Agent: "a", Session: "s", Status: 200}
}

func TestFilesAreTheOwnersOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new folder #1?", "record 100%.db")
	s := openTest(t, path)
	if err := s.AppendEvents(t.Context(), []haltd.Event{event(1, time.Now())}); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{path, path + "-wal"} {
		info, err := os.Stat(p)
		if err != nil {
			t.Fatal(err)
		}
		if mode := info.Mode().Perm(); mode != 0o600 {
			t.Errorf("%s has mode %o, want 600", filepath.Base(p), mode)
		}
	}
	if s.Size() == 0 {
		t.Error("Size is 0")
	}
	if err := s.Ping(t.Context()); err != nil {
		t.Errorf("Ping: %v", err)
	}
}

func TestReopenKeepsEverything(t *testing.T) {
	path := filepath.Join(t.TempDir(), "record.db")
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.AppendEvents(t.Context(), []haltd.Event{event(1, time.Now())}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path + "-wal"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Close left a log behind (error %v)", err)
	}
	events, err := openTest(t, path).Events(t.Context(), haltd.EventQuery{})
	if err != nil || len(events) != 1 {
		t.Errorf("after reopening: %d events, error %v", len(events), err)
	}
}

func TestClosedStoreSaysSo(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "record.db"))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	_, readErr := s.Events(t.Context(), haltd.EventQuery{})
	wantError(t, "Events", readErr, haltd.CodeUnavailable, "the record is closed")
	wantError(t, "AppendEvents", s.AppendEvents(t.Context(), []haltd.Event{event(1, time.Now())}), haltd.CodeUnavailable, "the record is closed")
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	database := func(name string, statements ...string) string {
		path := filepath.Join(dir, name)
		withDatabase(t, path, func(db *sql.DB) {
			for _, statement := range statements {
				if _, err := db.Exec(statement); err != nil {
					t.Fatal(err)
				}
			}
		})
		return path
	}
	for name, c := range map[string]struct{ path, message string }{
		"folder is a file": {filepath.Join(file("plain", ""), "record.db"), "cannot be opened: not a directory"},
		"file is a folder": {dir, "cannot be opened: is a directory"},
		"not a database":   {file("notes.txt", strings.Repeat("these are notes ", 100)), "is not a database"},
		"another program's": {database("other.db", "CREATE TABLE recipes (id INTEGER)"),
			"the database belongs to another program"},
		"newer": {database("newer.db", "PRAGMA application_id = 1751215220", "PRAGMA user_version = 99"),
			"the database has version 99, but this haltd knows versions up to"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Open(t.Context(), c.path)
			if err == nil {
				s.Close()
			}
			wantError(t, "Open", err, haltd.CodeUnavailable, c.message)
		})
	}
}

// Not even root makes files in /proc.
func TestUnwritableFolder(t *testing.T) {
	s, err := Open(t.Context(), "/proc/record.db")
	if err == nil {
		s.Close()
	}
	wantError(t, "Open", err, haltd.CodeUnavailable, "/proc/record.db cannot be")
}

func TestLockedDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "record.db")
	s := openTest(t, path)
	withDatabase(t, path, func(db *sql.DB) {
		tx, err := db.Begin()
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback()
		if _, err := tx.Exec("DELETE FROM keys"); err != nil {
			t.Fatal(err)
		}
		err = s.AppendEvents(t.Context(), []haltd.Event{event(1, time.Now())})
		wantError(t, "AppendEvents", err, haltd.CodeUnavailable, "is locked by another program")
	})
	if err := s.AppendEvents(t.Context(), []haltd.Event{event(1, time.Now())}); err != nil {
		t.Errorf("after the lock: %v", err)
	}
}

// A full disk is stood in for by SQLite's own limit on pages, which fails
// the same way.
func TestFullDisk(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "record.db"))
	pages := func(n int) {
		var got int
		err := s.writer.conn.QueryRowContext(t.Context(), fmt.Sprintf("PRAGMA max_page_count = %d", n)).Scan(&got)
		if err != nil {
			t.Fatal(err)
		}
	}
	pages(1)
	big := event(1, time.Now())
	big.Error = strings.Repeat("x", 100_000)
	wantError(t, "AppendEvents", s.AppendEvents(t.Context(), []haltd.Event{big}), haltd.CodeUnavailable, "is full")
	if _, err := s.Agent(t.Context(), "a"); haltd.ErrorCode(err) != haltd.CodeNotFound {
		t.Errorf("a failed append left its agent: %v", err)
	}
	pages(100000)
	if err := s.AppendEvents(t.Context(), []haltd.Event{big}); err != nil {
		t.Errorf("with room again: %v", err)
	}
	events, err := s.Events(t.Context(), haltd.EventQuery{Agent: "a", Session: "s"})
	if err != nil || len(events) != 1 {
		t.Errorf("%d events, error %v; want the one appended with room", len(events), err)
	}
}

func TestMigrations(t *testing.T) {
	path := filepath.Join(t.TempDir(), "steps.db")
	all, err := migrations()
	if err != nil {
		t.Fatal(err)
	}
	first := all[:1:1]
	withDatabase(t, path, func(db *sql.DB) {
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		version := func() (n int) {
			if err := conn.QueryRowContext(t.Context(), "PRAGMA user_version").Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		if err := migrate(t.Context(), conn, first); err != nil {
			t.Fatal(err)
		}
		steps := append(first, "CREATE TABLE more (id INTEGER)", "CREATE TABLE half (id INTEGER); nonsense")
		if err := migrate(t.Context(), conn, steps); err == nil || !strings.Contains(err.Error(), "apply migration 3") {
			t.Errorf("a broken step: error %v, want one that names migration 3", err)
		}
		if got := version(); got != 2 {
			t.Errorf("version %d after a broken third step, want 2", got)
		}
		steps[2] = "CREATE TABLE half (id INTEGER)" // fails if the broken step left it behind
		for range 2 {
			if err := migrate(t.Context(), conn, steps); err != nil {
				t.Fatal(err)
			}
		}
		if got := version(); got != 3 {
			t.Errorf("version %d, want 3", got)
		}
	})
}

func TestPruneInChunks(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "record.db"))
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var events []haltd.Event
	for i := range 10 {
		e := event(i+1, now.Add(time.Duration(i-8)*time.Hour))
		e.Session = string(rune('a' + i))
		events = append(events, e)
	}
	if err := s.AppendEvents(t.Context(), events); err != nil {
		t.Fatal(err)
	}
	// Eight events and eight sessions, three at a time: 3, 3, 2 events with
	// the first 3 sessions, then 3, then 2.
	want := []struct {
		events int64
		more   bool
	}{{3, true}, {3, true}, {2, true}, {0, true}, {0, false}}
	for i, w := range want {
		n, more, err := s.pruneSome(t.Context(), now, 3)
		if err != nil || n != w.events || more != w.more {
			t.Errorf("chunk %d: %d events, more %v, error %v; want %d, %v", i, n, more, err, w.events, w.more)
		}
	}
	left, _, err := s.Sessions(t.Context(), haltd.SessionQuery{})
	if err != nil || len(left) != 2 {
		t.Errorf("%d sessions left, error %v; want 2", len(left), err)
	}
}

// The queries that grow with the record use its index or its id bounds.
func TestQueriesDoNotScan(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "record.db"))
	newest := func(where string) string {
		return "SELECT * FROM events e WHERE " + where + " ORDER BY e.id DESC LIMIT 1"
	}
	const ofSession = "SEARCH e USING INDEX events_agent (agent=? AND rowid>? AND rowid<?)"
	for name, c := range map[string]struct{ query, want string }{
		"agent":   {newest("e.agent = (SELECT no FROM agents WHERE id = 'a') AND e.id < 9"), "SEARCH e USING INDEX events_agent (agent=? AND rowid<?)"},
		"session": {newest("e.id BETWEEN 1 AND 9 AND e.agent = 1 AND e.session = 1"), ofSession},
		"time":    {newest("e.id BETWEEN 1 AND 9 AND e.time < 9"), "SEARCH e USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"},
		"scores":  {strings.ReplaceAll(scoresSQL, "?", "1"), ofSession},
		"spent":   {strings.ReplaceAll(spentSQL, "?", "1"), "SEARCH usage USING INDEX usage_agent (agent=? AND hour>?)"},
	} {
		rows, err := s.readers.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+c.query)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		var plan []string
		for rows.Next() {
			var id, parent, unused int
			var step string
			if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
				t.Fatal(err)
			}
			plan = append(plan, step)
		}
		if all := strings.Join(plan, "\n"); !strings.Contains(all, c.want) || strings.Contains(all, "TEMP B-TREE") {
			t.Errorf("%s: the plan is\n%s\nwant %q and no sorting", name, all, c.want)
		}
	}
}

func withDatabase(t *testing.T, path string, fn func(*sql.DB)) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	fn(db)
}

func wantError(t *testing.T, what string, err error, code, message string) {
	t.Helper()
	var e *haltd.Error
	if !errors.As(err, &e) || e.Code != code || !strings.Contains(e.Sentence(), message) {
		t.Errorf("%s: error %v; want code %q and a message with %q", what, err, code, message)
		return
	}
	if e.Fix == "" {
		t.Errorf("%s: error %q does not say what to do", what, err)
	}
	if errors.Is(err, context.Canceled) {
		t.Errorf("%s: error %v blames the context", what, err)
	}
}
