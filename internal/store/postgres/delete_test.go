package postgres

import (
	"context"
	"testing"
	"time"

	"github.com/haltd/haltd"
	"github.com/jackc/pgx/v5"
)

// An agent with a great many sessions is deleted in transactions of a chunk:
// commits of others need not wait for all of it.
func TestDeletesSessionsInChunks(t *testing.T) {
	s := open(t, server.Database(t))
	if err := s.AppendEvents(t.Context(), []haltd.Event{{ID: 1, Time: time.Now(), Type: haltd.EventCall, Agent: "big", Session: "one"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.pool.Exec(t.Context(), `INSERT INTO sessions (agent, id, first_seen, last_seen, first_event, last_event)
		SELECT 'big', 'many-' || n, 1, 1, 1, 1 FROM generate_series(1, $1) n`, 2*deleteChunk); err != nil {
		t.Fatal(err)
	}
	left := func() int64 {
		n, err := read(t.Context(), s.pool, value[int64], "SELECT count(*) FROM sessions")
		if err != nil {
			t.Fatal(err)
		}
		return n[0]
	}
	for more, before := true, left(); more; before = left() {
		if err := s.write(t.Context(), "delete agent", func(ctx context.Context, tx pgx.Tx) (err error) {
			more, err = deleteSome(ctx, tx, "n", "big")
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if gone := before - left(); gone > deleteChunk {
			t.Errorf("one transaction deletes %d sessions, want %d at most", gone, deleteChunk)
		}
	}
	if n := left(); n != 0 {
		t.Errorf("%d sessions are left", n)
	}
}
