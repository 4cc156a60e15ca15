package sqlite

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/store/storetest"
	"github.com/haltd/haltd/internal/store/table"
)

func TestReopenKeepsControl(t *testing.T) {
	path := filepath.Join(t.TempDir(), "record.db")
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	storetest.Reopen(t, s, func() storetest.Store {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		return openTest(t, path)
	})
}

// A database of the first release, with an agent and a session in it.
func TestUpgradeKeepsTheRecord(t *testing.T) {
	path := filepath.Join(t.TempDir(), "record.db")
	steps, err := migrations()
	if err != nil {
		t.Fatal(err)
	}
	withDatabase(t, path, func(db *sql.DB) {
		for _, statement := range []string{
			steps[0], "PRAGMA user_version = 1",
			"INSERT INTO agents (id, first_seen, last_seen, calls) VALUES ('a', 1, 2, 3)",
			"INSERT INTO sessions (id, agent, first_seen, last_seen, first_event, last_event, calls) VALUES ('s', 1, 1, 2, 1, 2, 3)",
		} {
			if _, err := db.Exec(statement); err != nil {
				t.Fatal(err)
			}
		}
	})
	s := openTest(t, path)
	want := haltd.Agent{
		ID: "a", Active: true, Standing: haltd.Standing{Agent: "a", Active: true},
		FirstSeen: table.FromMicros(1), LastSeen: table.FromMicros(2), Totals: haltd.Totals{Calls: 3},
	}
	got, err := s.Agent(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("agent (-want +got):\n%s", diff)
	}
	session, err := s.Session(t.Context(), "a", "s")
	if err != nil || session.Totals.Calls != 3 || !session.Standing.Active {
		t.Errorf("session %+v, error %v; want an active one with 3 calls", session, err)
	}
	c, err := s.Control(t.Context())
	if err != nil || len(c.Standings) != 0 {
		t.Errorf("standings %+v, error %v; want none", c.Standings, err)
	}
}

func TestDeleteInChunks(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "record.db"))
	var events []haltd.Event
	for i := range 7 {
		e := event(i+1, time.Unix(int64(i), 0))
		e.Session = fmt.Sprint("s", i)
		events = append(events, e)
	}
	if err := s.AppendEvents(t.Context(), events); err != nil {
		t.Fatal(err)
	}
	after := int64(0)
	for chunk, wantMore := range []bool{true, true, true, true, false} { // events, then sessions
		if more, err := s.deleteSome(t.Context(), "n", "a", 3, &after); err != nil || more != wantMore {
			t.Errorf("chunk %d: more %v, error %v; want %v", chunk, more, err, wantMore)
		}
		// The agent is there until its last event and session have gone.
		if _, err := s.Agent(t.Context(), "a"); (err == nil) != wantMore {
			t.Errorf("agent after chunk %d: error %v", chunk, err)
		}
	}
	left, err := s.Events(t.Context(), haltd.EventQuery{})
	if err != nil || len(left) != 0 {
		t.Errorf("%d events left, error %v; want none", len(left), err)
	}
}

// A full disk fails a change as a whole, and the next one passes.
func TestFullDiskChangesNothing(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "record.db"))
	pages := func(n string) {
		var got int
		if err := s.writer.conn.QueryRowContext(t.Context(), "PRAGMA max_page_count = "+n).Scan(&got); err != nil {
			t.Fatal(err)
		}
	}
	at := time.Unix(1, 0)
	change := haltd.Change{
		Standing: &haltd.Standing{Agent: "a", DeactivatedBy: new(haltd.ByKillSwitch), At: at},
		Notices:  []haltd.Notice{{ID: "ntc_a", Time: at, Sentence: strings.Repeat("x", 100_000)}},
	}
	pages("1")
	wantError(t, "Commit", s.Commit(t.Context(), change), haltd.CodeUnavailable, "is full")
	if c, err := s.Control(t.Context()); err != nil || len(c.Standings) != 0 {
		t.Errorf("standings %+v, error %v; want none", c.Standings, err)
	}
	pages("100000")
	if err := s.Commit(t.Context(), change); err != nil {
		t.Errorf("with room again: %v", err)
	}
}
