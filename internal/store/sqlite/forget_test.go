package sqlite

import (
	"context"
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

// What is pruned goes in chunks, so that writers wait for one of them only.
func TestForgetInChunks(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "record.db"))
	const rows = 5
	for i := range rows {
		name := fmt.Sprint("name-", i)
		decided := haltd.Incident{ID: "decided-" + name, Status: haltd.IncidentKept, Time: time.Unix(0, 0)}
		for _, c := range []haltd.Change{
			{Incident: &decided},
			{Incident: &haltd.Incident{ID: name, Status: haltd.IncidentOpen, Time: time.Unix(0, 0)}},
			{Mark: &haltd.Mark{Agent: name, Session: name, ActivatedAt: time.Unix(1, 0)}},
			{Notices: []haltd.Notice{{ID: name, Time: time.Unix(0, 0)}}},
		} {
			if err := s.Commit(t.Context(), c); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Dispatch(t.Context(), name, []haltd.Delivery{{ID: name, Status: haltd.DeliveryDead, UpdatedAt: time.Unix(0, 0)}}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Join(t.Context(), haltd.Node{ID: name}, time.Hour); err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.SaveShares(t.Context(), name, []haltd.Share{{Agent: name, Period: haltd.Daily, Start: time.Unix(0, 0)}}); err != nil {
			t.Fatal(err)
		}
		e := event(i+1, time.Unix(0, 0))
		e.Agent = name
		if err := s.AppendEvents(t.Context(), []haltd.Event{e}); err != nil {
			t.Fatal(err)
		}
	}
	later := time.Unix(0, 0).Add(10 * haltd.KeepSums)
	if _, _, err := s.pruneSome(t.Context(), later, pruneChunk); err != nil { // marks and agents go after their sessions
		t.Fatal(err)
	}
	for _, step := range []struct {
		name  string
		prune func(context.Context, time.Time, int64) (int64, error)
		from  string
	}{
		{"incidents", s.pruneIncidents, "incidents WHERE status = 'open'"},
		{"decided incidents", s.forgetIncidents, "incidents"},
		{"deliveries", s.pruneDeliveries, "deliveries"},
		{"notices", s.pruneNotices, "notices"},
		{"shares", s.forgetLedgers, "shares"},
		{"sums", s.forgetUsage, "usage"},
		{"marks", s.pruneMarks, "marks"},
		{"agents", s.forgetAgents, "agents"},
	} {
		if n := count(t, s, "SELECT count(*) FROM "+step.from); n != rows {
			t.Errorf("%s: %d rows before, want %d", step.name, n, rows)
		}
		most := int64(0)
		err := s.inChunks(t.Context(), later, 2, func(ctx context.Context, at time.Time, chunk int64) (int64, error) {
			n, err := step.prune(ctx, at, chunk)
			most = max(most, n)
			return n, err
		})
		if err != nil || most > 2 {
			t.Errorf("%s: %d rows went at once, error %v; want 2 at most", step.name, most, err)
		}
		if n := count(t, s, "SELECT count(*) FROM "+step.from); n != 0 {
			t.Errorf("%s: %d rows left", step.name, n)
		}
	}
}
