package postgres

import (
	"context"
	"testing"

	"github.com/haltd/haltd/internal/store/storetest"
	"github.com/haltd/haltd/test/servers"
)

var server *servers.Server

func TestMain(m *testing.M) { servers.Main(m, servers.Postgres, &server) }

const sealKey = "a key that the nodes have in common"

func open(t *testing.T, url string) *Store {
	t.Helper()
	s, err := Open(t.Context(), url, sealKey)
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

// empty makes a store as it was when it was new, which takes less time than to
// make a database.
func empty(t *testing.T, s *Store) {
	t.Helper()
	tables, err := read(context.Background(), s.pool, value[string],
		"SELECT string_agg(quote_ident(tablename), ', ') FROM pg_tables WHERE schemaname = current_schema() AND tablename NOT IN ('migrations', 'counters')")
	if err == nil {
		_, err = s.pool.Exec(context.Background(), "TRUNCATE "+tables[0]+" RESTART IDENTITY; UPDATE counters SET value = 0")
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestConformance(t *testing.T) {
	s := open(t, server.Database(t))
	storetest.Run(t, func(t *testing.T) storetest.Store {
		empty(t, s)
		return s
	})
}
