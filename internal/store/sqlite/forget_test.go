package sqlite

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/haltd/haltd"
)

func count(t *testing.T, s *Store, query string) (n int64) {
	t.Helper()
	if err := s.readers.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// Names that clients choose make no more rows than they may.
func TestUsageRowsAreFew(t *testing.T) {
	for name, change := range map[string]func(*haltd.Event, int){
		"models":    func(e *haltd.Event, i int) { e.Model = fmt.Sprint(i) },
		"providers": func(e *haltd.Event, i int) { e.Provider = fmt.Sprint(i) },
		"both":      func(e *haltd.Event, i int) { e.Provider, e.Model = fmt.Sprint(i%50), fmt.Sprint(i) },
	} {
		t.Run(name, func(t *testing.T) {
			s := openTest(t, filepath.Join(t.TempDir(), "record.db"))
			var events []haltd.Event
			for i := range 1000 {
				e := event(i+1, time.Unix(0, 0))
				change(&e, i)
				events = append(events, e)
			}
			if err := s.AppendEvents(t.Context(), events); err != nil {
				t.Fatal(err)
			}
			if rows := count(t, s, "SELECT count(*) FROM usage"); rows > haltd.MostModels+mostProviders+1 {
				t.Errorf("%d rows for one agent and hour", rows)
			}
			if calls := count(t, s, "SELECT sum(calls) FROM usage"); calls != 1000 {
				t.Errorf("%d calls in the sums, want 1000", calls)
			}
		})
	}
}
