package postgres

import (
	"testing"
	"time"

	"github.com/haltd/haltd"
)

// Where all numbers are those of nodes that may be cut off, the one that has
// been silent for longest is given away.
func TestNumbersAreUsedUp(t *testing.T) {
	s := open(t, server.Database(t))
	_, err := s.pool.Exec(t.Context(), `INSERT INTO nodes (id, number, version, started_at, seen_at, until)
		SELECT 'gone-' || n, n, '', 0, 0, `+now+` - 1000000 * (1 + abs(n - 7)) FROM generate_series(0, $1::integer - 1) n WHERE n <> 700`, haltd.MostNodes)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{700, haltd.MostNodes - 1, haltd.MostNodes - 2} {
		n, err := s.Join(t.Context(), haltd.Node{ID: haltd.NewName("nod_"), Number: haltd.NoNumber, StartedAt: time.Now()}, time.Hour)
		if err != nil || n.Number != want {
			t.Errorf("node %d gets number %d, %v; want %d", i, n.Number, err, want)
		}
	}
}
